#pragma once

#include <string>

#include "cli/arguments.h"
#include "cli/client.h"

namespace holdpoint::cli {

/// What `list`, `watch` and `inbox` can be narrowed to; empty means all. The inbox shows what is
/// pending, so that state and outcome are not for it.
struct Filters {
    std::string state;  ///< pending, settled, any
    std::string outcome, session, thread, task, user, agent, tool, risk, kind, batch;
};

void add_filters(Command command, Filters& filters);
void add_state_filters(Command command, Filters& filters);
Query to_query(const Filters& filters);

}  // namespace holdpoint::cli
