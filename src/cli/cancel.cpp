#include <fmt/format.h>

#include <memory>

#include "cli/app.h"
#include "cli/decision.h"
#include "cli/detail.h"
#include "cli/duration.h"
#include "cli/json_text.h"
#include "cli/resource.h"

namespace holdpoint::cli {
namespace {

struct CancelOptions {
    std::string id, reason, duration;
};

ExitCode send_cancel(Session& session, const CancelOptions& options, const char* verb,
                     json::object body) {
    const Answer<Request> request = find_request(session.client, options.id);
    if (!request) return session.out.fail(request.error());
    name_request(session.out, *request);
    const Answer<Request> after = request_of(
        session.client.call({.method = "POST",
                             .path = "/v1/requests/" + path_part(request->id) + "/" + verb,
                             .body = json::value(std::move(body))}));
    if (!after) return session.out.fail(explained(after.error(), now()));
    if (session.out.is_json())
        session.out.data(compact(after->json));
    else if (after->outcome)
        session.out.data(fmt::format("{} {}", after->id, standing(*after, now())));
    else
        session.out.data(
            fmt::format("{} {} left", after->id, short_duration(after->expires_at - now())));
    return ExitCode::fine;
}

ExitCode cancel(Session& session, const CancelOptions& options) {
    json::object body;
    if (!options.reason.empty()) body["reason"] = options.reason;
    return send_cancel(session, options, "cancel", std::move(body));
}

ExitCode extend(Session& session, const CancelOptions& options) {
    const Result<std::int64_t> seconds = parse_duration_s(options.duration);
    if (!seconds) return session.out.fail(seconds.error());
    return send_cancel(session, options, "extend", json::object{{"seconds", *seconds}});
}

ExitCode undo(Session& session, const CancelOptions& options) {
    return send_cancel(session, options, "undo", {});
}

}  // namespace

void add_cancel(Command app, Commands& commands) {
    auto options = std::make_shared<CancelOptions>();
    Command command = app.add_subcommand("cancel", "Withdraw a request (as its agent)");
    command.add_option("id", options->id, "Id, or a unique part of one that is pending").required();
    command.add_option("--reason", options->reason, "Why");
    on_session(command, commands,
               [options](Session& session) { return cancel(session, *options); });

    command = app.add_subcommand("extend", "Give people more time to decide");
    command.add_option("id", options->id, "Id, or a unique part of one that is pending").required();
    command.add_option("duration", options->duration, "How much more, like 10m").required();
    on_session(command, commands,
               [options](Session& session) { return extend(session, *options); });

    command = app.add_subcommand("undo", "Take back a decision of yours that is still held");
    command.add_option("id", options->id, "Id, or a unique part of one that is pending").required();
    on_session(command, commands, [options](Session& session) { return undo(session, *options); });
}

}  // namespace holdpoint::cli
