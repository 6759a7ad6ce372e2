#pragma once

#include <algorithm>
#include <string>
#include <string_view>

/// Letters and digits of ASCII, whatever the locale; every other byte is left as it is, so that
/// UTF-8 passes unharmed. For what machines compare: names of programs, hosts, headers. Safe from
/// any thread.
namespace holdpoint::ascii {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
constexpr bool is_letter(char c) { return (c >= 'a' && c <= 'z') || is_upper(c); }

constexpr char lower(char c) { return is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c; }

inline std::string lowered(std::string_view text) {
    std::string result(text);
    std::ranges::transform(result, result.begin(), lower);
    return result;
}

}  // namespace holdpoint::ascii
