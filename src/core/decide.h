#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/request.h"

namespace holdpoint::core {

/// Whether this person has a place in the request as it stands.
Result<void> check_authority(const Request& request, const Actor& person);

/// Applies one person's decision to a pending request; the deadline has not passed (see expire.h).
/// Fails with conflict when it is settled, was changed since the person looked, or the same person
/// said the same before; with permission_denied when this person has no place in it; with refused
/// when the decision does not fit the request. The request is then as it was.
Result<Step> decide(Request request, const DecisionCommand& command, const Actor& person,
                    Timestamp now);

/// Ends a pending request because a sibling in the same run was aborted.
Step abort_with(Request request, const Decision& decision, const RequestId& cause,
                const Actor& person, Timestamp now);

/// The same where nobody decided: a sibling was not answered in time, and that aborts the run.
Step abort_unanswered(Request request, const RequestId& cause, Timestamp now);

}  // namespace holdpoint::core
