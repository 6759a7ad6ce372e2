#include "policy/names.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace holdpoint::policy {
namespace {

struct LookAlike {
    char32_t letter;
    char like;
};

// Greek and Cyrillic letters that most fonts draw like Latin ones. Not complete: whatever is not
// ASCII and not listed in `tools` is held in any case; this only finds the name it imitates.
constexpr auto look_alikes = std::to_array<LookAlike>(
    {{U'а', 'a'}, {U'α', 'a'}, {U'в', 'b'}, {U'с', 'c'}, {U'ϲ', 'c'}, {U'ԁ', 'd'}, {U'е', 'e'},
     {U'ε', 'e'}, {U'һ', 'h'}, {U'і', 'i'}, {U'ι', 'i'}, {U'ј', 'j'}, {U'к', 'k'}, {U'κ', 'k'},
     {U'ӏ', 'l'}, {U'м', 'm'}, {U'п', 'n'}, {U'η', 'n'}, {U'о', 'o'}, {U'ο', 'o'}, {U'р', 'p'},
     {U'ρ', 'p'}, {U'ѕ', 's'}, {U'т', 't'}, {U'τ', 't'}, {U'υ', 'u'}, {U'ν', 'v'}, {U'ѵ', 'v'},
     {U'ԝ', 'w'}, {U'х', 'x'}, {U'χ', 'x'}, {U'у', 'y'}, {U'γ', 'y'}, {U'А', 'a'}, {U'В', 'b'},
     {U'Е', 'e'}, {U'К', 'k'}, {U'М', 'm'}, {U'Н', 'h'}, {U'О', 'o'}, {U'Р', 'p'}, {U'С', 'c'},
     {U'Т', 't'}, {U'Х', 'x'}, {U'У', 'y'}, {U'І', 'i'}, {U'Ѕ', 's'}, {U'Ј', 'j'}});

char ascii_of(char32_t letter) {
    // Full-width forms are the same letters in other clothes.
    if (letter >= 0xFF01 && letter <= 0xFF5E) return static_cast<char>(letter - 0xFF01 + '!');
    const auto found = std::find_if(look_alikes.begin(), look_alikes.end(),
                                    [&](const LookAlike& one) { return one.letter == letter; });
    return found == look_alikes.end() ? '\0' : found->like;
}

char folded(char c) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (c == '0') return 'o';
    if (c == '1' || c == 'i' || c == '|') return 'l';
    if (c == '5') return 's';
    return c;
}

bool is_separator(char c) { return c == '-' || c == '_' || c == '.' || c == ' ' || c == '/'; }

}  // namespace

bool is_plain_name(std::string_view name) {
    return !name.empty() &&
           std::all_of(name.begin(), name.end(), [](char c) { return c > ' ' && c < 127; });
}

std::string skeleton(std::string_view name) {
    std::string out;
    while (!name.empty()) {
        const CodePoint point = first_code_point(name);
        const std::size_t bytes = point.bytes > 0 ? static_cast<std::size_t>(point.bytes) : 1;
        char c = '\0';
        if (point.bytes == 1)
            c = static_cast<char>(point.value);
        else if (point.bytes > 1)
            c = ascii_of(point.value);
        name.remove_prefix(bytes);
        // What has no like is invisible or an accent as often as not: leaving it out finds more.
        if (c == '\0' || is_separator(c) || c < ' ') continue;
        out += folded(c);
        if (out.ends_with("rn")) out.replace(out.size() - 2, 2, "m");
        if (out.ends_with("vv")) out.replace(out.size() - 2, 2, "w");
    }
    return out;
}

}  // namespace holdpoint::policy
