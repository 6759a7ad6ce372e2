#pragma once

#include <string>

#include "core/request.h"
#include "store/store.h"

namespace holdpoint::service {

/// not_found if there is none.
Result<store::GrantRecord> read_grant(store::Transaction& tx, const std::string& id);

/// Ends a grant at once. One that has ended already stays as it is: conflict.
Result<store::GrantRecord> revoke_grant(store::Transaction& tx, const std::string& id,
                                        const core::Actor& person, Timestamp now);

}  // namespace holdpoint::service
