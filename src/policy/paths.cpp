#include "policy/paths.h"

#include "policy/call.h"

namespace holdpoint::policy {
namespace {

constexpr std::string_view args_prefix = "args.";

}  // namespace

const json::value* arg_at(const Call& call, std::string_view path) {
    if (!path.starts_with(args_prefix)) return nullptr;
    path.remove_prefix(args_prefix.size());
    const json::object* object = &call.args;
    // A whole name first: an argument may have a dot in its own name.
    if (const json::value* whole = object->if_contains(path)) return whole;
    while (true) {
        const std::size_t dot = path.find('.');
        const json::value* found = object->if_contains(path.substr(0, dot));
        if (!found || dot == std::string_view::npos) return found;
        if (!found->is_object()) return nullptr;
        object = &found->get_object();
        path.remove_prefix(dot + 1);
    }
}

std::optional<std::string> value_at(const Call& call, std::string_view path) {
    if (path == "agent.id") return json::quoted(call.agent);
    if (path == "agent.role") return json::quoted(call.agent_role);
    if (path == "user.id") return json::quoted(call.user);
    if (path == "session") return json::quoted(call.session);
    if (path == "task.id") return json::quoted(call.task);
    if (path == "tool") return json::quoted(call.tool);
    if (path == "args") return json::canonical(call.args);
    const json::value* found = arg_at(call, path);
    if (!found) return std::nullopt;
    return json::canonical(*found);
}

}  // namespace holdpoint::policy
