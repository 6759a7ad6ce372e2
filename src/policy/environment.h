#pragma once

#include <array>
#include <string_view>

#include "policy/cel/environment.h"
#include "policy/policy.h"

/// What conditions can name, and where they find it. The order of this enumeration is the order of
/// the slots; counters and vars of the file follow.
namespace holdpoint::policy {

enum class Var : std::uint32_t {
    event,
    tool,
    tool_name,
    tool_read_only,
    tool_destructive,
    tool_reversible,
    tool_open_world,
    tool_risk,
    tool_known,
    args,
    agent_id,
    agent_role,
    agent_parent,
    agent_depth,
    user_id,
    user_roles,
    session,
    task_id,
    task_steps,
    cost_estimate,
    cost_task,
    cost_session,
    cost_day,
    tokens_task,
    tokens_session,
    tokens_day,
    confidence,
    plan_title,
    plan_steps,
    response_text,
    input,
    confirmation,
    shell_opaque,
    shell_commands,
    now,
    count
};
static_assert(static_cast<int>(Var::count) <= 64, "Policy::vars_read has a bit for each");

/// Whether some condition of the policy looks at a variable from `first` to `last`.
inline bool reads_any(const Policy& policy, Var first, Var last) {
    const auto bits_below = [](std::uint32_t bit) { return (std::uint64_t{1} << bit) - 1; };
    const std::uint64_t range = bits_below(static_cast<std::uint32_t>(last) + 1) &
                                ~bits_below(static_cast<std::uint32_t>(first));
    return (policy.vars_read & range) != 0;
}

/// The CEL type of a declared argument.
cel::Type cel_type(const ArgType& type, std::string name);

/// The type of `args` for a rule over several tools: a field that all of them declare alike has
/// that type, one that they declare differently is `dyn`, one that nobody declares does not exist.
/// `dyn` for everything as soon as one tool declares nothing.
cel::Type args_type(const std::vector<const Tool*>& tools);

/// Whether each argument also has a slot of its own, so that a condition need not look for it by
/// name. The slots are in the order of the type's fields, from Policy::arg_slot on.
enum class ArgSlots { none, fields };

/// An environment with everything in this file, `args` of the given type, the file's counters and
/// the vars that are compiled already.
cel::Environment make_environment(const Policy& policy, const cel::Type& args, ArgSlots slots);

}  // namespace holdpoint::policy
