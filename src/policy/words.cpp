#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "core/subject.h"
#include "policy/cel/evaluate.h"
#include "policy/index.h"
#include "policy/judge.h"
#include "policy/template.h"
#include "policy/terms.h"

/// What a verdict says, in words.
namespace holdpoint::policy {
namespace {

std::string gate_sentence(const Gate& gate, const Call& call) {
    switch (gate.type) {
        case GateType::tool_execution:
            return fmt::format("every call needs a person unless a rule lets it pass");
        case GateType::specific_tools:
            return fmt::format("`{}` needs a person", visible(call.tool));
        case GateType::destructive_actions:
            return fmt::format("`{}` changes or removes what is there", visible(call.tool));
        case GateType::final_response:
            return "final answers need a person";
        case GateType::plan_approval:
            return "plans need a person";
        case GateType::threshold_based:
            return fmt::format("the stated confidence is below {}", *gate.confidence_below);
        case GateType::budget_based:
            return fmt::format("the budget of the {} is used up", to_string(gate.window));
        case GateType::custom:
            break;
    }
    return fmt::format("gate `{}` asks for a person", gate.name);
}

std::string plain_sentence(const Policy& policy, const Call& call, const Verdict& verdict) {
    const std::string tool = visible(call.tool);
    switch (verdict.decisive.cause) {
        case Cause::default_decision:
            if (verdict.kind == core::VerdictKind::allow) return "nothing speaks against it";
            return fmt::format("no rule lets `{}` pass", tool);
        case Cause::disabled:
            return "approvals are switched off";
        case Cause::schema:
            return fmt::format("{} {}", verdict.fault->path, verdict.fault->message);
        case Cause::always_require:
            return fmt::format("`{}` is on the list of tools that need a person", tool);
        case Cause::never_require:
            return fmt::format("`{}` is on the list of tools that pass", tool);
        case Cause::pattern: {
            const bool is_allow = verdict.decisive.effect == Effect::allow;
            const auto& patterns =
                is_allow ? policy.file.auto_allow_patterns : policy.file.always_require_patterns;
            return fmt::format("the arguments match the pattern `{}`",
                               patterns[static_cast<std::size_t>(verdict.decisive.index)].text);
        }
        case Cause::requires_approval:
            return fmt::format("`{}` needs a person for such arguments", tool);
        case Cause::unknown_tool:
            return fmt::format("the policy does not know `{}`", tool);
        case Cause::look_alike:
            return fmt::format("`{}` looks like another tool", tool);
        case Cause::opaque_shell:
            return "the command cannot be proved to be a list of plain words";
        case Cause::risk_cap:
            return fmt::format("{} risk does not pass without a person",
                               core::to_string(verdict.risk));
        case Cause::question:
            return "the agent asks a person";
        case Cause::grant:
            return "a person allowed similar actions";
        case Cause::trust:
            return "people approved the very same before, often enough";
        case Cause::ungated:
            return fmt::format("gate `{}` failed and lets low risk pass then",
                               gate_name(policy, verdict));
        case Cause::rule:
        case Cause::gate:
        case Cause::failed:
            break;
    }
    return "it could not be judged";
}

/// What the operator's own risk rules say about the call.
void add_risk_rules(const Policy& policy, const Call& call, const StateView& state,
                    Assessment& out) {
    const Entry& entry = policy.entry_of(call);
    Workspace workspace;
    Bindings bindings(policy, entry, call, workspace.parts());
    bindings.bind(state);
    for (const std::uint32_t index : entry.risk_rules) {
        const RiskRule& rule = policy.file.risk[index];
        if (entry.must_check_names && !is_named(rule.tools, call.tool)) continue;
        const auto& when = policy.risk_rules[index].when;
        if (when && bindings.run(*when).is_false()) continue;
        out.factors.push_back(rule.factor);
        if (!rule.consequence.empty()) out.consequences.push_back(rule.consequence);
    }
}

/// The operator's line for it: that of what decided, then the tool's. Where a layer above has
/// something to say about the call, a lower one does not talk over it.
const std::string* message_for(const Policy& policy, const Tool* tool, const Verdict& verdict) {
    const auto said = [](const auto* part, bool is_lower) -> const std::string* {
        return part && part->is_lower == is_lower && !part->message.empty() ? &part->message
                                                                            : nullptr;
    };
    const auto by = [&](const Finding& finding, bool is_lower) {
        const std::string* text = said(rule_of(policy, finding), is_lower);
        return text ? text : said(gate_of(policy, finding), is_lower);
    };
    if (const std::string* text = by(verdict.decisive, false)) return text;
    const std::string* lower = by(verdict.decisive, true);
    if (lower) {
        for (const Finding& finding : verdict.findings)
            if (const std::string* text = by(finding, false)) return text;
    }
    if (tool && !tool->message.empty()) return &tool->message;
    return lower;
}

}  // namespace

std::string rule_name(const Policy& policy, const Verdict& verdict) {
    const Finding& finding = verdict.decisive;
    if (const Rule* rule = rule_of(policy, finding)) return rule->id;
    if (finding.cause == Cause::gate) return gate_name(policy, verdict);
    return std::string(to_string(finding.cause));
}

std::string gate_name(const Policy& policy, const Verdict& verdict) {
    const Gate* gate = gate_of(policy, verdict.decisive);
    return gate ? gate->name : "";
}

std::string because(const Policy& policy, const Call& call, const Verdict& verdict) {
    const Finding& finding = verdict.decisive;
    const Rule* rule = rule_of(policy, finding);
    const Gate* gate = finding.cause == Cause::gate ? gate_of(policy, finding) : nullptr;
    if (finding.is_error) {
        const std::string name = rule   ? "rule `" + rule->id + "`"
                                 : gate ? "gate `" + gate->name + "`"
                                        : "a condition of the tool";
        return fmt::format("{} could not be evaluated for this call", name);
    }
    if (rule)
        return rule->because.empty() ? fmt::format("rule `{}` says so", rule->id) : rule->because;
    if (gate) return gate->because.empty() ? gate_sentence(*gate, call) : gate->because;
    return plain_sentence(policy, call, verdict);
}

std::string headline(const Policy& policy, const Call& call, const Verdict& verdict) {
    const Entry& entry = policy.entry_of(call);
    if (const std::string* text = message_for(policy, entry.tool, verdict))
        return render(*text, call, entry.tool);
    // The plain line knows secrets by their names only, not what the operator wants redacted.
    if (call.event == Event::tool_call && entry.tool && !entry.tool->redact.empty())
        return core::action_headline(call.tool, call.args, entry.tool->redact);
    return {};
}

Assessment assessment_of(const Policy& policy, const Call& call, const StateView& state,
                         const Verdict& verdict) {
    const Entry& entry = policy.entry_of(call);
    Assessment out = describe(entry, call, verdict.assessed);
    if (!entry.risk_rules.empty()) add_risk_rules(policy, call, state, out);
    for (const Extensions::Assessor& assessor : policy.extensions.assessors) {
        // Code that is not ours; the level was settled by evaluate(), here only words are added.
        try {
            assessor(call, out);
        } catch (...) {
            out.factors.emplace_back("an assessor failed");
        }
    }
    out.level = verdict.risk;
    return out;
}

core::Verdict to_core(const Policy& policy, const Call& call, const Verdict& verdict,
                      const core::Proposal& proposal) {
    core::Verdict out;
    out.record.kind = verdict.kind;
    out.record.rule = rule_name(policy, verdict);
    out.record.gate = gate_name(policy, verdict);
    out.record.because = because(policy, call, verdict);
    out.record.policy = policy.version;
    out.risk = verdict.risk;
    const Terms terms = terms_of(policy, call, verdict);
    out.requirement = terms.requirement;
    out.timing = terms.timing;
    out.headline = headline(policy, call, verdict);
    if (verdict.kind != core::VerdictKind::allow)
        out.risk_detail = to_json(assessment_of(policy, call, {}, verdict), proposal.risk_detail);
    return out;
}

core::Verdict evaluate(const Policy& policy, const core::Proposal& proposal, const Caller& caller) {
    const Result<Call> call = make_call(proposal, caller);
    if (!call) {
        core::Verdict refused;
        refused.record = {core::VerdictKind::deny, "schema", "", call.error().message,
                          policy.version};
        refused.risk = RiskLevel::critical;
        return refused;
    }
    Workspace workspace;
    return to_core(policy, *call, evaluate(policy, *call, {}, workspace), proposal);
}

}  // namespace holdpoint::policy
