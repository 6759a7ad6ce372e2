#include <fmt/format.h>

#include <array>

#include "policy/read.h"

namespace holdpoint::policy::read {
namespace {

using yaml::Kind;
using yaml::Node;

std::vector<std::string> plain_texts(const Node& list, std::string_view what, Fault& fault) {
    std::vector<std::string> out;
    for (const Node& item : list.items) {
        if (!item.is(Kind::text) || item.text.empty())
            fault.note(item.mark, fmt::format("{} must be words; put this one in quotes", what));
        out.push_back(item.text);
    }
    if (out.empty()) fault.note(list.mark, fmt::format("{} must not be empty", what));
    return out;
}

/// `push`, `[push, fetch]` or `{has: ["--force", "-f"]}`.
ShellWord shell_word(const Node& node, Fault& fault) {
    if (node.is(Kind::text) && !node.text.empty()) return {{node.text}, false};
    if (node.is(Kind::list)) return {plain_texts(node, "a choice of words", fault), false};
    if (node.is(Kind::map)) {
        Section section(node, "a word", fault);
        ShellWord word{section.texts("has"), true};
        if (word.any_of.empty()) section.refuse("`has` names options, like {has: [\"-f\"]}");
        section.finish();
        return word;
    }
    fault.note(node.mark, "a word of a command must be text; put it in quotes");
    return {};
}

ShellCommand shell_command(const Node& node, Fault& fault) {
    if (!node.is(Kind::list) || node.items.empty()) {
        fault.note(node.mark, "a command must be a list of words, like [git, status]");
        return {};
    }
    ShellCommand command;
    for (const Node& item : node.items) command.push_back(shell_word(item, fault));
    if (command.front().is_option_set) fault.note(node.mark, "a command begins with its program");
    return command;
}

std::vector<ShellCommand> shell_commands(const Node* node, std::string_view what, Fault& fault) {
    if (!node) return {};
    if (!node->is(Kind::list) || node->items.empty()) {
        fault.note(node->mark,
                   fmt::format("{} must be a list of commands, like [[git, status]]", what));
        return {};
    }
    std::vector<ShellCommand> out;
    for (const Node& item : node->items) out.push_back(shell_command(item, fault));
    return out;
}

ShellTest shell_test(const Node& node, Fault& fault) {
    Section section(node, "shell", fault);
    ShellTest test;
    test.mark = node.mark;
    test.any = shell_commands(section.find("any"), "`any`", fault);
    test.every = shell_commands(section.find("every"), "`every`", fault);
    if (const Node* pipe = section.find("pipe", Kind::list)) {
        for (const Node& stage : pipe->items)
            test.pipe.push_back(shell_commands(&stage, "a stage of `pipe`", fault));
        if (test.pipe.size() < 2) section.refuse(*pipe, "a pipe has at least two stages");
    }
    test.opaque = section.boolean("opaque");
    const int forms = !test.any.empty() + !test.every.empty() + !test.pipe.empty() +
                      (test.opaque.has_value() ? 1 : 0);
    if (forms != 1) section.refuse("shell needs one of `any`, `every`, `pipe` and `opaque`");
    section.finish();
    return test;
}

PathTest path_test(const Node& node, Fault& fault) {
    Section section(node, "path", fault);
    PathTest test{section.required_text("arg"), section.texts("any"), section.texts("all"),
                  node.mark};
    if (test.any.empty() == test.all.empty())
        section.refuse("path needs either `any` or `all` with a list of globs");
    section.finish();
    return test;
}

void check_effect(Section& section, const Rule& rule) {
    const bool is_allow = rule.then == Effect::allow;
    const bool is_require = rule.then == Effect::require;
    if (!is_require && (!rule.gate.empty() || !rule.approvers.empty()))
        section.refuse(
            fmt::format("{}: only `then: require` takes `gate` and `approvers`", section.what()));
    if (!is_allow && rule.auto_risk)
        section.refuse(fmt::format("{}: only `then: allow` takes `auto_risk`", section.what()));
    if (is_allow && rule.risk)
        section.refuse(
            fmt::format("{}: an allow rule cannot set `risk`; `auto_risk` is the level "
                        "up to which it lets pass",
                        section.what()));
    // What finds a danger must not be used to prove safety: it says nothing about the rest.
    if (is_allow && rule.path && !rule.path->any.empty())
        section.refuse(
            fmt::format("{}: an allow rule proves its path with `all`, not `any`", section.what()));
    if (is_allow && rule.shell && rule.shell->every.empty())
        section.refuse(
            fmt::format("{}: an allow rule proves its command with `every`", section.what()));
    if (!is_allow && rule.shell && !rule.shell->every.empty())
        section.refuse(
            fmt::format("{}: `every` proves safety; to find a command use `any`", section.what()));
}

}  // namespace

Rule rule(const Node& node, Fault& fault) {
    static constexpr std::array<std::string_view, 3> effects{"allow", "require", "deny"};
    const Node* id = node.find("id");
    Section section(node, fmt::format("rule `{}`", id ? id->text : ""), fault);
    Rule rule;
    rule.mark = node.mark;
    rule.id = section.required_text("id");
    check_name(rule.id, section.mark_of("id"), fault);
    rule.tools = section.texts("tools");
    if (node.find("tools") && rule.tools.empty())
        section.refuse(
            fmt::format("{}: `tools` is empty; leave it out to mean all", section.what()));
    rule.when = expression(section, "when");
    rule.unless = expression(section, "unless");
    if (const Node* path = section.find("path")) rule.path = path_test(*path, fault);
    if (const Node* shell = section.find("shell")) rule.shell = shell_test(*shell, fault);
    if (const auto effect = section.word("then", effects))
        rule.then = static_cast<Effect>(*effect);
    else if (!node.find("then"))
        section.refuse(fmt::format("{} needs `then`", section.what()));
    rule.gate = section.text("gate");
    rule.risk = risk(section, "risk");
    rule.auto_risk = risk_cap(section, "auto_risk");
    rule.approvers = lines(section, "approvers");
    rule.patience = patience(section);
    rule.demands = demands(section);
    rule.message = section.text("message");
    rule.because = section.text("because");
    section.finish();
    check_effect(section, rule);
    return rule;
}

Pattern pattern(const Node& node, Fault& fault) {
    static constexpr std::array<std::string_view, 4> forms{"word", "prefix", "glob", "re"};
    Section section(node, "a pattern", fault);
    Pattern pattern;
    pattern.mark = node.mark;
    int count = 0;
    for (std::size_t i = 0; i < forms.size(); ++i) {
        std::string text = section.text(forms[i]);
        if (text.empty()) continue;
        pattern.form = static_cast<Pattern::Form>(i);
        pattern.text = std::move(text);
        ++count;
    }
    if (count != 1) section.refuse("a pattern is one of `word`, `prefix`, `glob` and `re`");
    pattern.tools = section.texts("tools");
    pattern.arg = section.text("arg");
    section.finish();
    return pattern;
}

RiskRule risk_rule(const Node& node, Fault& fault) {
    Section section(node, "a risk rule", fault);
    RiskRule rule;
    rule.mark = node.mark;
    rule.id = section.required_text("id");
    check_name(rule.id, section.mark_of("id"), fault);
    rule.tools = section.texts("tools");
    rule.when = expression(section, "when");
    const std::optional<RiskLevel> level = risk(section, "level");
    if (!level) section.refuse("a risk rule needs `level`");
    rule.level = level.value_or(RiskLevel::critical);
    rule.factor = section.required_text("factor");
    rule.consequence = section.text("consequence");
    section.finish();
    return rule;
}

}  // namespace holdpoint::policy::read
