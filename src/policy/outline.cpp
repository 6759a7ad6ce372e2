#include "policy/outline.h"

#include <fmt/format.h>

#include "base/json.h"
#include "policy/section.h"

namespace holdpoint::policy {
namespace {

/// Puts `name: value` pairs together; what is not set is left out.
class Line {
  public:
    Line& text(std::string_view name, std::string_view value) {
        if (value.empty()) return *this;
        std::string quoted;
        json::append_quoted(quoted, value);
        return raw(name, quoted);
    }
    Line& raw(std::string_view name, std::string_view value) {
        if (!text_.empty()) text_ += ", ";
        text_ += fmt::format("{}: {}", name, value);
        return *this;
    }
    Line& texts(std::string_view name, const std::vector<std::string>& values) {
        if (values.empty()) return *this;
        std::string list;
        for (const std::string& value : values) {
            if (!list.empty()) list += ", ";
            json::append_quoted(list, value);
        }
        return raw(name, "[" + list + "]");
    }
    Line& flag(std::string_view name, const std::optional<bool>& value) {
        return value ? raw(name, *value ? "true" : "false") : *this;
    }
    template <class Number>
    Line& number(std::string_view name, const std::optional<Number>& value) {
        return value ? raw(name, fmt::format("{}", *value)) : *this;
    }
    Line& duration(std::string_view name, const std::optional<std::int64_t>& ms) {
        return ms ? raw(name, duration_text(*ms)) : *this;
    }
    Line& risk(std::string_view name, const std::optional<RiskLevel>& level) {
        return level ? raw(name, core::to_string(*level)) : *this;
    }
    Line& cap(std::string_view name, const std::optional<RiskCap>& cap) {
        if (!cap) return *this;
        return raw(name, cap->level ? core::to_string(*cap->level) : "none");
    }
    Line& lines(std::string_view name, const std::vector<ApproverLine>& lines) {
        if (lines.empty()) return *this;
        std::string list;
        for (const ApproverLine& line : lines)
            list += fmt::format("{}{{group: {}, quorum: {}}}", list.empty() ? "" : ", ", line.group,
                                line.quorum);
        return raw(name, "[" + list + "]");
    }
    Line& patience(const Patience& patience) {
        duration("timeout", patience.timeout_ms);
        if (patience.on_timeout) raw("on_timeout", core::to_string(*patience.on_timeout));
        text("default_decision", patience.default_decision);
        duration("remind_every", patience.remind_every_ms);
        number("reminders_max", patience.reminders_max);
        duration("escalate_after", patience.escalate_after_ms);
        lines("escalate_to", patience.escalate_to);
        return number("retries", patience.retries_max);
    }
    Line& demands(const Demands& demands) {
        flag("allow_modification", demands.allow_modification);
        flag("require_reason", demands.require_reason);
        flag("exclude_requester", demands.exclude_requester);
        flag("confirm_code", demands.confirm_code);
        return number("reject_threshold", demands.reject_threshold);
    }
    std::string take() { return "{" + text_ + "}"; }

