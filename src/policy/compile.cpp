#include "policy/compile.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/assert.h"
#include "base/sha256.h"
#include "policy/conditions.h"
#include "policy/environment.h"
#include "policy/extend.h"
#include "policy/glob.h"
#include "policy/index.h"
#include "policy/lint.h"
#include "policy/run_tests.h"
#include "policy/section.h"
#include "policy/template.h"

namespace holdpoint::policy {
namespace {

using Wanted = Conditions::Wanted;

/// One pass over the file for each section; stops at the first thing wrong.
class Compiler {
  public:
    Compiler(PolicyFile file, Extensions extensions) : conditions_(policy_) {
        policy_.file = std::move(file);
        policy_.extensions = std::move(extensions);
    }

    Result<void> run() {
        settle_defaults();
        using Part = Result<void> (Compiler::*)();
        for (const Part part :
             {&Compiler::check_names, &Compiler::vars, &Compiler::gates, &Compiler::rules,
              &Compiler::counters, &Compiler::risk_rules, &Compiler::patterns, &Compiler::templates,
              &Compiler::check_trust}) {
            if (Result<void> ok = (this->*part)(); !ok) return ok;
        }
        if (Result<void> ok = index(policy_, conditions_); !ok) return ok;
        policy_.counts_costs =
            policy_.reads_spent || std::ranges::any_of(file().gates, [](const Gate& gate) {
                return gate.type == GateType::budget_based;
            });
        lint(policy_);
        return {};
    }

    Policy take() { return std::move(policy_); }

  private:
    PolicyFile& file() { return policy_.file; }

    void settle_defaults() {
        const Defaults& defaults = file().defaults;
        policy_.decision = defaults.decision_or_default();
        policy_.unknown_tools = defaults.unknown_tools_or_default();
        policy_.auto_risk_max = defaults.auto_risk_max.value_or(RiskCap{RiskLevel::low});
        policy_.on_error = defaults.on_error.value_or(OnError::require);
        policy_.version = "sha256:" + hex(sha256(join_texts(file().source, file().above)));
        policy_.counter_slot = static_cast<std::size_t>(Var::count);
        policy_.var_slot = policy_.counter_slot + file().counters.size();
        policy_.arg_slot = policy_.var_slot + file().vars.size();
        std::size_t arguments = 0;
        for (const Tool& tool : file().tools) {
            if (tool.args) arguments = std::max(arguments, tool.args->fields.size());
        }
        policy_.slot_count = policy_.arg_slot + arguments;
        add_all_tools_gate();
    }

    /// What the default decision and unknown tools are held by, under a name people can see.
    void add_all_tools_gate() {
        auto& gates = file().gates;
        const auto found = std::find_if(gates.begin(), gates.end(), [](const Gate& gate) {
            return gate.name == "all_tools" && gate.type == GateType::tool_execution;
        });
        policy_.all_tools_gate = static_cast<int>(found - gates.begin());
        if (found != gates.end()) return;
        Gate gate;
        gate.name = "all_tools";
        gate.type = GateType::tool_execution;
        gate.is_implied = true;
        gates.push_back(std::move(gate));
    }

    Result<void> check_lines(const std::vector<ApproverLine>& lines) {
        for (const ApproverLine& line : lines) {
            const auto& groups = file().approvers;
            const bool is_known =
                std::any_of(groups.begin(), groups.end(),
                            [&](const ApproverGroup& group) { return group.name == line.group; });
            if (is_known) continue;
            std::vector<std::string_view> names;
            for (const ApproverGroup& group : groups) names.push_back(group.name);
            return yaml::error_at(line.mark,
                                  fmt::format("there are no approvers `{}`{}", line.group,
                                              did_you_mean(line.group, names)));
        }
        return {};
    }

