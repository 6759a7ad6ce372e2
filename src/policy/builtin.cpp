#include "policy/builtin.h"

#include <fmt/format.h>

#include <algorithm>

namespace holdpoint::policy {
namespace {

bool contains(const std::vector<std::string>& tools, const std::string& tool) {
    return !tool.empty() && std::find(tools.begin(), tools.end(), tool) != tools.end();
}

core::VerdictRecord judge(const Builtin& policy, const core::Proposal& proposal) {
    using core::VerdictKind;
    if (policy.is_disabled)
        return {VerdictKind::allow, "disabled", "", "approvals are switched off"};
    if (contains(policy.require, proposal.tool))
        return {VerdictKind::hold, "require", "tools",
                fmt::format("`{}` is on the list of tools that need a person", proposal.tool)};
    if (contains(policy.allow, proposal.tool))
        return {VerdictKind::allow, "allow", "tools",
                fmt::format("`{}` is on the list of tools that pass", proposal.tool)};
    // A plan, a question or an answer is put to people by asking; only tools are on lists.
    if (proposal.kind != core::Kind::action)
        return {VerdictKind::hold, "ask", "", "the agent asks a person"};
    return {policy.otherwise, "default", "", "no list names this tool"};
}

}  // namespace

core::Verdict evaluate(const Builtin& policy, const core::Proposal& proposal) {
    return {judge(policy, proposal), policy.risk, policy.requirement, policy.timing};
}

}  // namespace holdpoint::policy
