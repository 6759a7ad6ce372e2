#pragma once

#include <string>
#include <vector>

#include "store/store.h"

namespace holdpoint::service {

// Which browsers are told by push. A subscription hands out tokens that decide, so that it lives no
// longer than the sign-in that asked for it: a password that is changed, a session that is ended
// and a person who is disabled leave nothing behind that could still decide.

inline constexpr std::size_t push_subscriptions_max = 20;  ///< of one person

/// Keeps the browser for the person whose session token hashes to `session_hash`. The same endpoint
/// again renews it. unauthenticated when the session has ended meanwhile.
Result<store::PushSubscription> subscribe_push(store::Transaction& tx,
                                               store::PushSubscription subscription,
                                               const std::string& session_hash, Timestamp now);

/// Those of one person, oldest first; not_found if there is nobody of this name.
Result<std::vector<store::PushSubscription>> list_push(store::Transaction& tx,
                                                       const std::string& name);

/// A subscription of somebody else exists for admins only.
Result<void> unsubscribe_push(store::Transaction& tx, const PushSubscriptionId& id,
                              const PrincipalId& caller, bool is_admin);

}  // namespace holdpoint::service