    /// Escalation hands a request to one name of the store: one role or one person.
    Result<void> check_patience(const Patience& patience) {
        if (Result<void> ok = check_lines(patience.escalate_to); !ok) return ok;
        for (const ApproverLine& line : patience.escalate_to) {
            const auto group = std::find_if(
                file().approvers.begin(), file().approvers.end(),
                [&](const ApproverGroup& candidate) { return candidate.name == line.group; });
            if (group->users.size() + group->roles.size() != 1)
                return yaml::error_at(line.mark,
                                      fmt::format("`{}` takes over by escalation and must be one "
                                                  "role or one person",
                                                  line.group));
        }
        return {};
    }

    Result<void> check_parts(const std::vector<ApproverLine>& lines, const Patience& patience) {
        if (Result<void> ok = check_lines(lines); !ok) return ok;
        return check_patience(patience);
    }

    Result<void> check_names() {
        if (Result<void> ok = check_parts(file().defaults.approvers, file().defaults.patience); !ok)
            return ok;
        std::set<std::string_view> tools;
        for (const Tool& tool : file().tools) tools.insert(tool.name);
        for (const Gate& gate : file().gates) {
            if (Result<void> ok = check_parts(gate.approvers, gate.patience); !ok) return ok;
            if (gate.patience.on_timeout == TimeoutAction::escalate &&
                gate.patience.escalate_to.empty() && file().defaults.patience.escalate_to.empty())
                return yaml::error_at(
                    gate.mark,
                    fmt::format("gate `{}` escalates, but `escalate` does not say to whom",
                                gate.name));
            if (gate.patience.on_timeout == TimeoutAction::approve && gate.risk != RiskLevel::low)
                return yaml::error_at(gate.mark,
                                      fmt::format("gate `{}` approves by silence; that is only "
                                                  "for `risk: low`, written out",
                                                  gate.name));
        }
        for (const Rule& rule : file().rules) {
            if (Result<void> ok = check_parts(rule.approvers, rule.patience); !ok) return ok;
        }
        return {};
    }

    Result<void> vars() { return conditions_.compile_vars(); }

    Result<void> set(std::optional<Condition>& out, const Expression& expression,
                     const std::string& what, const std::vector<const Tool*>& tools,
                     Wanted wanted) {
        if (!expression.is_set()) return {};
        Result<Condition> condition = conditions_.compile(expression, what, tools, wanted);
        if (!condition) return condition.error();
        out = std::move(*condition);
        return {};
    }

    Result<void> gates() {
        for (const Gate& gate : file().gates) {
            CompiledGate compiled;
            const std::string what = fmt::format("gate `{}`, `when`", gate.name);
            const bool is_about_tool =
                gate.type != GateType::final_response && gate.type != GateType::plan_approval;
            const std::vector<const Tool*> tools =
                is_about_tool ? named_tools(policy_.file, gate.tools) : std::vector<const Tool*>();
            if (Result<void> ok = set(compiled.when, gate.when, what, tools, Wanted::boolean); !ok)
                return ok;
            if (!gate.callable.empty()) {
                const auto found = policy_.extensions.gates.find(gate.callable);
                if (found == policy_.extensions.gates.end())
                    return yaml::error_at(gate.mark,
                                          fmt::format("gate `{}`: the program has no gate called "
                                                      "`{}`",
                                                      gate.name, gate.callable));
                compiled.callable = found->second;
                policy_.reads_spent = true;
            }
            compiled.is_hard =
                gate.type == GateType::final_response || gate.type == GateType::plan_approval ||
                gate.type == GateType::threshold_based || gate.type == GateType::budget_based;
            compiled.is_no_excuse = gate.type == GateType::threshold_based ||
                                    gate.type == GateType::budget_based || gate.is_below_denial;
            compiled.specificity = specificity_of(gate.type);
            policy_.gates.push_back(std::move(compiled));
        }
        return {};
    }

    static int specificity_of(GateType type) {
        switch (type) {
            case GateType::specific_tools:
                return 6;
            case GateType::custom:
                return 5;
            case GateType::destructive_actions:
                return 4;
            case GateType::threshold_based:
            case GateType::budget_based:
            case GateType::plan_approval:
            case GateType::final_response:
                return 3;
            case GateType::tool_execution:
                break;
        }
        return 0;
    }

