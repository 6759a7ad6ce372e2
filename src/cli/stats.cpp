#include <fmt/format.h>

#include "base/text.h"
#include "cli/app.h"
#include "cli/duration.h"
#include "cli/json_text.h"
#include "cli/resource.h"

namespace holdpoint::cli {
namespace {

Line row(std::string_view name, std::string value) {
    return {{Style::faint, fit(name, 21)}, {Style::plain, std::move(value)}};
}

std::string seconds(const json::value& body, std::string_view key) {
    const auto s = number_of(body, key);
    return s ? short_duration(static_cast<std::int64_t>(*s * 1000)) : "none yet";
}

std::string count(const json::value& body, std::string_view key) {
    return fmt::format("{:.0f}", number_of(body, key).value_or(0));
}

ExitCode stats(Session& session) {
    const Answer<Reply> reply = session.client.call({.path = "/v1/stats"});
    if (!reply) return session.out.fail(reply.error());
    const json::value& body = reply->body;
    if (session.out.is_json()) {
        session.out.data(compact(body));
        return ExitCode::fine;
    }
    std::string pending = count(body, "pending");
    if (const auto oldest = time_of(body, "oldest_pending_at"))
        pending += fmt::format(" (oldest asked {} ago)", short_duration(now() - *oldest));
    session.out.print(row("pending", pending));
    session.out.print(row("decided", count(body, "decided")));
    session.out.print(row("mean time to decide", seconds(body, "mean_decision_s")));
    if (const json::object* outcomes = member(body, "outcomes").if_object())
        for (const auto& outcome : *outcomes)
            session.out.print(row("  " + visible(outcome.key()), compact(outcome.value())));
    session.out.print(row("waiting agents", count(body, "waiters")));
    session.out.print(row("event streams", count(body, "streams")));
    session.out.print(row("up", seconds(body, "uptime_s")));
    session.out.print(row("server version", visible(text_of(body, "version"))));
    return ExitCode::fine;
}

ExitCode whoami(Session& session) {
    const Answer<Reply> reply = session.client.call({.path = "/v1/me"});
    if (!reply) return session.out.fail(reply.error());
    const json::value& me = reply->body;
    if (session.out.is_json()) {
        session.out.data(compact(me));
        return ExitCode::fine;
    }
    std::string text =
        fmt::format("{} ({})", visible(text_of(me, "name")), visible(text_of(me, "role")));
    if (const json::array* groups = member(me, "groups").if_array(); groups && !groups->empty()) {
        text += ", groups";
        for (const json::value& group : *groups)
            if (const boost::json::string* name = group.if_string()) text += " " + visible(*name);
    }
    if (const std::string owner = text_of(me, "owner"); !owner.empty())
        text += ", owned by " + visible(owner);
    session.out.data(text);
    session.out.say(fmt::format("at {}, key from {}", session.settings.url.value,
                                session.settings.token.origin));
    return ExitCode::fine;
}

}  // namespace

void add_stats(Command app, Commands& commands) {
    on_session(app.add_subcommand("stats", "Numbers about the server and its requests"), commands,
               stats);
    on_session(app.add_subcommand("whoami", "Who the server thinks you are"), commands, whoami);
}

}  // namespace holdpoint::cli
