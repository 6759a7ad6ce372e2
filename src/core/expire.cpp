#include "core/expire.h"

#include <algorithm>

#include "base/json.h"
#include "core/hold.h"
#include "core/json_text.h"
#include "core/requirement.h"
#include "core/settle.h"
#include "core/subject.h"

namespace holdpoint::core {
namespace {

void expire_as(Step& step, TimeoutAction action, Outcome outcome, Timestamp now) {
    step.request.timeout_taken = action;
    settle(step, outcome, timer_actor(), now,
           {"{\"timeout\":" + json::quoted(to_string(action)) + "}"});
}

void retry(Step& step, Timestamp now) {
    Request& request = step.request;
    request.timing.retries_done += 1;
    request.expires_at = now + request.timing.timeout_ms;
    note(step, EventKind::retried, timer_actor(), now,
         {"{\"round\":" + std::to_string(request.timing.retries_done + 1) + "}"});
    step.effects.push_back({EventKind::retried, request.id});
}

/// False when the target cannot take the place of everybody who is missing. Who was asked before is
/// then told again, since waiting for others would be in vain.
bool escalate_unanswered(Step& step, Timestamp now) {
    Request& request = step.request;
    request.timing.is_escalated = true;
    if (const Result<void> done = redirect(request.requirement, request.timing.escalate_to);
        !done) {
        note(step, EventKind::reminded, timer_actor(), now,
             {"{\"not_escalated\":" + json::quoted(done.error().message) +
              ",\"to\":" + json::quoted(request.timing.escalate_to) + "}"});
        step.effects.push_back({EventKind::reminded, request.id});
        return false;
    }
    note(step, EventKind::escalated, timer_actor(), now,
         {"{\"to\":" + json::quoted(request.timing.escalate_to) + "}"});
    step.effects.push_back({EventKind::escalated, request.id});
    release_if_complete(step, timer_actor(), now);
    return true;
}

/// Silence of the others does not outvote somebody who has said no.
bool may_release_by_silence(const Request& request) {
    return request.risk <= request.timing.approve_risk_max && !has_rejection(request);
}

/// The decision that the gate names for this case. Whatever cannot be read, or would release more
/// than silence may release, ends as an ordinary expiry.
void take_default(Step& step, Timestamp now) {
    const Request& request = step.request;
    const std::string_view kind = member_text(request.timing.default_decision.text, "decision");
    if (kind == "\"approve\"" && may_release_by_silence(request))
        return expire_as(step, TimeoutAction::approve, Outcome::expired, now);
    if (kind == "\"skip\"") return expire_as(step, TimeoutAction::skip, Outcome::skipped, now);
    if (kind == "\"abort\"") return expire_as(step, TimeoutAction::abort, Outcome::expired, now);
    expire_as(step, TimeoutAction::use_default, Outcome::expired, now);
}

void time_out(Step& step, Timestamp now) {
    Request& request = step.request;
    const Timing& timing = request.timing;
    switch (timing.on_timeout) {
        case TimeoutAction::retry:
            if (timing.retries_done < timing.retries_max) return retry(step, now);
            break;
        case TimeoutAction::escalate:
            if (!timing.is_escalated && escalate_unanswered(step, now)) {
                if (request.state == State::pending) request.expires_at = now + timing.timeout_ms;
                return;
            }
            break;
        case TimeoutAction::approve:
            if (may_release_by_silence(request))
                return expire_as(step, TimeoutAction::approve, Outcome::expired, now);
            break;
        case TimeoutAction::use_default:
            return take_default(step, now);
        case TimeoutAction::abort:
            return expire_as(step, TimeoutAction::abort, Outcome::expired, now);
        case TimeoutAction::skip:
            return expire_as(step, TimeoutAction::skip, Outcome::skipped, now);
        case TimeoutAction::reject:
            break;
    }
    expire_as(step, TimeoutAction::reject, Outcome::expired, now);
}

void remind(Step& step, Timestamp now) {
    Request& request = step.request;
    Timing& timing = request.timing;
    // After a long standstill one reminder is enough; those that were missed are not sent late.
    const std::int64_t rounds = (now - counted_from(request)) / timing.remind_every_ms;
    timing.reminders_sent = static_cast<int>(std::min<std::int64_t>(
        timing.reminders_max, std::max<std::int64_t>(rounds, timing.reminders_sent + 1)));
    note(step, EventKind::reminded, timer_actor(), now,
         {"{\"reminder\":" + std::to_string(timing.reminders_sent) + "}"});
    step.effects.push_back({EventKind::reminded, request.id});
}

bool is_reminder_due(const Request& request, Timestamp now) {
    const Timing& timing = request.timing;
    return timing.remind_every_ms > 0 && timing.reminders_sent < timing.reminders_max &&
           now >= counted_from(request) + timing.remind_every_ms * (timing.reminders_sent + 1);
}

bool is_escalation_due(const Request& request, Timestamp now) {
    const Timing& timing = request.timing;
    return timing.escalate_after_ms > 0 && !timing.is_escalated &&
           now >= counted_from(request) + timing.escalate_after_ms;
}

/// When what tick() does now was due. A reminder that was missed goes along with the escalation
/// after it, and whatever was missed before the deadline is not done any more.
std::optional<Timestamp> tick_at(const Request& request, Timestamp now) {
    const Timing& timing = request.timing;
    if (now >= request.expires_at) return request.expires_at;
    if (is_escalation_due(request, now)) return counted_from(request) + timing.escalate_after_ms;
    if (is_reminder_due(request, now))
        return counted_from(request) + timing.remind_every_ms * (timing.reminders_sent + 1);
    return std::nullopt;
}

}  // namespace

bool silence_releases(const Timing& timing) {
    return timing.on_timeout == TimeoutAction::approve ||
           (timing.on_timeout == TimeoutAction::use_default &&
            member_text(timing.default_decision.text, "decision") == "\"approve\"");
}

bool silence_aborts(const Timing& timing) {
    return timing.on_timeout == TimeoutAction::abort ||
           (timing.on_timeout == TimeoutAction::use_default &&
            member_text(timing.default_decision.text, "decision") == "\"abort\"");
}

std::optional<Due> first_due(const Request& request, Timestamp now) {
    if (request.state == State::settled) return std::nullopt;
    const std::optional<Timestamp> by_time = tick_at(request, now);
    if (const Held* held = due_hold(request, now)) {
        const Timestamp at = effective_at(request, *held);
        if (!by_time || at <= *by_time)
            return Due{at, held, held->command.kind == DecisionKind::abort};
    }
    if (!by_time) return std::nullopt;
    return Due{*by_time, nullptr, now >= request.expires_at && silence_aborts(request.timing)};
}

std::optional<Step> tick(const Request& request, Timestamp now) {
    if (request.state == State::settled) return std::nullopt;
    const bool is_over = now >= request.expires_at;
    const bool must_escalate = is_escalation_due(request, now);
    const bool must_remind = is_reminder_due(request, now);
    if (!is_over && !must_escalate && !must_remind) return std::nullopt;

    Step step;
    step.request = request;
    step.request.version += 1;
    if (is_over) {
        drop_late_holds(step, now);
        time_out(step, now);
    } else {
        if (must_escalate) escalate_unanswered(step, now);
        if (must_remind && step.request.state == State::pending) remind(step, now);
    }
    step.request.next_at = next_wake(step.request);
    return step;
}

}  // namespace holdpoint::core