    Result<int> gate_named(const Rule& rule) {
        if (rule.gate.empty()) return no_gate;
        std::vector<std::string_view> names;
        for (std::size_t i = 0; i < file().gates.size(); ++i) {
            if (file().gates[i].name == rule.gate) return static_cast<int>(i);
            names.push_back(file().gates[i].name);
        }
        return yaml::error_at(rule.mark, fmt::format("rule `{}`: there is no gate `{}`{}", rule.id,
                                                     rule.gate, did_you_mean(rule.gate, names)));
    }

    Result<void> rules() {
        for (const Rule& rule : file().rules) {
            CompiledRule compiled;
            const std::vector<const Tool*> tools = named_tools(policy_.file, rule.tools);
            const std::string what = fmt::format("rule `{}`, ", rule.id);
            if (Result<void> ok =
                    set(compiled.when, rule.when, what + "`when`", tools, Wanted::boolean);
                !ok)
                return ok;
            if (Result<void> ok =
                    set(compiled.unless, rule.unless, what + "`unless`", tools, Wanted::boolean);
                !ok)
                return ok;
            if (rule.path) {
                if (Result<void> ok = check_path(rule, tools); !ok) return ok;
                Result<PathMatcher> path = PathMatcher::compile(*rule.path);
                if (!path) return path.error();
                compiled.path = std::move(*path);
            }
            if (rule.shell) {
                Result<ShellMatcher> shell =
                    ShellMatcher::compile(*rule.shell, file().host_executables);
                if (!shell) return shell.error();
                compiled.shell = std::move(*shell);
            }
            const Result<int> gate = gate_named(rule);
            if (!gate) return gate.error();
            compiled.gate = *gate;
            compiled.then = rule.then;
            compiled.is_no_excuse = rule.is_below_denial;
            compiled.cap = rule.auto_risk.value_or(policy_.auto_risk_max);
            policy_.rules.push_back(std::move(compiled));
        }
        return {};
    }

    static Result<void> check_path(const Rule& rule, const std::vector<const Tool*>& tools) {
        for (const Tool* tool : tools) {
            if (!tool || !tool->args || tool->args->find(rule.path->arg)) continue;
            if (!tool->args->element.empty()) continue;
            return yaml::error_at(rule.path->mark,
                                  fmt::format("rule `{}`: tool `{}` has no argument `{}`", rule.id,
                                              tool->name, rule.path->arg));
        }
        return {};
    }

    Result<void> counters() {
        for (const Counter& counter : file().counters) {
            CompiledCounter compiled;
            const std::vector<const Tool*> tools = named_tools(policy_.file, counter.on);
            const std::string what = fmt::format("counter `{}`, ", counter.name);
            if (Result<void> ok =
                    set(compiled.key, counter.key, what + "`key`", tools, Wanted::text);
                !ok)
                return ok;
            if (Result<void> ok =
                    set(compiled.add, counter.add, what + "`add`", tools, Wanted::number);
                !ok)
                return ok;
            policy_.counters.push_back(std::move(compiled));
        }
        return {};
    }

    Result<void> risk_rules() {
        for (const RiskRule& rule : file().risk) {
            CompiledRisk compiled;
            if (Result<void> ok = set(compiled.when, rule.when, fmt::format("risk `{}`", rule.id),
                                      named_tools(policy_.file, rule.tools), Wanted::boolean);
                !ok)
                return ok;
            policy_.risk_rules.push_back(std::move(compiled));
        }
        return {};
    }

