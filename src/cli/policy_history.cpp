#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "cli/duration.h"
#include "cli/json_text.h"
#include "cli/policy.h"
#include "cli/policy_file.h"

namespace holdpoint::cli {
namespace {

std::size_t count_of(const json::value& body, std::string_view key) {
    const json::array* list = member(body, key).if_array();
    return list != nullptr ? list->size() : 0;
}

std::string names(const json::value& list) {
    std::string text;
    if (const json::array* array = list.if_array())
        for (const json::value& name : *array)
            if (const boost::json::string* one = name.if_string())
                text += (text.empty() ? "" : ", ") + visible(*one);
    return text;
}

/// Puts `since_s` where a time was given.
Result<void> put_since(json::object& body, const std::string& since) {
    if (since.empty()) return {};
    const Result<std::int64_t> seconds = parse_duration_s(since);
    if (!seconds) return seconds.error();
    body["since_s"] = *seconds;
    return {};
}

Line case_line(const json::value& one, Style style, std::string_view mark) {
    const std::string outcome = text_of(one, "outcome");
    return {
        {style, std::string(mark)},
        {Style::strong, visible(text_of(one, "id"))},
        {Style::plain, fmt::format("  {}: {}{}, now {} by `{}`", visible(text_of(one, "tool")),
                                   visible(text_of(one, "before")),
                                   outcome.empty() ? "" : fmt::format(" and {}", visible(outcome)),
                                   visible(text_of(one, "after")), visible(text_of(one, "rule")))}};
}

void print_cases(const Output& out, const json::value& result, std::string_view key,
                 std::string_view title, Style style, std::string_view mark) {
    if (count_of(result, key) == 0) return;
    out.print(Line{{Style::heading, std::string(title)}});
    for (const json::value& one : member(result, key).get_array())
        out.print(case_line(one, style, mark));
}

std::string in_numbers(const json::value& result) {
    return fmt::format("{} calls: {} prompts then, {} with it ({} saved, {} added, {} minutes)",
                       whole_of(result, "calls"), whole_of(result, "prompts_before"),
                       whole_of(result, "prompts_after"), whole_of(result, "prompts_saved"),
                       whole_of(result, "prompts_added"), whole_of(result, "minutes_saved"));
}

void print_backtest(const Output& out, const json::value& result) {
    out.data(in_numbers(result));
    print_cases(out, result, "dangerous", "People refused or changed these; it would let them pass",
                Style::bad, "! ");
    print_cases(out, result, "now_denied", "People approved these; it would deny them", Style::high,
                "- ");
    print_cases(out, result, "changed", "Everything that would be judged otherwise", Style::plain,
                "  ");
    if (const std::size_t open = count_of(result, "dangerous"); open > 0)
        out.say(fmt::format("`policy apply` wants --acknowledge ID for {}",
                            open == 1 ? "it" : fmt::format("each of the {}", open)));
}

/// Comments and YAML, indented as rules are: what is printed can be pasted under `rules:`.
void print_suggestion(const Output& out, const json::value& one) {
    out.data(fmt::format("  # rests on {} approvals: {}", whole_of(one, "approvals"),
                         names(member(one, "evidence"))));
    out.data("  # " + in_numbers(member(one, "backtest")));
    std::string yaml = visible(text_of(one, "yaml"), Newlines::keep);
    while (!yaml.empty()) {
        const std::size_t end = std::min(yaml.find('\n'), yaml.size());
        out.data("  " + yaml.substr(0, end));
        yaml.erase(0, end + 1);
    }
}

ExitCode fail_call(const Output& out, Failure failure, const std::string& path) {
    const bool is_about_text = failure.error.field == "text" && !path.empty();
    if (!is_about_text) return out.fail(failure);
    failure.error.field.clear();
    return fail_policy(out, with_place(failure.error, path));
}

}  // namespace

ExitCode backtest_policy(Session& session, const PolicyOptions& options) {
    const Result<std::string> text = read_given_policy(options.file);
    if (!text) return fail_policy(session.out, text.error());
    json::object body{{"text", *text}};
    if (Result<void> ok = put_since(body, options.since); !ok) return session.out.fail(ok.error());
    const Answer<Reply> reply = session.client.call(
        {.method = "POST", .path = "/v1/policy/backtest", .body = json::value(std::move(body))});
    if (!reply) return fail_call(session.out, reply.error(), options.file);
    if (session.out.is_json())
        session.out.data(compact(reply->body));
    else
        print_backtest(session.out, reply->body);
    return ExitCode::fine;
}

ExitCode suggest_rules(Session& session, const PolicyOptions& options) {
    json::object body;
    if (Result<void> ok = put_since(body, options.since); !ok) return session.out.fail(ok.error());
    if (options.approvals_min > 0) body["approvals_min"] = options.approvals_min;
    const Answer<Reply> reply = session.client.call(
        {.method = "POST", .path = "/v1/policy/suggest", .body = json::value(std::move(body))});
    if (!reply) return fail_call(session.out, reply.error(), "");
    const json::array* suggestions = member(reply->body, "suggestions").if_array();
    if (suggestions == nullptr)
        return session.out.fail(
            Error{ErrorCode::internal, "the server's answer has no `suggestions`"});
    for (const json::value& one : *suggestions) {
        if (session.out.is_json())
            session.out.data(compact(one));
        else
            print_suggestion(session.out, one);
    }
    if (suggestions->empty()) session.out.say("nothing to suggest: no rule would save a prompt");
    return ExitCode::fine;
}

}  // namespace holdpoint::cli
