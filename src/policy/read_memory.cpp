#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "policy/read.h"

/// How approvals may be remembered: grants and trust.
namespace holdpoint::policy::read {
namespace {

using yaml::Kind;
using yaml::Node;

void check_words(Section& section, std::string_view key, const std::vector<std::string>& given,
                 std::span<const std::string_view> words) {
    for (const std::string& word : given) {
        if (std::find(words.begin(), words.end(), word) != words.end()) continue;
        section.refuse(fmt::format("`{}` of {} has `{}`{}", key, section.what(), word,
                                   did_you_mean(word, words)));
    }
}

/// What a pin or a scope can look at: something that stays the same from call to call.
void check_path(Section& section, std::string_view path) {
    static constexpr std::array<std::string_view, 8> whole{
        "agent.id", "agent.role", "user.id", "session", "task.id", "shell.argv", "args", "tool"};
    const bool is_arg = path.starts_with("args.") && path.size() > 5;
    if (is_arg || std::find(whole.begin(), whole.end(), path) != whole.end()) return;
    section.refuse(fmt::format("`{}` cannot be pinned{}", path, did_you_mean(path, whole)));
}

void bounds(Section& section, Similar& similar) {
    const Node* node = section.find("bound", Kind::map);
    if (!node) return;
    for (const yaml::Entry& entry : node->entries) {
        static constexpr std::array<std::string_view, 1> words{"approved"};
        Section inner(entry.value, fmt::format("bound `{}`", entry.key), section.fault());
        inner.word("at_most", words);
        if (!entry.value.find("at_most")) inner.refuse("a bound needs `at_most: approved`");
        inner.finish();
        if (!entry.key.starts_with("args."))
            inner.refuse(fmt::format("only arguments can be bounded, `{}` is none", entry.key));
        similar.bound.push_back(entry.key);
    }
}

Similar similar(const yaml::Entry& entry, Fault& fault) {
    Section section(entry.value, fmt::format("similar `{}`", entry.key), fault);
    Similar similar;
    similar.tool = entry.key;
    similar.mark = entry.key_mark;
    similar.pin = section.texts("pin");
    for (const std::string& path : similar.pin) check_path(section, path);
    bounds(section, similar);
    similar.may_pin_prefix = section.boolean("argv_prefix").value_or(false);
    section.finish();
    return similar;
}

}  // namespace

GrantRules grants(const Node& node, Fault& fault) {
    static constexpr std::array<std::string_view, 3> offers{"once", "similar", "session"};
    Section section(node, "grants", fault);
    GrantRules rules;
    rules.mark = node.mark;
    rules.offer = section.texts("offer");
    check_words(section, "offer", rules.offer, offers);
    rules.ttl_max_ms = section.duration("max_ttl").value_or(rules.ttl_max_ms);
    rules.uses_max = section.integer("max_uses", {1, 1'000'000}).value_or(rules.uses_max);
    rules.sum_max = section.number("max_sum", {0, 1e15});
    rules.risk_max = risk_cap(section, "max_risk").value_or(rules.risk_max);
    if (const Node* map = section.find("similar", Kind::map)) {
        for (const yaml::Entry& entry : map->entries)
            rules.similar.push_back(similar(entry, fault));
    }
    section.finish();
    return rules;
}

TrustRules trust(const Node& node, Fault& fault) {
    static constexpr std::array<std::string_view, 4> resets{"reject", "modify", "timeout",
                                                            "policy_change"};
    Section section(node, "trust", fault);
    TrustRules rules;
    rules.mark = node.mark;
    const std::optional<int> after = section.integer("after", {2, 10'000});
    if (!after) section.refuse("trust needs `after`, the number of approvals, at least 2");
    rules.after = after.value_or(0);
    rules.tools = section.texts("tools");
    if (rules.tools.empty()) section.refuse("trust needs `tools`: it is never for all of them");
    rules.scope = section.texts("scope");
    for (const std::string& path : rules.scope) check_path(section, path);
    rules.risk_max = risk_cap(section, "max_risk").value_or(rules.risk_max);
    if (rules.risk_max.level && *rules.risk_max.level > RiskLevel::medium)
        section.refuse(*node.find("max_risk"), "trust covers at most medium risk");
    rules.min_review_ms = section.duration("min_review").value_or(rules.min_review_ms);
    rules.expires_ms = section.duration("expires").value_or(rules.expires_ms);
    if (node.find("reset_on")) rules.reset_on = section.texts("reset_on");
    check_words(section, "reset_on", rules.reset_on, resets);
    if (std::find(rules.reset_on.begin(), rules.reset_on.end(), "reject") == rules.reset_on.end())
        section.refuse("trust is always reset on `reject`");
    rules.sample = section.number("sample", {0, 1}).value_or(0);
    rules.distinct_approvers =
        section.integer("distinct_approvers", {1, 20}).value_or(rules.distinct_approvers);
    rules.may_cover_destructive = section.boolean("destructive").value_or(false);
    section.finish();
    return rules;
}

}  // namespace holdpoint::policy::read
