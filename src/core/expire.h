#pragma once

#include <optional>

#include "core/request.h"

namespace holdpoint::core {

/// Whether the whole run is to stop when nobody answers in time.
bool silence_aborts(const Timing& timing);
/// Whether a request of which nobody says anything would be released by that.
bool silence_releases(const Timing& timing);

/// What happens to a request first of all that is due.
struct Due {
    Timestamp at;                ///< when it was due, however late the timer is
    const Held* held = nullptr;  ///< the decision that takes effect (hold.h); none: time, by tick()
    bool ends_run = false;       ///< it may end everything else that waits in the same run
};

/// Nothing when nothing is due. After a standstill several requests of one run are due at once;
/// what happens to them happens in the order of these moments, as if the timer had been in time.
std::optional<Due> first_due(const Request& request, Timestamp now);

/// What time alone does to a pending request at `now`: a reminder, an escalation, another round,
/// or the end. Nothing when it is not due. Called by the timer, and by every command before it
/// looks at the request, so that expiry wins or loses cleanly against a late decision. Held
/// decisions that were due earlier come earlier, see first_due(); votes are those that still count.
std::optional<Step> tick(const Request& request, Timestamp now);

}  // namespace holdpoint::core
