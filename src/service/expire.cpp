#include "service/expire.h"

#include "core/expire.h"
#include "service/hold.h"
#include "service/judge.h"

namespace holdpoint::service {

using core::RequestPtr;

Result<RequestPtr> load_now(store::Transaction& tx, const policy::Policy& policy,
                            const RequestId& id, Timestamp now) {
    Result<RequestPtr> request = tx.load(id);
    if (!request) return request.error();
    if (!(*request)->holds.empty()) {
        request = release_holds(tx, policy, std::move(*request), now);
        if (!request) return request.error();
    }
    std::optional<core::Step> step = core::tick(**request, now);
    if (!step) return request;
    Result<RequestPtr> stored = tx.apply(std::move(*step));
    if (!stored || (*stored)->state == core::State::pending) return stored;
    if (Result<void> ok = remember_settled(tx, policy, **stored, now); !ok) return ok.error();
    return stored;
}

Result<Expired> expire_due(store::Transaction& tx, const policy::Policy& policy, Timestamp now,
                           int limit) {
    const Result<std::vector<RequestId>> due = tx.due(now, limit);
    if (!due) return due.error();
    Expired answer;
    for (const RequestId& id : *due) {
        const Result<RequestPtr> request = load_now(tx, policy, id, now);
        if (!request) return request.error();
        ++answer.count;
    }
    const Result<std::optional<Timestamp>> next = tx.next_due();
    if (!next) return next.error();
    answer.next = *next;
    return answer;
}

}  // namespace holdpoint::service
