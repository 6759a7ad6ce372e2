#include "policy/match/characters.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace holdpoint::policy::match {
namespace {

struct Range {
    char32_t first;
    char32_t last;
    Oddity oddity;
};

// Sorted by code point.
constexpr std::array odd_ranges = std::to_array<Range>({
    {0x0000, 0x001F, Oddity::control},
    {0x007F, 0x009F, Oddity::control},
    {0x00A0, 0x00A0, Oddity::space},
    {0x00AD, 0x00AD, Oddity::invisible},  // soft hyphen
    {0x034F, 0x034F, Oddity::invisible},  // combining grapheme joiner
    {0x061C, 0x061C, Oddity::bidi},       // Arabic letter mark
    {0x115F, 0x1160, Oddity::invisible},  // Hangul fillers
    {0x1680, 0x1680, Oddity::space},
    {0x17B4, 0x17B5, Oddity::invisible},  // invisible Khmer vowels
    {0x180B, 0x180F, Oddity::invisible},  // Mongolian variation selectors, vowel separator
    {0x2000, 0x200A, Oddity::space},
    {0x200B, 0x200D, Oddity::invisible},  // zero-width space, joiner, non-joiner
    {0x200E, 0x200F, Oddity::bidi},       // direction marks
    {0x2028, 0x2029, Oddity::separator},
    {0x202A, 0x202E, Oddity::bidi},  // embeddings and overrides
    {0x202F, 0x202F, Oddity::space},
    {0x205F, 0x205F, Oddity::space},
    {0x2060, 0x2065, Oddity::invisible},  // word joiner, invisible operators
    {0x2066, 0x2069, Oddity::bidi},       // isolates
    {0x206A, 0x206F, Oddity::bidi},       // deprecated shaping controls
    {0x2800, 0x2800, Oddity::space},      // blank Braille pattern
    {0x3000, 0x3000, Oddity::space},
    {0x3164, 0x3164, Oddity::invisible},     // Hangul filler
    {0xE000, 0xF8FF, Oddity::unassigned},    // private use
    {0xFDD0, 0xFDEF, Oddity::unassigned},    // noncharacters
    {0xFE00, 0xFE0F, Oddity::invisible},     // variation selectors
    {0xFEFF, 0xFEFF, Oddity::invisible},     // byte order mark
    {0xFFA0, 0xFFA0, Oddity::invisible},     // half-width Hangul filler
    {0xFFF0, 0xFFFB, Oddity::invisible},     // interlinear annotation
    {0x1BCA0, 0x1BCA3, Oddity::invisible},   // shorthand format controls
    {0x1D173, 0x1D17A, Oddity::invisible},   // musical format controls
    {0xE0000, 0xE0FFF, Oddity::invisible},   // tags and further variation selectors
    {0xF0000, 0x10FFFF, Oddity::unassigned}  // private use planes
});

static_assert(std::ranges::is_sorted(odd_ranges, {}, &Range::last));

bool is_plain(unsigned char byte) { return byte >= 0x20 && byte < 0x7F; }

}  // namespace

std::string_view to_string(Oddity oddity) {
    switch (oddity) {
        case Oddity::control:
            return "control";
        case Oddity::bidi:
            return "text direction";
        case Oddity::invisible:
            return "zero-width or invisible";
        case Oddity::separator:
            return "line separator";
        case Oddity::space:
            return "unusual space";
        case Oddity::unassigned:
            return "private or unassigned";
        case Oddity::not_utf8:
            return "not UTF-8";
    }
    return "odd";
}

std::optional<Oddity> oddity_of(char32_t value) {
    if (value >= 0x20 && value < 0x7F) return std::nullopt;
    // The last two code points of every plane are noncharacters.
    if ((value & 0xFFFE) == 0xFFFE || value > 0x10FFFF) return Oddity::unassigned;
    const auto* range = std::ranges::lower_bound(odd_ranges, value, {}, &Range::last);
    if (range == odd_ranges.end() || value < range->first) return std::nullopt;
    return range->oddity;
}

std::optional<OddCharacter> find_odd_character(std::string_view text, std::size_t from) {
    for (std::size_t at = from; at < text.size();) {
        const auto byte = static_cast<unsigned char>(text[at]);
        if (is_plain(byte)) {
            ++at;
            continue;
        }
        const CodePoint point = first_code_point(text.substr(at));
        if (point.bytes == 0) return OddCharacter{at, 1, byte, Oddity::not_utf8};
        if (const std::optional<Oddity> oddity = oddity_of(point.value)) {
            return OddCharacter{at, point.bytes, point.value, *oddity};
        }
        at += static_cast<std::size_t>(point.bytes);
    }
    return std::nullopt;
}

}  // namespace holdpoint::policy::match
