#pragma once

#include <memory>

#include "policy/policy.h"
#include "service/decide.h"
#include "store/store.h"

namespace holdpoint::service {

/// Lets one held decision of this request, whose time has come, take effect. One whose author may
/// not decide any more is void. Returns the request as it stands afterwards.
Result<std::shared_ptr<const core::Request>> take_effect(
    store::Transaction& tx, const policy::Policy& policy,
    const std::shared_ptr<const core::Request>& request, const core::Held& held, Timestamp now);

/// The step of that alone; what it brings about beyond the request is left to the caller.
Result<core::Step> step_of(store::Transaction& tx, const policy::Policy& policy,
                           const std::shared_ptr<const core::Request>& request,
                           const core::Held& held, Timestamp now);

/// Takes back the person's decision that is still held.
Result<Decided> undo(store::Transaction& tx, const policy::Policy& policy, const RequestId& id,
                     const core::Actor& person, Timestamp now);

}  // namespace holdpoint::service
