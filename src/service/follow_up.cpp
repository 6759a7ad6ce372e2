#include "service/follow_up.h"

#include <utility>

#include "core/follow_up.h"
#include "service/expire.h"
#include "service/read.h"

namespace holdpoint::service {
namespace {

using core::RequestPtr;

/// Load, let the pure function judge, write; the same road for all three.
template <class Change>
Result<Decided> change(store::Transaction& tx, const policy::Policy& policy, const RequestId& id,
                       const core::Actor& actor, Timestamp now, Change change) {
    if (Result<RequestPtr> visible = read(tx, id, actor); !visible) return visible.error();
    Result<RequestPtr> request = load_now(tx, policy, id, now);
    if (!request) return request.error();
    Result<core::Step> step = change(**request);
    if (!step) return Decided{std::move(*request), step.error()};
    if (step->events.empty()) return Decided{std::move(*request), std::nullopt};
    Result<RequestPtr> stored = tx.apply(std::move(*step));
    if (!stored) return stored.error();
    return Decided{std::move(*stored), std::nullopt};
}

}  // namespace

Result<Decided> cancel(store::Transaction& tx, const policy::Policy& policy, const RequestId& id,
                       const std::string& reason, const core::Actor& agent, Timestamp now) {
    Result<Decided> cancelled = change(
        tx, policy, id, agent, now,
        [&](const core::Request& request) { return core::cancel(request, reason, agent, now); });
    if (!cancelled || cancelled->refusal) return cancelled;
    if (Result<void> ok = remember_settled(tx, policy, *cancelled->request, now); !ok)
        return ok.error();
    return cancelled;
}

Result<Decided> extend(store::Transaction& tx, const policy::Policy& policy, const RequestId& id,
                       std::int64_t ms, const core::Actor& person, Timestamp now) {
    return change(tx, policy, id, person, now, [&](const core::Request& request) {
        return core::extend(request, ms, person, now);
    });
}

Result<Decided> report(store::Transaction& tx, const policy::Policy& policy, const RequestId& id,
                       const core::Report& report, const Usage& usage, const core::Actor& agent,
                       Timestamp now) {
    bool is_first = false;
    Result<Decided> reported =
        change(tx, policy, id, agent, now, [&](const core::Request& request) {
            is_first = !request.report;
            return core::report(request, report, agent, now);
        });
    // The same report again is an answer that got lost, not a second expense.
    if (!reported || reported->refusal || !is_first) return reported;
    if (Result<void> ok = count_usage(tx, *reported->request, usage, now); !ok) return ok.error();
    return reported;
}

}  // namespace holdpoint::service
