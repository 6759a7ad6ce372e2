// Running what was released: once, as it was released, and told to everybody who should know.
#include <spdlog/spdlog.h>

#include "agent/await.h"
#include "agent/client.h"
#include "base/text.h"

namespace holdpoint::agent {
namespace {

constexpr std::size_t report_bytes_max = 64 * 1024;
constexpr std::size_t report_error_max = 2000;

/// What became of the work, and what it threw.
std::pair<Ran, std::exception_ptr> attempt(const Holdpoint::Work& work, const Json& arguments) {
    Ran ran;
    std::exception_ptr thrown;
    try {
        Result<Json> result = work(arguments);
        ran.is_success = result.has_value();
        if (result)
            ran.result = std::move(*result);
        else
            ran.error = result.error().message;
    } catch (const std::exception& exception) {
        thrown = std::current_exception();
        ran.error = exception.what();
    } catch (...) {
        thrown = std::current_exception();
        ran.error = "it threw something unknown";
    }
    if (!is_utf8(ran.error)) ran.error = visible(ran.error, Newlines::keep);
    return {std::move(ran), std::move(thrown)};
}

Json report_of(const Ran& ran, const Spent& spent) {
    Json report = Json::object({{"success", ran.is_success}});
    if (!ran.error.empty()) report = report.with("error", cut_utf8(ran.error, report_error_max));
    if (!ran.result.is_null()) {
        const std::string text = ran.result.dump();
        Json result = ran.result;
        if (text.size() > report_bytes_max)
            result = "the result is too long to be reported";
        else if (const Result<Json> again = Json::parse(text); !again)
            result = "the result cannot be reported: " + again.error().message;
        report = report.with("result", result);
    }
    if (spent.cost) report = report.with("cost", *spent.cost);
    if (spent.tokens > 0) report = report.with("tokens", spent.tokens);
    return report;
}

}  // namespace

Run<Request> Client::take_released(const Release& release) {
    std::optional<Request> request;
    {
        const std::lock_guard lock(mutex_);
        const auto found = settled_.find(release.request_id);
        if (found != settled_.end()) {
            request = std::move(found->second);
            settled_.erase(found);
        }
    }
    // Only what this client was given runs, and only as it was given.
    const bool is_ours = request && request->release->digest == release.digest &&
                         request->release->arguments == release.arguments;
    if (!is_ours)
        return std::unexpected(
            NotRun{Why::broken, "It was not run: this release was not given here.", {}, {}});
    return std::move(*request);
}

std::optional<NotRun> Client::begin(const Request& request) {
    const Result<Journal::Standing> standing = journal_.begin(request.id);
    if (!standing) return not_run(standing.error());
    if (standing->progress == Journal::Progress::finished)
        return already_ran(request, standing->result);
    if (!request.report.is_null()) return already_ran(request, request.report["result"]);
    if (standing->progress == Journal::Progress::begun) return interrupted(request);
    return std::nullopt;
}

Task<Run<Json>> Client::run_released(std::shared_ptr<Client> self, Running running,
                                     Executor executor) {
    const Release& release = running.release;
    const Run<Request> request = self->take_released(release);
    if (!request) co_return std::unexpected(request.error());
    if (!running.may_repeat)
        if (std::optional<NotRun> not_begun = self->begin(*request))
            co_return std::unexpected(std::move(*not_begun));
    const auto [ran, thrown] = attempt(running.work, release.arguments);
    const Json result = ran.is_success ? ran.result : Json::object({{"error", ran.error}});
    if (!running.may_repeat)
        if (Result<void> ok = self->journal_.finish(release.request_id, result); !ok)
            spdlog::error("{}", ok.error().message);
    // What is run again has been told and reported the first time.
    if (request->report.is_null()) {
        self->tell([&](Observer& observer) { observer.on_ran(*request, release, ran); });
        const Json report = report_of(ran, running.spent ? running.spent() : Spent{});
        Answer reporting(executor, {}, [&](Backend::Done done) {
            self->backend_->report(release.request_id, report, std::move(done));
        });
        const std::optional<Result<Json>> told = co_await reporting;
        if (!*told) spdlog::warn("what happened could not be reported: {}", told->error().message);
    }
    if (thrown) std::rethrow_exception(thrown);
    co_return result;
}

}  // namespace holdpoint::agent
