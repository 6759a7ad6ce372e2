#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

/// UTF-8 and URL text. Everything here is a plain function, safe from any thread.
namespace holdpoint {

/// One code point read from the front of some text; `bytes` is 0 where the text is empty or not
/// UTF-8 (overlong forms, surrogates and values above U+10FFFF are not).
struct CodePoint {
    char32_t value = 0;
    int bytes = 0;
};
CodePoint first_code_point(std::string_view text);

/// The number of leading bytes that are well-formed UTF-8; `text.size()` if all are.
std::size_t utf8_prefix(std::string_view text);
bool is_utf8(std::string_view text);

/// At most `bytes_max` bytes of `text`, never half a code point. If something had to go, the result
/// ends in `…`, which counts; a limit too small for it cuts without.
std::string cut_utf8(std::string_view text, std::size_t bytes_max);

enum class Newlines { show, keep };

/// Text that a terminal or a headline can print without being tricked. What controls the display or
/// does not show at all (control, bidirectional, zero-width, tag, variation selector, private use,
/// line separator, filler, noncharacter) becomes `<U+202E>`, a byte that is not UTF-8 becomes
/// `<0xFF>`. The result is valid UTF-8. No two texts look alike: a `<` that would imitate these
/// marks becomes `<U+003C>` itself.
std::string visible(std::string_view text, Newlines newlines = Newlines::show);
void append_visible(std::string& out, std::string_view text, Newlines newlines = Newlines::show);

/// What somebody gave, as a message quotes it: visible, and cut then, since one byte may take
/// eight.
std::string quotable(std::string_view text, std::size_t bytes_max);

enum class Plus { literal, space };

/// Undoes `%41`. invalid_argument for an incomplete escape; the bytes that come out are not judged.
Result<std::string> percent_decode(std::string_view text, Plus plus = Plus::literal);

/// `%41` for everything but letters, digits, `-` and `_`: what comes out can stand as one part of a
/// path or a query. Also `.` is escaped, which alone or twice would walk up a path.
std::string percent_encode(std::string_view text);

/// Splits and decodes `a=1&b=2` with `+` as space. Repeated names are kept in order, for the caller
/// to judge; a name without `=` has an empty value; empty parts are skipped. invalid_argument for
/// bad escapes, text that is not UTF-8 and U+0000.
Result<std::vector<std::pair<std::string, std::string>>> parse_query(std::string_view query);

}  // namespace holdpoint
