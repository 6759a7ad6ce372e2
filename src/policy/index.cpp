#include "policy/index.h"

#include <fmt/format.h>

#include <algorithm>

#include "policy/environment.h"
#include "policy/extend.h"
#include "policy/glob.h"
#include "policy/match/names.h"

namespace holdpoint::policy {
namespace {

constexpr std::size_t event_count = 5;

bool is_star(std::string_view pattern) {
    return pattern.find_first_not_of("*?") == std::string_view::npos;
}

class Indexer {
  public:
    Indexer(Policy& policy, Conditions& conditions) : policy_(policy), conditions_(conditions) {}

    Result<void> run() {
        policy_.events.resize(event_count);
        policy_.unknown.must_check_names = true;
        name_tools();
        for (std::uint32_t i = 0; i < policy_.rules.size(); ++i) add_rule(i);
        for (std::uint32_t i = 0; i < policy_.gates.size(); ++i) add_gate(i);
        add_lists();
        if (Result<void> ok = add_facts(); !ok) return ok;
        for (auto& [name, entry] : policy_.tools) finish(entry);
        finish(policy_.unknown);
        if (!file().counters.empty()) {
            for (auto& [name, entry] : policy_.tools) add_read_counters(entry);
            add_read_counters(policy_.unknown);
            for (Entry& entry : policy_.events) add_read_counters(entry);
        }
        std::sort(policy_.skeletons.begin(), policy_.skeletons.end());
        return {};
    }

  private:
    const PolicyFile& file() const { return policy_.file; }

    /// Every name that stands anywhere gets an entry.
    void name_tools() {
        for (const Tool& tool : file().tools) {
            policy_.tools[tool.name].tool = &tool;
        }
        for (const std::string& name : named_tools(file())) policy_.tools[name];
        for (const auto& [name, entry] : policy_.tools)
            policy_.skeletons.push_back(match::skeleton(name));
    }

    /// Calls `add(entry)` for every entry that the names mean, the unknown ones included.
    template <class Add>
    void each_named(const std::vector<std::string>& names, Add add) {
        if (names.empty()) {
            for (auto& [name, entry] : policy_.tools) add(entry);
            add(policy_.unknown);
            return;
        }
        bool has_glob = false;
        for (const std::string& name : names) has_glob = has_glob || is_glob(name);
        if (!has_glob) {
            std::vector<std::string_view> seen;
            for (const std::string& name : names) {
                if (std::find(seen.begin(), seen.end(), name) != seen.end()) continue;
                seen.push_back(name);
                // To be trusted makes no name known: one that stands nowhere else has no entry.
                const auto found = policy_.tools.find(name);
                if (found != policy_.tools.end()) add(found->second);
            }
            return;
        }
        for (auto& [name, entry] : policy_.tools) {
            if (is_named(names, name)) add(entry);
        }
        add(policy_.unknown);
    }

    void add_rule(std::uint32_t index) {
        const Rule& rule = file().rules[index];
        const CompiledRule& compiled = policy_.rules[index];
        const auto list_of = [&](Entry& entry) -> Indices& {
            switch (rule.then) {
                case Effect::deny:
                    return entry.deny;
                case Effect::require:
                    return entry.require;
                case Effect::allow:
                    break;
            }
            return entry.allow;
        };
        // A bare `*` is too little to let a tool pass that nobody has ever heard of.
        const bool is_too_wide =
            rule.then == Effect::allow &&
            (rule.tools.empty() ||
             std::all_of(rule.tools.begin(), rule.tools.end(),
                         [](const std::string& name) { return is_star(name); }));
        each_named(rule.tools, [&](Entry& entry) {
            if (&entry == &policy_.unknown && is_too_wide) return;
            if (!entry.tool && is_too_wide) return;
            // Without a shell command there is nothing that could be found in one.
            if (rule.shell && (!entry.tool || !entry.tool->shell)) return;
            list_of(entry).push_back(index);
        });
        const bool is_tools_only = !rule.tools.empty() || rule.shell || rule.path ||
                                   (compiled.when && is_about_tools(*compiled.when)) ||
                                   (compiled.unless && is_about_tools(*compiled.unless));
        if (is_tools_only) return;
        for (std::size_t event = 1; event < event_count; ++event)
            list_of(policy_.events[event]).push_back(index);
    }

