#include "base/text.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <optional>

#include <fmt/format.h>

namespace holdpoint {
namespace {

constexpr std::string_view ellipsis = "…";
constexpr std::uint64_t high_bits = 0x8080808080808080ULL;

unsigned char byte_at(std::string_view text, std::size_t at) {
    return static_cast<unsigned char>(text[at]);
}

bool is_continuation(unsigned char byte) { return (byte & 0xC0) == 0x80; }

struct Range {
    char32_t first;
    char32_t last;
};

// Sorted. Whatever steers the display or leaves no mark on it.
constexpr std::array hidden = std::to_array<Range>({
    {0x0000, 0x001F},    // C0 controls
    {0x007F, 0x009F},    // delete and C1 controls
    {0x00AD, 0x00AD},    // soft hyphen
    {0x034F, 0x034F},    // combining grapheme joiner
    {0x061C, 0x061C},    // Arabic letter mark
    {0x115F, 0x1160},    // Hangul fillers
    {0x17B4, 0x17B5},    // invisible Khmer vowels
    {0x180B, 0x180F},    // Mongolian variation selectors and vowel separator
    {0x200B, 0x200F},    // zero-width characters and direction marks
    {0x2028, 0x202E},    // line and paragraph separator, embeddings and overrides
    {0x2060, 0x206F},    // word joiner, invisible operators, isolates, deprecated controls
    {0x2800, 0x2800},    // blank Braille pattern
    {0x3164, 0x3164},    // Hangul filler
    {0xE000, 0xF8FF},    // private use
    {0xFDD0, 0xFDEF},    // noncharacters
    {0xFE00, 0xFE0F},    // variation selectors
    {0xFEFF, 0xFEFF},    // byte order mark
    {0xFFA0, 0xFFA0},    // half-width Hangul filler
    {0xFFF0, 0xFFFB},    // unassigned and interlinear annotation
    {0xFFFE, 0xFFFF},    // noncharacters
    {0x1BCA0, 0x1BCA3},  // shorthand format controls
    {0x1D173, 0x1D17A},  // musical format controls
    {0xE0000, 0xE0FFF},  // tags and further variation selectors
    {0xF0000, 0x10FFFF}  // private use planes
});

bool is_hidden(char32_t value) {
    if ((value & 0xFFFE) == 0xFFFE) return true;  // the last two of every plane are noncharacters
    const auto* range = std::ranges::lower_bound(hidden, value, {}, &Range::last);
    return range != hidden.end() && range->first <= value;
}

bool imitates_mark(std::string_view text) {
    return text.starts_with("<U+") || text.starts_with("<0x");
}

/// How much of the beginning is printable ASCII that can neither hide nor imitate anything.
std::size_t plain_length(std::string_view text) {
    std::size_t length = 0;
    while (length < text.size() && text[length] >= ' ' && text[length] <= '~' &&
           text[length] != '<')
        ++length;
    return length;
}

std::optional<unsigned> hex_digit(char c) {
    if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
    if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a' + 10);
    if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A' + 10);
    return std::nullopt;
}

Result<std::string> decode_query_text(std::string_view text) {
    Result<std::string> decoded = percent_decode(text, Plus::space);
    if (!decoded) return decoded;
    if (!is_utf8(*decoded)) return Error{ErrorCode::invalid_argument, "query is not valid UTF-8"};
    if (decoded->contains('\0')) return Error{ErrorCode::invalid_argument, "query holds U+0000"};
    return decoded;
}

}  // namespace

CodePoint first_code_point(std::string_view text) {
    if (text.empty()) return {};
    const unsigned char lead = byte_at(text, 0);
    if (lead < 0x80) return {lead, 1};

    const int bytes = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
    if (lead < 0xC2 || lead > 0xF4 || text.size() < static_cast<std::size_t>(bytes)) return {};
    char32_t value = lead & (0x7F >> bytes);
    for (int i = 1; i < bytes; ++i) {
        const unsigned char byte = byte_at(text, static_cast<std::size_t>(i));
        if (!is_continuation(byte)) return {};
        value = (value << 6) | (byte & 0x3F);
    }
    const bool overlong = (bytes == 3 && value < 0x800) || (bytes == 4 && value < 0x10000);
    if (overlong || (value >= 0xD800 && value <= 0xDFFF) || value > 0x10FFFF) return {};
    return {value, bytes};
}

std::size_t utf8_prefix(std::string_view text) {
    std::size_t at = 0;
    while (at < text.size()) {
        std::uint64_t word = 0;
        if (text.size() - at >= sizeof word) {
            std::memcpy(&word, text.data() + at, sizeof word);
            if ((word & high_bits) == 0) {
                at += sizeof word;
                continue;
            }
        }
        const CodePoint point = first_code_point(text.substr(at));
        if (point.bytes == 0) return at;
        at += static_cast<std::size_t>(point.bytes);
    }
    return at;
}

bool is_utf8(std::string_view text) { return utf8_prefix(text) == text.size(); }

std::string cut_utf8(std::string_view text, std::size_t bytes_max) {
    if (text.size() <= bytes_max) return std::string(text);
    const bool has_room = bytes_max >= ellipsis.size();
    std::size_t end = has_room ? bytes_max - ellipsis.size() : bytes_max;
    while (end > 0 && is_continuation(byte_at(text, end))) --end;
    std::string result(text.substr(0, end));
    if (has_room) result += ellipsis;
    return result;
}

std::string visible(std::string_view text, Newlines newlines) {
    std::string result;
    result.reserve(text.size());
    append_visible(result, text, newlines);
    return result;
}

std::string quotable(std::string_view text, std::size_t bytes_max) {
    return cut_utf8(visible(cut_utf8(text, bytes_max)), bytes_max);
}

void append_visible(std::string& out, std::string_view text, Newlines newlines) {
    while (!text.empty()) {
        // Nearly all text is plain; it is taken in whole runs.
        const std::size_t plain = plain_length(text);
        out.append(text.substr(0, plain));
        text.remove_prefix(plain);
        if (text.empty()) break;
        const CodePoint point = first_code_point(text);
        if (point.bytes == 0) {
            fmt::format_to(std::back_inserter(out), "<0x{:02X}>", byte_at(text, 0));
            text.remove_prefix(1);
            continue;
        }
        const bool kept = point.value == '\n' && newlines == Newlines::keep;
        if (!kept && (is_hidden(point.value) || imitates_mark(text))) {
            fmt::format_to(std::back_inserter(out), "<U+{:04X}>",
                           static_cast<std::uint32_t>(point.value));
        } else {
            out.append(text.substr(0, static_cast<std::size_t>(point.bytes)));
        }
        text.remove_prefix(static_cast<std::size_t>(point.bytes));
    }
}

Result<std::string> percent_decode(std::string_view text, Plus plus) {
    std::string result;
    result.reserve(text.size());
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (text[at] == '+' && plus == Plus::space) {
            result += ' ';
            continue;
        }
        if (text[at] != '%') {
            result += text[at];
            continue;
        }
        const auto high = text.size() - at > 2 ? hex_digit(text[at + 1]) : std::nullopt;
        const auto low = high ? hex_digit(text[at + 2]) : std::nullopt;
        if (!low) {
            return Error{ErrorCode::invalid_argument,
                         fmt::format("bad percent escape `{}`", visible(text.substr(at, 3)))};
        }
        result += static_cast<char>(*high * 16 + *low);
        at += 2;
    }
    return result;
}

std::string percent_encode(std::string_view text) {
    std::string result;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                              (c >= '0' && c <= '9') || c == '-' || c == '_';
        if (is_plain)
            result += c;
        else
            result += fmt::format("%{:02X}", byte);
    }
    return result;
}

Result<std::vector<std::pair<std::string, std::string>>> parse_query(std::string_view query) {
    std::vector<std::pair<std::string, std::string>> result;
    while (!query.empty()) {
        const std::size_t end = std::min(query.find('&'), query.size());
        const std::string_view part = query.substr(0, end);
        query.remove_prefix(std::min(end + 1, query.size()));
        if (part.empty()) continue;

        const std::size_t equals = std::min(part.find('='), part.size());
        Result<std::string> name = decode_query_text(part.substr(0, equals));
        if (!name) return name.error();
        Result<std::string> value =
            decode_query_text(part.substr(std::min(equals + 1, part.size())));
        if (!value) {
            value.error().field = visible(cut_utf8(*name, 64));
            return value.error();
        }
        result.emplace_back(std::move(*name), std::move(*value));
    }
    return result;
}

}  // namespace holdpoint
