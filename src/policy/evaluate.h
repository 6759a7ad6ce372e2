#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/proposal.h"
#include "policy/policy.h"

namespace holdpoint::policy {

struct Recorder;

/// What made policy say what it said.
enum class Cause : std::uint8_t {
    default_decision,
    disabled,  ///< the master switch
    schema,    ///< the arguments are not what the tool declares
    rule,
    gate,
    always_require,
    never_require,
    pattern,
    requires_approval,  ///< the tool's own fact
    unknown_tool,
    look_alike,
    opaque_shell,
    risk_cap,  ///< nothing speaks against it but its level
    question,  ///< what an agent asks people is for people
    grant,
    trust,
    ungated,  ///< a gate failed and says `on_error: allow`
    failed    ///< something could not be evaluated
};
std::string_view to_string(Cause cause);

/// One thing that matched.
struct Finding {
    Cause cause = Cause::default_decision;
    Effect effect = Effect::require;
    bool is_hard = false;   ///< nothing can waive it
    bool is_error = false;  ///< counts because it could not be evaluated
    /// Rests on the agent's word, on something odd, on a pattern that any tool's call may hold or
    /// on a layer below the one that denies by default: no reason to ask people instead.
    bool is_no_excuse = false;
    int index = -1;  ///< of the rule, gate or pattern
    int gate = no_gate;
    RiskLevel risk = RiskLevel::low;
    int specificity = 1;
};

/// What evaluate() answers, as indices into the policy: cheap to make, put into words by to_core()
/// and explain().
struct Verdict {
    core::VerdictKind kind = core::VerdictKind::hold;
    RiskLevel risk = RiskLevel::critical;
    Finding decisive;
    /// What requires or denies. Empty when it was allowed.
    std::vector<Finding> findings;
    BaseRisk assessed;
    std::optional<ArgFault> fault;       ///< for Cause::schema
    std::optional<std::size_t> grant;    ///< index in StateView::grants of the one that was used
    bool is_trusted = false;             ///< passed by trust
    std::vector<std::uint32_t> ungated;  ///< gates that failed open
    std::int64_t steps = 0;              ///< of the budget
};

/// Memory that evaluations reuse. One for each thread; may be used again at once.
class Workspace {
  public:
    Workspace();
    ~Workspace();
    Workspace(const Workspace&) = delete;
    Workspace& operator=(const Workspace&) = delete;

    struct Parts;
    Parts& parts() { return *parts_; }

  private:
    std::unique_ptr<Parts> parts_;
};

/// Judges a call. Pure: the same policy, call and state give the same verdict. Never fails: what
/// goes wrong inside is a hold or a denial. Allocates nothing where a call passes plainly.
Verdict evaluate(const Policy& policy, const Call& call, const StateView& state,
                 Workspace& workspace);
Verdict evaluate(const Policy& policy, const Call& call, const StateView& state = {});

/// The same, and writes down everything that was looked at; several times slower, same verdict.
Verdict evaluate(const Policy& policy, const Call& call, const StateView& state,
                 Workspace& workspace, Recorder& recorder);

/// What has to be loaded before, and what is counted once the call is released.
Needs needs(const Policy& policy, const Call& call, Workspace& workspace);
Needs needs(const Policy& policy, const Call& call);

/// The verdict as the domain knows it: words, requirement, times, headline and risk.
core::Verdict to_core(const Policy& policy, const Call& call, const Verdict& verdict,
                      const core::Proposal& proposal);

/// Everything at once, for callers with no state of their own: policies without counters, grants
/// and trust. A proposal that cannot be read is denied.
core::Verdict evaluate(const Policy& policy, const core::Proposal& proposal, const Caller& caller);

}  // namespace holdpoint::policy
