#include "service/expire.h"

#include <spdlog/spdlog.h>

#include "core/expire.h"
#include "core/settle.h"
#include "service/carry_out.h"
#include "service/hold.h"
#include "service/judge.h"

namespace holdpoint::service {

using core::RequestPtr;

namespace {

constexpr std::int64_t damaged_again_ms = 3'600'000;

/// Whether everything that time may bring about can be read. Asked before, because what a use case
/// has written is taken back only with the rest of it.
Result<void> check_readable(store::Transaction& tx, const RequestId& id, Timestamp now) {
    const Result<RequestPtr> request = tx.load(id);
    if (!request) return request.error();
    return check_call(**request, now);
}

}  // namespace

Result<RequestPtr> load_now(store::Transaction& tx, const policy::Policy& policy,
                            const RequestId& id, Timestamp now) {
    Result<RequestPtr> before = tx.load(id);
    if (!before) return before.error();
    const bool was_pending = (*before)->state == core::State::pending;
    Result<RequestPtr> request = load_alone(tx, policy, id, now);
    if (!request) return request.error();
    if (was_pending && (*request)->timeout_taken == core::TimeoutAction::abort)
        if (Result<void> ok = abort_siblings(tx, policy, **request, core::timer_actor(), now); !ok)
            return ok.error();
    return request;
}

Result<RequestPtr> load_alone(store::Transaction& tx, const policy::Policy& policy,
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
        if (const Result<void> ok = check_readable(tx, id, now); !ok) {
            if (ok.error().code == ErrorCode::unavailable) return ok.error();
            spdlog::error("the deadline of {} cannot be kept: {}", id.text(), ok.error().message);
            if (Result<void> put_off = tx.look_again(id, now + damaged_again_ms); !put_off)
                return put_off.error();
            continue;
        }
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
