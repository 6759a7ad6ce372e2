#include "service/carry_out.h"

#include <spdlog/spdlog.h>

#include <algorithm>

#include "core/decide.h"
#include "core/hold.h"
#include "core/requirement.h"
#include "core/settle.h"
#include "core/subject.h"
#include "service/hold.h"
#include "service/judge.h"

namespace holdpoint::service {

using core::RequestPtr;

namespace {

/// Somebody's no that is still held takes effect before the run ends: an agent must not be able to
/// erase it by letting another request run out. Only stored, one after the other, since everything
/// else that waits in the run ends anyway.
Result<RequestPtr> take_held_noes(store::Transaction& tx, const policy::Policy& policy,
                                  RequestPtr request, Timestamp now) {
    while (request->state == core::State::pending) {
        const auto held = std::ranges::find_if(request->holds, core::stops);
        if (held == request->holds.end()) break;
        Result<core::Step> step = step_of(tx, policy, request, *held, now);
        if (!step) return step.error();
        Result<RequestPtr> stored = tx.apply(std::move(*step));
        if (!stored) return stored.error();
        request = std::move(*stored);
    }
    return request;
}

/// The end of a run stands, whatever policy remembers of it: what cannot be read keeps nothing
/// running.
Result<void> remember_end(store::Transaction& tx, const policy::Policy& policy,
                          const core::Request& request, Timestamp now) {
    const Result<void> remembered =
        tx.attempt([&] { return remember_settled(tx, policy, request, now); });
    if (remembered || remembered.error().code == ErrorCode::unavailable) return remembered;
    spdlog::error("policy does not remember how {} ended: {}", request.id.text(),
                  remembered.error().message);
    return {};
}

/// Ends one request of the run. Policy remembers what somebody said about it; of the others only
/// the run has ended, and that is remembered of the one that ended it.
Result<void> abort_sibling(store::Transaction& tx, const policy::Policy& policy,
                           const RequestPtr& sibling, const core::Request& aborted,
                           const core::Actor& person, Timestamp now) {
    Result<RequestPtr> stored = take_held_noes(tx, policy, sibling, now);
    if (!stored) return stored.error();
    const bool has_ended = (*stored)->state == core::State::settled;
    if (!has_ended)
        stored = tx.apply(aborted.decision ? core::abort_with(**stored, *aborted.decision,
                                                              aborted.id, person, now)
                                           : core::abort_unanswered(**stored, aborted.id, now));
    if (!stored) return stored.error();
    if (!has_ended && !core::has_rejection(**stored)) return {};
    return remember_end(tx, policy, **stored, now);
}

/// Ends every request that waits in the run of one that was aborted.
Result<void> abort_siblings(store::Transaction& tx, const policy::Policy& policy,
                            const core::Request& aborted, const core::Actor& person,
                            Timestamp now) {
    if (aborted.session.empty()) return {};
    const Result<std::vector<RequestId>> waiting =
        tx.pending_in_session(aborted.agent_id, aborted.session);
    if (!waiting) return waiting.error();
    for (const RequestId& id : *waiting) {
        const Result<RequestPtr> sibling = tx.load(id);
        if (!sibling && sibling.error().code == ErrorCode::unavailable) return sibling.error();
        // One that cannot be read keeps none of the others running.
        if (!sibling) {
            spdlog::error("cannot abort {}: {}", id.text(), sibling.error().message);
            continue;
        }
        if (Result<void> ok = abort_sibling(tx, policy, *sibling, aborted, person, now); !ok)
            return ok;
    }
    return {};
}

}  // namespace

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
    if (!request->votes.empty()) core::seat_votes(current->requirement, current->votes);
    for (core::Held& held : current->holds) {
        const Result<std::optional<store::Principal>> person = tx.find_principal(held.person.id);
        if (!person) return person.error();
        if (*person) held.person.groups = (*person)->groups;
    }
    return RequestPtr(std::move(current));
}

Result<Judged> judged_change(store::Transaction& tx, const policy::Policy& policy,
                             const core::Request& request, const core::DecisionCommand& command,
                             const core::Actor& person, Timestamp now) {
    if (request.state == core::State::settled) return Judged{request};
    Result<core::Subject> changed = Error{ErrorCode::refused, ""};
    if (command.kind == core::DecisionKind::modify)
        changed = core::modify_subject(request.kind, request.subject, command.replacement);
    else if (request.kind == core::Kind::plan && command.kind == core::DecisionKind::approve &&
             command.approved_steps)
        changed = core::keep_steps(request.subject, *command.approved_steps);
    if (!changed || changed->text == request.subject) return Judged{request};
    if (Result<void> ok = core::check_authority(request, person); !ok) return ok.error();
    Judged judged{request};
    Result<std::string> headline = judge_change(tx, policy, judged.request, changed->text, now);
    if (!headline) return headline.error();
    judged.headline = std::move(*headline);
    return judged;
}

void retitle(core::Step& step, const core::Request& before, const std::string& headline) {
    const bool has_changed = step.request.digest != before.digest;
    if (has_changed && !headline.empty()) step.request.headline = headline;
}

Result<RequestPtr> carry_out(store::Transaction& tx, const policy::Policy& policy, core::Step step,
                             const core::Actor& person, Timestamp now) {
    Result<RequestPtr> stored = tx.apply(std::move(step));
    if (!stored) return stored.error();
    if ((*stored)->state == core::State::pending) return stored;
    if (!core::has_ended_run(**stored)) {
        if (Result<void> ok = remember_settled(tx, policy, **stored, now); !ok) return ok.error();
        return stored;
    }
    if (Result<void> ok = remember_end(tx, policy, **stored, now); !ok) return ok.error();
    if (Result<void> ok = abort_siblings(tx, policy, **stored, person, now); !ok) return ok.error();
    return stored;
}

}  // namespace holdpoint::service
