#include "core/open.h"

#include <algorithm>

#include "core/digest.h"
#include "core/expire.h"
#include "core/requirement.h"
#include "core/settle.h"

namespace holdpoint::core {
namespace {

/// Whether policy asks for certain people, not just for anybody.
bool names_people(const Requirement& requirement) {
    return !std::ranges::all_of(requirement.lines, is_anybody);
}

/// Where policy names people, they have the time that policy gives them before others are asked in
/// their place. An agent may only wait longer.
std::int64_t escalation_ms(const Timing& policy, std::int64_t asked_ms) {
    const std::int64_t own_ms =
        policy.escalate_after_ms > 0 ? policy.escalate_after_ms : policy.timeout_ms;
    return std::max(own_ms, asked_ms);
}

/// Whether the proposal says who decides, and who does not. An agent that names somebody who will
/// not look takes the word from everybody else: silence must not release its action then.
bool chooses_people(const Proposal& proposal, const Verdict& verdict, const Opening& opening) {
    const bool is_excluding = verdict.requirement.exclude_requester;
    const bool excludes_others =
        is_excluding && !proposal.user.empty() && proposal.user != opening.owner;
    // Who owns the agent may be the only one who looks.
    const bool excludes_itself =
        !is_excluding && proposal.requirement && proposal.requirement->exclude_requester;
    return (proposal.requirement && !proposal.requirement->lines.empty()) ||
           !proposal.escalate_to.empty() || proposal.escalate_after_ms || excludes_others ||
           excludes_itself;
}

void take_timing(Timing& timing, const Proposal& proposal, bool has_named_people) {
    const Timing policy = timing;
    // Where the run is to stop, the agent cannot choose to go on instead.
    if (!silence_aborts(policy))
        timing.on_timeout = proposal.on_timeout.value_or(timing.on_timeout);
    // Where silence may release, or asks others than those policy names, its length is policy's: an
    // agent that could shorten it would release its own action before anybody has seen it.
    const bool is_policys = timing.on_timeout == TimeoutAction::approve ||
                            timing.on_timeout == TimeoutAction::use_default ||
                            (timing.on_timeout == TimeoutAction::escalate && has_named_people);
    const std::int64_t asked_ms = proposal.timeout_ms.value_or(timing.timeout_ms);
    timing.timeout_ms = is_policys ? std::max(timing.timeout_ms, asked_ms) : asked_ms;
    // Nor can it keep people from being reminded.
    if (!silence_releases(policy) || policy.remind_every_ms == 0) {
        timing.remind_every_ms = proposal.remind_every_ms.value_or(timing.remind_every_ms);
        timing.reminders_max = proposal.reminders_max.value_or(timing.reminders_max);
    }
    if (proposal.escalate_after_ms)
        timing.escalate_after_ms = has_named_people
                                       ? escalation_ms(policy, *proposal.escalate_after_ms)
                                       : *proposal.escalate_after_ms;
    if (!proposal.escalate_to.empty()) timing.escalate_to = proposal.escalate_to;
    timing.retries_max = proposal.retries_max.value_or(timing.retries_max);
}

/// Whoever takes over by escalation decides in the place of those who were asked. Where policy asks
/// for certain people, the agent must not be able to name others.
Result<void> check_target(const Proposal& proposal, const Verdict& verdict) {
    const bool is_choice =
        !proposal.escalate_to.empty() && proposal.escalate_to != verdict.timing.escalate_to;
    if (is_choice && names_people(verdict.requirement))
        return Error{ErrorCode::refused, "only policy can name who takes over from these people",
                     "escalate_to"};
    return {};
}

/// Whom to keep out must be known, or the requester could decide after all. Where policy asks, the
/// agent's word about its user is not enough.
Result<void> check_exclusion(const Proposal& proposal, const Verdict& verdict,
                             const std::string& owner) {
    if (!owner.empty()) return {};
    if (verdict.requirement.exclude_requester)
        return Error{ErrorCode::refused,
                     "policy keeps whoever owns the agent from deciding this, and nobody owns this "
                     "agent's key; create it with an owner",
                     "owner"};
    const bool is_asked = proposal.requirement && proposal.requirement->exclude_requester;
    if (is_asked && proposal.user.empty())
        return Error{ErrorCode::refused,
                     "nobody is known who could be excluded; create the agent's key with an owner, "
                     "or name the user",
                     "requirement.exclude_requester"};
    return {};
}

Result<void> check_timing(Request& request) {
    Timing& timing = request.timing;
    const bool wants_escalation =
        timing.on_timeout == TimeoutAction::escalate || timing.escalate_after_ms > 0;
    if (wants_escalation && timing.escalate_to.empty())
        return Error{ErrorCode::refused, "escalation needs somebody to escalate to", "escalate_to"};
    // A person must see at once that silence will not release it, not learn it at the deadline.
    if (timing.on_timeout == TimeoutAction::approve && request.risk > timing.approve_risk_max)
        timing.on_timeout = TimeoutAction::reject;
    return {};
}

Request make_request(const Proposal& proposal, const Verdict& verdict, const Opening& opening) {
    Request request;
    request.id = opening.id;
    request.version = 1;
    request.kind = proposal.kind;
    request.session = proposal.session;
    request.thread = proposal.thread;
    request.task = proposal.task;
    request.user = proposal.user;
    request.agent_id = opening.agent.id;
    request.agent = opening.agent.name;
    request.owner = opening.owner;
    request.batch = opening.batch;
    request.tool = proposal.tool;
    request.subject = proposal.subject;
    request.headline = verdict.headline.empty() ? proposal.headline : verdict.headline;
    // An agent's own word about risk counts only upwards.
    request.risk = std::max(verdict.risk, proposal.risk.value_or(verdict.risk));
    request.risk_detail =
        verdict.risk_detail.is_null() ? proposal.risk_detail : verdict.risk_detail;
    request.verdict = verdict.record;
    request.requirement = verdict.requirement;
    if (proposal.requirement) tighten(request.requirement, *proposal.requirement);
    confirm_if_critical(request);
    // One answer settles a question, so that is what stands there.
    if (request.kind == Kind::input)
        for (RequirementLine& line : request.requirement.lines) line.quorum = 1;
    request.timing = verdict.timing;
    take_timing(request.timing, proposal, names_people(verdict.requirement));
    if (silence_releases(request.timing) && chooses_people(proposal, verdict, opening))
        request.timing.on_timeout = TimeoutAction::reject;
    request.created_at = opening.now;
    request.expires_at = opening.now + request.timing.timeout_ms;
    request.context = proposal.context;
    request.suggested = proposal.suggested;
    request.metadata = proposal.metadata;
    return request;
}

}  // namespace

Result<Step> open(const Proposal& proposal, const Verdict& verdict, const Opening& opening) {
    if (Result<void> ok = check_target(proposal, verdict); !ok) return ok.error();
    Step step;
    step.request = make_request(proposal, verdict, opening);
    Request& request = step.request;
    if (Result<void> ok = check_timing(request); !ok) return ok.error();
    request.digest = digest_of(request);
    request.next_at = next_wake(request);

    switch (verdict.record.kind) {
        case VerdictKind::allow:
            // A question cannot be released: nobody but a person has the answer.
            if (request.kind == Kind::input) break;
            settle(step, Outcome::allowed, opening.agent, opening.now);
            return step;
        case VerdictKind::deny:
            settle(step, Outcome::denied, opening.agent, opening.now);
            return step;
        case VerdictKind::hold:
            break;
    }
    if (Result<void> ok = check_exclusion(proposal, verdict, opening.owner); !ok) return ok.error();
    note(step, EventKind::requested, opening.agent, opening.now);
    step.effects.push_back({EventKind::requested, request.id});
    return step;
}

}  // namespace holdpoint::core
