#pragma once

#include <memory>

#include "core/request.h"
#include "policy/policy.h"
#include "store/store.h"

namespace holdpoint::service {

// What a decision brings about beyond its own request; the same for one that takes effect at once
// and for one that was held.

/// The request as policy wants it decided: a change that a person makes is judged first. What
/// cannot be applied at all is core's to refuse.
Result<core::Request> judged_change(store::Transaction& tx, const policy::Policy& policy,
                                    const core::Request& request,
                                    const core::DecisionCommand& command, Timestamp now);

/// Stores the step. Policy remembers how it ended; aborting ends every request that waits in the
/// same run.
Result<std::shared_ptr<const core::Request>> carry_out(store::Transaction& tx,
                                                       const policy::Policy& policy,
                                                       core::Step step, const core::Actor& person,
                                                       Timestamp now);

}  // namespace holdpoint::service
