#include "server/embedded_policy.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <tuple>

#include "policy/compile.h"
#include "policy/outline.h"
#include "server/code_policy.h"
#include "server/policy_file.h"

namespace holdpoint::server {
namespace {

using policy::Extensions;
using policy::PolicyFile;

/// What holds where the embedder says nothing, or gates alone.
PolicyFile bare_file(const EmbeddedOptions& options) {
    PolicyFile file;
    file.name = "embedded";
    file.extends = options.preset;
    const bool is_bare = options.preset.empty();
    const bool has_gates = !options.gates.empty();
    if (options.otherwise)
        file.defaults.decision = effect_of(*options.otherwise);
    else if (is_bare)
        file.defaults.decision = has_gates ? policy::Effect::allow : policy::Effect::require;
    if (options.auto_risk_max)
        file.defaults.auto_risk_max = policy::RiskCap{options.auto_risk_max};
    else if (is_bare && has_gates)
        file.defaults.auto_risk_max = policy::RiskCap{core::RiskLevel::critical};
    file.defaults.patience.timeout_ms = options.timeout.count();
    file.defaults.patience.on_timeout = options.on_timeout;
    if (!is_bare || has_gates) return file;
    policy::Gate plans;
    plans.name = "plans";
    plans.type = policy::GateType::plan_approval;
    file.gates.push_back(std::move(plans));
    return file;
}

/// A file or text, whole and with its own tests passed before code is added to it.
Result<PolicyFile> written_file(const std::string& text, const policy::ParentReader& parents) {
    policy::LoadOptions options;
    options.read_parent = parents;
    if (const auto loaded = policy::load(text, options); !loaded) return loaded.error();
    return policy::read_policy(text);
}

/// Two parts of one name would leave open which of them counts.
Result<void> check_names(const PolicyFile& file) {
    std::set<std::string_view> gates, rules;
    for (const policy::Gate& gate : file.gates) {
        if (gate.name.empty())
            return Error{ErrorCode::invalid_argument, "a gate has no name", "gates"};
        if (!gates.insert(gate.name).second)
            return Error{ErrorCode::invalid_argument,
                         fmt::format("two gates are called `{}`", gate.name), "gates"};
    }
    for (const policy::Rule& rule : file.rules) {
        if (rule.id.empty()) return Error{ErrorCode::invalid_argument, "a rule has no id", "rules"};
        if (!rules.insert(rule.id).second)
            return Error{ErrorCode::invalid_argument,
                         fmt::format("two rules are called `{}`", rule.id), "rules"};
    }
    return {};
}

/// What the reader of files refuses, and compile() does not look at again.
Result<void> check_gate(const Gate& gate) {
    const auto wrong = [&](std::string_view field, std::string_view what) -> Result<void> {
        return Error{ErrorCode::invalid_argument,
                     fmt::format("gate `{}`: `{}` {}", gate.name, field, what), std::string(field)};
    };
    for (const auto& [field, time] :
         {std::pair("timeout", gate.timeout), std::pair("remind_every", gate.remind_every),
          std::pair("escalate_after", gate.escalate_after)})
        if (time && time->count() <= 0) return wrong(field, "must be longer than nothing");
    for (const auto& [field, number, least] :
         {std::tuple("retries_max", gate.retries_max, 0),
          std::tuple("reminders_max", gate.reminders_max, 0),
          std::tuple("reject_threshold", gate.reject_threshold, 1)})
        if (number && *number < least) return wrong(field, fmt::format("is at least {}", least));
    for (const auto* lines : {&gate.approvers, &gate.escalate_to})
        for (const Approvers& line : *lines)
            if (line.quorum < 1) return wrong("approvers", "needs a quorum of at least 1");
    for (const auto& [field, number] :
         {std::pair("confidence_below", gate.confidence_below),
          std::pair("cost_above", gate.cost_above), std::pair("tokens_above", gate.tokens_above)})
        if (number && !(*number >= 0)) return wrong(field, "is no amount");
    if (gate.type == GateType::threshold_based && !gate.confidence_below)
        return wrong("confidence_below", "is needed");
    if (gate.type == GateType::budget_based && !gate.cost_above && !gate.tokens_above)
        return wrong("cost_above", "or `tokens_above` is needed");
    if (gate.type == GateType::custom && !gate.condition && gate.when.empty())
        return wrong("condition", "or `when` is needed");
    if (gate.type == GateType::specific_tools && gate.tools.empty())
        return wrong("tools", "is needed");
    if ((gate.on_timeout == TimeoutAction::use_default) != gate.default_decision.has_value())
        return wrong("default_decision", "goes with TimeoutAction::use_default");
    constexpr std::array ends{TimeoutAction::reject, TimeoutAction::skip, TimeoutAction::abort,
                              TimeoutAction::approve};
    if (gate.default_decision && std::ranges::find(ends, *gate.default_decision) == ends.end())
        return wrong("default_decision", "is reject, skip, abort or approve");
    return {};
}

}  // namespace

Result<std::shared_ptr<const policy::Policy>> make_policy(const EmbeddedOptions& options,
                                                          const std::vector<ToolFacts>& tools) {
    for (const Gate& gate : options.gates)
        if (Result<void> ok = check_gate(gate); !ok) return ok.error();
    policy::ParentReader parents;
    Result<PolicyFile> file = PolicyFile();
    if (!options.policy_file.empty()) {
        parents = parents_beside(options.policy_file);
        const Result<std::string> text = read_policy_text(options.policy_file);
        if (!text) return text.error();
        file = written_file(*text, parents);
    } else {
        file = options.policy.empty() ? bare_file(options) : written_file(options.policy, parents);
    }
    if (!file) return file.error();
    Extensions extensions;
    add_part(options, *file, extensions);
    if (Result<void> ok = check_names(*file); !ok) return ok.error();
    for (const auto& [group, people] : options.groups) {
        const auto& known = file->approvers;
        const bool is_known = std::any_of(known.begin(), known.end(),
                                          [&](const auto& other) { return other.name == group; });
        if (!is_known) file->approvers.push_back({group, {}, {group}, {}});
    }
    file->source = policy::outline(*file);
    Result<PolicyFile> whole = policy::extend(std::move(*file), parents);
    if (!whole) return whole.error();
    // Only now: what a parent says about a tool counts as much as what the file itself says.
    add_tools(tools, *whole, extensions);
    whole->source = policy::outline(*whole);
    whole->above.clear();
    return policy::compile(std::move(*whole), std::move(extensions));
}

}  // namespace holdpoint::server
