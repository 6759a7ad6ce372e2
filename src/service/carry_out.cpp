#include "service/carry_out.h"

#include "core/decide.h"
#include "core/subject.h"
#include "service/expire.h"
#include "service/judge.h"

namespace holdpoint::service {
namespace {

using core::RequestPtr;

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

bool is_decider(const store::Principal& person) {
    return !person.is_disabled &&
           (person.role == store::Role::approver || person.role == store::Role::admin);
}

Result<RequestPtr> with_people_as_they_are(store::Transaction& tx, RequestPtr request) {
    if (request->votes.empty() && request->holds.empty()) return request;
    auto current = std::make_shared<core::Request>(*request);
    current->votes.clear();
    for (core::Vote vote : request->votes) {
        const Result<std::optional<store::Principal>> voter =
            tx.find_principal(vote.decision.by_id);
        if (!voter) return voter.error();
        // Nobody is ever deleted: who is not found is a person of the program around a library.
        if (*voter && !is_decider(**voter)) continue;
        if (*voter) vote.groups = (*voter)->groups;
        current->votes.push_back(std::move(vote));
    }
    for (core::Held& held : current->holds) {
        const Result<std::optional<store::Principal>> person = tx.find_principal(held.person.id);
        if (!person) return person.error();
        if (*person) held.person.groups = (*person)->groups;
    }
    return RequestPtr(std::move(current));
}

Result<core::Request> judged_change(store::Transaction& tx, const policy::Policy& policy,
                                    const core::Request& request,
                                    const core::DecisionCommand& command, const core::Actor& person,
                                    Timestamp now) {
    if (request.state == core::State::settled) return request;
    Result<core::Subject> changed = Error{ErrorCode::refused, ""};
    if (command.kind == core::DecisionKind::modify)
        changed = core::modify_subject(request.kind, request.subject, command.replacement);
    else if (request.kind == core::Kind::plan && command.kind == core::DecisionKind::approve &&
             command.approved_steps)
        changed = core::keep_steps(request.subject, *command.approved_steps);
    if (!changed || changed->text == request.subject) return request;
    if (Result<void> ok = core::check_authority(request, person); !ok) return ok.error();
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
