#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "core/decide.h"

namespace holdpoint::wire {

Result<core::DecisionCommand> parse_decision(const json::value& body);

/// One entry of `{"decisions": […]}`, judged on its own: a bad one spoils only itself.
struct BulkDecision {
    std::string id;
    Result<core::DecisionCommand> command;
};
Result<std::vector<BulkDecision>> parse_decisions(const json::value& body);

Result<core::Report> parse_report(const json::value& body);
/// The reason of a cancellation, empty if none.
Result<std::string> parse_cancel(const json::value& body);
/// Milliseconds to add.
Result<std::int64_t> parse_extend(const json::value& body);

}  // namespace holdpoint::wire
