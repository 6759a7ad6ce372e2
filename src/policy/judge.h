#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "policy/cel/arena.h"
#include "policy/cel/evaluate.h"
#include "policy/evaluate.h"

/// The inside of evaluate(): what one judgement reads and writes.
namespace holdpoint::policy {

struct Workspace::Parts {
    cel::Arena arena;
    std::vector<cel::Value> slots;
    std::vector<std::uint8_t> is_var_ready;
    std::vector<Finding> findings;
    ShellLine line;
    cel::Budget budget;
};

/// Everything that an evaluation looked at, for explanations.
struct Recorder {
    struct Look {
        Cause cause = Cause::rule;
        int index = -1;
        std::string_view part;  ///< `when` or `unless`
        Match3 answer = Match3::no;
        std::string first_false;
        std::string first_error;
        std::string error;  ///< the message
        std::vector<std::pair<std::string, json::value>> values;
    };
    std::vector<Look> looks;
    std::vector<Finding> findings;  ///< also those that were waived, and what allows
    bool has_line = false;
    bool is_opaque = false;
    std::string opaque_reason;
    std::size_t opaque_position = 0;
};

/// A number that can be compared and added up; nothing for other kinds, NaN and infinity.
std::optional<double> finite_number(const cel::Value& value);

/// Whether the call is beyond the gate's threshold of confidence, cost or tokens; yes for gates
/// that have none, an error where the cost cannot be told.
Match3 passes_limit(const Gate& gate, const Call& call, const StateView& state,
                    const std::optional<CostEstimate>& estimate);

/// The values that conditions see, put into their slots.
class Bindings {
  public:
    Bindings(const Policy& policy, const Entry& entry, const Call& call, Workspace::Parts& parts)
        : policy_(policy), entry_(entry), call_(call), parts_(parts) {}

    /// Forgets the last call and binds this one; the shell command is read here.
    void bind(const StateView& state);

    /// Runs a condition, with the vars it needs.
    cel::Value run(const Condition& condition) {
        if (!condition.vars.empty()) make_ready(condition);
        return cel::evaluate(condition.program, {parts_.slots}, parts_.arena, parts_.budget);
    }
    cel::Value run(const Condition& condition, cel::Trace& trace);

    /// The tool's shell command, or null.
    const ShellLine* line() const { return has_line_ ? &parts_.line : nullptr; }
    /// Nothing if the operator's expression fails.
    std::optional<CostEstimate> cost_estimate() const { return cost_estimate_; }

  private:
    void make_ready(const Condition& condition);
    void bind_tool();
    void bind_subject();
    void bind_people();
    cel::Value user_roles();
    void bind_shell();
    void bind_cost(const StateView& state);
    void bind_counters(const StateView& state);
    std::optional<CostEstimate> estimate_cost();

    const Policy& policy_;
    const Entry& entry_;
    const Call& call_;
    Workspace::Parts& parts_;
    bool has_line_ = false;
    std::optional<CostEstimate> cost_estimate_ = CostEstimate{};
};

/// The whole judgement of a call by the entry of its tool. With a recorder nothing is left out
/// because it can no longer matter.
Verdict judge(const Policy& policy, const Entry& entry, const Call& call, const StateView& state,
              Workspace::Parts& parts, Recorder* recorder);

}  // namespace holdpoint::policy
