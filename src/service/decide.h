#pragma once

#include <memory>
#include <optional>

#include "core/decide.h"
#include "service/idempotency.h"
#include "store/store.h"

namespace holdpoint::service {

struct DecideCall {
    RequestId id;
    core::DecisionCommand command;
    core::Actor person;
    Idempotency idempotency;
    Timestamp now;
};

/// The request as it stands after the call, and why the decision did not take effect, if so. A
/// refusal is an answer, not a failure: time that passed meanwhile is recorded all the same.
struct Decided {
    std::shared_ptr<const core::Request> request;
    std::optional<Error> refusal;
    bool is_replay = false;
};

/// Lets time pass first, then applies the decision. Aborting ends every request that waits in the
/// same run.
Result<Decided> decide(store::Transaction& tx, const DecideCall& call);

}  // namespace holdpoint::service
