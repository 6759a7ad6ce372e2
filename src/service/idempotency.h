#pragma once

#include <optional>
#include <string>
#include <vector>

#include "store/store.h"

namespace holdpoint::service {

/// The caller's Idempotency-Key and a hash of what the call says. An empty key means none.
struct Idempotency {
    std::string key;
    std::string call_hash;
};

/// The requests that this very call made or decided before; nothing when it is new. `refused` when
/// the key was used for another call.
Result<std::optional<std::vector<RequestId>>> find_replay(store::Transaction& tx,
                                                          const PrincipalId& principal,
                                                          const Idempotency& idempotency);

Result<void> remember(store::Transaction& tx, const PrincipalId& principal,
                      const Idempotency& idempotency, std::vector<RequestId> requests,
                      Timestamp now);

}  // namespace holdpoint::service
