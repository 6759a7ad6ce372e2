#pragma once

#include <memory>
#include <optional>

#include "core/decide.h"
#include "policy/policy.h"
#include "service/idempotency.h"
#include "store/store.h"

namespace holdpoint::service {

struct DecideCall {
    RequestId id;
    core::DecisionCommand command;
    core::Actor person;
    Idempotency idempotency;
    Timestamp now;
    /// Lets similar actions pass for a while; only together with the approval that releases.
    std::optional<policy::GrantTerms> grant = {};
    /// Record it now and let it take effect so much later; 0: at once.
    std::int64_t hold_ms = 0;
};

/// The request as it stands after the call, and why the decision did not take effect, if so. A
/// refusal is an answer, not a failure: time that passed meanwhile is recorded all the same.
struct Decided {
    std::shared_ptr<const core::Request> request;
    std::optional<Error> refusal;
    bool is_replay = false;
    std::optional<store::GrantRecord> grant = {};  ///< the one that was given with it
};

/// Lets time pass first, then applies the decision. What the person changed is judged by policy as
/// if the agent had proposed it. Aborting ends every request that waits in the
/// same run.
Result<Decided> decide(store::Transaction& tx, const policy::Policy& policy,
                       const DecideCall& call);

}  // namespace holdpoint::service
