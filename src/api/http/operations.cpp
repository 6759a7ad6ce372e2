// What those who run the server ask.
#include "api/http/answers.h"
#include "api/http/assets.h"
#include "api/wire/write.h"

namespace holdpoint::api {
namespace {

/// Loopback may read metrics without a credential: that is where a scraper runs.
bool is_loopback(const std::string& peer) {
    return peer.starts_with("127.") || peer == "::1" || peer.starts_with("::ffff:127.");
}

/// To the millisecond.
double mean_seconds(const store::Counters& counters) {
    const std::int64_t mean_ms = counters.decision_ms_total / counters.decision_count;
    return static_cast<double>(mean_ms) / 1000;
}

}  // namespace

void Api::stats(const CallPtr& call) {
    if (!has_no_query(call)) return;
    store_.run([](store::Transaction& tx) { return tx.counters(); },
               [this, call](Result<store::Counters> counters) {
                   if (!counters) return respond_error(call, counters.error());
                   std::string out;
                   wire::ObjectWriter writer(out);
                   writer.number("pending", counters->pending);
                   writer.time("oldest_pending_at", counters->oldest_pending);
                   writer.name("outcomes");
                   wire::ObjectWriter outcomes(out);
                   for (const auto& [outcome, count] : counters->by_outcome)
                       outcomes.number(to_string(outcome), count);
                   outcomes.close();
                   writer.number("decided", counters->decision_count);
                   writer.name("mean_decision_s");
                   if (counters->decision_count == 0)
                       out += "null";
                   else
                       json::append_number(out, mean_seconds(*counters));
                   writer.number("waiters", static_cast<std::int64_t>(polls_.size()));
                   writer.number("streams", static_cast<std::int64_t>(streams_.size()));
                   writer.number("uptime_s", (clock_.now() - started_at_) / 1000);
                   writer.word("version", HOLDPOINT_VERSION);
                   writer.close();
                   respond_json(call, std::move(out));
               });
}

void Api::health(const CallPtr& call) { respond_json(call, "{\"status\":\"ok\"}"); }

void Api::ready(const CallPtr& call) {
    if (!is_ready_)
        return respond_error(call,
                             {ErrorCode::unavailable, "the server is starting or stopping", "", 1});
    // Ready means that the store answers, not only that the process lives.
    store_.run([](store::Transaction& tx) { return tx.last_event(); },
               [call](Result<std::int64_t> answered) {
                   if (!answered) return respond_error(call, answered.error());
                   respond_json(call, "{\"status\":\"ready\"}");
               });
}

void Api::metrics(const CallPtr& call) {
    const auto respond = [this, call] {
        store_.run([](store::Transaction& tx) { return tx.counters(); },
                   [this, call](Result<store::Counters> counters) {
                       if (!counters) return respond_error(call, counters.error());
                       http::Response response;
                       response.content_type = "text/plain; version=0.0.4; charset=utf-8";
                       if (metrics_) response.body = metrics_(*counters);
                       call->exchange->respond(std::move(response));
                   });
    };
    if (is_loopback(call->request.peer) && !call->request.has_header("authorization"))
        return respond();
    authenticator_.authenticate(call->request, [call, respond](Result<auth::Caller> caller) {
        if (!caller) return respond_error(call, caller.error());
        if (!auth::may(caller->role, auth::Need::audit))
            return respond_error(
                call, {ErrorCode::permission_denied, "only an auditor or admin may read this"});
        respond();
    });
}

void Api::openapi(const CallPtr& call) {
    http::Response response;
    response.body = asset_openapi_json();
    response.headers.emplace_back("Cache-Control", "no-cache");
    call->exchange->respond(std::move(response));
}

}  // namespace holdpoint::api
