#include "core/settle.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/assert.h"
#include "core/hold.h"
#include "core/json_text.h"
#include "core/requirement.h"

namespace holdpoint::core {
namespace {

std::string what(const Request& request) {
    switch (request.kind) {
        case Kind::action:
            return fmt::format("the call to `{}`", request.tool);
        case Kind::plan:
            return "the plan";
        case Kind::input:
            return "the question";
        case Kind::confirmation:
            return "the confirmation";
        case Kind::response:
            return "the final response";
    }
    return "the request";
}

std::string because(const std::string& reason) { return reason.empty() ? "" : ": " + reason; }

/// The last thing a person said about it, whatever they called it.
std::string said(const Decision& decision) {
    if (!decision.reason.empty()) return decision.reason;
    if (!decision.guidance.empty()) return decision.guidance;
    return decision.note;
}

/// Who said no where the others kept silent.
std::string rejected_in_part(const Request& request) {
    const auto vote =
        std::find_if(request.votes.rbegin(), request.votes.rend(),
                     [](const Vote& one) { return one.decision.kind == DecisionKind::reject; });
    const Decision& decision = vote->decision;
    return fmt::format("operator {} rejected {}{}", decision.by, what(request),
                       because(said(decision)));
}

/// What came of it until the deadline.
std::string unsettled(const Request& request) {
    if (has_rejection(request))
        return rejected_in_part(request) + ", and not enough others decided in time";
    if (request.votes.empty()) return fmt::format("no person answered {} in time", what(request));
    int have = 0, needed = 0;
    for (const RequirementLine& line : request.requirement.lines) {
        have += line.have;
        needed += line.quorum;
    }
    return fmt::format("{} of the {} needed approvals of {} came in time", have, needed,
                       what(request));
}

std::string expired_message(const Request& request) {
    if (request.is_released && request.votes.empty())
        return fmt::format(
            "No person answered in time; policy lets {} pass at this risk. Run exactly what is in "
            "`release`.",
            what(request));
    if (request.is_released)
        return fmt::format(
            "Timed out: {}; policy lets it pass at this risk. Run exactly what is in `release`.",
            unsettled(request));
    if (request.timeout_taken == TimeoutAction::abort && *request.settled_at < request.expires_at)
        return fmt::format(
            "Timed out: another request of this run was not decided in time, so {} was not run. "
            "Stop this run.",
            what(request));
    if (request.timeout_taken == TimeoutAction::abort)
        return fmt::format("Timed out: {}. It was not run. Stop this run.", unsettled(request));
    if (has_rejection(request))
        return fmt::format("Timed out: {}. It was not run.", unsettled(request));
    return fmt::format("Timed out: {}. It was not run; this is not a rejection.",
                       unsettled(request));
}

bool is_allowing(const Request& request) {
    switch (*request.outcome) {
        case Outcome::allowed:
        case Outcome::approved:
        case Outcome::modified:
            return true;
        case Outcome::expired:
            return request.timeout_taken == TimeoutAction::approve &&
                   request.risk <= request.timing.approve_risk_max && !has_rejection(request);
        case Outcome::denied:
        case Outcome::rejected:
        case Outcome::deferred:
        case Outcome::aborted:
        case Outcome::answered:
        case Outcome::skipped:
        case Outcome::cancelled:
            return false;
    }
    return false;
}

}  // namespace

std::string message_for(const Request& request) {
    const std::string by = request.decision ? request.decision->by : "";
    const std::string words = request.decision ? said(*request.decision) : "";
    switch (*request.outcome) {
        case Outcome::allowed:
            return fmt::format("Policy lets {} pass. Run exactly what is in `release`.",
                               what(request));
        case Outcome::denied:
            return fmt::format("Policy denies {}{}. It was not run.", what(request),
                               because(request.verdict.because));
        case Outcome::approved:
            return fmt::format("Operator {} approved {}{}. Run exactly what is in `release`.", by,
                               what(request), because(words));
        case Outcome::modified:
            return fmt::format(
                "Operator {} approved {} with changes{}. Run what is in `release`, not what you "
                "proposed.",
                by, what(request), because(words));
        case Outcome::rejected:
            return fmt::format(
                "Operator {} rejected {}{}. It was not run; do not propose it again.", by,
                what(request), because(words));
        case Outcome::deferred:
            return fmt::format("Operator {} asks you to try another way than {}{}. It was not run.",
                               by, what(request), because(words));
        case Outcome::aborted:
            return fmt::format("Operator {} stopped the whole run at {}{}. Do nothing further.", by,
                               what(request), because(words));
        case Outcome::answered:
            return fmt::format("Operator {} answered: {}", by, request.decision->answer.text);
        case Outcome::skipped:
            return fmt::format("Timed out: {}. Skip it and go on without it.", unsettled(request));
        case Outcome::expired:
            return expired_message(request);
        case Outcome::cancelled:
            return fmt::format("You withdrew {}. It was not run.", what(request));
    }
    return {};
}

const Actor& timer_actor() {
    static const Actor actor{
        .id = {}, .name = "", .is_agent = false, .groups = {}, .via = "timer", .address = ""};
    return actor;
}

void note(Step& step, EventKind kind, const Actor& actor, Timestamp now, JsonText detail) {
    step.events.push_back(
        {kind, step.request.id, now, actor.name, actor.via, actor.address, std::move(detail)});
}

Timestamp counted_from(const Request& request) {
    return request.created_at + request.timing.shifted_ms;
}

Timestamp next_wake(const Request& request) {
    Timestamp next = request.expires_at;
    const Timing& timing = request.timing;
    if (timing.remind_every_ms > 0 && timing.reminders_sent < timing.reminders_max)
        next = std::min(
            next, counted_from(request) + timing.remind_every_ms * (timing.reminders_sent + 1));
    if (timing.escalate_after_ms > 0 && !timing.is_escalated)
        next = std::min(next, counted_from(request) + timing.escalate_after_ms);
    for (const Held& held : request.holds) next = std::min(next, effective_at(request, held));
    return next;
}

void settle(Step& step, Outcome outcome, const Actor& actor, Timestamp now, JsonText detail) {
    Request& request = step.request;
    HOLDPOINT_ASSERT(request.state == State::pending && !request.outcome);
    request.state = State::settled;
    request.outcome = outcome;
    request.settled_at = now;
    request.holds.clear();
    request.is_released = is_allowing(request) && request.kind != Kind::input;
    request.message_for_agent = message_for(request);
    note(step, EventKind::settled, actor, now, std::move(detail));
    step.effects.push_back({EventKind::settled, request.id});
}

bool has_ended_run(const Request& request) {
    return request.outcome == Outcome::aborted || request.timeout_taken == TimeoutAction::abort;
}

void release_if_complete(Step& step, const Actor& actor, Timestamp now) {
    Request& request = step.request;
    if (!seat_votes(request.requirement, request.votes)) return;
    const auto latest = std::find_if(request.votes.rbegin(), request.votes.rend(),
                                     [](const Vote& vote) { return approves(vote.decision.kind); });
    request.decision = latest->decision;
    settle(step, request.proposed.is_null() ? Outcome::approved : Outcome::modified, actor, now);
}

}  // namespace holdpoint::core
