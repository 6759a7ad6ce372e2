#include "service/submit.h"

#include <fmt/format.h>

#include "base/assert.h"
#include "core/open.h"
#include "service/identity.h"

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

Result<core::Step> open_one(store::Transaction& tx, const SubmitCall& call, std::size_t at,
                            const core::Verdict& verdict) {
    const core::Proposal& proposal = call.proposals[at];
    if (!proposal.escalate_to.empty())
        if (Result<void> ok = check_target(tx, proposal.escalate_to, "escalate_to"); !ok)
            return ok.error();
    return core::open(proposal, verdict,
                      {call.ids[at], call.batch, call.agent, call.owner, call.now});
}

}  // namespace

Result<Submitted> submit(store::Transaction& tx, const policy::Builtin& policy,
                         const SubmitCall& call) {
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
        const core::Verdict verdict = policy::evaluate(policy, call.proposals[i]);
        Result<core::Step> step = open_one(tx, call, i, verdict);
        if (!step) {
            Error error = step.error();
            if (call.batch) error.field = fmt::format("requests[{}].{}", i, error.field);
            return error;
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
