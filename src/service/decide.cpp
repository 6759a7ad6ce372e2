#include "service/decide.h"

#include <fmt/format.h>

#include "core/subject.h"
#include "service/expire.h"
#include "service/identity.h"
#include "service/judge.h"

namespace holdpoint::service {
namespace {

using RequestPtr = std::shared_ptr<const core::Request>;

Result<void> abort_siblings(store::Transaction& tx, const policy::Policy& policy,
                            const core::Request& aborted, const DecideCall& call) {
    if (aborted.session.empty()) return {};
    const Result<std::vector<RequestId>> waiting =
        tx.pending_in_session(aborted.agent_id, aborted.session);
    if (!waiting) return waiting.error();
    for (const RequestId& id : *waiting) {
        // A sibling whose deadline has passed is not decided any more, it expires.
        const Result<RequestPtr> sibling = load_now(tx, policy, id, call.now);
        if (!sibling) return sibling.error();
        if ((*sibling)->state == core::State::settled) continue;
        const Result<RequestPtr> stored = tx.apply(
            core::abort_with(**sibling, *aborted.decision, aborted.id, call.person, call.now));
        if (!stored) return stored.error();
    }
    return {};
}

/// The request as policy wants it decided: a change that a person makes is judged first. What
/// cannot be applied at all is core's to refuse.
Result<core::Request> judged_change(store::Transaction& tx, const policy::Policy& policy,
                                    const core::Request& request, const DecideCall& call) {
    const core::DecisionCommand& command = call.command;
    if (request.state == core::State::settled) return request;
    Result<core::Subject> changed = Error{ErrorCode::refused, ""};
    if (command.kind == core::DecisionKind::modify)
        changed = core::modify_subject(request.kind, request.subject, command.replacement);
    else if (request.kind == core::Kind::plan && command.kind == core::DecisionKind::approve &&
             command.approved_steps)
        changed = core::keep_steps(request.subject, *command.approved_steps);
    if (!changed || changed->text == request.subject) return request;
    core::Request judged = request;
    if (Result<void> ok = judge_change(tx, policy, judged, changed->text, call.now); !ok)
        return ok.error();
    return judged;
}

Result<std::optional<store::GrantRecord>> grant_with(const policy::Policy& policy,
                                                     const core::Request& request,
                                                     const DecideCall& call) {
    if (!call.grant) return std::optional<store::GrantRecord>{};
    const auto refused = [](const char* why) { return Error{ErrorCode::refused, why, "grant"}; };
    if (request.kind != core::Kind::action) return refused("only actions can be granted");
    if (!request.is_released)
        return refused("a grant comes with the approval that releases the action");
    policy::Caller caller;
    caller.agent = request.agent;
    caller.now = call.now;
    const Result<policy::Call> approved = policy::make_call(proposal_of(request), caller);
    if (!approved) return approved.error();
    Result<policy::Grant> grant = policy::make_grant(policy, *approved, request.risk, *call.grant);
    if (!grant) {
        Error error = grant.error();
        if (error.field.empty()) error.field = "grant";
        return error;
    }
    store::GrantRecord record;
    record.grant = std::move(*grant);
    record.request = request.id;
    record.created_at = call.now;
    return std::optional(std::move(record));
}

}  // namespace

Result<Decided> decide(store::Transaction& tx, const policy::Policy& policy,
                       const DecideCall& call) {
    const Result<std::optional<std::vector<RequestId>>> before =
        find_replay(tx, call.person.id, call.idempotency);
    if (!before) return before.error();
    Result<RequestPtr> request = load_now(tx, policy, call.id, call.now);
    if (!request) return request.error();
    if (*before) return Decided{std::move(*request), std::nullopt, true};

    if (call.command.kind == core::DecisionKind::escalate && !call.command.target.empty())
        if (Result<void> ok = check_target(tx, call.command.target, "to"); !ok)
            return Decided{std::move(*request), ok.error()};

    Result<core::Request> judged = judged_change(tx, policy, **request, call);
    if (!judged) return Decided{std::move(*request), judged.error()};
    Result<core::Step> step = core::decide(std::move(*judged), call.command, call.person, call.now);
    if (!step) {
        Error error = step.error();
        const bool has_expired = error.code == ErrorCode::conflict && (*request)->timeout_taken;
        if (has_expired) error = {ErrorCode::expired, "the deadline has passed"};
        return Decided{std::move(*request), std::move(error)};
    }
    Result<std::optional<store::GrantRecord>> grant = grant_with(policy, step->request, call);
    if (!grant) return Decided{std::move(*request), grant.error()};
    Result<RequestPtr> stored = tx.apply(std::move(*step));
    if (!stored) return stored.error();
    if ((*stored)->state == core::State::settled)
        if (Result<void> ok = remember_settled(tx, policy, **stored, call.now); !ok)
            return ok.error();
    if (*grant)
        if (Result<void> ok = tx.save_grant(**grant); !ok) return ok.error();
    if ((*stored)->outcome == core::Outcome::aborted)
        if (Result<void> ok = abort_siblings(tx, policy, **stored, call); !ok) return ok.error();
    if (Result<void> ok = remember(tx, call.person.id, call.idempotency, {call.id}, call.now); !ok)
        return ok.error();
    return Decided{std::move(*stored), std::nullopt, false, std::move(*grant)};
}

}  // namespace holdpoint::service
