#include <unistd.h>

#include <cstdlib>
#include <memory>

#include "cli/app.h"
#include "cli/filters.h"
#include "cli/inbox_plain.h"
#include "cli/inbox_screen.h"

namespace holdpoint::cli {
namespace {

struct InboxOptions {
    Filters filters;
    bool is_plain = false;
};

bool has_screen() {
    const char* term = std::getenv("TERM");
    const bool is_dumb = term == nullptr || *term == '\0' || std::string_view(term) == "dumb";
    return !is_dumb && ::isatty(STDIN_FILENO) != 0 && ::isatty(STDOUT_FILENO) != 0;
}

ExitCode inbox(Session& session, const InboxOptions& options) {
    const Query query = to_query(options.filters);
    if (options.is_plain || !has_screen()) return run_plain_inbox(session, query);
    // Asked before the screen is taken, so that a wrong key or address is told on a plain line.
    const Answer<Reply> me = session.client.call({.path = "/v1/me"});
    if (!me) return session.out.fail(me.error());
    return InboxScreen(session, query, me->body).run();
}

}  // namespace

void add_inbox(Command app, Commands& commands) {
    auto options = std::make_shared<InboxOptions>();
    Command command =
        app.add_subcommand("inbox", "Read and decide what waits, full screen and live");
    add_filters(command, options->filters);
    command.add_flag("--plain", options->is_plain, "Line by line, for pipes and screen readers");
    on_session(command, commands, [options](Session& session) { return inbox(session, *options); });
}

}  // namespace holdpoint::cli
