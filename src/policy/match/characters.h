#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

/// Characters that make a text read differently from what it is. Plain functions, any thread.
namespace holdpoint::policy::match {

enum class Oddity {
    control,     ///< C0 and C1 controls and delete; newline and tab are controls too
    bidi,        ///< changes the direction in which neighbours are shown
    invisible,   ///< zero width, fillers, tags, variation selectors, soft hyphen
    separator,   ///< U+2028 and U+2029: a new line to some readers, nothing to others
    space,       ///< looks like a blank and is none: U+00A0, U+2009, U+3000 and the like
    unassigned,  ///< private use and noncharacters: every font shows something else
    not_utf8     ///< a byte that starts no well-formed character
};

/// One word or two for messages: `zero-width or invisible`.
std::string_view to_string(Oddity oddity);

struct OddCharacter {
    std::size_t offset = 0;  ///< in bytes
    int bytes = 0;           ///< 1 for not_utf8
    char32_t value = 0;      ///< the byte itself for not_utf8
    Oddity oddity = Oddity::control;
};

/// What is odd about one code point, if anything.
std::optional<Oddity> oddity_of(char32_t value);

/// The first odd character at or after `from`. Linear, and fast over plain ASCII.
std::optional<OddCharacter> find_odd_character(std::string_view text, std::size_t from = 0);

}  // namespace holdpoint::policy::match
