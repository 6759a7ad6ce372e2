#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "core/proposal.h"
#include "core/request.h"

namespace holdpoint::core {

/// Who proposes, under which id, when.
struct Opening {
    RequestId id;
    std::optional<BatchId> batch;
    Actor agent;
    std::string owner;  ///< the person responsible for the agent, may be empty
    Timestamp now;
};

/// Turns a proposal and policy's verdict into a stored request: released at once, denied, or
/// waiting for people. Fails with refused when the agent's wishes contradict each other.
Result<Step> open(const Proposal& proposal, const Verdict& verdict, const Opening& opening);

}  // namespace holdpoint::core
