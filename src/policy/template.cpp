#include "policy/template.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "core/secret.h"
#include "policy/call.h"
#include "policy/paths.h"
#include "policy/section.h"

namespace holdpoint::policy {
namespace {

constexpr std::size_t value_bytes_max = 80;
constexpr std::size_t line_bytes_max = 240;

constexpr auto shown_paths = std::to_array<std::string_view>(
    {"tool", "agent.id", "user.id", "session", "task.id", "plan.title", "response.text"});

std::string shown(const json::value& value) {
    if (const boost::json::string* text = value.if_string())
        return visible(cut_utf8({text->data(), text->size()}, value_bytes_max));
    if (value.is_array()) {
        const std::size_t count = value.get_array().size();
        return fmt::format("{} item{}", count, count == 1 ? "" : "s");
    }
    return visible(cut_utf8(json::canonical(core::without_secrets(value)), value_bytes_max));
}

std::string text_at(const Call& call, std::string_view path) {
    if (path == "tool") return visible(call.tool);
    if (path == "agent.id") return visible(call.agent);
    if (path == "user.id") return visible(call.user);
    if (path == "session") return visible(call.session);
    if (path == "task.id") return visible(call.task);
    const json::value* found = arg_at(call, path);
    if (!found && call.subject.is_object()) {
        const std::size_t dot = path.find('.');
        if (dot != std::string_view::npos)
            found = call.subject.get_object().if_contains(path.substr(dot + 1));
    }
    return found && !found->is_null() ? shown(*found) : "(none)";
}

/// Calls `text(piece)` and `path(name)` for the parts of a template, in order.
template <class OnText, class OnPath>
bool split(std::string_view source, OnText on_text, OnPath on_path) {
    while (!source.empty()) {
        const std::size_t open = source.find("{{");
        on_text(source.substr(0, open));
        if (open == std::string_view::npos) return true;
        const std::size_t close = source.find("}}", open);
        if (close == std::string_view::npos) return false;
        std::string_view path = source.substr(open + 2, close - open - 2);
        while (path.starts_with(' ')) path.remove_prefix(1);
        while (path.ends_with(' ')) path.remove_suffix(1);
        on_path(path);
        source.remove_prefix(close + 2);
    }
    return true;
}

}  // namespace

Result<std::vector<std::string>> template_paths(std::string_view text) {
    std::vector<std::string> paths;
    const bool is_closed = split(
        text, [](std::string_view) {}, [&](std::string_view path) { paths.emplace_back(path); });
    if (!is_closed) return Error{ErrorCode::invalid_argument, "`{{` is never closed", ""};
    for (const std::string& path : paths) {
        const bool is_known =
            (path.starts_with("args.") && path.size() > 5) ||
            std::find(shown_paths.begin(), shown_paths.end(), path) != shown_paths.end();
        if (!is_known)
            return Error{ErrorCode::invalid_argument,
                         fmt::format("`{{{{{}}}}}` cannot be shown; use args.NAME, tool, agent.id, "
                                     "user.id, session, task.id{}",
                                     path, did_you_mean(path, shown_paths)),
                         ""};
    }
    return paths;
}

bool is_secret(std::string_view path, const Tool* tool) {
    const bool looks_secret = core::is_secret_name(path);
    if (looks_secret || !tool || !path.starts_with("args.")) return looks_secret;
    const std::string_view argument = path.substr(5, path.find('.', 5) - 5);
    return std::find(tool->redact.begin(), tool->redact.end(), argument) != tool->redact.end();
}

std::string render(std::string_view text, const Call& call, const Tool* tool) {
    std::string out;
    split(
        text, [&](std::string_view piece) { out += piece; },
        [&](std::string_view path) {
            out += is_secret(path, tool) ? std::string(core::hidden) : text_at(call, path);
        });
    return cut_utf8(out, line_bytes_max);
}

}  // namespace holdpoint::policy