    void add_gate(std::uint32_t index) {
        const Gate& gate = file().gates[index];
        if (gate.is_implied) return;
        const auto to_event = [&](Event event) {
            policy_.events[static_cast<std::size_t>(event)].gates.push_back(index);
        };
        switch (gate.type) {
            case GateType::final_response:
                return to_event(Event::final_response);
            case GateType::plan_approval:
                return to_event(Event::plan);
            case GateType::destructive_actions:
                return each_named(gate.tools, [&](Entry& entry) {
                    const bool is_fact = entry.tool && entry.tool->destructive.value_or(false);
                    (is_fact ? entry.gates : entry.claim_gates).push_back(index);
                });
            case GateType::specific_tools:
                return add_specific_gate(index, gate);
            case GateType::threshold_based:
            case GateType::budget_based:
            case GateType::custom: {
                each_named(gate.tools, [&](Entry& entry) { entry.gates.push_back(index); });
                const auto& when = policy_.gates[index].when;
                if (!gate.tools.empty() || (when && is_about_tools(*when))) return;
                to_event(Event::plan);
                to_event(Event::final_response);
                return;
            }
            case GateType::tool_execution:
                return each_named(gate.tools, [&](Entry& entry) { entry.gates.push_back(index); });
        }
    }

    void add_specific_gate(std::uint32_t index, const Gate& gate) {
        if (!gate.tools.empty())
            each_named(gate.tools, [&](Entry& entry) { entry.gates.push_back(index); });
        if (!gate.is_open_world) return;
        each_named({}, [&](Entry& entry) {
            if (!entry.gates.empty() && entry.gates.back() == index) return;
            const bool is_fact = entry.tool && entry.tool->open_world.value_or(false);
            (is_fact ? entry.gates : entry.claim_gates).push_back(index);
        });
    }

    void add_lists() {
        for (std::uint32_t i = 0; i < file().counters.size(); ++i)
            each_named(file().counters[i].on, [&](Entry& entry) { entry.counters.push_back(i); });
        for (std::uint32_t i = 0; i < file().risk.size(); ++i)
            each_named(file().risk[i].tools, [&](Entry& entry) { entry.risk_rules.push_back(i); });
        for (std::uint32_t i = 0; i < file().always_require_patterns.size(); ++i)
            each_named(file().always_require_patterns[i].tools,
                       [&](Entry& entry) { entry.require_patterns.push_back(i); });
        for (std::uint32_t i = 0; i < file().auto_allow_patterns.size(); ++i)
            each_named(file().auto_allow_patterns[i].tools, [&](Entry& entry) {
                if (entry.tool) entry.allow_patterns.push_back(i);
            });
        if (!file().always_require.empty())
            each_named(file().always_require,
                       [](Entry& entry) { entry.is_always_required = true; });
        if (!file().never_require.empty())
            each_named(file().never_require, [](Entry& entry) { entry.is_never_required = true; });
        if (file().trust) each_named(file().trust->tools, [&](Entry& entry) { trust(entry); });
    }

    void trust(Entry& entry) {
        if (!entry.tool) return;
        entry.is_trustable =
            !entry.tool->destructive.value_or(false) || file().trust->may_cover_destructive;
    }

    BaseRisk risk_of(const Tool* tool) const {
        BaseRisk risk = base_risk(tool);
        if (!tool) risk.level = file().defaults.unknown_risk.value_or(risk.level);
        return risk;
    }

    Result<void> add_facts() {
        for (auto& [name, entry] : policy_.tools) {
            const BaseRisk risk = risk_of(entry.tool);
            entry.base_risk = risk.level;
            entry.base_factors = risk.factors;
            entry.args_type = args_type({entry.tool});
            if (!entry.tool) continue;
            const auto set = [&](std::optional<Condition>& out, const Expression& expression,
                                 std::string_view key, Conditions::Wanted wanted) -> Result<void> {
                if (!expression.is_set()) return {};
                Result<Condition> condition = conditions_.compile(
                    expression, fmt::format("tool `{}`, `{}`", name, key), {entry.tool}, wanted);
                if (!condition) return condition.error();
                out = std::move(*condition);
                return {};
            };
            if (Result<void> ok =
                    set(entry.cost, entry.tool->cost, "cost", Conditions::Wanted::number);
                !ok)
                return ok;
            if (Result<void> ok = set(entry.requires_approval, entry.tool->requires_approval,
                                      "requires_approval", Conditions::Wanted::boolean);
                !ok)
                return ok;
        }
        const BaseRisk risk = risk_of(nullptr);
        policy_.unknown.base_risk = risk.level;
        policy_.unknown.base_factors = risk.factors;
        policy_.unknown.args_type = args_type({nullptr});
        for (Entry& entry : policy_.events) {
            entry.args_type = args_type({nullptr});
            entry.base_risk = file().defaults.unknown_risk.value_or(RiskLevel::low);
        }
        return {};
    }

