#pragma once

#include <optional>

#include "core/request.h"

namespace holdpoint::core {

/// What time alone does to a pending request at `now`: a reminder, an escalation, another round,
/// or the end. Nothing when it is not due. Called by the timer, and by every command before it
/// looks at the request, so that expiry wins or loses cleanly against a late decision. Held
/// decisions that are due (hold.h) come first.
std::optional<Step> tick(const Request& request, Timestamp now);

}  // namespace holdpoint::core
