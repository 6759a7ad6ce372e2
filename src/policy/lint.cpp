#include "policy/lint.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "policy/glob.h"
#include "policy/index.h"
#include "policy/match/matcher.h"

namespace holdpoint::policy {
namespace {

class Linter {
  public:
    explicit Linter(Policy& policy) : policy_(policy), file_(policy.file) {}

    void run() {
        for (const Gate& gate : file_.gates) look_at(gate);
        for (std::size_t i = 0; i < file_.rules.size(); ++i) look_at(file_.rules[i]);
        for (const Pattern& pattern : file_.always_require_patterns) look_at(pattern, false);
        for (const Pattern& pattern : file_.auto_allow_patterns) look_at(pattern, true);
        look_at_groups();
        look_at_lists();
    }

  private:
    void warn(Mark mark, std::string message) {
        policy_.warnings.push_back({mark, std::move(message)});
    }

    void look_at_names(const std::vector<std::string>& names, Mark mark, std::string_view what) {
        for (const std::string& name : names) {
            if (is_glob(name)) {
                const bool is_any =
                    std::any_of(file_.tools.begin(), file_.tools.end(),
                                [&](const Tool& tool) { return glob_matches(name, tool.name); });
                if (!is_any)
                    warn(mark,
                         fmt::format("{}: no tool in `tools` is called like `{}`", what, name));
            } else if (const auto found = policy_.tools.find(name);
                       found == policy_.tools.end() || !found->second.tool) {
                warn(mark, fmt::format("{}: `{}` is not described in `tools`", what, name));
            }
        }
    }

    void look_at(const Gate& gate) {
        if (gate.is_implied || gate.mark.line == 0) return;
        const std::string what = fmt::format("gate `{}`", gate.name);
        if (gate.patience.on_timeout == TimeoutAction::approve)
            warn(gate.mark, what + ": silence approves");
        if (gate.on_error == OnError::allow)
            warn(gate.mark, what + ": lets low risk pass when it cannot be evaluated");
        if (gate.is_below_denial) warn_of_denial(gate.mark, what);
    }

    void warn_of_denial(Mark mark, const std::string& what) {
        warn(mark, what +
                       ": holds only what would pass; what a layer above denies by default "
                       "stays denied");
    }

    void look_at(const Rule& rule) {
        const std::string what = fmt::format("rule `{}`", rule.id);
        look_at_names(rule.tools, rule.mark, what);
        if (rule.shell && rule.then == Effect::allow)
            for (const std::string& doubt : ShellMatcher::doubts(*rule.shell))
                warn(rule.shell->mark, fmt::format("{}: {}", what, doubt));
        if (rule.patience.on_timeout == TimeoutAction::approve)
            warn(rule.mark, what + ": silence approves");
        if (rule.then == Effect::allow) look_at_allow(rule, what);
        if (rule.then == Effect::require && rule.is_below_denial) warn_of_denial(rule.mark, what);
    }

    void look_at_allow(const Rule& rule, const std::string& what) {
        const bool is_bare =
            !rule.when.is_set() && !rule.unless.is_set() && !rule.path && !rule.shell;
        for (const Tool* tool : named_tools(file_, rule.tools)) {
            if (!tool) continue;
            if (tool->destructive.value_or(false) && is_bare)
                warn(rule.mark, fmt::format("{}: lets every call of `{}` pass, which is "
                                            "destructive",
                                            what, tool->name));
            const RiskCap cap = rule.auto_risk.value_or(policy_.auto_risk_max);
            if (!cap.covers(policy_.tools.find(tool->name)->second.base_risk))
                warn(rule.mark, fmt::format("{}: can never let `{}` pass, its risk is above the "
                                            "cap; write `auto_risk`",
                                            what, tool->name));
        }
        if (has_loose_regex(rule.when.text))
            warn(rule.when.mark, fmt::format("{}: `matches` finds its pattern anywhere; anchor it "
                                             "with ^ and $",
                                             what));
        look_for_shadow(rule, what);
    }

