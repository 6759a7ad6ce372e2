#include "cli/config_file.h"

#include <fmt/format.h>

#include "base/text.h"

namespace holdpoint::cli {
namespace {

std::string_view trim(std::string_view text) {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r'))
        text.remove_suffix(1);
    return text;
}

bool is_key(std::string_view text) {
    for (char c : text)
        if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && !(c >= '0' && c <= '9') &&
            c != '_' && c != '-')
            return false;
    return !text.empty();
}

/// What follows a value may only be a comment.
bool is_rest_empty(std::string_view rest) {
    rest = trim(rest);
    return rest.empty() || rest.front() == '#';
}

Result<std::string> parse_value(std::string_view text) {
    const Error bad{ErrorCode::invalid_argument, "expected a string in quotes, true or false"};
    if (text.starts_with('\'')) {
        const std::size_t end = text.find('\'', 1);
        if (end == std::string_view::npos || !is_rest_empty(text.substr(end + 1))) return bad;
        return std::string(text.substr(1, end - 1));
    }
    if (text.starts_with('"')) {
        std::string out;
        for (std::size_t i = 1; i < text.size(); ++i) {
            if (text[i] == '"') {
                if (!is_rest_empty(text.substr(i + 1))) return bad;
                return out;
            }
            if (text[i] != '\\') {
                out += text[i];
                continue;
            }
            ++i;
            if (i == text.size() || (text[i] != '"' && text[i] != '\\')) return bad;
            out += text[i];
        }
        return bad;
    }
    for (std::string_view word : {"true", "false"})
        if (text.starts_with(word) && is_rest_empty(text.substr(word.size())))
            return std::string(word);
    return bad;
}

}  // namespace

Result<std::map<std::string, std::string>> parse_config(std::string_view text) {
    std::map<std::string, std::string> values;
    int number = 0;
    while (!text.empty()) {
        ++number;
        const std::size_t end = std::min(text.find('\n'), text.size());
        const std::string_view line = trim(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
        if (line.empty() || line.front() == '#') continue;
        if (line.front() == '[') break;

        const auto fail = [&](std::string_view why) {
            return Error{ErrorCode::invalid_argument, fmt::format("line {}: {}", number, why)};
        };
        const std::size_t equals = line.find('=');
        if (equals == std::string_view::npos) return fail("expected `key = \"value\"`");
        const std::string_view key = trim(line.substr(0, equals));
        if (!is_key(key)) return fail("expected a bare key before `=`");
        Result<std::string> value = parse_value(trim(line.substr(equals + 1)));
        if (!value) return fail(value.error().message);
        if (!values.emplace(key, std::move(*value)).second)
            return fail(fmt::format("`{}` is set twice", key));
    }
    return values;
}

}  // namespace holdpoint::cli
