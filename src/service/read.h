#pragma once

#include <memory>

#include "store/store.h"

namespace holdpoint::service {

/// Whether this caller may see the request: agents see their own, people see all.
bool may_see(const core::Actor& actor, const core::Request& request);

/// The request, or not_found: to an agent, another agent's request does not exist.
Result<std::shared_ptr<const core::Request>> read(store::Transaction& tx, const RequestId& id,
                                                  const core::Actor& actor);

/// Narrows a filter to what this caller may see.
store::ListFilter visible_to(const core::Actor& actor, store::ListFilter filter);

/// Whether a request passes a filter; the same rules that the store's index applies.
bool matches(const store::ListFilter& filter, const core::Request& request);

}  // namespace holdpoint::service
