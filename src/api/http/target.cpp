#include "api/http/target.h"

#include <algorithm>
#include <string>

#include "base/text.h"

namespace holdpoint::http {

namespace {

constexpr std::size_t query_parameters_max = 100;

int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

/// Decodes %XX, and `+` as a space in a query. False on a broken escape or a control character.
bool decode(std::string_view text, bool is_query, std::string& out) {
    out.reserve(text.size());
    for (std::size_t at = 0; at < text.size(); ++at) {
        char c = text[at];
        if (c == '%') {
            if (at + 2 >= text.size()) return false;
            const int high = hex_digit(text[at + 1]);
            const int low = hex_digit(text[at + 2]);
            if (high < 0 || low < 0) return false;
            c = static_cast<char>(high * 16 + low);
            at += 2;
            if (!is_query && c == '/') return false;
        } else if (static_cast<unsigned char>(c) >= 0x80) {
            return false;
        } else if (is_query && c == '+') {
            c = ' ';
        }
        if (is_control(c)) return false;
        out.push_back(c);
    }
    // An overlong `/` must not get past the checks on the decoded path.
    return is_utf8(out);
}

bool has_dot_segment(std::string_view path) {
    while (!path.empty()) {
        path.remove_prefix(1);
        const std::string_view segment = path.substr(0, path.find('/'));
        if (segment == "." || segment == "..") return true;
        path.remove_prefix(segment.size());
    }
    return false;
}

Request::QueryFault read_query(std::string_view text, Request& request) {
    while (!text.empty()) {
        const std::string_view part = text.substr(0, text.find('&'));
        text.remove_prefix(part.size() < text.size() ? part.size() + 1 : part.size());
        if (part.empty()) continue;
        if (request.query.size() == query_parameters_max) return {"too many query parameters", {}};
        const std::size_t equals = part.find('=');
        std::string name;
        std::string value;
        if (!decode(part.substr(0, equals), true, name))
            return {"the name of a query parameter is malformed", {}};
        if (equals != std::string_view::npos && !decode(part.substr(equals + 1), true, value))
            return {"must be UTF-8 without control characters, each byte as `%XX` where needed",
                    std::move(name)};
        request.query.emplace_back(std::move(name), std::move(value));
    }
    return {};
}

}  // namespace

SplitTarget split_target(std::string_view target, std::string_view method) {
    std::size_t begin = 0;
    for (const std::string_view scheme : {"http://", "https://"})
        if (equal_ignoring_case(target.substr(0, scheme.size()), scheme)) begin = scheme.size();
    if (begin == 0) return {target};
    const std::size_t end = std::min(target.find_first_of("/?#", begin), target.size());
    SplitTarget split{target.substr(end), begin, end - begin};
    // Without a host it is no target of ours.
    if (split.authority_size == 0) return {target};
    if (split.rest.empty()) split.rest = method == "OPTIONS" ? "*" : "/";
    return split;
}

std::string_view read_target(std::string_view target, Request& request) {
    if (target == "*" && request.method == "OPTIONS") {
        request.path = target;
        return {};
    }
    // `http://host?query` has no path; the root is meant.
    const std::string rooted = target.starts_with('?') ? "/" + std::string(target) : std::string();
    if (!rooted.empty()) target = rooted;
    if (target.empty() || target.front() != '/') {
        return "the request target must be a path beginning with `/`";
    }
    if (target.find('#') != std::string_view::npos) return "a request target has no fragment";
    const std::size_t question = target.find('?');
    const std::string_view path = target.substr(0, question);
    if (path.find('%') == std::string_view::npos) {
        for (const char c : path) {
            if (is_control(c) || static_cast<unsigned char>(c) >= 0x80) return "malformed path";
        }
        request.path = path;
    } else if (!decode(path, false, request.path)) {
        return "malformed path";
    }
    if (request.path.find('\\') != std::string::npos) return "malformed path";
    if (has_dot_segment(request.path)) return "a path has no `.` or `..` segments";
    if (question != std::string_view::npos)
        request.query_fault = read_query(target.substr(question + 1), request);
    return {};
}

}  // namespace holdpoint::http
