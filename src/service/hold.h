#pragma once

#include <memory>

#include "policy/policy.h"
#include "service/decide.h"
#include "store/store.h"

namespace holdpoint::service {

/// Lets every held decision of this request whose time has come take effect, in order. One whose
/// author may not decide any more is void. Returns the request as it stands afterwards.
Result<std::shared_ptr<const core::Request>> release_holds(
    store::Transaction& tx, const policy::Policy& policy,
    std::shared_ptr<const core::Request> request, Timestamp now);

/// Takes back the person's decision that is still held.
Result<Decided> undo(store::Transaction& tx, const policy::Policy& policy, const RequestId& id,
                     const core::Actor& person, Timestamp now);

}  // namespace holdpoint::service
