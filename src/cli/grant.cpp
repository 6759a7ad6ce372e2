#include <fmt/format.h>

#include <memory>

#include "base/text.h"
#include "cli/app.h"
#include "cli/duration.h"
#include "cli/json_text.h"
#include "cli/resource.h"

namespace holdpoint::cli {
namespace {

struct GrantOptions {
    std::string id, agent, tool;
    bool is_all = false;
};

/// `3 of 5`-like words would need what was given at first; what is left is what matters.
std::string left(const json::value& grant, Timestamp at) {
    std::string text;
    const auto add = [&text](std::string part) {
        text += (text.empty() ? "" : ", ") + std::move(part);
    };
    if (const auto expires = time_of(grant, "expires_at"); expires && *expires > at)
        add(short_duration(*expires - at));
    if (const auto uses = number_of(grant, "uses_left"))
        add(fmt::format("{:.0f} {}", *uses, *uses == 1 ? "use" : "uses"));
    if (const auto sum = number_of(grant, "sum_left")) add(fmt::format("sum {:g}", *sum));
    return text;
}

Span state_of(const json::value& grant) {
    const std::string state = visible(text_of(grant, "state"));
    return {state == "active" ? Style::good : Style::faint, state};
}

ExitCode list_grants(Session& session, const GrantOptions& options) {
    Query query{{"state", options.is_all ? "all" : "active"}, {"limit", "1000"}};
    if (!options.agent.empty()) query.emplace_back("agent", options.agent);
    if (!options.tool.empty()) query.emplace_back("tool", options.tool);
    const Answer<Reply> reply = session.client.call({.path = "/v1/grants", .query = query});
    if (!reply) return session.out.fail(reply.error());
    const json::array* grants = member(reply->body, "grants").if_array();
    if (grants == nullptr)
        return session.out.fail(Error{ErrorCode::internal, "the server's answer has no `grants`"});
    Table table({{"ID"},
                 {"STATE"},
                 {"AGENT", Table::Align::left, 16},
                 {"LEFT"},
                 {"BY", Table::Align::left, 16},
                 {"COVERS"}});
    for (const json::value& grant : *grants) {
        if (session.out.is_json()) session.out.data(compact(grant));
        table.add({{Style::strong, visible(text_of(grant, "id"))},
                   state_of(grant),
                   {Style::plain, visible(text_of(grant, "agent"))},
                   {Style::plain, left(grant, now())},
                   {Style::plain, visible(text_of(grant, "by"))},
                   {Style::plain, visible(text_of(grant, "covers"))}});
    }
    if (session.out.is_json()) return ExitCode::fine;
    if (table.is_empty())
        session.out.say(options.is_all ? "no grant was ever given" : "no grant is active");
    else
        session.out.print(table.lines(session.out.columns(), session.out.is_terminal()));
    return ExitCode::fine;
}

void print_grant(const Output& out, const json::value& grant) {
    const auto row = [&out](std::string_view name, std::string value) {
        if (!value.empty())
            out.print(Line{{Style::faint, fit(name, 10)}, {Style::plain, std::move(value)}});
    };
    out.print(Line{
        {Style::strong, visible(text_of(grant, "id"))}, {Style::plain, "  "}, state_of(grant)});
    row("covers", visible(text_of(grant, "covers")));
    row("agent", visible(text_of(grant, "agent")));
    row("session", visible(text_of(grant, "session")));
    row("left", left(grant, now()));
    row("used", fmt::format("{:.0f} times", number_of(grant, "uses").value_or(0)));
    row("risk", "up to " + visible(text_of(grant, "risk_max")));
    row("given by", visible(text_of(grant, "by")));
    row("with", visible(text_of(grant, "request")));
    row("until", visible(text_of(grant, "expires_at")));
    row("ended", visible(text_of(grant, "ended_at")));
    row("ended by", visible(text_of(grant, "ended_by")));
    row("policy", visible(text_of(grant, "policy")));
}

ExitCode show_grant(Session& session, const GrantOptions& options) {
    const Answer<Reply> reply =
        session.client.call({.path = "/v1/grants/" + path_part(options.id)});
    if (!reply) return session.out.fail(reply.error());
    if (session.out.is_json())
        session.out.data(compact(reply->body));
    else
        print_grant(session.out, reply->body);
    return ExitCode::fine;
}

ExitCode revoke_grant(Session& session, const GrantOptions& options) {
    const Answer<Reply> reply =
        session.client.call({.method = "POST",
                             .path = "/v1/grants/" + path_part(options.id) + "/revoke",
                             .body = json::value(json::object{})});
    if (!reply) return session.out.fail(reply.error());
    session.out.data(session.out.is_json() ? compact(reply->body)
                                           : fmt::format("{} revoked", visible(options.id)));
    return ExitCode::fine;
}

}  // namespace

void add_grant(Command app, Commands& commands) {
    Command family =
        app.add_subcommand("grant", "What people let pass for a while: list, show, revoke");
    family.needs_subcommand();
    auto options = std::make_shared<GrantOptions>();
    const auto verb = [&](const char* name, const char* what,
                          ExitCode (*work)(Session&, const GrantOptions&)) {
        Command command = family.add_subcommand(name, what);
        on_session(command, commands,
                   [options, work](Session& session) { return work(session, *options); });
        return command;
    };
    Command command = verb("list", "List the grants that are active", list_grants);
    command.add_flag("--all", options->is_all, "Also those that ended");
    command.add_option("--agent", options->agent, "Only of this agent");
    command.add_option("--tool", options->tool, "Only for this tool");
    command = verb("show", "One grant: what it covers, what is left of it", show_grant);
    command.add_option("id", options->id, "Id of the grant").required();
    command = verb("revoke", "End a grant at once", revoke_grant);
    command.add_option("id", options->id, "Id of the grant").required();
}

}  // namespace holdpoint::cli
