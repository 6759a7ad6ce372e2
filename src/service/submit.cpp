#include "service/submit.h"

#include <fmt/format.h>

#include <utility>

#include "base/assert.h"
#include "core/open.h"
#include "service/identity.h"
#include "service/judge.h"

namespace holdpoint::service {
namespace {

Result<Submitted> replay(store::Transaction& tx, const std::vector<RequestId>& ids) {
    Submitted answer;
    answer.is_replay = true;
    for (const RequestId& id : ids) {
        Result<std::shared_ptr<const core::Request>> request = tx.load(id);
        if (!request) return request.error();
        answer.batch = (*request)->batch;
        answer.requests.push_back(std::move(*request));
    }
    return answer;
}

Result<void> check_pending(store::Transaction& tx, const SubmitCall& call) {
    const Result<std::int64_t> pending = tx.pending_count(call.agent.id);
    if (!pending) return pending.error();
    if (*pending + static_cast<std::int64_t>(call.proposals.size()) <= call.pending_max) return {};
    return Error{ErrorCode::rate_limited,
                 fmt::format("{} requests of this agent are waiting already; wait for answers or "
                             "cancel some",
                             *pending),
                 "", 5};
}

core::Opening opening_of(const SubmitCall& call, std::size_t at) {
    return {call.ids[at], call.batch, call.agent, call.owner, call.now};
}

/// Judges one proposal. What passes at once is counted at once: the next of the same batch must
/// find what this one has used up.
Result<core::Step> open_one(store::Transaction& tx, const policy::Policy& policy,
                            const SubmitCall& call, std::size_t at) {
    const core::Proposal& proposal = call.proposals[at];
    if (!proposal.escalate_to.empty())
        if (Result<void> ok = check_target(tx, proposal.escalate_to, "escalate_to"); !ok)
            return ok.error();
    Result<Judgement> judgement =
        judge(tx, policy, proposal, {call.agent, call.owner}, call.draw, call.now);
    if (!judgement) return judgement.error();
    Result<core::Step> step = core::open(proposal, judgement->verdict, opening_of(call, at));
    if (!step || !step->request.is_released) return step;
    if (Result<void> ok = count_allowed(tx, *judgement, step->request, call.now); !ok)
        return ok.error();
    return step;
}

/// Nothing where it has to be judged here.
std::optional<core::Step> take_foreseen(store::Transaction& tx, const SubmitCall& call,
                                        std::size_t at, Foreseen* foreseen) {
    if (!foreseen || !(*foreseen)[at]) return std::nullopt;
    const std::string& tool = call.proposals[at].tool;
    if (!tool.empty() && !tx.is_known_tool(call.agent.id, tool)) return std::nullopt;
    return std::exchange((*foreseen)[at], std::nullopt);
}

}  // namespace

Error error_in_batch(Error error, std::size_t at) {
    // The store's trouble is nobody's field.
    if (error.code == ErrorCode::unavailable || error.code == ErrorCode::internal) return error;
    error.field = error.field.empty() ? fmt::format("requests[{}]", at)
                                      : fmt::format("requests[{}].{}", at, error.field);
    return error;
}

Foreseen foresee(const policy::Policy& policy, const SubmitCall& call) {
    Foreseen steps(call.proposals.size());
    for (std::size_t i = 0; i < steps.size(); ++i) {
        const core::Proposal& proposal = call.proposals[i];
        // Whether somebody of that name exists is the store's to say.
        if (!proposal.escalate_to.empty()) continue;
        const std::optional<core::Verdict> verdict =
            foresee(policy, proposal, {call.agent, call.owner}, call.draw, call.now);
        if (!verdict) continue;
        Result<core::Step> step = core::open(proposal, *verdict, opening_of(call, i));
        // What passes at once is counted, which is for the transaction.
        if (step && !step->request.is_released) steps[i] = std::move(*step);
    }
    return steps;
}

Result<Submitted> submit(store::Transaction& tx, const policy::Policy& policy,
                         const SubmitCall& call, Foreseen* foreseen) {
    HOLDPOINT_ASSERT(call.ids.size() == call.proposals.size());
    const Result<std::optional<std::vector<RequestId>>> before =
        find_replay(tx, call.agent.id, call.idempotency);
    if (!before) return before.error();
    if (*before) return replay(tx, **before);
    if (Result<void> ok = check_pending(tx, call); !ok) return ok.error();

    // All are judged before the first is written, so that a bad one costs no rollback.
    std::vector<core::Step> steps;
    steps.reserve(call.proposals.size());
    for (std::size_t i = 0; i < call.proposals.size(); ++i) {
        if (std::optional<core::Step> ready = take_foreseen(tx, call, i, foreseen)) {
            steps.push_back(std::move(*ready));
            continue;
        }
        Result<core::Step> step = open_one(tx, policy, call, i);
        if (!step) {
            return call.batch ? error_in_batch(step.error(), i) : step.error();
        }
        steps.push_back(std::move(*step));
    }
    Submitted answer;
    answer.batch = call.batch;
    for (core::Step& step : steps) {
        Result<std::shared_ptr<const core::Request>> stored = tx.apply(std::move(step));
        if (!stored) return stored.error();
        answer.requests.push_back(std::move(*stored));
    }
    if (Result<void> ok = remember(tx, call.agent.id, call.idempotency, call.ids, call.now); !ok)
        return ok.error();
    return answer;
}

}  // namespace holdpoint::service
