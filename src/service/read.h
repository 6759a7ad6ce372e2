#pragma once

#include <memory>
#include <vector>

#include "store/store.h"

namespace holdpoint::service {

/// Whose requests a caller may see: all that whoever waits or listens needs to remember.
struct Viewer {
    PrincipalId id;
    bool is_agent = true;

    Viewer() = default;
    Viewer(const core::Actor& actor) : id(actor.id), is_agent(actor.is_agent) {}
};

/// Whether this caller may see the request: agents see their own, people see all.
bool may_see(const Viewer& viewer, const core::Request& request);

/// The request, or not_found: to an agent, another agent's request does not exist.
Result<std::shared_ptr<const core::Request>> read(store::Transaction& tx, const RequestId& id,
                                                  const Viewer& viewer);
Result<std::vector<std::shared_ptr<const core::Request>>> read_all(
    store::Transaction& tx, const std::vector<RequestId>& ids, const Viewer& viewer);

/// The request as people are to see it: while it waits, votes that would not count now are not
/// shown. Costs nothing where nobody has voted.
Result<std::shared_ptr<const core::Request>> as_it_counts(
    store::Transaction& tx, std::shared_ptr<const core::Request> request);

/// Narrows a filter to what this caller may see.
store::ListFilter visible_to(const Viewer& viewer, store::ListFilter filter);

/// Whether a request passes a filter; the same rules by which the store lists.
bool matches(const store::ListFilter& filter, const core::Request& request);
/// Whether an event that was just committed passes a filter; as the store judges it ever after.
bool matches(const store::ListFilter& filter, const store::Change& change);

}  // namespace holdpoint::service
