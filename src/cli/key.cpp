#include <fmt/format.h>

#include <memory>

#include "base/text.h"
#include "cli/app.h"
#include "cli/duration.h"
#include "cli/json_text.h"
#include "cli/resource.h"

namespace holdpoint::cli {
namespace {

struct KeyOptions {
    std::string role, name, owner, expires_in, id;
    std::vector<std::string> groups;
};

ExitCode create(Session& session, const KeyOptions& options) {
    json::object body{{"role", options.role}, {"name", options.name}};
    if (!options.groups.empty())
        body["groups"] = json::array(options.groups.begin(), options.groups.end());
    if (!options.owner.empty()) body["owner"] = options.owner;
    if (!options.expires_in.empty()) {
        const Result<std::int64_t> seconds = parse_duration_s(options.expires_in);
        if (!seconds) return session.out.fail(seconds.error());
        body["expires_in_s"] = *seconds;
    }
    const Answer<Reply> reply = session.client.call(
        {.method = "POST", .path = "/v1/keys", .body = json::value(std::move(body))});
    if (!reply) return session.out.fail(reply.error());
    if (session.out.is_json()) {
        session.out.data(compact(reply->body));
        return ExitCode::fine;
    }
    session.out.data(visible(text_of(reply->body, "key")));
    session.out.say(
        fmt::format("{} key for {}, id {}. It is shown only now: store it in a file that "
                    "only its user can read",
                    visible(text_of(reply->body, "role")), visible(text_of(reply->body, "name")),
                    visible(text_of(reply->body, "id"))));
    return ExitCode::fine;
}

std::string key_state(const json::value& key, Timestamp at) {
    if (const auto revoked = time_of(key, "revoked_at"))
        return fmt::format("revoked {} ago", short_duration(at - *revoked));
    const auto expires = time_of(key, "expires_at");
    if (!expires) return "valid";
    return *expires <= at ? "expired"
                          : fmt::format("valid, {} left", short_duration(*expires - at));
}

ExitCode list_keys(Session& session) {
    const Answer<Reply> reply = session.client.call({.path = "/v1/keys"});
    if (!reply) return session.out.fail(reply.error());
    const json::array* keys = member(reply->body, "keys").if_array();
    if (keys == nullptr)
        return session.out.fail(Error{ErrorCode::internal, "the server's answer has no `keys`"});
    Table table({{"ID"}, {"NAME"}, {"ROLE"}, {"HINT"}, {"STATE"}});
    for (const json::value& key : *keys) {
        if (session.out.is_json()) session.out.data(compact(key));
        table.add({{Style::strong, visible(text_of(key, "id"))},
                   {Style::plain, visible(text_of(key, "name"))},
                   {Style::plain, visible(text_of(key, "role"))},
                   {Style::faint, visible(text_of(key, "hint"))},
                   {Style::plain, key_state(key, now())}});
    }
    if (!session.out.is_json() && !table.is_empty())
        session.out.print(table.lines(session.out.columns(), session.out.is_terminal()));
    return ExitCode::fine;
}

ExitCode revoke_key(Session& session, const KeyOptions& options) {
    const Answer<Reply> reply =
        session.client.call({.method = "POST",
                             .path = "/v1/keys/" + path_part(options.id) + "/revoke",
                             .body = json::value(json::object{})});
    if (!reply) return session.out.fail(reply.error());
    session.out.data(session.out.is_json() ? compact(reply->body)
                                           : fmt::format("{} revoked", visible(options.id)));
    return ExitCode::fine;
}

}  // namespace

void add_key(Command app, Commands& commands) {
    Command family = app.add_subcommand("key", "Keys of agents and people (admin)");
    family.needs_subcommand();
    auto options = std::make_shared<KeyOptions>();

    Command command = family.add_subcommand("create", "Make a key and print it once");
    command.add_option("--role", options->role, "agent, approver, auditor or admin")
        .required()
        .one_of({"agent", "approver", "auditor", "admin"});
    command.add_option("--name", options->name, "Whose key; made if there is none of that name")
        .required();
    command.add_option("--group", options->groups, "Group of that person; may be repeated")
        .one_each();
    command.add_option("--owner", options->owner, "Person who answers for an agent");
    command.add_option("--expires-in", options->expires_in, "How long it is valid, like 30d");
    on_session(command, commands,
               [options](Session& session) { return create(session, *options); });

    command = family.add_subcommand("list", "List the keys, without their secrets");
    on_session(command, commands, list_keys);

    command = family.add_subcommand("revoke", "End a key's validity at once");
    command.add_option("id", options->id, "Id of the key, key_…").required();
    on_session(command, commands,
               [options](Session& session) { return revoke_key(session, *options); });
}

}  // namespace holdpoint::cli
