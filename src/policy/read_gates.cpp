#include <fmt/format.h>

#include <array>

#include "policy/read.h"

namespace holdpoint::policy::read {
namespace {

using yaml::Kind;
using yaml::Node;

constexpr double cost_max = 1e15;

ApproverLine line(const Node& node, Fault& fault) {
    ApproverLine line;
    line.mark = node.mark;
    // A bare name is one person of that group.
    if (node.is(Kind::text)) {
        line.group = node.text;
        return line;
    }
    Section section(node, "an approver", fault);
    line.group = section.required_text("group");
    line.quorum = section.integer("quorum", {1, 20}).value_or(1);
    section.finish();
    return line;
}

constexpr std::int64_t remind_every_ms_min = 1000;

void reminders(Section& section, Patience& patience) {
    const Node* node = section.find("reminders", Kind::map);
    if (!node) return;
    Section inner(*node, "reminders", section.fault());
    patience.remind_every_ms = inner.duration("every");
    patience.reminders_max = inner.integer("max", {0, 1000});
    if (!patience.remind_every_ms) inner.refuse("reminders need `every`");
    if (patience.remind_every_ms.value_or(remind_every_ms_min) < remind_every_ms_min)
        inner.refuse("`every` of reminders must be at least `1s`");
    inner.finish();
}

void escalation(Section& section, Patience& patience) {
    const Node* node = section.find("escalate", Kind::map);
    if (!node) return;
    Section inner(*node, "escalate", section.fault());
    patience.escalate_after_ms = inner.duration("after");
    patience.escalate_to = lines(inner, "to");
    if (patience.escalate_to.size() != 1)
        inner.refuse("`escalate` needs `to` with one group that takes over");
    inner.finish();
}

void thresholds(Section& section, Gate& gate) {
    static constexpr std::array<std::string_view, 4> windows{"call", "task", "session", "day"};
    gate.confidence_below = section.number("confidence_below", {0, 1});
    gate.cost_above = section.number("cost_above", {0, cost_max});
    gate.tokens_above = section.number("tokens_above", {0, cost_max});
    if (const auto window = section.word("window", windows))
        gate.window = static_cast<Window>(*window);
    const bool is_threshold = gate.type == GateType::threshold_based;
    const bool is_budget = gate.type == GateType::budget_based;
    if (is_threshold != gate.confidence_below.has_value())
        section.refuse(fmt::format("{} {} `confidence_below`", section.what(),
                                   is_threshold ? "needs" : "is not threshold_based and takes no"));
    if (is_budget && !gate.cost_above && !gate.tokens_above)
        section.refuse(fmt::format("{} needs `cost_above` or `tokens_above`", section.what()));
    if (!is_budget && (gate.cost_above || gate.tokens_above))
        section.refuse(
            fmt::format("{} is not budget_based and takes no `cost_above`", section.what()));
}

void targets(Section& section, Gate& gate) {
    gate.tools = section.texts("tools");
    gate.is_open_world = section.boolean("open_world").value_or(false);
    const bool has_target = !gate.tools.empty() || gate.is_open_world;
    if (gate.type == GateType::specific_tools && !has_target)
        section.refuse(fmt::format("{} needs `tools`", section.what()));
    if (gate.is_open_world && gate.type != GateType::specific_tools)
        section.refuse(fmt::format("only a gate of type specific_tools takes `open_world`"));
    gate.when = expression(section, "when");
    gate.callable = section.text("callable");
    const bool has_test = gate.when.is_set() || !gate.callable.empty();
    if (gate.type == GateType::custom && !has_test)
        section.refuse(fmt::format("{} needs `when`", section.what()));
    if (gate.type != GateType::custom && !gate.callable.empty())
        section.refuse(fmt::format("only a gate of type custom takes `callable`"));
}

}  // namespace

std::vector<ApproverLine> lines(Section& section, std::string_view key) {
    const Node* node = section.find(key);
    if (!node) return {};
    if (node->is(Kind::text)) return {line(*node, section.fault())};
    if (!node->is(Kind::list) || node->items.empty()) {
        section.refuse(*node, fmt::format("`{}` of {} must be a list like [{{group: finance, "
                                          "quorum: 2}}]",
                                          key, section.what()));
        return {};
    }
    std::vector<ApproverLine> out;
    for (const Node& item : node->items) out.push_back(line(item, section.fault()));
    return out;
}

Patience patience(Section& section) {
    // In the order of core::TimeoutAction.
    static constexpr std::array<std::string_view, 7> actions{
        "reject", "approve", "retry", "escalate", "abort", "skip", "default"};
    static constexpr std::array<std::string_view, 4> decisions{"approve", "skip", "abort",
                                                               "reject"};
    Patience patience;
    patience.timeout_ms = section.duration("timeout");
    if (const auto action = section.word("on_timeout", actions))
        patience.on_timeout = static_cast<TimeoutAction>(*action);
    if (const auto decision = section.word("default_decision", decisions))
        patience.default_decision = decisions[*decision];
    const bool is_default = patience.on_timeout == TimeoutAction::use_default;
    if (is_default && patience.default_decision.empty())
        section.refuse("`on_timeout: default` needs `default_decision`");
    patience.retries_max = section.integer("retries", {0, 100});
    reminders(section, patience);
    escalation(section, patience);
    return patience;
}

Demands demands(Section& section) {
    static constexpr std::array<std::string_view, 2> confirms{"code", "none"};
    Demands demands;
    demands.allow_modification = section.boolean("allow_modification");
    demands.require_reason = section.boolean("require_reason");
    demands.exclude_requester = section.boolean("exclude_requester");
    demands.reject_threshold = section.integer("reject_threshold", {1, 20});
    if (const auto confirm = section.word("confirm", confirms))
        demands.confirm_code = *confirm == 0;
    return demands;
}

Gate gate(const yaml::Entry& entry, Fault& fault) {
    static constexpr std::array<std::string_view, 8> types{
        "tool_execution", "specific_tools",  "destructive_actions", "final_response",
        "plan_approval",  "threshold_based", "budget_based",        "custom"};
    Section section(entry.value, fmt::format("gate `{}`", entry.key), fault);
    Gate gate;
    gate.name = entry.key;
    gate.mark = entry.key_mark;
    if (const auto type = section.word("type", types))
        gate.type = static_cast<GateType>(*type);
    else if (!entry.value.find("type"))
        section.refuse(fmt::format("{} needs `type`", section.what()));
    targets(section, gate);
    thresholds(section, gate);
    gate.risk = risk(section, "risk");
    gate.approvers = lines(section, "approvers");
    gate.patience = patience(section);
    gate.demands = demands(section);
    gate.message = section.text("message");
    gate.because = section.text("because");
    gate.on_error = on_error(section);
    section.finish();
    return gate;
}

}  // namespace holdpoint::policy::read