    /// A search in an allow rule that is not negated lets through whatever surrounds the match.
    static bool has_loose_regex(std::string_view text) {
        const std::size_t call = text.find(".matches(");
        if (call == std::string_view::npos) return false;
        const std::size_t quote = text.find_first_of("'\"", call);
        if (quote == std::string_view::npos || quote + 1 >= text.size()) return false;
        const std::size_t end = text.find(text[quote], quote + 1);
        if (end == std::string_view::npos) return false;
        const std::string_view pattern = text.substr(quote + 1, end - quote - 1);
        const bool is_negated = text.substr(0, call).find('!') != std::string_view::npos;
        const std::size_t start = pattern.starts_with("(?i)") ? 4 : 0;
        return !is_negated && (pattern.substr(start, 1) != "^" || !pattern.ends_with('$'));
    }

    void look_for_shadow(const Rule& rule, const std::string& what) {
        for (const Rule& other : file_.rules) {
            const bool is_bare =
                !other.when.is_set() && !other.unless.is_set() && !other.path && !other.shell;
            if (other.then == Effect::allow || !is_bare || rule.tools.empty()) continue;
            const bool is_shadowed =
                std::all_of(rule.tools.begin(), rule.tools.end(),
                            [&](const std::string& tool) { return is_named(other.tools, tool); });
            if (is_shadowed)
                warn(rule.mark, fmt::format("{}: never matters, rule `{}` always stands against it",
                                            what, other.id));
        }
    }

    void look_at(const Pattern& pattern, bool is_allow) {
        const match::MatcherSpec spec{static_cast<match::MatcherKind>(pattern.form), pattern.text,
                                      false, pattern.form == Pattern::Form::regex && !is_allow};
        if (const std::optional<std::string> mistake = match::lint(spec))
            warn(pattern.mark, fmt::format("pattern `{}`: {}", pattern.text, *mistake));
        const bool is_text =
            pattern.form == Pattern::Form::word || pattern.form == Pattern::Form::prefix;
        const bool is_shell = std::any_of(
            file_.tools.begin(), file_.tools.end(),
            [&](const Tool& tool) { return tool.shell && is_named(pattern.tools, tool.name); });
        if (is_allow && is_shell && !is_text)
            warn(pattern.mark, fmt::format("pattern `{}`: a glob or a regular expression never "
                                           "covers a shell command; use `prefix` or a rule with "
                                           "`shell: {{every: …}}`",
                                           pattern.text));
    }

    void look_at_groups() {
        std::set<std::string_view> used;
        const auto use = [&](const std::vector<ApproverLine>& lines) {
            for (const ApproverLine& line : lines) used.insert(line.group);
        };
        use(file_.defaults.approvers);
        use(file_.defaults.patience.escalate_to);
        for (const Gate& gate : file_.gates) {
            use(gate.approvers);
            use(gate.patience.escalate_to);
        }
        for (const Rule& rule : file_.rules) {
            use(rule.approvers);
            use(rule.patience.escalate_to);
        }
        for (const ApproverGroup& group : file_.approvers) {
            if (!used.contains(group.name))
                warn(group.mark, fmt::format("approvers `{}` are never asked", group.name));
        }
    }

    void look_at_lists() {
        if (policy_.unknown_tools == Effect::allow)
            warn(file_.defaults.mark, "tools that the policy does not know may pass");
        for (const std::string& name : file_.never_require) {
            for (const Tool& tool : file_.tools) {
                if (!is_named({name}, tool.name)) continue;
                const Entry& entry = policy_.tools.find(tool.name)->second;
                if (!policy_.auto_risk_max.covers(entry.base_risk))
                    warn(tool.mark, fmt::format("never_require: `{}` is held all the same, its "
                                                "risk is above `max_auto_risk`",
                                                tool.name));
            }
        }
    }

    Policy& policy_;
    const PolicyFile& file_;
};

}  // namespace

void lint(Policy& policy) { Linter(policy).run(); }

}  // namespace holdpoint::policy
