#include "server/embedded_policy.h"

#include <fmt/format.h>

#include <algorithm>

#include "agent/json_value.h"
#include "policy/compile.h"
#include "policy/outline.h"
#include "server/policy_file.h"
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

/// A condition in code. What it throws is an error, and an error is held.
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

void add_gate(const Gate& given, PolicyFile& file, Extensions& extensions) {
    policy::Gate gate;
    gate.name = given.name;
    gate.type = type_of(given.type);
    gate.tools = given.tools;
    gate.confidence_below = given.confidence_below;
    gate.cost_above = given.cost_above;
    gate.tokens_above = given.tokens_above;
    gate.window = window_of(given.window);
    gate.risk = given.risk;
    if (given.timeout) gate.patience.timeout_ms = given.timeout->count();
    gate.patience.on_timeout = given.on_timeout;
    if (!given.may_modify) gate.demands.allow_modification = false;
    if (given.is_reason_required) gate.demands.require_reason = true;
    for (const Gate::Approvers& line : given.approvers)
        gate.approvers.push_back({line.group, line.quorum, {}});
    if (given.condition) {
        gate.callable = given.name;
        extensions.gates[given.name] =
            callable_of([condition = given.condition](const policy::Call& call) {
                Action action;
                action.tool = call.tool;
                action.arguments = agent::json_of(call.args);
                action.estimated_cost = call.claims.cost;
                action.asking.confidence = call.confidence;
                return condition(action);
            });
    }
    file.gates.push_back(std::move(gate));
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

/// What holds where the embedder says nothing, or gates alone.
PolicyFile bare_file(const EmbeddedOptions& options) {
    PolicyFile file;
    file.name = "embedded";
    file.extends = options.preset;
    if (!options.preset.empty()) return file;
    const bool has_gates = !options.gates.empty();
    file.defaults.decision = has_gates ? policy::Effect::allow : policy::Effect::require;
    if (has_gates) file.defaults.auto_risk_max = policy::RiskCap{core::RiskLevel::critical};
    if (has_gates) return file;
    policy::Gate plans;
    plans.name = "plans";
    plans.type = policy::GateType::plan_approval;
    file.gates.push_back(std::move(plans));
    return file;
}

Result<PolicyFile> base_file(const EmbeddedOptions& options) {
    if (!options.policy_file.empty()) {
        const Result<std::string> text = read_policy_text(options.policy_file);
        if (!text) return text.error();
        return policy::read_policy(*text);
    }
    if (!options.policy.empty()) return policy::read_policy(options.policy);
    PolicyFile file = bare_file(options);
    file.defaults.patience.timeout_ms = options.timeout.count();
    file.defaults.patience.on_timeout = options.on_timeout;
    return file;
}

}  // namespace

Result<std::shared_ptr<const policy::Policy>> make_policy(const EmbeddedOptions& options,
                                                          const std::vector<ToolFacts>& tools) {
    Result<PolicyFile> file = base_file(options);
    if (!file) return file.error();
    Extensions extensions;
    for (const Gate& gate : options.gates) add_gate(gate, *file, extensions);
    for (const auto& [group, people] : options.groups) {
        const auto& known = file->approvers;
        const bool is_known = std::any_of(known.begin(), known.end(),
                                          [&](const auto& other) { return other.name == group; });
        if (!is_known) file->approvers.push_back({group, people, {group}, {}});
    }
    file->source = policy::outline(*file);
    policy::ParentReader parents;
    if (!options.policy_file.empty()) parents = parents_beside(options.policy_file);
    Result<PolicyFile> whole = policy::extend(std::move(*file), parents);
    if (!whole) return whole.error();
    // Only now: what a parent says about a tool counts as much as what the file itself says.
    for (const ToolFacts& facts : tools) add_tool(facts, *whole, extensions);
    whole->source = policy::outline(*whole);
    return policy::compile(std::move(*whole), std::move(extensions));
}

}  // namespace holdpoint::server
