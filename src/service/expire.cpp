#include "service/expire.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <queue>
#include <tuple>

#include "base/assert.h"
#include "core/expire.h"
#include "core/settle.h"
#include "service/carry_out.h"
#include "service/hold.h"
#include "service/judge.h"

namespace holdpoint::service {

using core::RequestPtr;

namespace {

constexpr std::int64_t damaged_again_ms = 3'600'000;

/// A request to which something is to happen. Of what was due at the same moment, what ends the run
/// comes first.
struct Moment {
    Timestamp at;
    bool ends_run = false;
    RequestPtr request;

    bool operator>(const Moment& other) const {
        return std::tuple(at, !ends_run, request->row) >
               std::tuple(other.at, !other.ends_run, other.request->row);
    }
};

using Moments = std::priority_queue<Moment, std::vector<Moment>, std::greater<>>;

void put(Moments& moments, RequestPtr request, Timestamp now) {
    const std::optional<core::Due> due = core::first_due(*request, now);
    if (due) moments.push({due->at, due->ends_run, std::move(request)});
}

/// The request, if everything that time may bring about can be read. One that cannot be read keeps
/// none of the others waiting; it is looked at again later.
Result<RequestPtr> load_readable(store::Transaction& tx, const RequestId& id, Timestamp now) {
    Result<RequestPtr> request = tx.load(id);
    if (!request) return request.error();
    if (Result<void> ok = check_call(**request, now); !ok) return ok.error();
    return request;
}

Result<void> put_off(store::Transaction& tx, const RequestId& id, const Error& why, Timestamp now) {
    if (why.code == ErrorCode::unavailable) return why;
    spdlog::error("the deadline of {} cannot be kept: {}", id.text(), why.message);
    return tx.look_again(id, now + damaged_again_ms);
}

/// Lets the first thing that is due happen to a request, and no more.
Result<RequestPtr> pass_once(store::Transaction& tx, const policy::Policy& policy,
                             const RequestPtr& request, const core::Due& due, Timestamp now) {
    if (due.held) return take_effect(tx, policy, request, *due.held, now);
    const Result<RequestPtr> current = with_people_as_they_are(tx, request);
    if (!current) return current.error();
    std::optional<core::Step> step = core::tick(**current, now);
    HOLDPOINT_ASSERT(step);
    return carry_out(tx, policy, std::move(*step), core::timer_actor(), now);
}

bool is_same_run(const core::Request& a, const core::Request& b) {
    return !a.session.empty() && a.session == b.session && a.agent_id == b.agent_id;
}

/// Lets everything happen that was due up to `horizon`, in the order in which it was due: a run
/// that was aborted releases nothing afterwards, however late the timer is. What cannot happen is
/// put off, with the rest of that request, and keeps nothing waiting but the run that it would have
/// ended.
Result<void> pass_in_order(store::Transaction& tx, const policy::Policy& policy, Moments moments,
                           Timestamp horizon, Timestamp now) {
    std::vector<RequestPtr> unended;  // they should have ended their runs, and could not
    while (!moments.empty()) {
        const RequestId id = moments.top().request->id;
        moments.pop();
        // An abort may have ended it meanwhile.
        const Result<RequestPtr> request = tx.load(id);
        if (!request) return request.error();
        const std::optional<core::Due> due = core::first_due(**request, now);
        if (!due) continue;
        if (due->at > horizon) {
            if ((*request)->next_at == due->at) continue;
            if (Result<void> ok = tx.look_again(id, due->at); !ok) return ok.error();
            continue;
        }
        const bool is_over = std::ranges::any_of(
            unended, [&](const RequestPtr& other) { return is_same_run(*other, **request); });
        if (is_over) {
            const Error why{ErrorCode::internal, "its run was to end before, and could not"};
            if (Result<void> ok = put_off(tx, id, why, now); !ok) return ok.error();
            continue;
        }
        RequestPtr after;
        const Result<void> passed = tx.attempt([&]() -> Result<void> {
            Result<RequestPtr> stored = pass_once(tx, policy, *request, *due, now);
            if (!stored) return stored.error();
            after = std::move(*stored);
            return {};
        });
        if (passed) {
            put(moments, std::move(after), now);
            continue;
        }
        if (due->ends_run) unended.push_back(*request);
        if (Result<void> ok = put_off(tx, id, passed.error(), now); !ok) return ok.error();
    }
    return {};
}

}  // namespace

Result<RequestPtr> load_now(store::Transaction& tx, const policy::Policy& policy,
                            const RequestId& id, Timestamp now) {
    Result<RequestPtr> request = tx.load(id);
    if (!request || (*request)->state == core::State::settled) return request;
    Moments moments;
    if (!(*request)->session.empty()) {
        // What was due in the same run may have ended this one.
        const Result<std::vector<RequestId>> due =
            tx.due_in_session((*request)->agent_id, (*request)->session, now);
        if (!due) return due.error();
        for (const RequestId& other : *due) {
            if (other == id) continue;
            Result<RequestPtr> sibling = load_readable(tx, other, now);
            if (sibling) {
                put(moments, std::move(*sibling), now);
            } else if (Result<void> ok = put_off(tx, other, sibling.error(), now); !ok) {
                return ok.error();
            }
        }
    }
    put(moments, *request, now);
    if (moments.empty()) return request;
    if (Result<void> ok = check_call(**request, now); !ok) return ok.error();
    if (Result<void> ok = pass_in_order(tx, policy, std::move(moments), now, now); !ok)
        return ok.error();
    request = tx.load(id);
    if (!request) return request.error();
    // Nobody acts on one to which something should have happened before.
    if (core::first_due(**request, now))
        return Error{ErrorCode::internal,
                     "what was due for this request cannot be done; see the server's log"};
    return request;
}

Result<Expired> expire_due(store::Transaction& tx, const policy::Policy& policy, Timestamp now,
                           int limit) {
    const Result<std::vector<RequestId>> due = tx.due(now, limit);
    if (!due) return due.error();
    Expired answer;
    Moments moments;
    // What comes after the last of them may have to wait for others that are due before.
    Timestamp horizon{};
    for (const RequestId& id : *due) {
        Result<RequestPtr> request = load_readable(tx, id, now);
        if (!request) {
            if (Result<void> ok = put_off(tx, id, request.error(), now); !ok) return ok.error();
            continue;
        }
        ++answer.count;
        horizon = std::max(horizon, (*request)->next_at);
        put(moments, std::move(*request), now);
    }
    if (static_cast<int>(due->size()) < limit) horizon = now;
    if (Result<void> ok = pass_in_order(tx, policy, std::move(moments), horizon, now); !ok)
        return ok.error();
    const Result<std::optional<Timestamp>> next = tx.next_due();
    if (!next) return next.error();
    answer.next = *next;
    return answer;
}

}  // namespace holdpoint::service
