#include "policy/suggest.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "policy/compile.h"
#include "policy/outline.h"

namespace holdpoint::policy {
namespace {

using boost::json::value;
using core::Outcome;

constexpr std::size_t evidence_max = 10;

bool was_not_approved(const PastCall& past) {
    return past.outcome == Outcome::rejected || past.outcome == Outcome::modified ||
           past.outcome == Outcome::deferred || past.outcome == Outcome::aborted ||
           past.outcome == Outcome::expired;
}

/// What was approved and refused of one tool.
struct Group {
    std::vector<const PastCall*> approved;
    std::vector<const PastCall*> refused;
};

std::map<std::string, Group> grouped(std::span<const PastCall> calls) {
    std::map<std::string, Group> groups;
    for (const PastCall& past : calls) {
        if (past.call.event != Event::tool_call) continue;
        if (past.outcome == Outcome::approved && past.verdict == core::VerdictKind::hold)
            groups[past.call.tool].approved.push_back(&past);
        else if (was_not_approved(past))
            groups[past.call.tool].refused.push_back(&past);
    }
    return groups;
}

/// Conditions on one argument, from the values that were approved. Nothing where no condition can
/// be said: then the rule would be wider than what people saw, and there is none.
class Narrowing {
  public:
    Narrowing(const ArgType& type, const SuggestOptions& options)
        : type_(type), options_(options) {}

    std::optional<std::vector<std::string>> conditions(
        const std::vector<const PastCall*>& approved) const {
        std::vector<std::string> out;
        for (const ArgField& field : type_.fields) {
            std::optional<std::string> condition = for_field(field, approved);
            if (!condition) return std::nullopt;
            out.push_back(std::move(*condition));
        }
        return out;
    }

  private:
    static std::string path_of(const ArgField& field) {
        return fmt::format("args[{}]", json::quoted(field.name));
    }

    std::optional<std::string> for_field(const ArgField& field,
                                         const std::vector<const PastCall*>& approved) const {
        std::vector<const value*> seen;
        bool is_always_there = true;
        for (const PastCall* past : approved) {
            const value* found = past->call.args.if_contains(field.name);
            if (found && !found->is_null())
                seen.push_back(found);
            else
                is_always_there = false;
        }
        const std::string absent = fmt::format("!({} in args)", json::quoted(field.name));
        if (seen.empty()) return absent;
        std::optional<std::string> condition = for_values(field, seen);
        if (!condition) return std::nullopt;
        if (is_always_there) return condition;
        return fmt::format("({} || ({}))", absent, *condition);
    }

    std::optional<std::string> for_values(const ArgField& field,
                                          const std::vector<const value*>& seen) const {
        switch (field.type.kind) {
            case ArgType::Kind::number:
            case ArgType::Kind::integer:
                return range(path_of(field), seen);
            case ArgType::Kind::text:
                return texts(path_of(field), seen);
            case ArgType::Kind::boolean:
                return flags(path_of(field), seen);
            default:
                return std::nullopt;
        }
    }

    static std::string range(const std::string& path, const std::vector<const value*>& seen) {
        double low = seen.front()->to_number<double>();
        double high = low;
        for (const value* one : seen) {
            low = std::min(low, one->to_number<double>());
            high = std::max(high, one->to_number<double>());
        }
        std::string low_text, high_text;
        json::append_number(low_text, low);
        json::append_number(high_text, high);
        return fmt::format("{0} >= {1} && {0} <= {2}", path, low_text, high_text);
    }

    std::optional<std::string> texts(const std::string& path,
                                     const std::vector<const value*>& seen) const {
        std::set<std::string> values;
        for (const value* one : seen) values.emplace(one->get_string());
        if (values.size() <= options_.values_max) {
            std::string list;
            for (const std::string& text : values)
                list += (list.empty() ? "" : ", ") + json::quoted(text);
            return fmt::format("{} in [{}]", path, list);
        }
        const std::string prefix = common_prefix(values);
        // Texts that have nothing in common are free: what bounds the rule are the other
        // arguments, and a person reads it before it counts.
        if (prefix.size() < 3) return fmt::format("{}.size() <= {}", path, longest(values));
        return fmt::format("{}.startsWith({}) && {}.size() <= {}", path, json::quoted(prefix), path,
                           longest(values));
    }

