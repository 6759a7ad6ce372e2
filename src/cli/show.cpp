#include <memory>

#include "cli/app.h"
#include "cli/detail.h"
#include "cli/json_text.h"
#include "cli/resource.h"
#include "cli/terminal.h"
#include "cli/wait.h"

namespace holdpoint::cli {
namespace {

struct ShowOptions {
    std::string id;
    std::string wait;
    bool is_released_only = false;
};

ExitCode show(Session& session, const ShowOptions& options) {
    Answer<Request> request = find_request(session.client, options.id);
    if (!request) return session.out.fail(request.error());
    const bool is_waiting = !options.wait.empty();
    if (is_waiting) {
        const Result<Patience> patience = parse_patience(options.wait);
        if (!patience) return session.out.fail(patience.error());
        const Interrupt interrupt;
        const std::string id = request->id;
        request = wait_for_outcome(session, std::move(*request), *patience, interrupt);
        if (!request && request.error().is_interrupted) return report_interrupt(session, id);
        if (!request) return session.out.fail(request.error());
    }
    if (options.is_released_only) return report_outcome(session, *request);
    const ExitCode code = is_waiting ? exit_code(*request) : ExitCode::fine;
    if (session.out.is_json()) {
        session.out.data(compact(request->json));
        return code;
    }
    const Answer<Reply> events =
        session.client.call({.path = "/v1/requests/" + path_part(request->id) + "/events"});
    if (!events) return session.out.fail(events.error());
    const int columns = session.out.is_terminal() ? session.out.columns() : 100;
    session.out.print(describe(*request, member(events->body, "events"), now(), columns).lines);
    return code;
}

}  // namespace

void add_show(Command app, Commands& commands) {
    auto options = std::make_shared<ShowOptions>();
    Command command = app.add_subcommand("show", "Show one request and what happened to it");
    command.add_option("id", options->id, "Id, or a unique part of one that is pending").required();
    command.add_flag("--wait{forever}", options->wait,
                     "Wait for the outcome first, at most --wait=10m; exit code as for request");
    command.add_flag("--released", options->is_released_only,
                     "Print only what was released, as request does");
    on_session(command, commands, [options](Session& session) { return show(session, *options); });
}

}  // namespace holdpoint::cli
