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

std::optional<Error> confirm_release(const Output& out, const Request& request,
                                     const Sureness& sureness) {
    out.say(headline(request));
    if (!request.is_pending() || request.risk < core::RiskLevel::high) return std::nullopt;
    const Error not_sure{ErrorCode::refused, "not confirmed; nothing was sent"};
    if (request.risk == core::RiskLevel::high) {
        if (sureness.is_yes || !may_prompt()) return std::nullopt;
        if (ask_yes("risk is high; release it? [y/N] ")) return std::nullopt;
        return not_sure;
    }
    const std::string word = confirmation_word(request);
    if (!sureness.confirm_word.empty()) {
        if (sureness.confirm_word == word) return std::nullopt;
        return Error{ErrorCode::refused,
                     fmt::format("--confirm does not name `{}`; nothing was sent", visible(word))};
    }
    if (!may_prompt())
        return Error{ErrorCode::refused,
                     fmt::format("risk is critical: confirm with --confirm {}", visible(word))};
    const auto typed =
        ask_line(fmt::format("risk is critical; type {} to release it: ", visible(word)));
    if (typed && *typed == word) return std::nullopt;
    return not_sure;
}

ExitCode send_decision(Session& session, const Request& seen, json::object body) {
    const Answer<Request> after =
        request_of(call_safely(session.client, decision_call(seen, std::move(body))));
    if (!after) return session.out.fail(explained(after.error(), now()));
    if (session.out.is_json())
        session.out.data(compact(after->json));
    else
        session.out.data(fmt::format("{} {}", after->id, decision_result(*after, now())));
    return ExitCode::fine;
}

void add_sureness(CLI::App& command, Sureness& sureness) {
    command.add_flag("-y,--yes", sureness.is_yes, "Do not ask when the risk is high");
    command.add_option("--confirm", sureness.confirm_word,
                       "The tool's name, where the risk is critical and nobody can be asked");
}

}  // namespace holdpoint::cli
