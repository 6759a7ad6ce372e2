#include "core/decide.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json.h"
#include "core/digest.h"
#include "core/json_text.h"
#include "core/requirement.h"
#include "core/settle.h"
#include "core/stored_json.h"
#include "core/subject.h"

namespace holdpoint::core {
namespace {

Error refused(std::string message, std::string field) {
    return {ErrorCode::refused, std::move(message), std::move(field)};
}

std::string standing(const Request& request) {
    if (request.decision)
        return fmt::format("already {} by {}", to_string(*request.outcome), request.decision->by);
    if (request.timeout_taken == TimeoutAction::abort && *request.settled_at < request.expires_at)
        return "already over: another request of this run was not decided in time, and that ended "
               "the run";
    return fmt::format("already {}", to_string(*request.outcome));
}

/// Whether it is not what the person saw any more. Who does not say what they saw has seen what the
/// agent proposed: a change that others made since is not approved blindly. Ending it needs no
/// look.
bool is_stale(const Request& request, const DecisionCommand& command) {
    if (!command.digest.empty()) return command.digest != request.digest;
    return approves(command.kind) && !request.proposed.is_null();
}

Result<void> check_fit(const Request& request, const DecisionCommand& command) {
    const Requirement& requirement = request.requirement;
    if (requirement.confirm_required && approves(command.kind) && command.proof.is_null() &&
        command.confirm != confirmation_code(request.digest))
        return refused(
            "type the confirmation code that stands with the request, or sign with a passkey",
            "confirm");
    switch (command.kind) {
        case DecisionKind::approve:
            if (request.kind == Kind::input)
                return refused("a question is answered, not approved", "decision");
            if (command.approved_steps && request.kind != Kind::plan)
                return refused("only a plan has steps", "approved_steps");
            if (command.approved_steps && !requirement.modifiable)
                return refused("this request may not be modified", "approved_steps");
            return {};
        case DecisionKind::modify:
            if (!requirement.modifiable)
                return refused("this request may not be modified", "decision");
            // A plan given for an action would run as its arguments.
            if (command.replacement_kind && *command.replacement_kind != request.kind)
                return refused(
                    fmt::format("a request of kind `{}` has none", to_string(request.kind)),
                    command.replacement_kind == Kind::action
                        ? "arguments"
                        : std::string(to_string(*command.replacement_kind)));
            return {};
        case DecisionKind::answer:
            if (request.kind != Kind::input)
                return refused(fmt::format("a request of kind `{}` has no question to answer",
                                           to_string(request.kind)),
                               "decision");
            return {};
        case DecisionKind::reject:
        case DecisionKind::abort:
            if (requirement.reason_required && command.reason.empty())
                return refused("a reason is required here", "reason");
            return {};
        case DecisionKind::defer:
            if (command.guidance.empty())
                return refused("say what the agent should try instead", "guidance");
            return {};
        case DecisionKind::escalate:
            if (command.target.empty()) return refused("say to whom", "to");
            return {};
    }
    return {};
}

Decision record(const DecisionCommand& command, const Actor& person, const Request& request,
                Timestamp now) {
    Decision decision;
    decision.kind = command.kind;
    decision.by_id = person.id;
    decision.by = person.name;
    decision.via = person.via;
    decision.address = person.address;
    decision.at = now;
    decision.digest = request.digest;
    decision.note = command.note;
    decision.reason = command.reason;
    decision.guidance = command.guidance;
    decision.target = command.target;
    return decision;
}

/// For the event log: what was decided, in the words of the decision, and what it puts in place of
/// what was proposed. The request keeps only the last change; the log keeps each.
JsonText detail_of(const Decision& decision, const DecisionCommand& command, Kind of) {
    std::string text = "{";
    const bool has_replacement = !decision.replacement.is_null();
    if (has_replacement && of == Kind::action)
        text += "\"arguments\":" + decision.replacement.text + ',';
    text += "\"decision\":\"";
    text += to_string(decision.kind);
    text += "\",\"digest\":\"";
    text += decision.digest;
    text += '"';
    const auto add = [&](std::string_view before, const std::string& words) {
        if (words.empty()) return;
        text += before;
        json::append_quoted(text, words);
    };
    add(",\"guidance\":", decision.guidance);
    add(",\"note\":", decision.note);
    if (!command.proof.is_null()) text += ",\"passkey\":" + command.proof.text;
    if (has_replacement && of == Kind::plan) text += ",\"plan\":" + decision.replacement.text;
    add(",\"reason\":", decision.reason);
    if (has_replacement && of == Kind::response)
        text += ",\"response\":" + decision.replacement.text;
    add(",\"to\":", decision.target);
    text += '}';
    return {std::move(text)};
}

/// Records the vote in place of an earlier one of the same person.
Result<void> cast(Request& request, const Decision& decision, const Actor& person) {
    const auto mine =
        std::find_if(request.votes.begin(), request.votes.end(),
                     [&](const Vote& vote) { return vote.decision.by_id == person.id; });
    Vote vote{decision, person.groups};
    if (mine == request.votes.end()) {
        request.votes.push_back(std::move(vote));
        return {};
    }
    const bool says_the_same =
        mine->decision.kind == decision.kind && mine->decision.digest == decision.digest;
    if (says_the_same)
        return Error{ErrorCode::conflict, fmt::format("{} has already decided this", person.name)};
    *mine = std::move(vote);
    return {};
}

/// Puts a changed subject in place. Votes given to the old one do not carry over: nobody has
/// approved what they have not seen.
void change_subject(Request& request, Subject changed) {
    if (request.proposed.is_null())
        request.proposed.text = changeable_part(request.kind, request.subject);
    request.subject = std::move(changed.text);
    // Changed back, it is what the agent proposed.
    if (changeable_part(request.kind, request.subject) == request.proposed.text)
        request.proposed = {};
    request.headline = std::move(changed.headline);
    request.digest = digest_of(request);
    std::erase_if(request.votes,
                  [](const Vote& vote) { return vote.decision.kind != DecisionKind::reject; });
}

/// Applies the change that this decision brings, if any. True if it brought one.
Result<bool> apply_change(Request& request, const DecisionCommand& command, Decision& decision) {
    if (command.kind == DecisionKind::modify) {
        Result<Subject> changed =
            modify_subject(request.kind, request.subject, command.replacement);
        if (!changed) return changed.error();
        if (changed->text == request.subject) return false;
        change_subject(request, std::move(*changed));
    } else if (command.approved_steps) {
        Result<Subject> kept = keep_steps(request.subject, *command.approved_steps);
        if (!kept) return kept.error();
        if (kept->text == request.subject) return false;
        change_subject(request, std::move(*kept));
    } else {
        return false;
    }
    decision.digest = request.digest;
    return true;
}

Result<Step> release_or_wait(Request&& request, const DecisionCommand& command, const Actor& person,
                             Timestamp now) {
    Decision decision = record(command, person, request, now);
    const Result<bool> has_changed = apply_change(request, command, decision);
    if (!has_changed) return has_changed.error();
    // Whoever changed nothing has approved what was there.
    decision.kind = *has_changed ? DecisionKind::modify : DecisionKind::approve;
    if (*has_changed) decision.replacement.text = changeable_part(request.kind, request.subject);
    if (Result<void> ok = cast(request, decision, person); !ok) return ok.error();

    Step step;
    step.request = std::move(request);
    const bool is_complete = seat_votes(step.request.requirement, step.request.votes);
    if (!is_complete) {
        note(step, EventKind::voted, person, now, detail_of(decision, command, step.request.kind));
        step.effects.push_back({EventKind::voted, step.request.id});
        return step;
    }
    const Outcome outcome = step.request.proposed.is_null() ? Outcome::approved : Outcome::modified;
    step.request.decision = decision;
    settle(step, outcome, person, now, detail_of(decision, command, step.request.kind));
    return step;
}

Result<Step> reject(Request&& request, const DecisionCommand& command, const Actor& person,
                    Timestamp now) {
    const Decision decision = record(command, person, request, now);
    if (Result<void> ok = cast(request, decision, person); !ok) return ok.error();
    const auto rejections =
        std::count_if(request.votes.begin(), request.votes.end(),
                      [](const Vote& vote) { return vote.decision.kind == DecisionKind::reject; });
    Step step;
    step.request = std::move(request);
    seat_votes(step.request.requirement, step.request.votes);
    if (rejections < step.request.requirement.reject_threshold) {
        note(step, EventKind::voted, person, now, detail_of(decision, command, step.request.kind));
        step.effects.push_back({EventKind::voted, step.request.id});
        return step;
    }
    step.request.decision = decision;
    settle(step, Outcome::rejected, person, now, detail_of(decision, command, step.request.kind));
    return step;
}

Result<Step> answer(Request&& request, const DecisionCommand& command, const Actor& person,
                    Timestamp now) {
    // A file comes as one string that is longer than any other may be; check_answer() bounds it.
    const Result<json::value> given =
        parse_stored(command.answer.is_null() ? "null" : std::string_view(command.answer.text));
    if (!given) return given.error();
    Result<JsonText> checked = check_answer(request.subject, *given);
    if (!checked) return checked.error();
    Decision decision = record(command, person, request, now);
    decision.answer = std::move(*checked);
    Step step;
    step.request = std::move(request);
    step.request.decision = decision;
    settle(step, Outcome::answered, person, now, detail_of(decision, command, step.request.kind));
    return step;
}

Result<Step> escalate(Request&& request, const DecisionCommand& command, const Actor& person,
                      Timestamp now) {
    if (is_excluded(request, command.target))
        return Error{
            ErrorCode::refused,
            fmt::format("`{}` asked for this action, or owns the agent, and cannot decide it",
                        command.target),
            "to"};
    // Finance may pass on what finance was asked, not what legal was.
    if (Result<void> ok = redirect(request.requirement, command.target, person); !ok)
        return ok.error();
    const Decision decision = record(command, person, request, now);
    Step step;
    step.request = std::move(request);
    step.request.timing.is_escalated = true;
    step.request.expires_at =
        std::max(step.request.expires_at, now + step.request.timing.timeout_ms);
    note(step, EventKind::escalated, person, now, detail_of(decision, command, step.request.kind));
    step.effects.push_back({EventKind::escalated, step.request.id});
    release_if_complete(step, person, now);
    return step;
}

Step end(Request&& request, Outcome outcome, const DecisionCommand& command, const Actor& person,
         Timestamp now) {
    Step step;
    step.request = std::move(request);
    step.request.decision = record(command, person, step.request, now);
    settle(step, outcome, person, now,
           detail_of(*step.request.decision, command, step.request.kind));
    return step;
}

Result<Step> dispatch(Request&& request, const DecisionCommand& command, const Actor& person,
                      Timestamp now) {
    switch (command.kind) {
        case DecisionKind::approve:
        case DecisionKind::modify:
            return release_or_wait(std::move(request), command, person, now);
        case DecisionKind::reject:
            return reject(std::move(request), command, person, now);
        case DecisionKind::defer:
            return end(std::move(request), Outcome::deferred, command, person, now);
        case DecisionKind::abort:
            return end(std::move(request), Outcome::aborted, command, person, now);
        case DecisionKind::escalate:
            return escalate(std::move(request), command, person, now);
        case DecisionKind::answer:
            return answer(std::move(request), command, person, now);
    }
    return Error{ErrorCode::internal, "unknown decision"};
}

}  // namespace

Result<void> check_authority(const Request& request, const Actor& person) {
    if (person.is_agent) return Error{ErrorCode::permission_denied, "an agent cannot decide"};
    if (is_excluded(request, person.name))
        return Error{ErrorCode::permission_denied,
                     "who asked for this action, or owns the agent, cannot decide it"};
    if (has_place(request, person.name, person.groups)) return {};
    return Error{ErrorCode::permission_denied, "this request is for other people to decide"};
}

Result<Step> decide(Request request, const DecisionCommand& command, const Actor& person,
                    Timestamp now) {
    // Authority first: who may not decide learns nothing about how it stands.
    if (Result<void> ok = check_authority(request, person); !ok) return ok.error();
    if (request.state == State::settled) return Error{ErrorCode::conflict, standing(request)};
    if (is_stale(request, command))
        return Error{ErrorCode::conflict,
                     "the request is not what you looked at any more; look again", "digest"};
    if (Result<void> ok = check_fit(request, command); !ok) return ok.error();

    // Whoever decides anew has changed their mind about what they hold.
    std::erase_if(request.holds, [&](const Held& held) { return held.person.id == person.id; });
    Result<Step> step = dispatch(std::move(request), command, person, now);
    if (!step) return step.error();
    step->request.version += 1;
    step->request.next_at = next_wake(step->request);
    return step;
}

Step abort_with(Request request, const Decision& decision, const RequestId& cause,
                const Actor& person, Timestamp now) {
    Step step;
    step.request = std::move(request);
    step.request.version += 1;
    step.request.decision = decision;
    settle(step, Outcome::aborted, person, now, {"{\"because_of\":\"" + cause.text() + "\"}"});
    return step;
}

Step abort_unanswered(Request request, const RequestId& cause, Timestamp now) {
    Step step;
    step.request = std::move(request);
    step.request.version += 1;
    // Time did it, as it did for the sibling; there is no decision that anybody could be asked
    // about.
    step.request.timeout_taken = TimeoutAction::abort;
    settle(step, Outcome::expired, timer_actor(), now,
           {"{\"because_of\":\"" + cause.text() + "\",\"timeout\":\"abort\"}"});
    return step;
}

}  // namespace holdpoint::core
