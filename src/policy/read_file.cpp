#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "policy/file.h"
#include "policy/read.h"
#include "policy/yaml/reader.h"

namespace holdpoint::policy {
namespace {

using yaml::Kind;
using yaml::Node;

constexpr std::size_t entries_max = 5000;

/// Every entry of a map under `key`, or every item of a list.
template <class Out, class Reader>
void each_entry(Section& root, std::string_view key, std::vector<Out>& out, Reader read_one) {
    const Node* node = root.find(key, Kind::map);
    if (!node) return;
    if (node->entries.size() > entries_max) root.refuse(*node, "too many entries");
    for (const yaml::Entry& entry : node->entries) {
        read::check_name(entry.key, entry.key_mark, root.fault());
        out.push_back(read_one(entry, root.fault()));
    }
}

template <class Out, class Reader>
void each_item(Section& root, std::string_view key, std::vector<Out>& out, Reader read_one) {
    const Node* node = root.find(key, Kind::list);
    if (!node) return;
    if (node->items.size() > entries_max) root.refuse(*node, "too many entries");
    for (const Node& item : node->items) out.push_back(read_one(item, root.fault()));
}

void read_version(Section& root) {
    const Node* version = root.find("holdpoint");
    if (!version)
        root.refuse("a policy begins with `holdpoint: 1`, the version of its format");
    else if (!version->is(Kind::integer) || version->integer != 1)
        root.refuse(*version, "this server reads format 1");
}

void read_switches(Section& root, PolicyFile& file) {
    static constexpr std::array<std::string_view, 3> layers{"project", "team", "organisation"};
    file.name = root.text("policy");
    file.extends = root.text("extends");
    file.extends_mark = root.mark_of("extends");
    if (const auto layer = root.word("layer", layers)) file.layer = static_cast<Layer>(*layer);
    file.is_disabled = !root.boolean("enabled").value_or(true);
    file.always_require = root.texts("always_require");
    file.never_require = root.texts("never_require");
    file.delegate = root.texts("delegate");
    if (const Node* node = root.find("host_executables", Kind::map)) {
        Section section(*node, "host_executables", root.fault());
        for (const yaml::Entry& entry : node->entries)
            file.host_executables.push_back({entry.key, section.texts(entry.key)});
    }
}

void read_defaults(Section& root, Defaults& defaults) {
    static constexpr std::array<std::string_view, 3> effects{"allow", "require", "deny"};
    const Node* node = root.find("defaults", Kind::map);
    if (!node) return;
    Section section(*node, "defaults", root.fault());
    defaults.mark = node->mark;
    if (const auto effect = section.word("decision", effects))
        defaults.decision = static_cast<Effect>(*effect);
    if (const auto effect = section.word("unknown_tools", effects))
        defaults.unknown_tools = static_cast<Effect>(*effect);
    defaults.auto_risk_max = read::risk_cap(section, "max_auto_risk");
    defaults.on_error = read::on_error(section);
    if (defaults.on_error == OnError::allow)
        section.refuse(*node->find("on_error"),
                       "an error never allows; only a single gate can say `on_error: allow`");
    defaults.approvers = read::lines(section, "approvers");
    defaults.patience = read::patience(section);
    defaults.demands = read::demands(section);
    section.finish();
}

void read_patterns(Section& root, PolicyFile& file) {
    const Node* node = root.find("patterns", Kind::map);
    if (!node) return;
    Section section(*node, "patterns", root.fault());
    each_item(section, "auto_allow", file.auto_allow_patterns, read::pattern);
    each_item(section, "always_require", file.always_require_patterns, read::pattern);
    section.finish();
}

ApproverGroup read_group(const yaml::Entry& entry, Fault& fault) {
    Section section(entry.value, fmt::format("approvers `{}`", entry.key), fault);
    ApproverGroup group{entry.key, section.texts("users"), section.texts("roles"), entry.key_mark};
    if (group.users.empty() && group.roles.empty())
        section.refuse(fmt::format("{} needs `users` or `roles`", section.what()));
    section.finish();
    return group;
}

void read_vars(Section& root, PolicyFile& file) {
    const Node* node = root.find("vars", Kind::map);
    if (!node) return;
    Section section(*node, "vars", root.fault());
    for (const yaml::Entry& entry : node->entries) {
        read::check_identifier(entry.key, entry.key_mark, root.fault());
        file.vars.push_back({entry.key, read::value_expression(section, entry.key)});
    }
}

template <class Named, class Name>
void refuse_twins(const std::vector<Named>& list, Name name_of, std::string_view what,
                  Fault& fault) {
    std::set<std::string_view> seen;
    for (const Named& one : list) {
        if (!seen.insert(name_of(one)).second)
            fault.note(one.mark, fmt::format("there is another {} `{}`", what, name_of(one)));
    }
}

}  // namespace

Result<PolicyFile> read_policy(const Node& node) {
    Fault fault;
    PolicyFile file;
    Section root(node, "a policy", fault);
    read_version(root);
    read_switches(root, file);
    read_defaults(root, file.defaults);
    each_entry(root, "tools", file.tools, read::tool);
    read_patterns(root, file);
    each_entry(root, "approvers", file.approvers, read_group);
    each_entry(root, "gates", file.gates, read::gate);
    each_item(root, "rules", file.rules, read::rule);
    each_entry(root, "counters", file.counters, read::counter);
    read_vars(root, file);
    if (const Node* grants = root.find("grants", Kind::map))
        file.grants = read::grants(*grants, fault);
    if (const Node* trust = root.find("trust", Kind::map)) file.trust = read::trust(*trust, fault);
    each_item(root, "risk", file.risk, read::risk_rule);
    each_item(root, "tests", file.tests, read::test);
    refuse_twins(
        file.rules, [](const Rule& rule) -> std::string_view { return rule.id; }, "rule", fault);
    refuse_twins(
        file.tests, [](const Test& test) -> std::string_view { return test.name; }, "test", fault);
    root.finish();
    if (fault.is_set()) return fault.error();
    return file;
}

Result<PolicyFile> read_policy(std::string_view text) {
    const Result<Node> root = yaml::read(text);
    if (!root) return root.error();
    Result<PolicyFile> file = read_policy(*root);
    if (file) file->source = text;
    return file;
}

namespace read {

void check_name(std::string_view name, Mark mark, Fault& fault) {
    constexpr std::size_t name_bytes_max = 100;
    // Tools are named by others, so these names may be anything that can be shown.
    const bool is_plain = std::all_of(name.begin(), name.end(), [](char c) {
        return static_cast<unsigned char>(c) > ' ' && c != 127 && c != '`';
    });
    if (name.empty() || name.size() > name_bytes_max || !is_plain)
        fault.note(mark, fmt::format("`{}` is no name; it has blanks or is too long", name));
}

void check_identifier(std::string_view name, Mark mark, Fault& fault) {
    check_name(name, mark, fault);
    const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    const bool is_plain = std::ranges::all_of(name, [&](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || is_digit(c);
    });
    if (is_plain && !name.empty() && !is_digit(name.front())) return;
    fault.note(mark, fmt::format("`{}` cannot be read by conditions; the names of vars and "
                                 "counters are letters, digits and `_`, and begin with no digit",
                                 name));
}

std::optional<RiskLevel> risk(Section& section, std::string_view key) {
    static constexpr std::array<std::string_view, 4> levels{"low", "medium", "high", "critical"};
    const std::optional<std::size_t> level = section.word(key, levels);
    if (!level) return std::nullopt;
    return static_cast<RiskLevel>(*level);
}

std::optional<RiskCap> risk_cap(Section& section, std::string_view key) {
    static constexpr std::array<std::string_view, 5> levels{"low", "medium", "high", "critical",
                                                            "none"};
    const std::optional<std::size_t> level = section.word(key, levels);
    if (!level) return std::nullopt;
    if (*level == 4) return RiskCap{};
    return RiskCap{static_cast<RiskLevel>(*level)};
}

std::optional<OnError> on_error(Section& section) {
    static constexpr std::array<std::string_view, 3> words{"require", "deny", "allow"};
    const std::optional<std::size_t> word = section.word("on_error", words);
    if (!word) return std::nullopt;
    return static_cast<OnError>(*word);
}

Expression expression(Section& section, std::string_view key) {
    std::string text = section.text(key);
    return {std::move(text), section.mark_of(key)};
}

Expression value_expression(Section& section, std::string_view key) {
    const Node* node = section.find(key);
    if (!node) return {};
    if (node->is(Kind::boolean) || node->is(Kind::integer) || node->is(Kind::number))
        return {node->text, node->mark};
    return expression(section, key);
}

}  // namespace read

namespace {

template <class Word>
std::string_view word_at(std::initializer_list<std::string_view> words, Word word) {
    return words.begin()[static_cast<std::size_t>(word)];
}

}  // namespace

std::string_view to_string(Effect effect) { return word_at({"allow", "require", "deny"}, effect); }

std::string_view to_string(Event event) {
    return word_at({"tool_call", "plan", "final_response", "input", "confirmation"}, event);
}

std::string_view to_string(GateType type) {
    return word_at({"tool_execution", "specific_tools", "destructive_actions", "final_response",
                    "plan_approval", "threshold_based", "budget_based", "custom"},
                   type);
}

std::string_view to_string(OnError on_error) {
    return word_at({"require", "deny", "allow"}, on_error);
}

std::string_view to_string(Window window) {
    return word_at({"call", "task", "session", "day"}, window);
}

std::string_view to_string(Layer layer) {
    return word_at({"project", "team", "organisation"}, layer);
}

}  // namespace holdpoint::policy
