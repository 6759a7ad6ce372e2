#include "service/decide.h"

#include <fmt/format.h>

#include "core/hold.h"
#include "core/requirement.h"
#include "service/carry_out.h"
#include "service/expire.h"
#include "service/identity.h"
#include "service/judge.h"

namespace holdpoint::service {
namespace {

using core::RequestPtr;

Result<std::optional<store::GrantRecord>> grant_with(const policy::Policy& policy,
                                                     const core::Request& request,
                                                     const DecideCall& call) {
    if (!call.grant) return std::optional<store::GrantRecord>{};
    const auto refused = [](const char* why) { return Error{ErrorCode::refused, why, "grant"}; };
    if (request.kind != core::Kind::action) return refused("only actions can be granted");
    if (!request.is_released)
        return refused("a grant comes with the approval that releases the action");
    // The others who approved it have not seen a grant, and it would stand in for all of them.
    if (core::places_of(request.requirement) > 1)
        return refused("what several people must release cannot be granted by the last of them");
    policy::Caller caller;
    caller.agent = request.agent;
    caller.now = call.now;
    const Result<policy::Call> approved = policy::make_call(request, caller);
    if (!approved) return approved.error();
    policy::GrantTerms terms = *call.grant;
    terms.asked = policy::asked_of(request.requirement);
    Result<policy::Grant> grant = policy::make_grant(policy, *approved, request.risk, terms);
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

/// What the decision changes now: everything, or that it is held. A change that is held is judged
/// again when it takes effect; until then the request stands as it was.
Result<core::Step> step_for(const core::Request& request, Judged judged, const DecideCall& call) {
    Result<core::Step> step =
        core::decide(std::move(judged.request), call.command, call.person, call.now);
    if (step) retitle(*step, request, judged.headline);
    if (!step || call.hold_ms == 0) return step;
    const std::optional<Timestamp> until = core::hold_until(request, call.hold_ms, call.now);
    if (!until) return step;
    if (call.grant)
        return Error{ErrorCode::refused, "a decision with a grant takes effect at once", "undo_s"};
    return core::hold(request, call.command, call.person, *until, call.now);
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

    const bool is_open = (*request)->state == core::State::pending;
    const Result<RequestPtr> current =
        is_open ? with_people_as_they_are(tx, *request) : Result<RequestPtr>(*request);
    if (!current) return current.error();
    Result<Judged> judged =
        judged_change(tx, policy, **current, call.command, call.person, call.now);
    if (!judged) return Decided{std::move(*request), judged.error()};
    Result<core::Step> step = step_for(**current, std::move(*judged), call);
    if (!step) {
        Error error = step.error();
        // A run that another request's timeout ended is over before this one's own deadline.
        const bool has_expired = error.code == ErrorCode::conflict && (*request)->timeout_taken &&
                                 *(*request)->settled_at >= (*request)->expires_at;
        if (has_expired) error = {ErrorCode::expired, "the deadline has passed"};
        // No code stood with it that the person could have typed.
        if (error.field == "confirm" && !(*current)->requirement.confirm_required)
            error.message =
                "as you changed it this takes a confirmation code: type that, or sign with a "
                "passkey";
        return Decided{std::move(*request), std::move(error)};
    }
    // Last: who may not decide learns nothing about who is there.
    if (call.command.kind == core::DecisionKind::escalate)
        if (Result<void> ok = check_target(tx, call.command.target, "to"); !ok)
            return Decided{std::move(*request), ok.error()};
    Result<std::optional<store::GrantRecord>> grant = grant_with(policy, step->request, call);
    if (!grant) return Decided{std::move(*request), grant.error()};
    Result<RequestPtr> stored = carry_out(tx, policy, std::move(*step), call.person, call.now);
    if (!stored) return stored.error();
    if (*grant)
        if (Result<void> ok = tx.save_grant(**grant); !ok) return ok.error();
    if (Result<void> ok = remember(tx, call.person.id, call.idempotency, {call.id}, call.now); !ok)
        return ok.error();
    return Decided{std::move(*stored), std::nullopt, false, std::move(*grant)};
}

}  // namespace holdpoint::service
