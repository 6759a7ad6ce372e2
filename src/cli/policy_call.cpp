#include "cli/policy_call.h"

#include <fmt/format.h>

#include <algorithm>

namespace holdpoint::cli {
namespace {

constexpr std::string_view blanks = " \t\r\n";

std::string_view trimmed(std::string_view text) {
    const std::size_t begin = text.find_first_not_of(blanks);
    if (begin == std::string_view::npos) return {};
    return text.substr(begin, text.find_last_not_of(blanks) + 1 - begin);
}

GivenCall read_call(std::string_view text, int line) {
    return {line, json::parse(text), text.starts_with('{')};
}

bool is_call(const GivenCall& given) {
    const json::object* object = given.json ? given.json->if_object() : nullptr;
    return object != nullptr && (object->contains("tool") || object->contains("event"));
}

std::vector<GivenCall> read_lines(std::string_view text) {
    std::vector<GivenCall> calls;
    int line = 0;
    while (!text.empty()) {
        ++line;
        const std::size_t end = std::min(text.find('\n'), text.size());
        const std::string_view one = trimmed(text.substr(0, end));
        if (!one.empty()) calls.push_back(read_call(one, line));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return calls;
}

}  // namespace

GivenCalls read_calls(std::string_view text) {
    GivenCall whole = read_call(trimmed(text), 1);
    if (!whole.json) {
        std::vector<GivenCall> lines = read_lines(text);
        if (lines.size() > 1 && std::ranges::any_of(lines, is_call))
            return {std::move(lines), true};
    }
    std::vector<GivenCall> one;
    one.push_back(std::move(whole));
    return {std::move(one), false};
}

bool is_fault_of_arguments(const Error& error) {
    for (const std::string_view path : {"args", "call.args"})
        if (error.field == path || error.field.starts_with(std::string(path) + ".") ||
            error.field.starts_with(std::string(path) + "["))
            return true;
    return false;
}

json::object unreadable_verdict(const Error& error, std::string_view policy_version) {
    json::object verdict{
        {"kind", "deny"},
        {"rule", "schema"},
        {"gate", ""},
        {"risk", "critical"},
        {"why", "schema"},
        {"because", "the call cannot be read: " +
                        (error.field.empty() ? "" : "`" + error.field + "` ") + error.message}};
    if (!policy_version.empty()) verdict["policy"] = policy_version;
    return verdict;
}

}  // namespace holdpoint::cli
