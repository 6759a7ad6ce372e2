#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"
#include "policy/cel/program.h"

namespace holdpoint::cel {

/// A part of the source, in bytes.
struct Span {
    std::uint32_t begin = 0;
    std::uint32_t end = 0;

    std::string_view of(std::string_view source) const { return source.substr(begin, end - begin); }
};

/// What is wrong and where. Parser and checker stop at the first.
struct Complaint {
    std::uint32_t offset = 0;
    std::string message = {};
    ErrorCode code = ErrorCode::invalid_argument;
};

Position position_of(std::string_view source, std::uint32_t offset);

/// `1:14: expected …`
Error to_error(const Complaint& complaint, std::string_view source);

}  // namespace holdpoint::cel
