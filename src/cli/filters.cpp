#include "cli/filters.h"

#include <utility>

namespace holdpoint::cli {

void add_state_filters(Command command, Filters& filters) {
    command.add_option("--state", filters.state, "pending, settled or any")
        .one_of({"pending", "settled", "any"})
        .show_default()
        .group("Filters");
    command
        .add_option("--outcome", filters.outcome,
                    "How it ended, like rejected; implies --state settled")
        .one_of({"allowed", "denied", "approved", "modified", "rejected", "deferred", "aborted",
                 "answered", "skipped", "expired", "cancelled"})
        .group("Filters");
}

void add_filters(Command command, Filters& filters) {
    const auto add = [&](const char* name, std::string& value, const char* what) {
        return command.add_option(name, value, what).group("Filters");
    };
    add("--session", filters.session, "Session of the agent");
    add("--thread", filters.thread, "Thread of the conversation");
    add("--task", filters.task, "Task it belongs to");
    add("--user", filters.user, "Person the agent works for");
    add("--agent", filters.agent, "Name of the agent");
    add("--tool", filters.tool, "Name of the tool");
    add("--risk", filters.risk, "low, medium, high, critical")
        .one_of({"low", "medium", "high", "critical"});
    add("--kind", filters.kind, "action, plan, input, confirmation, response")
        .one_of({"action", "plan", "input", "confirmation", "response"});
    add("--batch", filters.batch, "Batch it came in");
}

Query to_query(const Filters& filters) {
    Query query;
    const auto add = [&](const char* name, const std::string& value) {
        if (!value.empty()) query.emplace_back(name, value);
    };
    // An outcome only settled requests have.
    if (filters.outcome.empty() && filters.state != "any") add("state", filters.state);
    add("outcome", filters.outcome);
    add("session", filters.session);
    add("thread", filters.thread);
    add("task", filters.task);
    add("user", filters.user);
    add("agent", filters.agent);
    add("tool", filters.tool);
    add("risk", filters.risk);
    add("kind", filters.kind);
    add("batch", filters.batch);
    return query;
}

}  // namespace holdpoint::cli
