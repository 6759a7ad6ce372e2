#pragma once

#include <optional>
#include <string>

#include "core/proposal.h"
#include "policy/evaluate.h"
#include "policy/policy.h"
#include "store/store.h"

/// Where policy meets what is stored. All but foresee() runs inside the transaction of the use
/// case: two requests that race for the last unit of a counter or a grant see each other.
namespace holdpoint::service {

/// Who proposes, as the credential says.
struct Proposer {
    core::Actor agent;
    std::string owner;  ///< the person responsible for the agent, may be empty
};

/// What policy says about a proposal, and what its release counts for.
struct Judgement {
    core::Verdict verdict;
    policy::Call call;
    policy::Needs needs;
    std::optional<store::GrantRecord> grant;  ///< the one that lets it pass
};

/// `draw` is random, 0 to 1: policy sends a share of trusted calls to a person all the same.
/// Fails only where the store fails or the proposal cannot be read.
Result<Judgement> judge(store::Transaction& tx, const policy::Policy& policy,
                        const core::Proposal& proposal, const Proposer& proposer, double draw,
                        Timestamp now);

/// What judge() will say once the agent has used the tool before; nothing where policy looks at
/// more of what is stored: counters, costs, grants, trust, a person's roles. Needs no transaction,
/// so it may run on another thread while the store syncs.
std::optional<core::Verdict> foresee(const policy::Policy& policy, const core::Proposal& proposal,
                                     const Proposer& proposer, double draw, Timestamp now);

/// judge() without leaving a trace, for whoever only asks.
Result<Judgement> preview(store::Transaction& tx, const policy::Policy& policy,
                          const core::Proposal& proposal, const Proposer& proposer, Timestamp now);

/// Counts a call that policy lets pass at once: counters, costs, the grant that covers it.
Result<void> count_allowed(store::Transaction& tx, Judgement& judgement,
                           const core::Request& request, Timestamp now);

/// What policies remember of a request that was just settled by people or by time: a release
/// counts; approvals build trust; a rejection ends the grants for the same tool of that agent, and
/// the end of a run those of its session.
Result<void> remember_settled(store::Transaction& tx, const policy::Policy& policy,
                              const core::Request& request, Timestamp now);

/// What really was used, as the agent reports it, once for each request. The cost replaces the
/// estimate in the budgets of its task, session and day; below the operator's own estimate it does
/// not bring them: that would be the agent's word against the policy.
struct Usage {
    std::optional<double> cost = {};  ///< without it the estimate stands
    double tokens = 0;
};
Result<void> count_usage(store::Transaction& tx, const core::Request& request, const Usage& usage,
                         Timestamp now);

/// Judges what a person wants to run instead of the original, as if the agent had proposed it: a
/// change must not slip past policy. Refused where policy denies it; where policy asks for more
/// than it did for the original, `request` asks for it from now on. Returns the line that the
/// operator wants people to read of it; empty for the plain one.
Result<std::string> judge_change(store::Transaction& tx, const policy::Policy& policy,
                                 core::Request& request, const core::JsonText& changed,
                                 Timestamp now);

/// Whether policy can read what is stored of the request; internal if not.
Result<void> check_call(const core::Request& request, Timestamp now);

/// The proposal that a stored request came from, as far as policy looks at it.
core::Proposal proposal_of(const core::Request& request);

}  // namespace holdpoint::service
