#pragma once

#include <memory>

#include "core/request.h"
#include "policy/policy.h"
#include "store/store.h"

namespace holdpoint::service {

// What a decision brings about beyond its own request; the same for one that takes effect at once
// and for one that was held.

/// Whoever may decide at all: a person who is not disabled, approver or admin.
bool is_decider(const store::Principal& person);

/// The request with the votes that still count, and with the groups that people have now: who was
/// disabled or lost a group since they voted releases nothing.
Result<std::shared_ptr<const core::Request>> with_people_as_they_are(
    store::Transaction& tx, std::shared_ptr<const core::Request> request);

/// The request as policy wants it decided: a change that a person makes is judged first. What
/// cannot be applied at all is core's to refuse. Who has no place in the request as it stands gets
/// none by changing it, and does not learn what policy says of the change.
Result<core::Request> judged_change(store::Transaction& tx, const policy::Policy& policy,
                                    const core::Request& request,
                                    const core::DecisionCommand& command, const core::Actor& person,
                                    Timestamp now);

/// Stores the step. Policy remembers how it ended; aborting ends every request that waits in the
/// same run.
Result<std::shared_ptr<const core::Request>> carry_out(store::Transaction& tx,
                                                       const policy::Policy& policy,
                                                       core::Step step, const core::Actor& person,
                                                       Timestamp now);

}  // namespace holdpoint::service
