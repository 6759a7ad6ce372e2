#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "core/decide.h"
#include "policy/state.h"
#include "service/judge.h"

namespace holdpoint::wire {

/// A decision, and the grant that is given with it.
struct Decision {
    core::DecisionCommand command;
    std::optional<policy::GrantTerms> grant;  ///< without id and giver
    std::int64_t undo_ms = 0;                 ///< how long its author may take it back
    std::optional<json::value> passkey;       ///< an assertion, not yet looked at
};
Result<Decision> parse_decision(const json::value& body);

/// One entry of `{"decisions": […]}`, judged on its own: a bad one spoils only itself.
struct BulkDecision {
    std::string id;
    Result<Decision> decision;
};
Result<std::vector<BulkDecision>> parse_decisions(const json::value& body);

struct Reported {
    core::Report report;
    service::Usage usage;
};
Result<Reported> parse_report(const json::value& body);
/// The reason of a cancellation, empty if none.
Result<std::string> parse_cancel(const json::value& body);
/// Milliseconds to add.
Result<std::int64_t> parse_extend(const json::value& body);

}  // namespace holdpoint::wire
