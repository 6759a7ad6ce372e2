#include "policy/builtin.h"

#include <fmt/format.h>

#include "base/assert.h"
#include "policy/compile.h"
#include "policy/outline.h"

namespace holdpoint::policy {
namespace {

Effect effect_of(core::VerdictKind kind) {
    switch (kind) {
        case core::VerdictKind::allow:
            return Effect::allow;
        case core::VerdictKind::hold:
            return Effect::require;
        case core::VerdictKind::deny:
            break;
    }
    return Effect::deny;
}

Gate gate_for(std::string name, GateType type) {
    Gate gate;
    gate.name = std::move(name);
    gate.type = type;
    gate.because = "the agent asks a person";
    return gate;
}

}  // namespace

std::shared_ptr<const Policy> compose(const Builtin& builtin) {
    PolicyFile file;
    file.name = "builtin";
    file.is_disabled = builtin.is_disabled;
    for (const std::string& tool : builtin.require) {
        if (!tool.empty()) file.always_require.push_back(tool);
    }
    for (const std::string& tool : builtin.allow) {
        if (!tool.empty()) file.never_require.push_back(tool);
    }
    file.defaults.decision = effect_of(builtin.otherwise);
    file.defaults.unknown_tools = file.defaults.decision;
    // Whoever puts a tool on a list has looked at its risk.
    file.defaults.auto_risk_max = RiskCap{RiskLevel::critical};
    file.defaults.unknown_risk = builtin.risk;
    file.defaults.requirement = builtin.requirement;
    file.defaults.timing = builtin.timing;
    // A plan, a question or an answer is put to people by asking; only tools are on lists.
    file.gates = {gate_for("plans", GateType::plan_approval),
                  gate_for("answers", GateType::final_response)};
    file.source = outline(file);
    Result<std::shared_ptr<const Policy>> policy = compile(std::move(file));
    HOLDPOINT_ASSERT(policy.has_value());
    return std::move(*policy);
}

core::Verdict evaluate(const Builtin& builtin, const core::Proposal& proposal) {
    return evaluate(*compose(builtin), proposal, {});
}

}  // namespace holdpoint::policy
