#include "service/expire.h"

#include "core/expire.h"

namespace holdpoint::service {

using RequestPtr = std::shared_ptr<const core::Request>;

Result<RequestPtr> load_now(store::Transaction& tx, const RequestId& id, Timestamp now) {
    Result<RequestPtr> request = tx.load(id);
    if (!request) return request.error();
    std::optional<core::Step> step = core::tick(**request, now);
    if (!step) return request;
    return tx.apply(std::move(*step));
}

Result<Expired> expire_due(store::Transaction& tx, Timestamp now, int limit) {
    const Result<std::vector<RequestId>> due = tx.due(now, limit);
    if (!due) return due.error();
    Expired answer;
    for (const RequestId& id : *due) {
        const Result<RequestPtr> request = load_now(tx, id, now);
        if (!request) return request.error();
        ++answer.count;
    }
    const Result<std::optional<Timestamp>> next = tx.next_due();
    if (!next) return next.error();
    answer.next = *next;
    return answer;
}

}  // namespace holdpoint::service
