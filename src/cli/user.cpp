#include <fmt/format.h>

#include <memory>

#include "base/text.h"
#include "cli/app.h"
#include "cli/json_text.h"
#include "cli/resource.h"
#include "cli/terminal.h"

namespace holdpoint::cli {
namespace {

struct UserOptions {
    std::string name, role;
    std::vector<std::string> groups;
    bool is_password_stdin = false;
    bool has_no_password = false;
};

/// Asked twice at a terminal, since it cannot be seen; one line from stdin with --password-stdin.
Result<std::string> new_password(const UserOptions& options) {
    if (options.is_password_stdin) return read_secret_line();
    if (!may_prompt())
        return Error{ErrorCode::invalid_argument, "no terminal to ask at; use --password-stdin"};
    Result<std::string> first = ask_secret("New password: ");
    if (!first) return first;
    const Result<std::string> second = ask_secret("Once more: ");
    if (!second) return second.error();
    if (*first != *second) return Error{ErrorCode::refused, "the two differ; nothing was sent"};
    if (first->empty()) return Error{ErrorCode::refused, "no password given; nothing was sent"};
    return first;
}

/// Who the caller is, to know whether a password is one's own.
Result<std::string> own_name(Session& session) {
    const Answer<Reply> me = session.client.call({.path = "/v1/me"});
    if (!me) return me.error().error;
    return text_of(me->body, "name");
}

json::array group_array(const UserOptions& options) {
    return json::array(options.groups.begin(), options.groups.end());
}

ExitCode send(Session& session, std::string path, json::object body, std::string_view done) {
    const Answer<Reply> reply = session.client.call(
        {.method = "POST", .path = std::move(path), .body = json::value(std::move(body))});
    if (!reply) return session.out.fail(reply.error());
    if (session.out.is_json())
        session.out.data(compact(reply->body));
    else
        session.out.say(done);
    return ExitCode::fine;
}

std::string user_path(const UserOptions& options, std::string_view verb) {
    return fmt::format("/v1/users/{}/{}", path_part(options.name), verb);
}

ExitCode add(Session& session, const UserOptions& options) {
    json::object body{{"name", options.name}, {"role", options.role}};
    if (!options.groups.empty()) body["groups"] = group_array(options);
    if (!options.has_no_password) {
        const Result<std::string> password = new_password(options);
        if (!password) return session.out.fail(password.error());
        body["password"] = *password;
    }
    return send(session, "/v1/users", std::move(body),
                fmt::format("{} added as {}", visible(options.name), options.role));
}

ExitCode change_password(Session& session, const UserOptions& options) {
    const Result<std::string> me = own_name(session);
    if (!me) return session.out.fail(me.error());
    json::object body;
    if (*me == options.name && !options.is_password_stdin && may_prompt()) {
        const Result<std::string> current = ask_secret("Current password (empty if none): ");
        if (!current) return session.out.fail(current.error());
        if (!current->empty()) body["current"] = *current;
    }
    const Result<std::string> password = new_password(options);
    if (!password) return session.out.fail(password.error());
    body["password"] = *password;
    return send(session, user_path(options, "password"), std::move(body),
                fmt::format("password of {} changed", visible(options.name)));
}

ExitCode list_users(Session& session) {
    const Answer<Reply> reply = session.client.call({.path = "/v1/users"});
    if (!reply) return session.out.fail(reply.error());
    const json::array* users = member(reply->body, "users").if_array();
    if (users == nullptr)
        return session.out.fail(Error{ErrorCode::internal, "the server's answer has no `users`"});
    Table table({{"NAME"}, {"ROLE"}, {"SIGN-IN"}, {"OWNER"}, {"GROUPS"}});
    for (const json::value& user : *users) {
        if (session.out.is_json()) session.out.data(compact(user));
        std::string groups;
        if (const json::array* array = member(user, "groups").if_array())
            for (const json::value& group : *array)
                if (const boost::json::string* name = group.if_string())
                    groups += (groups.empty() ? "" : ", ") + visible(*name);
        const bool is_disabled = is_true(user, "disabled");
        const char* sign_in = is_disabled                     ? "disabled"
                              : is_true(user, "has_password") ? "password"
                                                              : "key only";
        table.add({{is_disabled ? Style::faint : Style::strong, visible(text_of(user, "name"))},
                   {Style::plain, visible(text_of(user, "role"))},
                   {is_disabled ? Style::bad : Style::plain, sign_in},
                   {Style::plain, visible(text_of(user, "owner"))},
                   {Style::plain, groups}});
    }
    if (!session.out.is_json() && !table.is_empty())
        session.out.print(table.lines(session.out.columns(), session.out.is_terminal()));
    return ExitCode::fine;
}

ExitCode link(Session& session, const UserOptions& options) {
    json::object body;
    if (!options.name.empty()) body["name"] = options.name;
    const Answer<Reply> reply = session.client.call(
        {.method = "POST", .path = "/v1/links", .body = json::value(std::move(body))});
    if (!reply) return session.out.fail(reply.error());
    session.out.data(session.out.is_json() ? compact(reply->body)
                                           : visible(text_of(reply->body, "url")));
    session.out.say("this link signs in once, within ten minutes; whoever has it is that person");
    return ExitCode::fine;
}

}  // namespace

void add_user(Command app, Commands& commands) {
    Command family = app.add_subcommand("user", "People and agents (admin)");
    family.needs_subcommand();
    auto options = std::make_shared<UserOptions>();
    const auto verb = [&](const char* name, const char* what,
                          ExitCode (*work)(Session&, const UserOptions&)) {
        Command command = family.add_subcommand(name, what);
        on_session(command, commands,
                   [options, work](Session& session) { return work(session, *options); });
        return command;
    };
    const auto named = [&](Command command) {
        command.add_option("name", options->name, "Name of the person or agent").required();
        return command;
    };

    Command command = named(verb("add", "Add a person", add));
    command.add_option("--role", options->role, "approver, auditor or admin")
        .required()
        .one_of({"approver", "auditor", "admin"});
    command.add_option("--group", options->groups, "A group; may be repeated").one_each();
    Option from_stdin = command.add_flag("--password-stdin", options->is_password_stdin,
                                         "Password is the first line of standard input");
    command.add_flag("--no-password", options->has_no_password, "Keys and sign-in links only")
        .excludes(from_stdin);

    on_session(family.add_subcommand("list", "List people and agents"), commands, list_users);

    command = named(verb("passwd", "Set a password, or change one's own", change_password));
    command.add_flag("--password-stdin", options->is_password_stdin,
                     "Password is the first line of standard input");
    named(verb("disable", "Refuse all sign-ins and keys from now on",
               [](Session& session, const UserOptions& given) {
                   return send(session, user_path(given, "disable"), {},
                               fmt::format("{} disabled", visible(given.name)));
               }));
    named(verb("enable", "Undo disable", [](Session& session, const UserOptions& given) {
        return send(session, user_path(given, "enable"), {},
                    fmt::format("{} enabled", visible(given.name)));
    }));
    command = named(verb("groups", "Set the groups; none leaves all",
                         [](Session& session, const UserOptions& given) {
                             return send(session, user_path(given, "groups"),
                                         json::object{{"groups", group_array(given)}},
                                         fmt::format("groups of {} set", visible(given.name)));
                         }));
    command.add_option("groups", options->groups, "All groups from now on");
    command = verb("link", "Make a one-time sign-in link", link);
    command.add_option("name", options->name, "For whom; yourself by default");
}

}  // namespace holdpoint::cli
