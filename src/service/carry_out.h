#pragma once

#include <memory>

#include "core/request.h"
#include "policy/policy.h"
#include "store/store.h"

namespace holdpoint::service {

// What a decision brings about beyond its own request; the same for one that takes effect at once
// and for one that was held.

/// The request with the votes that still count, in the places that they fill, and with the groups
/// that people have now: who was disabled or lost a group since they voted releases nothing.
Result<std::shared_ptr<const core::Request>> with_people_as_they_are(
    store::Transaction& tx, std::shared_ptr<const core::Request> request);

/// A request as policy wants it decided.
struct Judged {
    core::Request request;
    std::string headline = {};  ///< the operator's line for the change; empty for the plain one
};

/// A change that a person makes is judged first. What cannot be applied at all is core's to refuse.
/// Who has no place in the request as it stands gets none by changing it, and does not learn what
/// policy says of the change.
Result<Judged> judged_change(store::Transaction& tx, const policy::Policy& policy,
                             const core::Request& request, const core::DecisionCommand& command,
                             const core::Actor& person, Timestamp now);

/// Puts the operator's line over what the step changed: the plain one may show what theirs hides.
void retitle(core::Step& step, const core::Request& before, const std::string& headline);

/// Stores the step. Policy remembers how it ended; an abort, by a person or by time, ends every
/// request that waits in the same run. What was due for those before has happened already: see
/// load_now() and expire_due().
Result<std::shared_ptr<const core::Request>> carry_out(store::Transaction& tx,
                                                       const policy::Policy& policy,
                                                       core::Step step, const core::Actor& person,
                                                       Timestamp now);

}  // namespace holdpoint::service
