#pragma once

#include <cstdint>
#include <string>

#include "core/request.h"
#include "policy/policy.h"
#include "service/decide.h"
#include "service/judge.h"
#include "store/store.h"

namespace holdpoint::service {

// What happens to a request besides its decision. Each answers with the request as it stands and,
// if it did not take effect, why. Requests of other agents do not exist for an agent: not_found.

Result<Decided> cancel(store::Transaction& tx, const policy::Policy& policy, const RequestId& id,
                       const std::string& reason, const core::Actor& agent, Timestamp now);

Result<Decided> extend(store::Transaction& tx, const policy::Policy& policy, const RequestId& id,
                       std::int64_t ms, const core::Actor& person, Timestamp now);

Result<Decided> report(store::Transaction& tx, const policy::Policy& policy, const RequestId& id,
                       const core::Report& report, const Usage& usage, const core::Actor& agent,
                       Timestamp now);

}  // namespace holdpoint::service
