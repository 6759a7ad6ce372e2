#include "policy/yaml/scalar.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string>

#include <fmt/format.h>

#include "base/ascii.h"
#include "base/text.h"

namespace holdpoint::policy::yaml {
namespace {

using ascii::is_digit;

/// `word`, `Word` or `WORD`, the three spellings the core schema knows.
bool is_spelling_of(std::string_view text, std::string_view word) {
    if (text.size() != word.size() || ascii::lowered(text) != word) return false;
    const bool first_is_upper = text[0] >= 'A' && text[0] <= 'Z';
    const auto rest = text.substr(1);
    if (std::ranges::none_of(rest, ascii::is_upper)) return true;
    return first_is_upper && std::ranges::all_of(rest, ascii::is_upper);
}

bool is_null(std::string_view text) {
    return text.empty() || text == "~" || is_spelling_of(text, "null");
}

/// Booleans of YAML 1.1 that are text in YAML 1.2.
bool is_old_boolean(std::string_view text) {
    constexpr std::array words =
        std::to_array<std::string_view>({"y", "n", "yes", "no", "on", "off"});
    if (text.size() > 3) return false;
    return std::ranges::find(words, ascii::lowered(text)) != words.end();
}

std::string_view without_sign(std::string_view text) {
    if (!text.empty() && (text[0] == '-' || text[0] == '+')) text.remove_prefix(1);
    return text;
}

std::size_t digits_at(std::string_view text, std::size_t at) {
    std::size_t count = 0;
    while (at + count < text.size() && is_digit(text[at + count])) ++count;
    return count;
}

enum class Shape { none, integer, number };

/// The core schema's decimal forms: `[-+]?[0-9]+` and `[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE]…)?`.
Shape decimal_shape(std::string_view text) {
    text = without_sign(text);
    const std::size_t whole = digits_at(text, 0);
    std::size_t at = whole;
    if (at == text.size()) return whole > 0 ? Shape::integer : Shape::none;
    if (text[at] == '.') {
        const std::size_t fraction = digits_at(text, at + 1);
        if (whole == 0 && fraction == 0) return Shape::none;
        at += 1 + fraction;
    } else if (whole == 0) {
        return Shape::none;
    }
    if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
        ++at;
        if (at < text.size() && (text[at] == '-' || text[at] == '+')) ++at;
        const std::size_t exponent = digits_at(text, at);
        if (exponent == 0) return Shape::none;
        at += exponent;
    }
    return at == text.size() ? Shape::number : Shape::none;
}

/// `0x1F`, `0o17`: the base, or 0. `0b1` is YAML 1.1 and answered with 2, to be refused.
int based_shape(std::string_view text) {
    text = without_sign(text);
    if (text.size() < 3 || text[0] != '0') return 0;
    const auto all = [&](auto test) { return std::ranges::all_of(text.substr(2), test); };
    switch (text[1]) {
        case 'x':
            return all([](char c) {
                return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
            })
                       ? 16
                       : 0;
        case 'o':
            return all([](char c) { return c >= '0' && c <= '7'; }) ? 8 : 0;
        case 'b':
            return all([](char c) { return c == '0' || c == '1' || c == '_'; }) ? 2 : 0;
        default:
            return 0;
    }
}

bool has_leading_zero(std::string_view text) {
    text = without_sign(text);
    return text.size() > 1 && text[0] == '0' && is_digit(text[1]);
}

/// A number once its underscores are taken out, as YAML 1.1 does.
bool is_number_with_underscores(std::string_view text) {
    if (!text.contains('_') || !is_digit(without_sign(text).empty() ? ' ' : without_sign(text)[0]))
        return false;
    std::string plain(text);
    std::erase(plain, '_');
    return decimal_shape(plain) != Shape::none || based_shape(plain) != 0;
}

bool is_not_finite_word(std::string_view text) {
    const std::string word = ascii::lowered(without_sign(text));
    return word == ".inf" || word == ".nan";
}

/// Why this plain scalar is refused, or empty.
std::string_view why_ambiguous(std::string_view text) {
    if (is_old_boolean(text)) return "quote it, or write `true` or `false`";
    if (text == "<<") return "merge keys are not supported";
    if (is_not_finite_word(text)) return "numbers are finite here; quote it if it is text";
    if (is_number_with_underscores(text))
        return "numbers have no underscores; quote it if it is text";
    const bool is_number = decimal_shape(text) != Shape::none;
    if (is_number && has_leading_zero(text)) {
        return "numbers have no leading zeros; quote it if it is text";
    }
    if (based_shape(text) == 2) return "binary numbers are not supported; quote it if it is text";
    return {};
}

Error refused(std::string_view text, Mark mark, std::string_view why) {
    return error_at(mark, fmt::format("`{}`: {}", visible(cut_utf8(text, 64)), why));
}

Result<void> set_integer(Node& node, int base) {
    std::string_view digits = node.text;
    const bool is_negative = digits[0] == '-';
    digits = without_sign(digits);
    if (base != 10) digits.remove_prefix(2);

    const std::string signed_digits = (is_negative ? "-" : "") + std::string(digits);
    const char* end = signed_digits.data() + signed_digits.size();
    const auto [stopped, code] = std::from_chars(signed_digits.data(), end, node.integer, base);
    if (code != std::errc() || stopped != end) {
        return refused(node.text, node.mark, "does not fit into a 64 bit integer");
    }
    node.kind = Kind::integer;
    node.number = static_cast<double>(node.integer);
    return {};
}

Result<void> set_number(Node& node) {
    std::string_view digits = node.text;
    if (digits[0] == '+') digits.remove_prefix(1);
    const char* end = digits.data() + digits.size();
    const auto [stopped, code] =
        std::from_chars(digits.data(), digits.data() + digits.size(), node.number);
    if (code != std::errc() || stopped != end || !std::isfinite(node.number)) {
        return refused(node.text, node.mark, "does not fit into a 64 bit floating point number");
    }
    node.kind = Kind::number;
    return {};
}

}  // namespace

Result<void> resolve_plain(Node& node) {
    const std::string_view text = node.text;
    if (const std::string_view why = why_ambiguous(text); !why.empty()) {
        return refused(text, node.mark, why);
    }
    node.kind = Kind::text;
    if (is_null(text)) {
        node.kind = Kind::null;
    } else if (is_spelling_of(text, "true") || is_spelling_of(text, "false")) {
        node.kind = Kind::boolean;
        node.boolean = ascii::lowered(text) == "true";
    } else if (const int base = based_shape(text); base != 0) {
        return set_integer(node, base);
    } else if (const Shape shape = decimal_shape(text); shape != Shape::none) {
        return shape == Shape::integer ? set_integer(node, 10) : set_number(node);
    }
    return {};
}

Result<void> check_plain_key(std::string_view key, Mark mark) {
    if (is_old_boolean(key)) return {};
    if (key.empty()) return error_at(mark, "a key is missing before `:`");
    Node node;
    node.mark = mark;
    node.text = key;
    if (Result<void> known = resolve_plain(node); !known) return known;
    if (node.kind != Kind::text) return refused(key, mark, "a key is a name; quote it");
    return {};
}

}  // namespace holdpoint::policy::yaml
