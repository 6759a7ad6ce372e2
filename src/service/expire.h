#pragma once

#include <memory>
#include <optional>

#include "policy/policy.h"
#include "store/store.h"

namespace holdpoint::service {

/// Loads a request after letting time pass for it and for everything that waits in the same run:
/// nobody acts on a request whose deadline is over or whose run has ended, whether or not the timer
/// has come to it.
Result<std::shared_ptr<const core::Request>> load_now(store::Transaction& tx,
                                                      const policy::Policy& policy,
                                                      const RequestId& id, Timestamp now);

struct Expired {
    int count = 0;                  ///< requests that were due and readable
    std::optional<Timestamp> next;  ///< when the next one is due; nothing while none waits
};

/// A transaction's worth: others wait for the store meanwhile.
inline constexpr int expire_at_once = 200;

/// Lets time pass for what is due, at most `limit` requests, in the order in which it was due;
/// `next` is in the past when more are. What happens to a request after a standstill is what would
/// have happened without, or less: what is due later than an abort of the same run is not done.
/// One that cannot be read, or for which it cannot be done, is logged and looked at again an hour
/// later: it stays unreleased, and the deadlines of the others are kept.
Result<Expired> expire_due(store::Transaction& tx, const policy::Policy& policy, Timestamp now,
                           int limit);

}  // namespace holdpoint::service
