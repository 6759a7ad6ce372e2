#include <fmt/format.h>

#include <memory>

#include "base/text.h"
#include "cli/app.h"
#include "cli/duration.h"
#include "cli/json_text.h"
#include "cli/resource.h"

namespace holdpoint::cli {
namespace {

struct SessionOptions {
    std::string user, id;
};

ExitCode list_sessions(Session& session, const SessionOptions& options) {
    Query query;
    if (!options.user.empty()) query.emplace_back("user", options.user);
    const Answer<Reply> reply =
        session.client.call({.path = "/v1/sessions", .query = std::move(query)});
    if (!reply) return session.out.fail(reply.error());
    const json::array* sessions = member(reply->body, "sessions").if_array();
    if (sessions == nullptr)
        return session.out.fail(
            Error{ErrorCode::internal, "the server's answer has no `sessions`"});
    Table table({{"ID"}, {"NAME"}, {"ADDRESS"}, {"LAST SEEN"}, {"BROWSER"}});
    for (const json::value& one : *sessions) {
        if (session.out.is_json()) session.out.data(compact(one));
        const auto seen = time_of(one, "last_seen_at");
        table.add({{Style::strong, visible(text_of(one, "id"))},
                   {Style::plain, visible(text_of(one, "name"))},
                   {Style::plain, visible(text_of(one, "address"))},
                   {Style::plain, seen ? short_duration(now() - *seen) + " ago" : ""},
                   {Style::faint, visible(text_of(one, "user_agent"))}});
    }
    if (!session.out.is_json() && !table.is_empty())
        session.out.print(table.lines(session.out.columns(), session.out.is_terminal()));
    return ExitCode::fine;
}

ExitCode revoke_session(Session& session, const SessionOptions& options) {
    const Answer<Reply> reply =
        session.client.call({.method = "POST",
                             .path = "/v1/sessions/" + path_part(options.id) + "/revoke",
                             .body = json::value(json::object{})});
    if (!reply) return session.out.fail(reply.error());
    session.out.data(session.out.is_json() ? compact(reply->body)
                                           : fmt::format("{} ended", visible(options.id)));
    return ExitCode::fine;
}

}  // namespace

void add_session(Command app, Commands& commands) {
    Command family = app.add_subcommand("session", "Signed-in browsers");
    family.needs_subcommand();
    auto options = std::make_shared<SessionOptions>();

    Command command = family.add_subcommand("list", "List one's own, or a person's (admin)");
    command.add_option("--user", options->user, "Whose, for admins");
    on_session(command, commands,
               [options](Session& session) { return list_sessions(session, *options); });

    command = family.add_subcommand("revoke", "Sign a browser out at once");
    command.add_option("id", options->id, "Id of the session, ses_…").required();
    on_session(command, commands,
               [options](Session& session) { return revoke_session(session, *options); });
}

}  // namespace holdpoint::cli
