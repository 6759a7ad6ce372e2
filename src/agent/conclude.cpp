#include <fmt/format.h>

#include "agent/client.h"

namespace holdpoint {

std::string_view to_string(Why why) {
    switch (why) {
        case Why::rejected:
            return "rejected";
        case Why::denied:
            return "denied";
        case Why::deferred:
            return "deferred";
        case Why::aborted:
            return "aborted";
        case Why::expired:
            return "expired";
        case Why::skipped:
            return "skipped";
        case Why::cancelled:
            return "cancelled";
        case Why::refused:
            return "refused";
        case Why::stopped:
            return "stopped";
        case Why::unavailable:
            return "unavailable";
        case Why::broken:
            return "broken";
        case Why::already_ran:
            return "already_ran";
        case Why::interrupted:
            return "interrupted";
        case Why::failed:
            return "failed";
    }
    return "broken";
}

namespace agent {
namespace {

Why why_of(Outcome outcome) {
    switch (outcome) {
        case Outcome::denied:
            return Why::denied;
        case Outcome::rejected:
            return Why::rejected;
        case Outcome::deferred:
            return Why::deferred;
        case Outcome::aborted:
            return Why::aborted;
        case Outcome::skipped:
            return Why::skipped;
        case Outcome::expired:
            return Why::expired;
        case Outcome::cancelled:
            return Why::cancelled;
        case Outcome::allowed:
        case Outcome::approved:
        case Outcome::modified:
        case Outcome::answered:
            return Why::broken;
    }
    return Why::broken;
}

/// Whether the outcome can go with a release. `expired` can: policy may say that silence releases
/// what is low risk.
bool may_release(Outcome outcome) {
    return outcome == Outcome::allowed || outcome == Outcome::approved ||
           outcome == Outcome::modified || outcome == Outcome::expired;
}

Run<Release> broken(const Request& request, std::string_view what) {
    return std::unexpected(
        NotRun{Why::broken, fmt::format("It was not run: {}.", what), request, {}});
}

}  // namespace

NotRun not_run(const Error& error) {
    Why why = Why::unavailable;
    switch (error.code) {
        case ErrorCode::invalid_argument:
        case ErrorCode::not_found:
        case ErrorCode::method_not_allowed:
        case ErrorCode::conflict:
        case ErrorCode::too_large:
        case ErrorCode::unsupported_media_type:
        case ErrorCode::refused:
            why = Why::refused;
            break;
        case ErrorCode::expired:
            why = Why::expired;
            break;
        case ErrorCode::internal:
            why = Why::broken;
            break;
        case ErrorCode::unauthenticated:
        case ErrorCode::permission_denied:
        case ErrorCode::rate_limited:
        case ErrorCode::unavailable:
            break;
    }
    const std::string field = error.field.empty() ? "" : fmt::format("`{}` ", error.field);
    return {why, fmt::format("It was not run: {}{}.", field, error.message), {}, {}};
}

NotRun not_run(const Request& request) {
    Why why = request.outcome ? why_of(*request.outcome) : Why::broken;
    // Where silence stops the whole run, it stops it as a person would.
    if (why == Why::expired && request.timed_out == TimeoutAction::abort) why = Why::aborted;
    std::string message = request.message_for_agent;
    if (message.empty()) message = fmt::format("It was not run: {}.", to_string(why));
    return {why, std::move(message), request, {}};
}

NotRun already_ran(std::optional<Request> request, Json result) {
    return {Why::already_ran, "It ran before a restart.", std::move(request), std::move(result)};
}

NotRun interrupted(std::optional<Request> request) {
    return {Why::interrupted,
            "It was begun before a restart, and nobody knows how far it came. It was not run "
            "again.",
            std::move(request),
            {}};
}

Run<Release> released(const Request& request, Kind kind) {
    if (!request.is_settled()) return broken(request, "the request is not settled");
    if (!request.release) {
        if (may_release(*request.outcome) && *request.outcome != Outcome::expired)
            return broken(request, "the answer says yes but releases nothing");
        return std::unexpected(not_run(request));
    }
    if (!may_release(*request.outcome))
        return broken(request, "the answer says no and releases something all the same");
    if (request.kind != kind) return broken(request, "the answer is about something else");
    if (request.release->digest != request.digest)
        return broken(request, "the release has another digest than the request");
    return *request.release;
}

Run<Release> conclude(const Request& request, const Action& action) {
    Run<Release> release = released(request, Kind::action);
    if (!release) return release;
    if (request.tool() != action.tool) return broken(request, "the answer is about something else");
    if (release->arguments != request.arguments())
        return broken(request, "the release has other arguments than the request");
    if (request.outcome != Outcome::modified && release->arguments != action.arguments)
        return broken(request, "the arguments changed although nobody changed them");
    return release;
}

}  // namespace agent
}  // namespace holdpoint
