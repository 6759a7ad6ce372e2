#include "service/read.h"

#include <fmt/format.h>

#include "service/carry_out.h"

namespace holdpoint::service {
namespace {

template <class Wanted, class Value>
bool fits(const std::optional<Wanted>& wanted, const Value& value) {
    return !wanted || *wanted == value;
}

}  // namespace

bool may_see(const Viewer& viewer, const core::Request& request) {
    return !viewer.is_agent || request.agent_id == viewer.id;
}

Result<std::shared_ptr<const core::Request>> read(store::Transaction& tx, const RequestId& id,
                                                  const Viewer& viewer) {
    Result<std::shared_ptr<const core::Request>> request = tx.load(id);
    if (!request) return request.error();
    if (!may_see(viewer, **request))
        return Error{ErrorCode::not_found, fmt::format("request `{}` not found", id.text())};
    return as_it_counts(tx, std::move(*request));
}

Result<std::shared_ptr<const core::Request>> as_it_counts(
    store::Transaction& tx, std::shared_ptr<const core::Request> request) {
    if (request->state == core::State::settled || request->votes.empty()) return request;
    return with_people_as_they_are(tx, std::move(request));
}

Result<std::vector<std::shared_ptr<const core::Request>>> read_all(
    store::Transaction& tx, const std::vector<RequestId>& ids, const Viewer& viewer) {
    std::vector<std::shared_ptr<const core::Request>> requests;
    for (const RequestId& id : ids) {
        Result<std::shared_ptr<const core::Request>> request = read(tx, id, viewer);
        if (!request) return request.error();
        requests.push_back(std::move(*request));
    }
    return requests;
}

store::ListFilter visible_to(const Viewer& viewer, store::ListFilter filter) {
    if (viewer.is_agent) filter.agent_id = viewer.id;
    return filter;
}

namespace {

/// By what never changes, as long as the request lives.
bool matches_fixed(const store::ListFilter& filter, const core::Request& request) {
    return fits(filter.session, request.session) && fits(filter.thread, request.thread) &&
           fits(filter.task, request.task) && fits(filter.user, request.user) &&
           fits(filter.agent, request.agent) && fits(filter.tool, request.tool) &&
           fits(filter.kind, request.kind) && fits(filter.batch, request.batch) &&
           fits(filter.agent_id, request.agent_id) &&
           (!filter.since || request.created_at >= *filter.since) &&
           (!filter.until || request.created_at < *filter.until);
}

}  // namespace

bool matches(const store::ListFilter& filter, const core::Request& request) {
    return fits(filter.state, request.state) && fits(filter.outcome, request.outcome) &&
           fits(filter.risk, request.risk) && fits(filter.is_released, request.is_released) &&
           matches_fixed(filter, request);
}

bool matches(const store::ListFilter& filter, const store::Change& change) {
    const core::Request& request = *change.request;
    // What happens together is told with one request, which may have ended only at the last of it.
    const bool is_over = store::is_after_the_end(change.event.event.kind);
    const core::State state = is_over ? core::State::settled : core::State::pending;
    return fits(filter.state, state) && (!filter.outcome || is_over) &&
           fits(filter.outcome, request.outcome) && fits(filter.risk, request.risk) &&
           fits(filter.is_released, request.is_released) && matches_fixed(filter, request);
}

}  // namespace holdpoint::service
