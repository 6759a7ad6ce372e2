#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "cli/duration.h"
#include "cli/json_text.h"
#include "cli/policy.h"
#include "cli/policy_file.h"
#include "cli/resource.h"

namespace holdpoint::cli {
namespace {

constexpr std::size_t version_characters = 71;  // `sha256:` and the hash in hex

/// The text is the data: `policy show > file` gives a policy that can be applied again.
void print_text(const Output& out, const json::value& body) {
    std::string text = text_of(body, "text");
    if (out.is_terminal()) text = visible(text, Newlines::keep);
    if (text.ends_with('\n')) text.pop_back();
    if (text.empty())
        out.say("it was made from the server's flags; there is no text");
    else
        out.data(text);
}

void say_summary(const Output& out, const json::value& body) {
    std::string name = visible(text_of(body, "name"));
    if (!name.empty()) name += " ";
    out.say(fmt::format("{}{} from {}: {} gates, {} rules, {} tests", name,
                        visible(text_of(body, "version")), visible(text_of(body, "origin")),
                        whole_of(body, "gates"), whole_of(body, "rules"), whole_of(body, "tests")));
    if (is_true(body, "is_disabled"))
        out.say(Line{{Style::bad, "it is switched off: everything passes"}});
    if (const json::array* warnings = member(body, "warnings").if_array())
        for (const json::value& warning : *warnings)
            out.say(fmt::format("line {}, column {}: warning: {}", whole_of(warning, "line"),
                                whole_of(warning, "column"), visible(text_of(warning, "message"))));
}

ExitCode report_in_force(Session& session, const Answer<Reply>& reply, const std::string& path) {
    if (!reply) {
        Failure failure = reply.error();
        const bool is_about_text = failure.error.field == "text";
        if (is_about_text) failure.error.field.clear();
        if (is_about_text && !path.empty()) failure.error = with_place(failure.error, path);
        if (failure.error.field == "acknowledge")
            failure.hint = "see `holdpoint policy backtest`, then --acknowledge each";
        const ExitCode code = session.out.fail(failure);
        return is_about_text && code == ExitCode::usage ? ExitCode::failed : code;
    }
    if (session.out.is_json()) {
        session.out.data(compact(reply->body));
        return ExitCode::fine;
    }
    session.out.data(fmt::format("{} in force", visible(text_of(reply->body, "version"))));
    say_summary(session.out, reply->body);
    return ExitCode::fine;
}

Answer<json::array> versions(Client& client) {
    const Answer<Reply> reply = client.call({.path = "/v1/policy/versions"});
    if (!reply) return std::unexpected(reply.error());
    const json::array* list = member(reply->body, "versions").if_array();
    if (list == nullptr)
        return std::unexpected(
            Failure{Error{ErrorCode::internal, "the server's answer has no `versions`"}});
    return *list;
}

ExitCode list_versions(Session& session) {
    const Answer<json::array> list = versions(session.client);
    if (!list) return session.out.fail(list.error());
    Table table({{"VERSION"}, {"SINCE", Table::Align::right}, {"BY"}, {"STATE"}});
    for (const json::value& version : *list) {
        if (session.out.is_json()) session.out.data(compact(version));
        const bool is_in_force = is_true(version, "is_in_force");
        const auto at = time_of(version, "at");
        table.add(
            {{is_in_force ? Style::strong : Style::plain, visible(text_of(version, "version"))},
             {Style::plain, at ? short_duration(now() - *at) : ""},
             {Style::plain, visible(text_of(version, "by"))},
             {is_in_force ? Style::good : Style::faint, is_in_force ? "in force" : "before"}});
    }
    if (!session.out.is_json() && !table.is_empty())
        session.out.print(table.lines(session.out.columns(), session.out.is_terminal()));
    return ExitCode::fine;
}

/// A whole version as it is; the beginning of one, with or without `sha256:`, if it is the only.
Answer<std::string> find_version(Client& client, const std::string& given) {
    if (given.size() >= version_characters) return given;
    const Answer<json::array> list = versions(client);
    if (!list) return std::unexpected(list.error());
    std::vector<std::string> found;
    for (const json::value& one : *list) {
        const std::string version = text_of(one, "version");
        const std::string_view hash = std::string_view(version).substr(version.find(':') + 1);
        if (version.starts_with(given) || hash.starts_with(given)) found.push_back(version);
    }
    if (found.size() == 1) return found.front();
    if (found.empty())
        return std::unexpected(Failure{
            Error{ErrorCode::not_found, fmt::format("no policy version is `{}`", visible(given))},
            "see `holdpoint policy show --versions`"});
    return std::unexpected(
        Failure{Error{ErrorCode::invalid_argument,
                      fmt::format("`{}` could mean {} versions", visible(given), found.size())},
                "give more characters"});
}

}  // namespace

ExitCode show_policy(Session& session, const PolicyOptions& options) {
    if (options.is_list) return list_versions(session);
    std::string path = "/v1/policy";
    if (!options.name.empty()) {
        const Answer<std::string> version = find_version(session.client, options.name);
        if (!version) return session.out.fail(version.error());
        path += "/versions/" + path_part(*version);
    }
    const Answer<Reply> reply = session.client.call({.path = path});
    if (!reply) return session.out.fail(reply.error());
    if (session.out.is_json()) {
        session.out.data(compact(reply->body));
        return ExitCode::fine;
    }
    if (options.name.empty())
        say_summary(session.out, reply->body);
    else
        session.out.say(fmt::format("{} by {}, {}", visible(text_of(reply->body, "version")),
                                    visible(text_of(reply->body, "by", "nobody")),
                                    is_true(reply->body, "is_in_force") ? "in force" : "before"));
    print_text(session.out, reply->body);
    return ExitCode::fine;
}

ExitCode apply_policy(Session& session, const PolicyOptions& options) {
    const Result<std::string> text = read_given_policy(options.file);
    if (!text) return fail_policy(session.out, text.error());
    json::object body{{"text", *text}};
    if (!options.acknowledged.empty())
        body["acknowledge"] = json::array(options.acknowledged.begin(), options.acknowledged.end());
    return report_in_force(
        session,
        session.client.call(
            {.method = "PUT", .path = "/v1/policy", .body = json::value(std::move(body))}),
        options.file);
}

ExitCode reload_policy(Session& session, const PolicyOptions&) {
    const Answer<Reply> reply = session.client.call(
        {.method = "POST", .path = "/v1/policy/reload", .body = json::value(json::object{})});
    return report_in_force(session, reply, "");
}

}  // namespace holdpoint::cli
