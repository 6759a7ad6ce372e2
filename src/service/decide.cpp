#include "service/decide.h"

#include <fmt/format.h>

#include "service/expire.h"
#include "service/identity.h"

namespace holdpoint::service {
namespace {

using RequestPtr = std::shared_ptr<const core::Request>;

Result<void> abort_siblings(store::Transaction& tx, const core::Request& aborted,
                            const DecideCall& call) {
    if (aborted.session.empty()) return {};
    const Result<std::vector<RequestId>> waiting =
        tx.pending_in_session(aborted.agent_id, aborted.session);
    if (!waiting) return waiting.error();
    for (const RequestId& id : *waiting) {
        // A sibling whose deadline has passed is not decided any more, it expires.
        const Result<RequestPtr> sibling = load_now(tx, id, call.now);
        if (!sibling) return sibling.error();
        if ((*sibling)->state == core::State::settled) continue;
        const Result<RequestPtr> stored = tx.apply(
            core::abort_with(**sibling, *aborted.decision, aborted.id, call.person, call.now));
        if (!stored) return stored.error();
    }
    return {};
}

}  // namespace

Result<Decided> decide(store::Transaction& tx, const DecideCall& call) {
    const Result<std::optional<std::vector<RequestId>>> before =
        find_replay(tx, call.person.id, call.idempotency);
    if (!before) return before.error();
    Result<RequestPtr> request = load_now(tx, call.id, call.now);
    if (!request) return request.error();
    if (*before) return Decided{std::move(*request), std::nullopt, true};

    if (call.command.kind == core::DecisionKind::escalate && !call.command.target.empty())
        if (Result<void> ok = check_target(tx, call.command.target, "to"); !ok)
            return Decided{std::move(*request), ok.error()};

    Result<core::Step> step = core::decide(**request, call.command, call.person, call.now);
    if (!step) {
        Error error = step.error();
        const bool has_expired = error.code == ErrorCode::conflict && (*request)->timeout_taken;
        if (has_expired) error = {ErrorCode::expired, "the deadline has passed"};
        return Decided{std::move(*request), std::move(error)};
    }
    Result<RequestPtr> stored = tx.apply(std::move(*step));
    if (!stored) return stored.error();
    if ((*stored)->outcome == core::Outcome::aborted)
        if (Result<void> ok = abort_siblings(tx, **stored, call); !ok) return ok.error();
    if (Result<void> ok = remember(tx, call.person.id, call.idempotency, {call.id}, call.now); !ok)
        return ok.error();
    return Decided{std::move(*stored), std::nullopt};
}

}  // namespace holdpoint::service
