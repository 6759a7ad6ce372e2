#include "server/code_policy.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "agent/json_value.h"
#include "base/text.h"
#include "policy/builder.h"
#include "server/tool_facts.h"

namespace holdpoint::server {
namespace {

using policy::Extensions;
using policy::PolicyFile;

policy::GateType type_of(GateType type) {
    switch (type) {
        case GateType::tool_execution:
            return policy::GateType::tool_execution;
        case GateType::specific_tools:
            return policy::GateType::specific_tools;
        case GateType::destructive_actions:
            return policy::GateType::destructive_actions;
        case GateType::final_response:
            return policy::GateType::final_response;
        case GateType::plan_approval:
            return policy::GateType::plan_approval;
        case GateType::threshold_based:
            return policy::GateType::threshold_based;
        case GateType::budget_based:
            return policy::GateType::budget_based;
        case GateType::custom:
            return policy::GateType::custom;
    }
    return policy::GateType::tool_execution;
}

policy::Window window_of(Gate::Window window) {
    switch (window) {
        case Gate::Window::action:
            return policy::Window::call;
        case Gate::Window::task:
            return policy::Window::task;
        case Gate::Window::session:
            return policy::Window::session;
        case Gate::Window::day:
            return policy::Window::day;
    }
    return policy::Window::session;
}

policy::OnError on_error_of(OnError on_error) {
    switch (on_error) {
        case OnError::hold:
            return policy::OnError::require;
        case OnError::deny:
            return policy::OnError::deny;
        case OnError::pass:
            return policy::OnError::allow;
    }
    return policy::OnError::require;
}

std::vector<policy::ApproverLine> lines_of(const std::vector<Approvers>& approvers) {
    std::vector<policy::ApproverLine> lines;
    for (const Approvers& line : approvers) lines.push_back({line.group, line.quorum, {}});
    return lines;
}

template <class Time>
std::optional<std::int64_t> ms_of(const std::optional<Time>& time) {
    return time ? std::optional<std::int64_t>(time->count()) : std::nullopt;
}

/// The action as its callables see it.
Action action_of(const policy::Call& call) {
    Action action;
    action.tool = call.tool;
    action.arguments = agent::json_of(call.args);
    action.estimated_cost = call.claims.cost;
    action.asking.confidence = call.confidence;
    action.asking.risk = call.claims.risk;
    return action;
}

/// A condition in code. What it throws is an error.
template <class Condition>
Extensions::CustomGate callable_of(Condition condition) {
    return [condition = std::move(condition)](const policy::Call& call, const policy::StateView&) {
        try {
            return condition(call) ? Extensions::Answer::hold : Extensions::Answer::pass;
        } catch (...) {
            return Extensions::Answer::error;
        }
    };
}

policy::Patience patience_of(const Gate& given) {
    policy::Patience patience;
    patience.timeout_ms = ms_of(given.timeout);
    patience.on_timeout = given.on_timeout;
    if (given.default_decision)
        patience.default_decision = core::to_string(*given.default_decision);
    patience.retries_max = given.retries_max;
    patience.remind_every_ms = ms_of(given.remind_every);
    patience.reminders_max = given.reminders_max;
    patience.escalate_after_ms = ms_of(given.escalate_after);
    patience.escalate_to = lines_of(given.escalate_to);
    return patience;
}

policy::Demands demands_of(const Gate& given) {
    policy::Demands demands;
    if (!given.may_modify) demands.allow_modification = false;
    if (given.is_reason_required) demands.require_reason = true;
    if (given.excludes_requester) demands.exclude_requester = true;
    if (given.must_confirm) demands.confirm_code = true;
    demands.reject_threshold = given.reject_threshold;
    return demands;
}

void add_gate(const Gate& given, PolicyFile& file, Extensions& extensions) {
    policy::Gate gate;
    gate.name = given.name;
    gate.type = type_of(given.type);
    gate.tools = given.tools;
    gate.when.text = given.when;
    gate.confidence_below = given.confidence_below;
    gate.cost_above = given.cost_above;
    gate.tokens_above = given.tokens_above;
    gate.window = window_of(given.window);
    gate.risk = given.risk;
    gate.approvers = lines_of(given.approvers);
    gate.patience = patience_of(given);
    gate.demands = demands_of(given);
    gate.message = given.message;
    gate.because = given.because;
    if (given.on_error != OnError::hold) gate.on_error = on_error_of(given.on_error);
    if (given.condition) {
        gate.callable = given.name;
        extensions.gates[given.name] =
            callable_of([condition = given.condition](const policy::Call& call) {
                return condition(action_of(call));
            });
    }
    file.gates.push_back(std::move(gate));
}

policy::Rule rule_of(const Rule& given) {
    policy::Rule rule;
    rule.id = given.id;
    rule.tools = given.tools;
    rule.when.text = given.when;
    rule.unless.text = given.unless;
    rule.then = effect_of(given.then);
    rule.gate = given.gate;
    rule.approvers = lines_of(given.approvers);
    rule.risk = given.risk;
    if (given.auto_risk) rule.auto_risk = policy::RiskCap{given.auto_risk};
    rule.because = given.because;
    return rule;
}

Rule rule_from(const policy::Rule& rule, std::vector<Approvers> approvers) {
    return {.id = rule.id,
            .tools = rule.tools,
            .when = rule.when.text,
            .unless = rule.unless.text,
            .then = rule.then == policy::Effect::deny ? Rule::Then::deny : Rule::Then::require,
            .approvers = std::move(approvers),
            .because = rule.because};
}

void add_tool(const ToolFacts& facts, PolicyFile& file, Extensions& extensions) {
    add_facts(facts, file);
    if (!facts.approval_condition) return;
    policy::Gate gate;
    gate.name = "arguments of " + facts.name;
    gate.type = policy::GateType::custom;
    gate.tools = {facts.name};
    gate.callable = gate.name;
    extensions.gates[gate.name] =
        callable_of([condition = facts.approval_condition](const policy::Call& call) {
            return condition(agent::json_of(call.args));
        });
    file.gates.push_back(std::move(gate));
}

/// Throws where the assessor does, and where its words cannot be shown.
Assessment assess(const Assessor& assessor, const policy::Call& call) {
    Assessment found = assessor(action_of(call));
    if (found.level < RiskLevel::low || found.level > RiskLevel::critical)
        throw std::invalid_argument("an assessor gave no level");
    for (const auto* words : {&found.factors, &found.consequences})
        for (const std::string& word : *words)
            if (!is_utf8(word)) throw std::invalid_argument("an assessor gave no text");
    return found;
}

void add_assessor(const Assessor& assessor, PolicyFile& file, Extensions& extensions) {
    extensions.assessors.emplace_back(
        [assessor](const policy::Call& call, policy::Assessment& assessment) {
            if (call.event != policy::Event::tool_call) return;
            Assessment found = assess(assessor, call);
            assessment.level = std::max(assessment.level, found.level);
            std::ranges::move(found.factors, std::back_inserter(assessment.factors));
            std::ranges::move(found.consequences, std::back_inserter(assessment.consequences));
        });
    // A level alone would let pass what could not be assessed, where policy lets every level pass.
    policy::Gate gate;
    gate.name = fmt::format("assessor {}", extensions.assessors.size());
    gate.type = policy::GateType::custom;
    gate.callable = gate.name;
    gate.because = "its risk could not be assessed";
    gate.on_error = policy::OnError::require;
    extensions.gates[gate.name] = callable_of([assessor](const policy::Call& call) {
        if (call.event == policy::Event::tool_call) (void)assess(assessor, call);
        return false;
    });
    file.gates.push_back(std::move(gate));
}

}  // namespace

policy::Effect effect_of(Rule::Then then) {
    switch (then) {
        case Rule::Then::allow:
            return policy::Effect::allow;
        case Rule::Then::require:
            return policy::Effect::require;
        case Rule::Then::deny:
            return policy::Effect::deny;
    }
    return policy::Effect::deny;
}

void add_part(const PolicyPart& part, PolicyFile& file, Extensions& extensions) {
    for (const Gate& gate : part.gates) add_gate(gate, file, extensions);
    for (const Rule& rule : part.rules) file.rules.push_back(rule_of(rule));
    for (const Assessor& assessor : part.assessors) add_assessor(assessor, file, extensions);
    std::ranges::copy(part.always_require, std::back_inserter(file.always_require));
    std::ranges::copy(part.never_require, std::back_inserter(file.never_require));
}

void add_tools(const std::vector<ToolFacts>& tools, PolicyFile& file, Extensions& extensions) {
    for (const ToolFacts& facts : tools) add_tool(facts, file, extensions);
}

}  // namespace holdpoint::server

namespace holdpoint {

PolicyPart& PolicyPart::operator+=(const PolicyPart& more) {
    const auto append = [](auto& all, const auto& others) {
        all.insert(all.end(), others.begin(), others.end());
    };
    append(gates, more.gates);
    append(rules, more.rules);
    append(assessors, more.assessors);
    append(tools, more.tools);
    append(always_require, more.always_require);
    append(never_require, more.never_require);
    return *this;
}

Rule require_above(const std::string& tool, const std::string& argument, double limit,
                   std::vector<Approvers> approvers) {
    const policy::Builder composed = policy::Builder("").require_above(tool, argument, limit);
    return server::rule_from(composed.file().rules.front(), std::move(approvers));
}

Rule require_role(const std::string& tool, const std::string& group) {
    const policy::Builder composed = policy::Builder("").require_role(tool, group);
    return server::rule_from(composed.file().rules.front(), {});
}

}  // namespace holdpoint
