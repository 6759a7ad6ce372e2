#include "server/tool_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace holdpoint::server {
namespace {

using Condition = std::function<bool(const Json&)>;

void add_texts(std::vector<std::string>& all, const std::vector<std::string>& more) {
    for (const std::string& text : more)
        if (std::ranges::find(all, text) == all.end()) all.push_back(text);
}

bool says_nothing(const ToolFacts& facts) {
    return facts.risk == RiskLevel::low && !facts.is_destructive && !facts.is_read_only &&
           !facts.is_open_world && facts.is_reversible && !facts.requires_approval &&
           facts.estimated_cost == 0 && facts.consequences.empty() && !facts.approval_condition;
}

/// Either of the two may ask for a person; what one of them throws holds, whatever the other says.
Condition either(Condition one, Condition other) {
    if (!one) return other;
    if (!other) return one;
    return [one = std::move(one), other = std::move(other)](const Json& arguments) {
        const bool is_first = one(arguments);
        return other(arguments) || is_first;
    };
}

void tighten(ToolFacts& facts, const ToolFacts& other) {
    facts.risk = std::max(facts.risk, other.risk);
    facts.is_destructive |= other.is_destructive;
    facts.is_read_only &= other.is_read_only;
    facts.is_open_world |= other.is_open_world;
    facts.is_reversible &= other.is_reversible;
    facts.requires_approval |= other.requires_approval;
    facts.estimated_cost = std::max(facts.estimated_cost, other.estimated_cost);
    add_texts(facts.consequences, other.consequences);
    facts.approval_condition =
        either(std::move(facts.approval_condition), other.approval_condition);
}

}  // namespace

std::vector<ToolFacts> merged(const std::vector<ToolFacts>& first,
                              const std::vector<ToolFacts>& others) {
    std::vector<ToolFacts> all;
    const auto add = [&](const ToolFacts& facts, bool may_be_silent) {
        const auto known = std::ranges::find(all, facts.name, &ToolFacts::name);
        if (known == all.end())
            all.push_back(facts);
        else if (!may_be_silent || !says_nothing(facts))
            tighten(*known, facts);
    };
    for (const ToolFacts& facts : first) add(facts, false);
    for (const ToolFacts& facts : others) {
        const bool is_operators =
            std::ranges::find(first, facts.name, &ToolFacts::name) != first.end();
        add(facts, is_operators);
    }
    return all;
}

void add_facts(const ToolFacts& facts, policy::PolicyFile& file) {
    auto known = std::ranges::find(file.tools, facts.name, &policy::Tool::name);
    if (known == file.tools.end()) {
        policy::Tool tool;
        tool.name = facts.name;
        tool.risk = facts.risk;
        if (facts.is_read_only) tool.read_only = true;
        known = file.tools.insert(file.tools.end(), std::move(tool));
    }
    policy::Tool& tool = *known;
    if (facts.risk > tool.risk.value_or(RiskLevel::low)) tool.risk = facts.risk;
    if (facts.is_destructive) {
        tool.destructive = true;
        // A tool cannot be both.
        if (tool.read_only) tool.read_only = false;
    }
    if (facts.is_open_world) tool.open_world = true;
    if (!facts.is_reversible) tool.reversible = false;
    if (facts.requires_approval) tool.requires_approval.text = "true";
    if (facts.estimated_cost > 0 && !tool.cost.is_set())
        tool.cost.text = fmt::format("{:f}", facts.estimated_cost);
    add_texts(tool.consequences, facts.consequences);
}

}  // namespace holdpoint::server