    static std::string common_prefix(const std::set<std::string>& values) {
        // Sorted, so the first and the last differ most.
        const std::string& first = *values.begin();
        const std::string& last = *values.rbegin();
        const auto [a, b] = std::mismatch(first.begin(), first.end(), last.begin(), last.end());
        return {first.begin(), a};
    }

    static std::size_t longest(const std::set<std::string>& values) {
        std::size_t size = 0;
        for (const std::string& text : values) size = std::max(size, text.size());
        return size;
    }

    static std::optional<std::string> flags(const std::string& path,
                                            const std::vector<const value*>& seen) {
        const bool first = seen.front()->get_bool();
        for (const value* one : seen) {
            if (one->get_bool() != first) return std::nullopt;
        }
        return first ? path : "!" + path;
    }

    const ArgType& type_;
    const SuggestOptions& options_;
};

std::string agents_condition(const std::vector<const PastCall*>& approved) {
    std::set<std::string> agents;
    for (const PastCall* past : approved) agents.insert(past->call.agent);
    std::string list;
    for (const std::string& agent : agents)
        list += (list.empty() ? "" : ", ") + json::quoted(agent);
    return fmt::format("agent.id in [{}]", list);
}

std::string word_list(const std::vector<std::string>& words) {
    std::string out;
    for (const std::string& word : words) out += (out.empty() ? "" : ", ") + json::quoted(word);
    return out;
}

std::size_t approver_count(const std::vector<const PastCall*>& approved) {
    std::set<std::string> people;
    for (const PastCall* past : approved) people.insert(past->by);
    return people.size();
}

std::string joined(const std::vector<std::string>& conditions) {
    std::string out;
    for (const std::string& condition : conditions) out += (out.empty() ? "" : " && ") + condition;
    return out;
}

/// A rule for each exact command that people kept approving, with what it rests on.
std::vector<std::pair<Rule, std::vector<const PastCall*>>> shell_rules(
    const Tool& tool, const Group& group, const SuggestOptions& options) {
    std::map<std::vector<std::string>, std::vector<const PastCall*>> by_words;
    ShellLine line;
    for (const PastCall* past : group.approved) {
        const value* text = past->call.args.if_contains(tool.shell->arg);
        if (!text || !text->is_string()) continue;
        line.read(std::string_view(text->get_string()), tool.shell->dialect);
        if (line.is_opaque() || line.size() != 1) continue;
        by_words[line.words()].push_back(past);
    }
    std::vector<std::pair<Rule, std::vector<const PastCall*>>> out;
    for (const auto& [words, approved] : by_words) {
        if (approved.size() < options.approvals_min ||
            approver_count(approved) < options.approvers_min)
            continue;
        Rule rule;
        rule.tools = {tool.name};
        rule.then = Effect::allow;
        rule.shell.emplace();
        ShellCommand command;
        for (const std::string& word : words) command.push_back({{word}, false});
        rule.shell->every.push_back(std::move(command));
        // The pattern alone would let more words follow; these and no others were approved.
        rule.when.text = fmt::format("{} && shell.commands == [[{}]]", agents_condition(approved),
                                     word_list(words));
        out.emplace_back(std::move(rule), approved);
    }
    return out;
}

std::string yaml_of(const Rule& rule) {
    std::string out =
        fmt::format("- id: {}\n  tools: [{}]\n", rule.id, json::quoted(rule.tools.front()));
    if (rule.when.is_set()) out += fmt::format("  when: {}\n", json::quoted(rule.when.text));
    if (rule.shell) {
        std::string words;
        for (const ShellWord& word : rule.shell->every.front())
            words += (words.empty() ? "" : ", ") + json::quoted(word.any_of.front());
        out += fmt::format("  shell: {{every: [[{}]]}}\n", words);
    }
    out += "  then: allow\n";
    if (rule.auto_risk && rule.auto_risk->level)
        out += fmt::format("  auto_risk: {}\n", core::to_string(*rule.auto_risk->level));
    return out + fmt::format("  because: {}\n", json::quoted(rule.because));
}

/// The policy with one more rule, or nothing where it does not compile.
std::shared_ptr<const Policy> with_rule(const Policy& policy, const Rule& rule) {
    PolicyFile file = policy.file;
    std::erase_if(file.gates, [](const Gate& gate) { return gate.is_implied; });
    file.rules.push_back(rule);
    file.source += outline(rule);
    Result<std::shared_ptr<const Policy>> compiled = compile(std::move(file), policy.extensions);
    return compiled ? *compiled : nullptr;
}

RiskLevel highest_risk(const Policy& policy, const std::vector<const PastCall*>& approved) {
    RiskLevel level = RiskLevel::low;
    Workspace workspace;
    for (const PastCall* past : approved)
        level = std::max(level, evaluate(policy, past->call, {}, workspace).assessed.level);
    return level;
}

/// Whether the suggestion holds before the past; fills in what it would have saved.
std::optional<Suggestion> tried(const Policy& policy, Rule rule, std::string id,
                                const std::vector<const PastCall*>& approved,
                                std::span<const PastCall> calls, const SuggestOptions& options) {
    const RiskLevel level = highest_risk(policy, approved);
    if (level > options.risk_max) return std::nullopt;
    rule.id = std::move(id);
    rule.auto_risk = RiskCap{level};
    rule.because = fmt::format("people approved this {} times", approved.size());
    const std::shared_ptr<const Policy> candidate = with_rule(policy, rule);
    if (!candidate) return std::nullopt;
    Suggestion suggestion{rule, yaml_of(rule), approved.size(), {}, backtest(*candidate, calls)};
    if (!suggestion.result.dangerous.empty() || suggestion.result.prompts_saved == 0)
        return std::nullopt;
    for (const PastCall* past : approved) {
        if (suggestion.evidence.size() < evidence_max) suggestion.evidence.push_back(past->id);
    }
    return suggestion;
}

std::optional<Rule> rule_for(const Tool& tool, const std::vector<const PastCall*>& approved,
                             const SuggestOptions& options) {
    if (approved.size() < options.approvals_min || approver_count(approved) < options.approvers_min)
        return std::nullopt;
    std::optional<std::vector<std::string>> conditions =
        Narrowing(*tool.args, options).conditions(approved);
    if (!conditions) return std::nullopt;
    conditions->insert(conditions->begin(), agents_condition(approved));
    Rule rule;
    rule.tools = {tool.name};
    rule.when.text = joined(*conditions);
    rule.then = Effect::allow;
    return rule;
}

/// Those of the approved calls whose numbers all stay below the lowest that was refused.
std::vector<const PastCall*> below_refused(const Tool& tool, const Group& group) {
    std::vector<const PastCall*> kept = group.approved;
    for (const ArgField& field : tool.args->fields) {
        if (field.type.kind != ArgType::Kind::number && field.type.kind != ArgType::Kind::integer)
            continue;
        const auto number = [&](const PastCall* past) -> std::optional<double> {
            const value* found = past->call.args.if_contains(field.name);
            if (!found || !found->is_number()) return std::nullopt;
            return found->to_number<double>();
        };
        std::optional<double> lowest;
        for (const PastCall* past : group.refused) {
            const std::optional<double> one = number(past);
            if (one && (!lowest || *one < *lowest)) lowest = one;
        }
        if (!lowest) continue;
        std::erase_if(kept, [&](const PastCall* past) {
            const std::optional<double> one = number(past);
            return one && *one >= *lowest;
        });
    }
    return kept;
}

}  // namespace

std::vector<Suggestion> suggest(const Policy& policy, std::span<const PastCall> calls,
                                const SuggestOptions& options) {
    std::vector<Suggestion> out;
    const auto keep = [&](std::optional<Suggestion> suggestion) {
        if (suggestion) out.push_back(std::move(*suggestion));
        return suggestion.has_value();
    };
    for (const auto& [name, group] : grouped(calls)) {
        const auto found = policy.tools.find(name);
        // Without declared arguments nothing says what a condition could rely on.
        if (found == policy.tools.end() || !found->second.tool || !found->second.tool->args)
            continue;
        const Tool& tool = *found->second.tool;
        const std::string id = "suggested-" + name;
        if (tool.shell) {
            int number = 0;
            for (const auto& [rule, approved] : shell_rules(tool, group, options))
                keep(tried(policy, rule, fmt::format("{}-{}", id, ++number), approved, calls,
                           options));
            continue;
        }
        for (const std::vector<const PastCall*>& approved :
             {group.approved, below_refused(tool, group)}) {
            const std::optional<Rule> rule = rule_for(tool, approved, options);
            if (rule && keep(tried(policy, *rule, id, approved, calls, options))) break;
        }
    }
    return out;
}

}  // namespace holdpoint::policy
