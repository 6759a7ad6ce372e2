#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/cel/source.h"

namespace holdpoint::cel {

enum class TokenKind : std::uint8_t {
    end,
    integer,           ///< decimal or 0x…, without sign
    unsigned_integer,  ///< the same with a `u`
    real,
    string,
    bytes,
    name,
    quoted_name,  ///< `` `a-b` ``, a field
    symbol,       ///< an operator or bracket; `text` says which
};

struct Token {
    TokenKind kind = TokenKind::end;
    Span span;
    /// Names and symbols as written, numbers without their suffix, strings and bytes decoded.
    std::string text = {};
};

/// Cuts the source into tokens, the last of kind `end`. Comments and white space are skipped.
/// Literals are decoded here, so escapes are complained about at their own place.
std::optional<Complaint> tokenize(std::string_view source, std::vector<Token>& tokens);

}  // namespace holdpoint::cel
