#include "policy/evaluate.h"

#include <algorithm>

#include "policy/index.h"
#include "policy/judge.h"

namespace holdpoint::policy {
namespace {

using core::VerdictKind;

Verdict passed(Cause cause, BaseRisk risk) {
    Verdict verdict;
    verdict.kind = VerdictKind::allow;
    verdict.risk = risk.level;
    verdict.assessed = risk;
    verdict.decisive.cause = cause;
    verdict.decisive.effect = Effect::allow;
    verdict.decisive.risk = risk.level;
    return verdict;
}

Verdict look_and_judge(const Policy& policy, const Call& call, const StateView& state,
                       Workspace::Parts& parts, Recorder* recorder) {
    const Entry& entry = policy.entry_of(call);
    const BaseRisk base{entry.base_risk, entry.base_factors};
    if (policy.file.is_disabled) return passed(Cause::disabled, base);
    // Nothing looks at this tool: its name and the shape of its arguments are all there is to see.
    if (entry.is_plain && !call.claims.is_any() && !state.is_new_to_agent && !recorder &&
        (!entry.tool->args || !check_args(*entry.tool->args, call.args)))
        return passed(Cause::default_decision, base);
    return judge(policy, entry, call, state, parts, recorder);
}

/// Nothing where the counter has no key or amount for this call: whatever reads it then finds that
/// it was not loaded, which is an error.
std::optional<CounterNeed> counter_need(const Policy& policy, std::uint32_t index, bool is_counted,
                                        Bindings& bindings) {
    const Counter& counter = policy.file.counters[index];
    CounterNeed need{index, counter.name, "", counter.window_ms, is_counted ? 1.0 : 0.0};
    const CompiledCounter& compiled = policy.counters[index];
    if (compiled.key) {
        const cel::Value key = bindings.run(*compiled.key);
        if (key.kind() != cel::Kind::string) return std::nullopt;
        need.key = key.as_text();
    }
    if (compiled.add && is_counted) {
        const std::optional<double> amount = finite_number(bindings.run(*compiled.add));
        if (!amount) return std::nullopt;
        need.add = *amount;
    }
    return need;
}

void add_counter_needs(const Policy& policy, const Entry& entry, const Call& call,
                       Bindings& bindings, std::vector<CounterNeed>& out) {
    const auto add = [&](std::uint32_t index, bool is_counted) {
        if (std::optional<CounterNeed> need = counter_need(policy, index, is_counted, bindings))
            out.push_back(std::move(*need));
    };
    const auto is_counted = [&](std::uint32_t index) {
        return std::ranges::find(entry.counters, index) != entry.counters.end() &&
               (!entry.must_check_names || is_named(policy.file.counters[index].on, call.tool));
    };
    for (const std::uint32_t index : entry.counters)
        if (is_counted(index)) add(index, true);
    for (const std::uint32_t index : entry.read_counters)
        if (!is_counted(index)) add(index, false);
}

}  // namespace

Workspace::Workspace() : parts_(std::make_unique<Parts>()) {}
Workspace::~Workspace() = default;

Verdict evaluate(const Policy& policy, const Call& call, const StateView& state,
                 Workspace& workspace) {
    return look_and_judge(policy, call, state, workspace.parts(), nullptr);
}

Verdict evaluate(const Policy& policy, const Call& call, const StateView& state) {
    Workspace workspace;
    return evaluate(policy, call, state, workspace);
}

Verdict evaluate(const Policy& policy, const Call& call, const StateView& state,
                 Workspace& workspace, Recorder& recorder) {
    return look_and_judge(policy, call, state, workspace.parts(), &recorder);
}

Needs needs(const Policy& policy, const Call& call, Workspace& workspace) {
    Needs out;
    const Entry& entry = policy.entry_of(call);
    out.wants_costs =
        policy.reads_spent || std::ranges::any_of(entry.gates, [&](std::uint32_t gate) {
            return policy.file.gates[gate].type == GateType::budget_based;
        });
    out.wants_grants = policy.file.grants.has_value() && call.event == Event::tool_call;
    out.trust_key = trust_key(policy, call);
    const bool has_cost = policy.counts_costs && (entry.cost || call.claims.cost);
    if (entry.counters.empty() && entry.read_counters.empty() && !has_cost) return out;
    if (entry.tool && entry.tool->args && check_args(*entry.tool->args, call.args)) return out;
    Bindings bindings(policy, entry, call, workspace.parts());
    bindings.bind({});
    // An estimate that fails holds the call where it matters; the agent's own still counts.
    if (has_cost)
        out.cost = bindings.cost_estimate().value_or(CostEstimate{0, call.claims.cost.value_or(0)});
    add_counter_needs(policy, entry, call, bindings, out.counters);
    return out;
}

Needs needs(const Policy& policy, const Call& call) {
    Workspace workspace;
    return needs(policy, call, workspace);
}

std::string_view to_string(Cause cause) {
    switch (cause) {
        case Cause::default_decision:
            return "default";
        case Cause::disabled:
            return "disabled";
        case Cause::schema:
            return "schema";
        case Cause::rule:
            return "rule";
        case Cause::gate:
            return "gate";
        case Cause::always_require:
            return "always_require";
        case Cause::never_require:
            return "never_require";
        case Cause::pattern:
            return "pattern";
        case Cause::requires_approval:
            return "requires_approval";
        case Cause::unknown_tool:
            return "unknown_tool";
        case Cause::look_alike:
            return "look_alike";
        case Cause::opaque_shell:
            return "opaque_shell";
        case Cause::risk_cap:
            return "max_auto_risk";
        case Cause::question:
            return "ask";
        case Cause::grant:
            return "grant";
        case Cause::trust:
            return "trust";
        case Cause::ungated:
            return "ungated";
        case Cause::failed:
            return "failed";
    }
    return "failed";
}

}  // namespace holdpoint::policy