    Result<void> patterns() {
        const auto compile_all = [](const std::vector<Pattern>& from, Effect effect,
                                    std::vector<PatternMatcher>& to) -> Result<void> {
            for (const Pattern& pattern : from) {
                Result<PatternMatcher> matcher = PatternMatcher::compile(pattern, effect);
                if (!matcher) return matcher.error();
                to.push_back(std::move(*matcher));
            }
            return {};
        };
        if (Result<void> ok = compile_all(file().always_require_patterns, Effect::require,
                                          policy_.require_patterns);
            !ok)
            return ok;
        return compile_all(file().auto_allow_patterns, Effect::allow, policy_.allow_patterns);
    }

    /// `args.x` in a template must be an argument of every tool that the template is for.
    static Result<void> check_template(const std::string& text, Mark mark,
                                       const std::vector<const Tool*>& tools) {
        if (text.empty()) return {};
        const Result<std::vector<std::string>> paths = template_paths(text);
        if (!paths) return yaml::error_at(mark, fmt::format("message: {}", paths.error().message));
        for (const std::string& path : *paths) {
            if (!path.starts_with("args.")) continue;
            const std::string name = path.substr(5, path.find('.', 5) - 5);
            const bool is_unknown =
                !tools.empty() && std::none_of(tools.begin(), tools.end(), [&](const Tool* tool) {
                    return !tool || !tool->args || tool->args->find(name) ||
                           !tool->args->element.empty();
                });
            if (is_unknown)
                return yaml::error_at(
                    mark, fmt::format("message: none of its tools has an argument `{}`", name));
        }
        return {};
    }

    Result<void> templates() {
        for (const Tool& tool : file().tools) {
            if (Result<void> ok = check_template(tool.message, tool.mark, {&tool}); !ok) return ok;
        }
        for (const Gate& gate : file().gates) {
            if (Result<void> ok =
                    check_template(gate.message, gate.mark, named_tools(policy_.file, gate.tools));
                !ok)
                return ok;
        }
        for (const Rule& rule : file().rules) {
            if (Result<void> ok =
                    check_template(rule.message, rule.mark, named_tools(policy_.file, rule.tools));
                !ok)
                return ok;
        }
        return {};
    }

    /// Trust that looks at no argument would trust a tool by its name.
    Result<void> check_trust() {
        if (!file().trust || file().trust->scope.empty()) return {};
        const auto& scope = file().trust->scope;
        const bool looks_at_arguments =
            std::any_of(scope.begin(), scope.end(), [](const std::string& path) {
                return path == "args" || path.starts_with("args.") || path == "shell.argv";
            });
        if (looks_at_arguments) return {};
        return yaml::error_at(file().trust->mark,
                              "the scope of trust needs `args`, `args.NAME` or `shell.argv`: a "
                              "tool is never trusted by its name");
    }

    Policy policy_;
    Conditions conditions_;
};

}  // namespace

Result<std::shared_ptr<const Policy>> compile(PolicyFile file, Extensions extensions) {
    // The index points into the file, so the policy stays where it is from here on.
    Compiler compiler(std::move(file), std::move(extensions));
    if (Result<void> ok = compiler.run(); !ok) return ok.error();
    return std::make_shared<const Policy>(compiler.take());
}

std::shared_ptr<const Policy> switched_off(const Policy& policy) {
    PolicyFile file = policy.file;
    file.is_disabled = true;
    Result<std::shared_ptr<const Policy>> off = compile(std::move(file));
    HOLDPOINT_ASSERT(off.has_value());
    return std::move(*off);
}

Result<std::shared_ptr<const Policy>> load(std::string_view text, const LoadOptions& options) {
    Result<PolicyFile> file = read_policy(text);
    if (!file) return file.error();
    file = extend(std::move(*file), options.read_parent);
    if (!file) return file.error();
    Result<std::shared_ptr<const Policy>> policy = compile(std::move(*file), options.extensions);
    if (!policy || options.may_fail_tests) return policy;
    for (const TestResult& result : run_tests(**policy)) {
        if (!result.is_passed)
            return yaml::error_at(result.mark,
                                  fmt::format("test `{}` fails: {}", result.name, result.message));
    }
    return policy;
}

}  // namespace holdpoint::policy