    void finish(Entry& entry) {
        const bool has_nothing = entry.deny.empty() && entry.require.empty() &&
                                 entry.allow.empty() && entry.gates.empty() &&
                                 entry.risk_rules.empty() && entry.require_patterns.empty() &&
                                 entry.allow_patterns.empty() && !entry.requires_approval &&
                                 !entry.is_always_required && !entry.is_never_required;
        // The level of a tool that only reads does not depend on its arguments.
        const bool is_level_fixed = entry.tool && entry.tool->read_only.value_or(false) &&
                                    !entry.tool->shell && policy_.extensions.assessors.empty();
        entry.is_plain = entry.tool && has_nothing && is_level_fixed &&
                         policy_.decision == Effect::allow &&
                         policy_.auto_risk_max.covers(entry.base_risk);
    }

    /// Calls `take(slot)` for everything that the condition reads, also through vars.
    template <class Take>
    void each_read(const Condition& condition, Take take) const {
        for (const cel::Program::Read& read : condition.program.reads()) take(read.slot);
        for (const std::uint16_t var : condition.vars) {
            for (const cel::Program::Read& read : policy_.vars[var].program.reads())
                take(read.slot);
        }
    }

    /// Whether a counter's key can be told from a call of a tool that the counter is not on: the
    /// arguments of one tool mean nothing in another's.
    bool has_common_key(const CompiledCounter& counter) const {
        bool is_common = true;
        if (counter.key)
            each_read(*counter.key, [&](cel::Slot slot) {
                const bool is_args =
                    slot == static_cast<cel::Slot>(Var::args) || slot >= policy_.arg_slot;
                is_common = is_common && !is_args;
            });
        return is_common;
    }

    void add_read_counters(Entry& entry) {
        std::vector<bool> is_read(file().counters.size(), false);
        const auto look = [&](const std::optional<Condition>& condition) {
            if (!condition) return;
            each_read(*condition, [&](cel::Slot slot) {
                if (slot >= policy_.counter_slot && slot < policy_.var_slot)
                    is_read[slot - policy_.counter_slot] = true;
            });
        };
        for (const Indices* rules : {&entry.deny, &entry.require, &entry.allow}) {
            for (const std::uint32_t index : *rules) {
                look(policy_.rules[index].when);
                look(policy_.rules[index].unless);
            }
        }
        for (const Indices* gates : {&entry.gates, &entry.claim_gates}) {
            for (const std::uint32_t index : *gates) look(policy_.gates[index].when);
        }
        for (const std::uint32_t index : entry.risk_rules) look(policy_.risk_rules[index].when);
        look(entry.requires_approval);
        look(entry.cost);
        for (std::uint32_t i = 0; i < is_read.size(); ++i) {
            if (is_read[i] && has_common_key(policy_.counters[i])) entry.read_counters.push_back(i);
        }
    }

    Policy& policy_;
    Conditions& conditions_;
};

}  // namespace

std::vector<const Tool*> named_tools(const PolicyFile& file,
                                     const std::vector<std::string>& names) {
    std::vector<const Tool*> out;
    if (names.empty()) return out;
    for (const Tool& tool : file.tools) {
        if (is_named(names, tool.name)) out.push_back(&tool);
    }
    for (const std::string& name : names) {
        const bool is_described =
            is_glob(name)
                ? std::any_of(
                      out.begin(), out.end(),
                      [&](const Tool* tool) { return tool && glob_matches(name, tool->name); })
                : std::any_of(out.begin(), out.end(),
                              [&](const Tool* tool) { return tool && tool->name == name; });
        if (!is_described) out.push_back(nullptr);
    }
    return out;
}

bool is_named(const std::vector<std::string>& names, std::string_view tool) {
    return names.empty() || std::any_of(names.begin(), names.end(), [&](const std::string& name) {
               return is_glob(name) ? glob_matches(name, tool) : name == tool;
           });
}

Result<void> index(Policy& policy, Conditions& conditions) {
    return Indexer(policy, conditions).run();
}

const Entry& Policy::entry_of(const Call& call) const {
    if (call.event != Event::tool_call) return events[static_cast<std::size_t>(call.event)];
    const auto found = tools.find(std::string_view(call.tool));
    return found == tools.end() ? unknown : found->second;
}

}  // namespace holdpoint::policy
