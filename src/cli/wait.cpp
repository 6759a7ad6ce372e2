#include "cli/wait.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "cli/duration.h"
#include "cli/json_text.h"

namespace holdpoint::cli {
namespace {

/// Below the idle timeouts that proxies commonly have.
constexpr std::int64_t poll_s = 50;

bool may_heal(const Failure& failure) {
    const ErrorCode code = failure.error.code;
    return !failure.is_interrupted &&
           (code == ErrorCode::unavailable || code == ErrorCode::rate_limited ||
            code == ErrorCode::internal);
}

Failure interrupted() {
    Failure failure{Error{ErrorCode::unavailable, "interrupted"}};
    failure.is_interrupted = true;
    return failure;
}

}  // namespace

Answer<Request> wait_for_outcome(Session& session, Request request, Patience patience_s,
                                 const Interrupt& interrupt) {
    const std::int64_t start_ms = steady_ms();
    int failures = 0;
    while (request.is_pending()) {
        std::int64_t slice_s = poll_s;
        if (patience_s) slice_s = std::min(poll_s, *patience_s - (steady_ms() - start_ms) / 1000);
        if (slice_s <= 0) break;

        const std::int64_t asked_ms = steady_ms();
        Answer<Request> answer = request_of(session.client.call(
            {.path = "/v1/requests/" + path_part(request.id), .wait_s = static_cast<int>(slice_s)},
            interrupt.fd()));
        std::int64_t pause_ms = 0;
        if (answer) {
            if (failures > 0) session.out.say("connected again, waiting on");
            failures = 0;
            request = std::move(*answer);
            // A server that does not wait must not be asked in a tight loop.
            if (request.is_pending() && steady_ms() - asked_ms < 500) pause_ms = 1000;
        } else {
            if (!may_heal(answer.error())) return answer;
            if (failures == 0)
                session.out.say(fmt::format("{}; the request is kept, trying again",
                                            visible(answer.error().error.message)));
            pause_ms = std::min<std::int64_t>(15'000, 500 << std::min(failures, 5));
            pause_ms =
                std::max<std::int64_t>(pause_ms, answer.error().error.retry_after_s * 1000LL);
            ++failures;
        }
        if (patience_s)
            pause_ms = std::min(pause_ms, *patience_s * 1000 - (steady_ms() - start_ms));
        if (pause_ms > 0 && request.is_pending()) {
            const std::int64_t until = steady_ms() + pause_ms;
            while (steady_ms() < until)
                if (session.client.pump(static_cast<int>(until - steady_ms()) + 1, interrupt.fd()))
                    return std::unexpected(interrupted());
        }
    }
    return request;
}

ExitCode report_outcome(const Session& session, const Request& request) {
    const ExitCode code = exit_code(request);
    if (session.out.is_json())
        session.out.data(compact(request.json));
    else if (code == ExitCode::fine)
        session.out.data(compact(released_value(request)));
    if (request.is_pending()) {
        session.out.say(fmt::format(
            "still pending; wait on with `holdpoint show {} --wait --released`", request.id));
        return code;
    }
    std::string message = text_of(request.json, "message_for_agent");
    if (message.empty()) message = standing(request, now());
    session.out.say(visible(message));
    return code;
}

Result<Patience> parse_patience(const std::string& text) {
    if (text == "forever") return Patience{};
    Result<std::int64_t> seconds = parse_duration_s(text);
    if (!seconds) return seconds.error();
    return Patience{*seconds};
}

ExitCode report_interrupt(const Session& session, const std::string& id) {
    session.out.say(
        fmt::format("interrupted; {} stays pending. Wait on with `holdpoint show {} --wait "
                    "--released`, withdraw it with `holdpoint cancel {}`",
                    id, id, id));
    return ExitCode::interrupted;
}

}  // namespace holdpoint::cli
