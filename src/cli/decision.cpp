#include "cli/decision.h"

#include <fmt/format.h>

#include "base/text.h"
#include "cli/detail.h"
#include "cli/idempotency.h"
#include "cli/json_text.h"
#include "cli/terminal.h"

namespace holdpoint::cli {

Call decision_call(const Request& seen, json::object body) {
    body["digest"] = seen.digest;
    return {.method = "POST",
            .path = "/v1/requests/" + path_part(seen.id) + "/decision",
            .body = json::value(std::move(body)),
            .idempotency_key = fresh_idempotency_key()};
}

Failure explained(Failure failure, Timestamp now) {
    const Result<Request> stands = read_request(failure.request);
    if (!stands) return failure;
    if (stands->outcome)
        failure.error.message = fmt::format("already settled: {}", standing(*stands, now));
    else if (failure.hint.empty())
        failure.hint = fmt::format("look again with `holdpoint show {}`", stands->id);
    return failure;
}

std::string decision_result(const Request& request, Timestamp now) {
    if (request.outcome) return standing(request, now);
    return fmt::format("recorded; needs {}", requirement_progress(request));
}

namespace {

/// What has to be typed before something is released, and what it is called.
struct Word {
    std::string what;
    std::string text;
};

/// A question that can be understood alone: where messages go into a file, what it is about stands
/// above it.
std::string question_about(const Request& request, std::string question) {
    if (shows_messages()) return question;
    std::string text;
    for (const Span& span : headline(request)) text += span.text;
    return text + "\n" + question;
}

Result<void> confirm_word(const Sureness& sureness, const Request& request, const Word& word) {
    if (!sureness.confirm_word.empty()) {
        if (sureness.confirm_word == word.text) return {};
        return Error{ErrorCode::refused,
                     fmt::format("--confirm is not `{}`; nothing was sent", visible(word.text))};
    }
    if (!may_prompt())
        return Error{ErrorCode::refused,
                     fmt::format("{}: confirm with --confirm {}", word.what, visible(word.text))};
    const auto typed = ask_line(question_about(
        request, fmt::format("{}; type {} to release it: ", word.what, visible(word.text))));
    if (typed && *typed == word.text) return {};
    return Error{ErrorCode::refused, "not confirmed; nothing was sent"};
}

}  // namespace

void name_request(const Output& out, const Request& request) {
    if (!out.is_json() || (may_prompt() && shows_messages())) out.say(headline(request));
}

Result<std::string> confirm_release(const Output& out, const Request& request,
                                    const Sureness& sureness) {
    name_request(out, request);
    if (!request.is_pending()) return std::string();
    if (const std::string code = confirmation_code(request); !code.empty()) {
        const Result<void> sure = confirm_word(
            sureness, request,
            {fmt::format("risk is {} and a code is asked for", core::to_string(request.risk)),
             code});
        if (!sure) return sure.error();
        return code;
    }
    if (request.risk == core::RiskLevel::critical) {
        const Result<void> sure =
            confirm_word(sureness, request, {"risk is critical", confirmation_word(request)});
        if (!sure) return sure.error();
    }
    const bool must_ask = request.risk == core::RiskLevel::high && !sureness.is_yes && may_prompt();
    if (must_ask && !ask_yes(question_about(request, "risk is high; release it? [y/N] ")))
        return Error{ErrorCode::refused, "not confirmed; nothing was sent"};
    return std::string();
}

ExitCode send_decision(Session& session, const Request& seen, json::object body,
                       const Sureness& sureness) {
    const auto send = [&] {
        return request_of(call_safely(session.client, decision_call(seen, body)));
    };
    Answer<Request> after = send();
    if (!after && !after.error().code.empty() && !body.contains("confirm")) {
        const std::string code = after.error().code;
        const Result<void> sure =
            confirm_word(sureness, seen, {"with these changes a code is asked for", code});
        if (!sure) return session.out.fail(sure.error());
        body["confirm"] = code;
        after = send();
    }
    if (!after) return session.out.fail(explained(after.error(), now()));
    if (session.out.is_json())
        session.out.data(compact(after->json));
    else
        session.out.data(fmt::format("{} {}", after->id, decision_result(*after, now())));
    return ExitCode::fine;
}

void add_sureness(Command command, Sureness& sureness) {
    command.add_flag("-y,--yes", sureness.is_yes, "Do not ask when the risk is high");
    command.add_option("--confirm", sureness.confirm_word,
                       "The request's confirmation code, where it has one; else, where the risk is "
                       "critical, the tool's name");
}

}  // namespace holdpoint::cli
