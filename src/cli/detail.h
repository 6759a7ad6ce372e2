#pragma once

#include <vector>

#include "base/time.h"
#include "cli/resource.h"
#include "cli/style.h"

namespace holdpoint::cli {

/// A request as a person reads it before deciding, from the most important down: risk, what the
/// server says it is, who and how long, exactly what will run, then the agent's own words marked as
/// a claim, why it is held, who must agree, and what happened so far.
struct Detail {
    std::vector<Line> lines;
    std::size_t runs_end = 0;  ///< lines before this must have been seen before approving
};

/// `events` is the array of `/events`, or null where it was not asked for.
Detail describe(const Request& request, const json::value& events, Timestamp now, int columns);

/// One line for confirmations and errors: `▲ high  Refund 500 € … (billing-bot)`.
Line headline(const Request& request);

/// `finance 1 of 2, anyone 0 of 1`
std::string requirement_progress(const Request& request);

}  // namespace holdpoint::cli
