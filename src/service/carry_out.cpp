#include "service/carry_out.h"

#include "core/decide.h"
#include "core/subject.h"
#include "service/expire.h"
#include "service/judge.h"

namespace holdpoint::service {
namespace {

using RequestPtr = std::shared_ptr<const core::Request>;

Result<void> abort_siblings(store::Transaction& tx, const policy::Policy& policy,
                            const core::Request& aborted, const core::Actor& person,
                            Timestamp now) {
    if (aborted.session.empty()) return {};
    const Result<std::vector<RequestId>> waiting =
        tx.pending_in_session(aborted.agent_id, aborted.session);
    if (!waiting) return waiting.error();
    for (const RequestId& id : *waiting) {
        // A sibling whose deadline has passed is not decided any more, it expires.
        const Result<RequestPtr> sibling = load_now(tx, policy, id, now);
        if (!sibling) return sibling.error();
        if ((*sibling)->state == core::State::settled) continue;
        const Result<RequestPtr> stored =
            tx.apply(core::abort_with(**sibling, *aborted.decision, aborted.id, person, now));
        if (!stored) return stored.error();
    }
    return {};
}

}  // namespace

Result<core::Request> judged_change(store::Transaction& tx, const policy::Policy& policy,
                                    const core::Request& request,
                                    const core::DecisionCommand& command, Timestamp now) {
    if (request.state == core::State::settled) return request;
    Result<core::Subject> changed = Error{ErrorCode::refused, ""};
    if (command.kind == core::DecisionKind::modify)
        changed = core::modify_subject(request.kind, request.subject, command.replacement);
    else if (request.kind == core::Kind::plan && command.kind == core::DecisionKind::approve &&
             command.approved_steps)
        changed = core::keep_steps(request.subject, *command.approved_steps);
    if (!changed || changed->text == request.subject) return request;
    core::Request judged = request;
    if (Result<void> ok = judge_change(tx, policy, judged, changed->text, now); !ok)
        return ok.error();
    return judged;
}

Result<RequestPtr> carry_out(store::Transaction& tx, const policy::Policy& policy, core::Step step,
                             const core::Actor& person, Timestamp now) {
    Result<RequestPtr> stored = tx.apply(std::move(step));
    if (!stored) return stored.error();
    if ((*stored)->state == core::State::settled)
        if (Result<void> ok = remember_settled(tx, policy, **stored, now); !ok) return ok.error();
    if ((*stored)->outcome == core::Outcome::aborted)
        if (Result<void> ok = abort_siblings(tx, policy, **stored, person, now); !ok)
            return ok.error();
    return stored;
}

}  // namespace holdpoint::service
