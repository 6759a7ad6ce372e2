#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/proposal.h"
#include "policy/policy.h"
#include "service/idempotency.h"
#include "store/store.h"

namespace holdpoint::service {

/// One or several proposals of one agent. Ids are drawn before the transaction, so that running
/// the use case again makes the same requests.
struct SubmitCall {
    std::vector<core::Proposal> proposals;
    std::vector<RequestId> ids;    ///< one for each proposal
    std::optional<BatchId> batch;  ///< set when they belong together
    core::Actor agent;
    std::string owner;
    Idempotency idempotency;
    std::int64_t pending_max = 10'000;  ///< per agent; beyond it rate_limited
    double draw = 1;                    ///< random, 0 to 1; see judge()
    Timestamp now;
};

struct Submitted {
    std::vector<std::shared_ptr<const core::Request>> requests;
    std::optional<BatchId> batch;
    bool is_replay = false;  ///< the same call came before; these are its requests as they stand
};

/// The requests that some proposals will become, by their place; see foresee().
using Foreseen = std::vector<std::optional<core::Step>>;

/// Opens what waits for people whatever the store remembers, before the transaction and on another
/// thread: judging and hashing are a third of what a proposal costs.
Foreseen foresee(const policy::Policy& policy, const SubmitCall& call);

/// Judges and stores all proposals, or none. `foreseen` is what foresee() gave for the same policy
/// and call; what is taken from it is judged anew when the use case runs again.
Result<Submitted> submit(store::Transaction& tx, const policy::Policy& policy,
                         const SubmitCall& call, Foreseen* foreseen = nullptr);

/// What is wrong with one of a batch, by its place in it.
Error error_in_batch(Error error, std::size_t at);

}  // namespace holdpoint::service