  private:
    std::string text_;
};

std::string command_text(const ShellCommand& command) {
    std::string out;
    for (const ShellWord& word : command) {
        Line line;
        line.texts(word.is_option_set ? "has" : "any_of", word.any_of);
        out += line.take();
    }
    return "[" + out + "]";
}

std::string commands_text(const std::vector<ShellCommand>& commands) {
    std::string out;
    for (const ShellCommand& command : commands) out += command_text(command);
    return out;
}

std::string shell_text(const ShellTest& test) {
    Line line;
    if (!test.any.empty()) line.raw("any", commands_text(test.any));
    if (!test.every.empty()) line.raw("every", commands_text(test.every));
    for (const std::vector<ShellCommand>& stage : test.pipe) line.raw("pipe", commands_text(stage));
    line.flag("opaque", test.opaque);
    return line.take();
}

std::string path_text(const PathTest& test) {
    Line line;
    line.text("arg", test.arg).texts("any", test.any).texts("all", test.all);
    return line.take();
}

template <class Part>
void add_entry(std::vector<std::pair<std::string, std::string>>& out, std::string_view what,
               const std::string& name, const Part& part) {
    out.emplace_back(fmt::format("{} `{}`", what, name), outline(part));
}

void add_names(std::vector<std::pair<std::string, std::string>>& out, std::string_view what,
               const std::vector<std::string>& names) {
    for (const std::string& name : names)
        out.emplace_back(fmt::format("{} `{}`", what, name), "{}");
}

}  // namespace

std::string outline(const Defaults& defaults) {
    Line line;
    if (defaults.decision) line.raw("decision", to_string(*defaults.decision));
    if (defaults.unknown_tools) line.raw("unknown_tools", to_string(*defaults.unknown_tools));
    line.cap("max_auto_risk", defaults.auto_risk_max);
    if (defaults.on_error) line.raw("on_error", to_string(*defaults.on_error));
    line.lines("approvers", defaults.approvers).patience(defaults.patience);
    return line.demands(defaults.demands).take();
}

std::string outline(const Tool& tool) {
    Line line;
    line.flag("destructive", tool.destructive).flag("reversible", tool.reversible);
    line.flag("read_only", tool.read_only).flag("open_world", tool.open_world);
    line.risk("risk", tool.risk);
    if (tool.args) line.raw("args", to_string(*tool.args));
    if (tool.shell) line.text("shell", tool.shell->arg).text("dialect", tool.shell->dialect);
    line.text("message", tool.message).texts("consequences", tool.consequences);
    line.texts("redact", tool.redact).text("cost", tool.cost.text);
    return line.text("requires_approval", tool.requires_approval.text).take();
}

std::string outline(const Gate& gate) {
    Line line;
    line.raw("type", to_string(gate.type)).texts("tools", gate.tools);
    if (gate.is_open_world) line.raw("open_world", "true");
    line.text("when", gate.when.text).text("callable", gate.callable);
    line.number("confidence_below", gate.confidence_below).number("cost_above", gate.cost_above);
    line.number("tokens_above", gate.tokens_above).raw("window", to_string(gate.window));
    line.risk("risk", gate.risk).lines("approvers", gate.approvers).patience(gate.patience);
    line.demands(gate.demands).text("message", gate.message).text("because", gate.because);
    if (gate.on_error) line.raw("on_error", to_string(*gate.on_error));
    return line.take();
}

std::string outline(const Rule& rule) {
    Line line;
    line.texts("tools", rule.tools).text("when", rule.when.text).text("unless", rule.unless.text);
    if (rule.path) line.raw("path", path_text(*rule.path));
    if (rule.shell) line.raw("shell", shell_text(*rule.shell));
    line.raw("then", to_string(rule.then)).text("gate", rule.gate).risk("risk", rule.risk);
    line.cap("auto_risk", rule.auto_risk).lines("approvers", rule.approvers);
    line.patience(rule.patience).demands(rule.demands);
    return line.text("message", rule.message).text("because", rule.because).take();
}

std::string outline(const Pattern& pattern) {
    static constexpr std::string_view forms[] = {"word", "prefix", "glob", "re"};
    Line line;
    line.text(forms[static_cast<std::size_t>(pattern.form)], pattern.text);
    return line.texts("tools", pattern.tools).text("arg", pattern.arg).take();
}

std::string outline(const ApproverGroup& group) {
    Line line;
    return line.texts("users", group.users).texts("roles", group.roles).take();
}

std::string outline(const Counter& counter) {
    Line line;
    line.texts("on", counter.on).text("key", counter.key.text).text("add", counter.add.text);
    return line.raw("window", duration_text(counter.window_ms)).take();
}

std::string outline(const Variable& variable) { return variable.value.text; }

std::string outline(const GrantRules& grants) {
    Line line;
    line.texts("offer", grants.offer).raw("max_ttl", duration_text(grants.ttl_max_ms));
    line.raw("max_uses", fmt::format("{}", grants.uses_max)).number("max_sum", grants.sum_max);
    line.cap("max_risk", grants.risk_max);
    for (const Similar& similar : grants.similar) {
        Line inner;
        inner.texts("pin", similar.pin).texts("bound", similar.bound);
        if (similar.may_pin_prefix) inner.raw("argv_prefix", "true");
        line.raw("similar " + similar.tool, inner.take());
    }
    return line.take();
}

std::string outline(const TrustRules& trust) {
    Line line;
    line.raw("after", fmt::format("{}", trust.after)).texts("tools", trust.tools);
    line.texts("scope", trust.scope).cap("max_risk", trust.risk_max);
    line.raw("min_review", duration_text(trust.min_review_ms));
    line.raw("expires", duration_text(trust.expires_ms)).texts("reset_on", trust.reset_on);
    line.raw("sample", fmt::format("{}", trust.sample));
    line.raw("distinct_approvers", fmt::format("{}", trust.distinct_approvers));
    if (trust.may_cover_destructive) line.raw("destructive", "true");
    return line.take();
}

std::string outline(const RiskRule& rule) {
    Line line;
    line.texts("tools", rule.tools).text("when", rule.when.text).risk("level", rule.level);
    return line.text("factor", rule.factor).text("consequence", rule.consequence).take();
}

std::vector<std::pair<std::string, std::string>> parts_of(const PolicyFile& file) {
    std::vector<std::pair<std::string, std::string>> out;
    out.emplace_back("enabled", file.is_disabled ? "false" : "true");
    out.emplace_back("defaults", outline(file.defaults));
    for (const Tool& tool : file.tools) add_entry(out, "tool", tool.name, tool);
    add_names(out, "always_require", file.always_require);
    add_names(out, "never_require", file.never_require);
    for (const Pattern& pattern : file.always_require_patterns)
        add_entry(out, "always_require pattern", pattern.text, pattern);
    for (const Pattern& pattern : file.auto_allow_patterns)
        add_entry(out, "auto_allow pattern", pattern.text, pattern);
    for (const ApproverGroup& group : file.approvers)
        add_entry(out, "approvers", group.name, group);
    for (const Gate& gate : file.gates) {
        if (!gate.is_implied) add_entry(out, "gate", gate.name, gate);
    }
    for (const Rule& rule : file.rules) add_entry(out, "rule", rule.id, rule);
    for (const Counter& counter : file.counters) add_entry(out, "counter", counter.name, counter);
    for (const Variable& variable : file.vars) add_entry(out, "var", variable.name, variable);
    if (file.grants) out.emplace_back("grants", outline(*file.grants));
    if (file.trust) out.emplace_back("trust", outline(*file.trust));
    for (const RiskRule& rule : file.risk) add_entry(out, "risk rule", rule.id, rule);
    add_names(out, "delegate", file.delegate);
    for (const HostExecutable& host : file.host_executables) {
        Line line;
        out.emplace_back(fmt::format("host_executable `{}`", host.name),
                         line.texts("paths", host.paths).take());
    }
    return out;
}

std::string outline(const PolicyFile& file) {
    std::string out;
    for (const auto& [name, line] : parts_of(file)) out += fmt::format("{} {}\n", name, line);
    return out;
}

}  // namespace holdpoint::policy
