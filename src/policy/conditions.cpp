#include "policy/conditions.h"

#include <fmt/format.h>

#include <algorithm>

#include "policy/environment.h"

namespace holdpoint::policy {
namespace {

/// Beyond this a condition is refused at load; the run-time budget is far below and stops what
/// really becomes that expensive.
constexpr std::uint64_t cost_max = 20'000'000;

std::string_view named(Conditions::Wanted wanted) {
    switch (wanted) {
        case Conditions::Wanted::boolean:
            return "true or false";
        case Conditions::Wanted::number:
            return "a number";
        case Conditions::Wanted::text:
            return "text";
        case Conditions::Wanted::any:
            break;
    }
    return "anything";
}

bool fits(const cel::Type& type, Conditions::Wanted wanted) {
    if (type.is_dynamic()) return true;
    switch (wanted) {
        case Conditions::Wanted::boolean:
            return type.kind() == cel::Type::Kind::boolean;
        case Conditions::Wanted::number:
            return type.is_numeric();
        case Conditions::Wanted::text:
            return type.kind() == cel::Type::Kind::string;
        case Conditions::Wanted::any:
            return true;
    }
    return false;
}

/// Which environment a set of tools needs, as text.
std::string signature(const std::vector<const Tool*>& tools) {
    std::vector<std::string> parts;
    const std::size_t count = tools.size();
    for (const Tool* tool : tools) {
        if (!tool || !tool->args) return "dyn";
        parts.push_back(to_string(*tool->args));
        if (!tool->args->element.empty()) return "dyn";
    }
    std::sort(parts.begin(), parts.end());
    parts.erase(std::unique(parts.begin(), parts.end()), parts.end());
    // One tool has slots for its arguments, several that declare the same have not.
    std::string out = count == 1 ? "one|" : "";
    for (const std::string& part : parts) out += part + "|";
    return parts.empty() ? "dyn" : out;
}

}  // namespace

const cel::Environment& Conditions::environment_for(const std::vector<const Tool*>& tools) {
    std::unique_ptr<cel::Environment>& found = environments_[signature(tools)];
    if (found) return *found;
    // Only one tool's arguments can stand in slots: several would need different ones.
    const ArgSlots slots = tools.size() == 1 ? ArgSlots::fields : ArgSlots::none;
    found = std::make_unique<cel::Environment>(make_environment(policy_, args_type(tools), slots));
    return *found;
}

std::vector<std::uint16_t> Conditions::vars_of(const cel::Program& program) const {
    std::vector<std::uint16_t> out;
    const auto take = [&](std::uint16_t var) {
        if (std::find(out.begin(), out.end(), var) == out.end()) out.push_back(var);
    };
    for (const cel::Program::Read& read : program.reads()) {
        if (read.slot < policy_.var_slot || read.slot >= policy_.arg_slot) continue;
        const auto var = static_cast<std::uint16_t>(read.slot - policy_.var_slot);
        for (const std::uint16_t other : policy_.vars[var].vars) take(other);
        take(var);
    }
    return out;
}

Result<Condition> Conditions::compile(const Expression& expression, std::string_view what,
                                      const std::vector<const Tool*>& tools, Wanted wanted) {
    cel::Limits limits;
    limits.cost_max = cost_max;
    Result<cel::Program> program = cel::compile(expression.text, environment_for(tools), limits);
    if (!program)
        return yaml::error_at(expression.mark,
                              fmt::format("{}: {}", what, program.error().message));
    if (!fits(program->result_type(), wanted))
        return yaml::error_at(expression.mark,
                              fmt::format("{} must give {}, gives {}", what, named(wanted),
                                          program->result_type().to_string()));
    for (const cel::Program::Read& read : program->reads()) {
        if (read.slot == static_cast<cel::Slot>(Var::shell_commands))
            policy_.reads_shell_commands = true;
        if (read.slot >= static_cast<cel::Slot>(Var::cost_task) &&
            read.slot <= static_cast<cel::Slot>(Var::tokens_day))
            policy_.reads_spent = true;
        if (read.slot == static_cast<cel::Slot>(Var::user_roles)) policy_.reads_roles = true;
    }
    std::vector<std::uint16_t> vars = vars_of(*program);
    return Condition{std::move(*program), std::move(vars)};
}

Result<void> Conditions::compile_vars() {
    for (const Variable& var : policy_.file.vars) {
        Result<Condition> condition =
            compile(var.value, fmt::format("var `{}`", var.name), {}, Wanted::any);
        if (!condition) return condition.error();
        policy_.vars.push_back(std::move(*condition));
        environments_.clear();
    }
    return {};
}

bool is_about_tools(const Condition& condition) {
    bool reads_tool = false;
    for (const cel::Program::Read& read : condition.program.reads()) {
        if (read.slot >= static_cast<cel::Slot>(Var::count)) continue;
        switch (static_cast<Var>(read.slot)) {
            case Var::event:
            case Var::plan_title:
            case Var::plan_steps:
            case Var::response_text:
            case Var::input:
            case Var::confirmation:
                return false;
            case Var::args:
            case Var::tool:
            case Var::tool_name:
            case Var::tool_read_only:
            case Var::tool_destructive:
            case Var::tool_reversible:
            case Var::tool_open_world:
            case Var::tool_risk:
            case Var::tool_known:
            case Var::shell_opaque:
            case Var::shell_commands:
                reads_tool = true;
                break;
            default:
                break;
        }
    }
    return reads_tool;
}

}  // namespace holdpoint::policy
