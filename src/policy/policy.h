#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "policy/call.h"
#include "policy/cel/program.h"
#include "policy/file.h"
#include "policy/matchers.h"
#include "policy/risk.h"

namespace holdpoint::policy {

/// What an embedding program adds to a policy: gates and assessors as callables (G8). They are
/// called from whichever thread evaluates, must be pure, and what they throw counts as an error,
/// which never allows.
struct Extensions {
    enum class Answer { pass, hold, error };
    using CustomGate = std::function<Answer(const Call&, const StateView&)>;
    /// May raise the level and add words; a lower level is ignored.
    using Assessor = std::function<void(const Call&, Assessment&)>;

    std::unordered_map<std::string, CustomGate> gates;  ///< by the name that `callable:` gives
    std::vector<Assessor> assessors;
};

/// A compiled condition and the variables of the file that it reads, directly or through others.
struct Condition {
    cel::Program program;
    std::vector<std::uint16_t> vars;
};

/// Index of a gate that stands for none.
inline constexpr int no_gate = -1;

struct CompiledRule {
    std::optional<Condition> when, unless;
    std::optional<PathMatcher> path;
    std::optional<ShellMatcher> shell;
    int gate = no_gate;
    // Copies of what stands in the file, beside what is read with them.
    Effect then = Effect::require;
    RiskCap cap;                ///< up to which an allow rule lets pass
    bool is_no_excuse = false;  ///< see Finding
};

struct CompiledGate {
    std::optional<Condition> when;
    Extensions::CustomGate callable;  ///< empty: none
    bool is_hard = false;
    bool is_no_excuse = false;  ///< see Finding
    int specificity = 0;        ///< of gates that hold alike, the most specific is reported
};

struct CompiledCounter {
    std::optional<Condition> key, add;
};

struct CompiledRisk {
    std::optional<Condition> when;
};

using Indices = std::vector<std::uint32_t>;

/// Everything that can matter to one tool or to one other event, found with one lookup.
struct Entry {
    const Tool* tool = nullptr;  ///< the operator's facts; null where there are none
    cel::Type args_type;         ///< how arguments are bound
    std::optional<Condition> cost, requires_approval;
    Indices deny, require, allow;  ///< rules, in file order
    Indices gates;
    Indices claim_gates;    ///< apply only where the agent itself calls it destructive or open
    Indices counters;       ///< that this tool adds to
    Indices read_counters;  ///< that only its conditions look at; see CounterNeed
    Indices risk_rules;
    Indices require_patterns, allow_patterns;
    RiskLevel base_risk = RiskLevel::low;
    std::uint32_t base_factors = 0;  ///< see risk.h
    bool is_always_required = false;
    bool is_never_required = false;
    bool is_trustable = false;
    /// The lists hold everything that might match: names are compared when a call comes.
    bool must_check_names = false;
    /// Nothing in the policy looks at this tool: with good arguments and without claims of the
    /// agent it passes by the default decision.
    bool is_plain = false;
};

/// Something a policy's author should know; the policy works all the same.
struct Warning {
    Mark mark;
    std::string message;
};

/// A policy ready to judge. Immutable: made by compile(), shared by whoever judges, swapped whole.
struct Policy {
    PolicyFile file;
    std::string version;  ///< `sha256:…` over the texts it was made from
    std::vector<Warning> warnings;
    Extensions extensions;

    Effect decision = Effect::require;
    Effect unknown_tools = Effect::require;
    RiskCap auto_risk_max;
    OnError on_error = OnError::require;

    std::vector<CompiledRule> rules;  ///< as file.rules
    std::vector<CompiledGate> gates;  ///< as file.gates
    std::vector<CompiledCounter> counters;
    std::vector<CompiledRisk> risk_rules;
    std::vector<Condition> vars;  ///< as file.vars; each reads only earlier ones
    std::vector<PatternMatcher> require_patterns, allow_patterns;
    std::vector<std::string> skeletons;  ///< of the names in the file, sorted; see match/names.h

    struct Hash {
        using is_transparent = void;
        std::size_t operator()(std::string_view text) const {
            return std::hash<std::string_view>{}(text);
        }
    };
    std::unordered_map<std::string, Entry, Hash, std::equal_to<>> tools;
    Entry unknown;                 ///< for names that stand nowhere in the file
    std::vector<Entry> events;     ///< by Event; that of tool_call is empty
    int all_tools_gate = no_gate;  ///< stands for the default decision and unknown tools

    std::uint64_t vars_read = 0;  ///< a bit for each Var that some condition looks at
    bool reads_spent = false;     ///< a condition or a callable may look at what was spent so far
    bool reads_roles = false;     ///< a condition looks at the roles of the person behind the agent
    bool counts_costs = false;    ///< so does a condition, a callable or a budget
    std::size_t slot_count = 0;
    std::size_t counter_slot = 0;  ///< the first of the counters
    std::size_t var_slot = 0;      ///< the first of the vars
    std::size_t arg_slot = 0;      ///< the first of the called tool's declared arguments

    const Entry& entry_of(const Call& call) const;
};

}  // namespace holdpoint::policy
