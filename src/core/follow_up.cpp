#include "core/follow_up.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json.h"
#include "core/hold.h"
#include "core/requirement.h"
#include "core/settle.h"

namespace holdpoint::core {
namespace {

Error settled(const Request& request) {
    return {ErrorCode::conflict, fmt::format("already {}", to_string(*request.outcome))};
}

}  // namespace

Result<Step> cancel(Request request, const std::string& reason, const Actor& agent, Timestamp now) {
    if (request.state == State::settled) return settled(request);
    // It would erase what a person has said, and with it what follows from a no.
    if (std::ranges::any_of(request.holds, stops))
        return Error{ErrorCode::conflict,
                     "a person has said no; that takes effect in a few seconds"};
    std::string detail = "{\"reason\":";
    json::append_quoted(detail, reason);
    detail += '}';
    Step step;
    step.request = std::move(request);
    step.request.version += 1;
    settle(step, Outcome::cancelled, agent, now, {reason.empty() ? "" : std::move(detail)});
    return step;
}

Result<Step> extend(Request request, std::int64_t ms, const Actor& person, Timestamp now) {
    if (person.is_agent || !has_place(request, person.name, person.groups))
        return Error{ErrorCode::permission_denied, "this request is for other people to decide"};
    if (request.state == State::settled) return settled(request);
    const Timestamp until = request.expires_at + ms;
    if (until - counted_from(request) > lifetime_ms_max)
        return Error{ErrorCode::refused, "a request may wait ninety days in all", "seconds"};
    Step step;
    step.request = std::move(request);
    step.request.version += 1;
    step.request.expires_at = until;
    step.request.next_at = next_wake(step.request);
    note(step, EventKind::extended, person, now, {"{\"expires_at\":\"" + to_string(until) + "\"}"});
    return step;
}

Result<Step> report(Request request, Report report, const Actor& agent, Timestamp now) {
    if (request.state == State::pending)
        return Error{ErrorCode::refused, "nothing can have happened yet: the request is pending"};
    Step step;
    if (request.report) {
        const Report& before = *request.report;
        const bool is_same = before.is_success == report.is_success &&
                             before.result == report.result && before.error == report.error;
        if (!is_same) return Error{ErrorCode::conflict, "another report was given before"};
        step.request = std::move(request);
        return step;
    }
    report.at = now;
    step.request = std::move(request);
    step.request.version += 1;
    step.request.report = std::move(report);
    note(step, EventKind::reported, agent, now,
         {fmt::format("{{\"success\":{}}}", step.request.report->is_success)});
    step.effects.push_back({EventKind::reported, step.request.id});
    return step;
}

}  // namespace holdpoint::core
