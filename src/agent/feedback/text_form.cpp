#include "agent/feedback/text_form.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <vector>

#include <fmt/format.h>

#include "base/ascii.h"
#include "base/text.h"
#include "policy/match/url.h"

namespace holdpoint::agent::feedback {
namespace {

namespace match = policy::match;

std::string mapped(std::string_view text, unsigned options) {
    utf8proc_uint8_t* out = nullptr;
    const utf8proc_ssize_t size = utf8proc_map(
        reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
        static_cast<utf8proc_ssize_t>(text.size()), &out, static_cast<utf8proc_option_t>(options));
    if (size < 0) return std::string(text);
    std::string result(reinterpret_cast<const char*>(out), static_cast<std::size_t>(size));
    std::free(out);  // NOLINT(cppcoreguidelines-no-malloc): allocated by the library
    return result;
}

bool is_plain_ascii(std::string_view text) {
    return std::ranges::all_of(text, [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return byte < 0x80 && c != '\r';
    });
}

bool is_odd_blank(char32_t value) {
    return value == 0xA0 || value == 0x1680 || (value >= 0x2000 && value <= 0x200A) ||
           value == 0x202F || value == 0x205F || value == 0x3000;
}

/// What a character stands for; 0 drops it.
char32_t plain_of(char32_t value) {
    if (is_odd_blank(value)) return ' ';
    if (value == 0x2028 || value == 0x2029 || value == 0x85) return '\n';
    if (value >= 0xFF01 && value <= 0xFF5E) return value - 0xFEE0;
    return value;
}

void append(std::string& out, char32_t value) {
    utf8proc_uint8_t bytes[4];
    const utf8proc_ssize_t size = utf8proc_encode_char(static_cast<utf8proc_int32_t>(value), bytes);
    out.append(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
}

bool is_white(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\v' || c == '\f'; }

std::string collapsed(std::string_view text) {
    std::string result;
    bool is_between = false;
    for (const char c : text) {
        if (is_white(c)) {
            is_between = !result.empty();
            continue;
        }
        if (is_between) result += ' ';
        is_between = false;
        result += c;
    }
    return result;
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
    for (std::size_t at = text.find(from); at != std::string::npos;
         at = text.find(from, at + to.size())) {
        text.replace(at, from.size(), to);
    }
}

using ascii::is_letter;
bool is_hex(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/// Escapes of characters that need none are undone, the others are written in capitals.
std::string percent_form(std::string_view text) {
    std::string result;
    for (std::size_t at = 0; at < text.size(); ++at) {
        const bool is_escape =
            text[at] == '%' && at + 2 < text.size() && is_hex(text[at + 1]) && is_hex(text[at + 2]);
        if (!is_escape) {
            result += text[at];
            continue;
        }
        const char value =
            static_cast<char>(std::stoi(std::string(text.substr(at + 1, 2)), nullptr, 16));
        const bool needs_none = is_letter(value) || (value >= '0' && value <= '9') ||
                                std::string_view("-._~").contains(value);
        if (needs_none && value != '\0') {
            result += value;
        } else {
            result += fmt::format("%{:02X}", static_cast<unsigned char>(value));
        }
        at += 2;
    }
    return result;
}

/// Names in order; what has one name keeps its own.
std::string query_form(std::string_view query) {
    std::map<std::string, std::vector<std::string>> by_name;
    while (!query.empty()) {
        const std::size_t end = std::min(query.find('&'), query.size());
        const std::string part = percent_form(query.substr(0, end));
        if (!part.empty()) by_name[part.substr(0, part.find('='))].push_back(part);
        query.remove_prefix(std::min(end + 1, query.size()));
    }
    std::string result;
    for (const auto& [name, parts] : by_name) {
        for (const std::string& part : parts) result += part + '&';
    }
    return result;
}

std::string windows_path(std::string_view text) {
    std::string result(text);
    const bool has_drive = result.size() > 1 && is_letter(result[0]) && result[1] == ':';
    if (!has_drive && !result.starts_with("\\\\") && !result.starts_with(".\\") &&
        !result.starts_with("..\\")) {
        return result;
    }
    std::ranges::replace(result, '\\', '/');
    return result;
}

struct StandIn {
    std::string_view wildcard, letter;
};
constexpr StandIn stand_ins[] = {{"*", "\u2021"}, {"?", "\u203D"}};

/// The path normaliser refuses what it cannot judge: drive letters, behind which is a path from its
/// root, and wildcards. Here paths are only compared, and a pattern is the same in both spellings.
std::string resolved(const std::string& text, const match::PathContext& context) {
    const bool has_drive = text.size() > 1 && is_letter(text[0]) && text[1] == ':';
    const std::string drive = has_drive ? text.substr(0, 2) : "";
    std::string rest = has_drive ? text.substr(2) : text;
    for (const StandIn& one : stand_ins) {
        if (rest.contains(one.letter)) return text;
        replace_all(rest, one.wildcard, one.letter);
    }
    const Result<match::NormalPath> path =
        match::normalise_path(rest, has_drive ? match::PathContext{} : context);
    std::string result = path ? path->text : rest;
    for (const StandIn& one : stand_ins) replace_all(result, one.letter, one.wildcard);
    return drive + result;
}

}  // namespace

std::string plain_form(std::string_view text) {
    if (is_plain_ascii(text)) return std::string(text);
    if (!is_utf8(text)) return std::string(text);
    const std::string composed = mapped(text, UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_IGNORE);
    std::string result;
    for (std::string_view rest = composed; !rest.empty();) {
        const CodePoint point = first_code_point(rest);
        rest.remove_prefix(static_cast<std::size_t>(point.bytes));
        if (point.value == '\r') {
            if (!rest.starts_with('\n')) result += '\n';
            continue;
        }
        append(result, plain_of(point.value));
    }
    return result;
}

std::string line_form(std::string_view text) { return collapsed(plain_form(text)); }

std::string content_form(std::string_view text) {
    const std::string plain = plain_form(text);
    std::string result;
    for (std::string_view rest = plain; !rest.empty();) {
        const std::size_t end = std::min(rest.find('\n'), rest.size());
        const std::string_view line = rest.substr(0, end);
        rest.remove_prefix(std::min(end + 1, rest.size()));
        const std::size_t indent = line.find_first_not_of(" \t\v\f");
        if (indent == std::string_view::npos) continue;
        if (!result.empty()) result += '\n';
        result += line.substr(0, indent);
        result += collapsed(line.substr(indent));
    }
    return result;
}

std::string prose_form(std::string_view text) {
    std::string result = line_form(text);
    for (const std::string_view quote : {"\u2018", "\u2019"}) replace_all(result, quote, "'");
    for (const std::string_view quote : {"\u201C", "\u201D"}) replace_all(result, quote, "\"");
    return result;
}

std::string folded(std::string_view text) {
    return mapped(text, UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_CASEFOLD);
}

std::string path_form(std::string_view text, const match::PathContext& context) {
    std::string path = line_form(text);
    if (path.starts_with("file:///")) path.erase(0, 7);
    return folded(resolved(windows_path(path), context));
}

std::optional<std::string> url_form(std::string_view text) {
    const std::string plain = line_form(text);
    if (!plain.contains("://")) return std::nullopt;
    const Result<match::Url> url = match::parse_url(plain);
    if (!url || url->host.empty()) return std::nullopt;
    std::string_view rest = plain;
    const std::size_t fragment_at = std::min(rest.find('#'), rest.size());
    const std::string_view fragment = rest.substr(fragment_at);
    rest = rest.substr(0, fragment_at);
    const std::size_t query_at = std::min(rest.find('?'), rest.size());
    const std::string_view query = rest.substr(query_at);
    const std::string_view before = rest.substr(0, query_at);
    // A user in front of the host is a part of where it goes.
    const std::size_t user_at = before.find("://") + 3;
    const std::size_t user_end = url->has_user ? before.find('@', user_at) + 1 : user_at;

    std::string path = percent_form(url->path);
    while (path.size() > 1 && path.ends_with('/')) path.pop_back();
    std::string result =
        fmt::format("{}://{}{}:{}{}", url->scheme, before.substr(user_at, user_end - user_at),
                    url->host, url->port, path);
    if (query.size() > 1) result += '?' + query_form(query.substr(1));
    if (fragment.size() > 1) result += fragment;
    return result;
}

std::optional<std::string> email_form(std::string_view text) {
    const std::string plain = line_form(text);
    const std::size_t at = plain.find('@');
    const bool is_address = at != std::string::npos && at > 0 && at == plain.rfind('@') &&
                            plain.find('.', at) != std::string::npos &&
                            plain.find_first_of(" /:<>,;") == std::string::npos;
    if (!is_address) return std::nullopt;
    return folded(plain);
}

}  // namespace holdpoint::agent::feedback
