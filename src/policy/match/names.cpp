#include "policy/match/names.h"

#include <algorithm>
#include <array>

#include "base/ascii.h"
#include "base/text.h"
#include "policy/match/characters.h"

namespace holdpoint::policy::match {
namespace {

constexpr std::size_t name_bytes_max = 200;

enum class Script : std::uint8_t {
    common,
    latin,
    greek,
    cyrillic,
    armenian,
    hebrew,
    arabic,
    cjk,
    other
};

struct ScriptRange {
    char32_t first;
    char32_t last;
    Script script;
};

// Sorted; what is missing and not ASCII counts as `other`.
constexpr std::array script_ranges = std::to_array<ScriptRange>({
    {0x0041, 0x005A, Script::latin},    {0x0061, 0x007A, Script::latin},
    {0x00C0, 0x024F, Script::latin},    {0x0250, 0x02AF, Script::latin},
    {0x0370, 0x03FF, Script::greek},    {0x0400, 0x052F, Script::cyrillic},
    {0x0531, 0x058F, Script::armenian}, {0x0590, 0x05FF, Script::hebrew},
    {0x0600, 0x06FF, Script::arabic},   {0x1D00, 0x1D7F, Script::latin},
    {0x1E00, 0x1EFF, Script::latin},    {0x1F00, 0x1FFF, Script::greek},
    {0x2C60, 0x2C7F, Script::latin},    {0x3040, 0x30FF, Script::cjk},
    {0x3400, 0x4DBF, Script::cjk},      {0x4E00, 0x9FFF, Script::cjk},
    {0xAC00, 0xD7AF, Script::cjk},      {0xFF21, 0xFF3A, Script::latin},
    {0xFF41, 0xFF5A, Script::latin},
});

Script script_of(char32_t value) {
    const auto* range = std::ranges::lower_bound(script_ranges, value, {}, &ScriptRange::last);
    if (range != script_ranges.end() && range->first <= value) return range->script;
    return value < 0x80 ? Script::common : Script::other;
}

struct Likeness {
    char32_t value;
    char looks;
};

// Letters that most fonts draw like a Latin one; sorted. Not all there are: an unknown letter stays
// what it is, and the name is flagged as not ASCII anyway.
constexpr std::array likenesses = std::to_array<Likeness>({
    {U'×', 'x'}, {U'ı', 'l'}, {U'ɑ', 'a'}, {U'ɡ', 'g'}, {U'ɩ', 'l'}, {U'ɪ', 'l'}, {U'ʏ', 'y'},
    {U'Α', 'a'}, {U'Β', 'b'}, {U'Ε', 'e'}, {U'Ζ', 'z'}, {U'Η', 'h'}, {U'Ι', 'l'}, {U'Κ', 'k'},
    {U'Μ', 'm'}, {U'Ν', 'n'}, {U'Ο', 'o'}, {U'Ρ', 'p'}, {U'Τ', 't'}, {U'Υ', 'y'}, {U'Χ', 'x'},
    {U'α', 'a'}, {U'γ', 'y'}, {U'ε', 'e'}, {U'η', 'n'}, {U'ι', 'l'}, {U'κ', 'k'}, {U'ν', 'v'},
    {U'ο', 'o'}, {U'ρ', 'p'}, {U'σ', 'o'}, {U'τ', 't'}, {U'υ', 'u'}, {U'χ', 'x'}, {U'ω', 'w'},
    {U'ϲ', 'c'}, {U'ϳ', 'j'}, {U'Ѕ', 's'}, {U'І', 'l'}, {U'Ј', 'j'}, {U'А', 'a'}, {U'В', 'b'},
    {U'Е', 'e'}, {U'К', 'k'}, {U'М', 'm'}, {U'Н', 'h'}, {U'О', 'o'}, {U'Р', 'p'}, {U'С', 'c'},
    {U'Т', 't'}, {U'У', 'y'}, {U'Х', 'x'}, {U'Ь', 'b'}, {U'а', 'a'}, {U'в', 'b'}, {U'г', 'r'},
    {U'е', 'e'}, {U'и', 'u'}, {U'к', 'k'}, {U'м', 'm'}, {U'н', 'h'}, {U'о', 'o'}, {U'п', 'n'},
    {U'р', 'p'}, {U'с', 'c'}, {U'т', 't'}, {U'у', 'y'}, {U'х', 'x'}, {U'ь', 'b'}, {U'ѕ', 's'},
    {U'і', 'l'}, {U'ј', 'j'}, {U'ѵ', 'v'}, {U'Ү', 'y'}, {U'ү', 'y'}, {U'һ', 'h'}, {U'ӏ', 'l'},
    {U'ԁ', 'd'}, {U'ԛ', 'q'}, {U'ԝ', 'w'}, {U'Օ', 'o'}, {U'զ', 'q'}, {U'հ', 'h'}, {U'ո', 'n'},
    {U'ս', 'u'}, {U'ց', 'g'}, {U'օ', 'o'}, {U'ⅰ', 'l'}, {U'ⅼ', 'l'}, {U'ⅽ', 'c'}, {U'ⅾ', 'd'},
    {U'ⅿ', 'm'},
});

// Latin letters with marks, by what is under the mark; for U+00C0 to U+017F in order.
constexpr std::string_view latin_bases =
    "aaaaaaaceeeeiiiidnooooo*ouuuuypsaaaaaaaceeeeiiiidnooooo*ouuuuypy"
    "aaaaaaccccccccddddeeeeeeeeeegggggggghhhhiiiiiiiiiiiijjkkkllllllllllnnnnnnnnnoooooooorrrrrrss"
    "ssssssttttttuuuuuuuuuuuuwwyyyzzzzzzs";

static_assert(std::ranges::is_sorted(likenesses, {}, &Likeness::value));
static_assert(std::ranges::is_sorted(script_ranges, {}, &ScriptRange::last));
static_assert(latin_bases.size() == 0x180 - 0xC0);

char ascii_likeness(char c) {
    switch (c) {
        case '0':
            return 'o';
        case '1':
        case '|':
        case '!':
            return 'l';
        case 'I':
        case 'i':
            return 'l';
        case '3':
            return 'e';
        case '5':
            return 's';
        case '-':
        case '_':
        case '.':
        case ':':
        case '/':
            return '_';
        default:
            return ascii::lower(c);
    }
}

bool is_mark(char32_t value) {
    return (value >= 0x0300 && value <= 0x036F) || (value >= 0x1AB0 && value <= 0x1AFF) ||
           (value >= 0x1DC0 && value <= 0x1DFF) || (value >= 0x20D0 && value <= 0x20FF);
}

bool is_dash(char32_t value) {
    return (value >= 0x2010 && value <= 0x2015) || value == 0x2212 || value == 0xFE58 ||
           value == 0xFF0D;
}

/// Appends what one code point looks like.
void append_likeness(std::string& out, const CodePoint& point, std::string_view text) {
    const char32_t value = point.value;
    if (value < 0x80) {
        out += ascii_likeness(static_cast<char>(value));
    } else if (is_dash(value)) {
        out += '_';
    } else if (value >= 0xFF01 && value <= 0xFF5E) {
        out += ascii_likeness(static_cast<char>(value - 0xFF01 + '!'));
    } else if (value >= 0x1D400 && value <= 0x1D6A3) {
        // Mathematical alphabets: 26 capitals and 26 small letters, over and over.
        const char32_t letter = (value - 0x1D400) % 52;
        out += ascii_likeness(static_cast<char>('a' + letter % 26));
    } else if (const auto* like = std::ranges::lower_bound(likenesses, value, {}, &Likeness::value);
               like != likenesses.end() && like->value == value) {
        out += like->looks;
    } else if (value >= 0xC0 && value - 0xC0 < latin_bases.size()) {
        out += ascii_likeness(latin_bases[value - 0xC0]);
    } else {
        out += text.substr(0, static_cast<std::size_t>(point.bytes));
    }
}

}  // namespace

std::string_view to_string(NameFlaw flaw) {
    switch (flaw) {
        case NameFlaw::none:
            return "an ordinary name";
        case NameFlaw::empty:
            return "an empty name";
        case NameFlaw::too_long:
            return "a name of more than 200 bytes";
        case NameFlaw::odd_character:
            return "a name with a control or invisible character";
        case NameFlaw::blank:
            return "a name with a blank";
        case NameFlaw::mixed_script:
            return "a name with letters of several scripts";
        case NameFlaw::non_ascii:
            return "a name with letters that are not ASCII";
    }
    return "an odd name";
}

NameFlaw flaw_of_name(std::string_view name) {
    if (name.empty()) return NameFlaw::empty;
    if (find_odd_character(name)) return NameFlaw::odd_character;
    if (name.size() > name_bytes_max) return NameFlaw::too_long;
    if (name.contains(' ')) return NameFlaw::blank;
    Script script = Script::common;
    bool is_ascii = true;
    bool is_mixed = false;
    for (std::size_t at = 0; at < name.size();) {
        const CodePoint point = first_code_point(name.substr(at));
        at += static_cast<std::size_t>(point.bytes);
        is_ascii = is_ascii && point.value < 0x80;
        const Script found = script_of(point.value);
        if (found == Script::common) continue;
        is_mixed = is_mixed || (script != Script::common && script != found);
        script = found;
    }
    if (is_ascii) return NameFlaw::none;
    return is_mixed ? NameFlaw::mixed_script : NameFlaw::non_ascii;
}

std::string skeleton(std::string_view name) {
    std::string result;
    while (!name.empty()) {
        const CodePoint point = first_code_point(name);
        if (point.bytes == 0) {
            name.remove_prefix(1);
            continue;
        }
        const bool is_dropped = is_mark(point.value) || oddity_of(point.value).has_value();
        if (!is_dropped) append_likeness(result, point, name);
        name.remove_prefix(static_cast<std::size_t>(point.bytes));
    }
    // Two letters that look like one.
    for (std::size_t at = result.find("rn"); at != std::string::npos; at = result.find("rn", at)) {
        result.replace(at, 2, "m");
    }
    for (std::size_t at = result.find("vv"); at != std::string::npos; at = result.find("vv", at)) {
        result.replace(at, 2, "w");
    }
    return result;
}

std::optional<std::string_view> looks_like(std::string_view name,
                                           std::span<const std::string> known) {
    if (std::ranges::find(known, name) != known.end()) return std::nullopt;
    const std::string wanted = skeleton(name);
    for (const std::string& other : known) {
        if (skeleton(other) == wanted) return other;
    }
    return std::nullopt;
}

}  // namespace holdpoint::policy::match
