#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <re2/re2.h>

#include "policy/cel/code.h"
#include "policy/cel/program.h"
#include "policy/cel/type.h"

namespace holdpoint::cel {

/// Costs stop growing instead of wrapping around.
inline std::uint64_t add_cost(std::uint64_t a, std::uint64_t b) {
    std::uint64_t sum = 0;
    return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<std::uint64_t>::max() : sum;
}
inline std::uint64_t multiply_cost(std::uint64_t a, std::uint64_t b) {
    std::uint64_t product = 0;
    if (!__builtin_mul_overflow(a, b, &product)) return product;
    return std::numeric_limits<std::uint64_t>::max();
}

/// Elements of a list or map, bytes of a text, as large as the declaration lets them be.
std::uint64_t estimated_size(const Type& type, const Limits& limits);

struct Operand {
    Type type;
    std::uint64_t cost = 1;
    std::uint64_t size = 1;
};
std::uint64_t operator_cost(Op op, const std::vector<Operand>& operands);

/// Null, and why, for a pattern that RE2 refuses or that is larger than the limits.
std::unique_ptr<re2::RE2> compile_pattern(std::string_view pattern, const Limits& limits,
                                          std::string& fault);

}  // namespace holdpoint::cel
