#include "agent/remote.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <atomic>

#include "agent/http.h"
#include "agent/pause.h"
#include "agent/sse.h"
#include "base/text.h"

namespace holdpoint::agent {
namespace {

using std::chrono::milliseconds;
using SteadyTime = std::chrono::steady_clock;

constexpr milliseconds answer_timeout{15'000};
constexpr milliseconds retry_first{100};
constexpr milliseconds retry_max{5'000};

class Remote : public Backend {
  public:
    explicit Remote(const RemoteOptions& options) : options_(options) {
        while (options_.url.ends_with('/')) options_.url.pop_back();
    }

    void propose(Json body, bool is_batch, std::string key, Until until, Done done) override {
        call({.method = "POST",
              .path = is_batch ? "/v1/batches" : "/v1/requests",
              .body = body.dump(),
              .key = std::move(key),
              .until = until},
             std::move(done));
    }
    void wait(std::string id, milliseconds at_most, Until until, Done done) override {
        call({.path = fmt::format("/v1/requests/{}?wait={:.3f}", percent_encode(id),
                                  static_cast<double>(at_most.count()) / 1000),
              .patience = at_most,
              .until = until},
             std::move(done));
    }
    void read(std::string id, Done done) override {
        call({.path = "/v1/requests/" + percent_encode(id)}, std::move(done));
    }
    void cancel(std::string id, std::string reason, Done done) override {
        call({.method = "POST",
              .path = "/v1/requests/" + percent_encode(id) + "/cancel",
              .body = Json::object({{"reason", reason}}).dump()},
             std::move(done));
    }
    void report(std::string id, Json body, Done done) override {
        call({.method = "POST",
              .path = "/v1/requests/" + percent_encode(id) + "/report",
              .body = body.dump()},
             std::move(done));
    }
    void decide(std::string id, Json body, std::string, Done done) override {
        call({.method = "POST",
              .path = "/v1/requests/" + percent_encode(id) + "/decision",
              .body = body.dump()},
             std::move(done));
    }
    void list(std::string session, Done done) override {
        call({.path =
                  "/v1/requests" + (session.empty() ? "" : "?session=" + percent_encode(session))},
             std::move(done));
    }
    Result<void> events(const EventFilter& filter,
                        const std::function<bool(const Event&)>& on_event,
                        const std::stop_token& stop) override;
    Result<std::uint64_t> declare(const std::vector<ToolFacts>&) override { return 0; }
    void undeclare(std::uint64_t) override {}
    void notify(const Notification&) override {}
    bool is_remote() const override { return true; }

  private:
    struct Outgoing {
        std::string method = "GET";
        std::string path;
        std::string body = {};
        std::string key = {};
        milliseconds patience{0};  ///< that the server may take on top
        Until until = {};
        milliseconds delay{0};
    };

    HttpCall http_call(const Outgoing& outgoing) const {
        HttpCall call;
        call.method = outgoing.method;
        call.url = options_.url + outgoing.path;
        call.headers.push_back("Authorization: Bearer " + options_.key);
        if (!outgoing.body.empty()) call.headers.emplace_back("Content-Type: application/json");
        if (!outgoing.key.empty()) call.headers.push_back("Idempotency-Key: " + outgoing.key);
        call.body = outgoing.body;
        call.timeout = answer_timeout + outgoing.patience;
        if (outgoing.until) {
            // Rounded up: what ends it is then that the time is over, and not that it nearly was.
            const auto left = std::chrono::ceil<milliseconds>(*outgoing.until - SteadyTime::now() -
                                                              outgoing.delay);
            call.timeout = std::clamp(left + milliseconds(1), milliseconds(1), call.timeout);
        }
        call.delay = outgoing.delay;
        call.ca_file = options_.ca_file;
        return call;
    }

    void call(Outgoing outgoing, Done done) {
        attempt(std::move(outgoing), std::move(done), {}, retry_first);
    }

    /// Every call here may be repeated: proposals carry a key, and the rest changes nothing twice.
    /// The server's time to come back runs from the first failure on, not from the beginning of a
    /// long poll.
    void attempt(Outgoing outgoing, Done done, Until give_up, milliseconds pause) {
        HttpCall http = http_call(outgoing);
        engine_.start(std::move(http), [this, outgoing = std::move(outgoing),
                                        done = std::move(done), give_up,
                                        pause](Result<HttpReply> reply) mutable {
            Result<Json> answer = read_reply(reply);
            const bool is_passing = !answer && (answer.error().code == ErrorCode::unavailable ||
                                                answer.error().code == ErrorCode::rate_limited);
            if (!is_passing || is_closing_) return done(std::move(answer));
            const SteadyTime::time_point now = SteadyTime::now();
            if (!give_up) give_up = now + options_.unreachable_after;
            if (outgoing.until) give_up = std::min(*give_up, *outgoing.until);
            outgoing.delay =
                std::max(pause, milliseconds(std::int64_t{1000} * answer.error().retry_after_s));
            if (now + outgoing.delay > *give_up) return done(std::move(answer));
            attempt(std::move(outgoing), std::move(done), give_up, std::min(pause * 2, retry_max));
        });
    }

    static Result<Json> read_reply(const Result<HttpReply>& reply) {
        if (!reply) return reply.error();
        if (reply->status < 200 || reply->status > 299)
            return error_of(reply->status, reply->body, reply->retry_after_s);
        Result<Json> body = Json::parse(reply->body);
        if (!body || !reply->content_type.starts_with("application/json"))
            return Error{ErrorCode::internal, "the answer is not what a Holdpoint server says"};
        return body;
    }

    RemoteOptions options_;
    struct Closing {
        std::atomic<bool>& flag;
        ~Closing() { flag = true; }
    };
    std::atomic<bool> is_closing_ = false;
    HttpEngine engine_;
    // Goes first: what the engine ends then is not tried again.
    Closing closing_{is_closing_};
};

Result<void> Remote::events(const EventFilter& filter,
                            const std::function<bool(const Event&)>& on_event,
                            const std::stop_token& stop) {
    std::int64_t after = filter.after;
    bool has_ended = false;
    SteadyTime::time_point give_up = SteadyTime::now() + options_.unreachable_after;
    milliseconds wait = retry_first;
    while (!stop.stop_requested()) {
        HttpCall call = http_call(
            {.path = "/v1/events" + (filter.session.empty()
                                         ? std::string()
                                         : "?session=" + percent_encode(filter.session))});
        call.headers.emplace_back("Accept: text/event-stream");
        if (after >= 0) call.headers.push_back(fmt::format("Last-Event-ID: {}", after));
        call.timeout = milliseconds(0);
        EventData parser;
        Result<void> understood;
        call.on_bytes = [&](std::string_view bytes) {
            return parser.feed(bytes, [&](const std::string& data) {
                const Result<Json> json = Json::parse(data);
                if (!json || !(*json)["request"].is_object()) return true;  // a greeting
                Result<Request> request = Request::read((*json)["request"]);
                if (!request) {
                    understood = request.error();
                    return false;
                }
                Event event{(*json)["seq"].integer().value_or(0), (*json)["type"].text_or(""),
                            std::move(*request)};
                after = event.seq;
                has_ended = !on_event(event);
                return !has_ended;
            });
        };
        const Result<HttpReply> reply = engine_.call(std::move(call), stop);
        if (!understood) return understood;
        if (has_ended || stop.stop_requested()) return {};
        Error error{ErrorCode::unavailable, "the stream ended"};
        if (!reply) error = reply.error();
        if (reply && reply->status >= 300)
            error = error_of(reply->status, reply->body, reply->retry_after_s);
        if (error.code != ErrorCode::unavailable && error.code != ErrorCode::rate_limited)
            return error;
        const bool was_open = reply && reply->status < 300;
        if (was_open) give_up = SteadyTime::now() + options_.unreachable_after;
        wait = was_open ? retry_first : std::min(wait * 2, retry_max);
        if (SteadyTime::now() + wait > give_up) return error;
        agent::pause(wait, stop);
    }
    return {};
}

}  // namespace

ErrorCode code_of_status(int status) {
    switch (status) {
        case 400:
            return ErrorCode::invalid_argument;
        case 401:
            return ErrorCode::unauthenticated;
        case 403:
            return ErrorCode::permission_denied;
        case 404:
            return ErrorCode::not_found;
        case 405:
            return ErrorCode::method_not_allowed;
        case 409:
            return ErrorCode::conflict;
        case 410:
            return ErrorCode::expired;
        case 413:
        case 414:
        case 431:
            return ErrorCode::too_large;
        case 415:
            return ErrorCode::unsupported_media_type;
        case 422:
            return ErrorCode::refused;
        case 429:
            return ErrorCode::rate_limited;
        case 408:
        case 502:
        case 503:
        case 504:
            return ErrorCode::unavailable;
        default:
            return ErrorCode::internal;
    }
}

Error error_of(int status, std::string_view body, int retry_after_s) {
    Error error{code_of_status(status), fmt::format("the server answered {}", status), "",
                retry_after_s};
    const Result<Json> json = Json::parse(body);
    if (!json) return error;
    const Json told = (*json)["error"];
    error.message = told["message"].text_or(error.message);
    error.field = told["field"].text_or("");
    return error;
}

Result<std::unique_ptr<Backend>> make_remote_backend(const RemoteOptions& options) {
    const bool is_https = options.url.starts_with("https://");
    if (!is_https && !options.url.starts_with("http://"))
        return Error{ErrorCode::invalid_argument,
                     fmt::format("`{}` is no http or https address", options.url), "url"};
    if (options.key.empty())
        return Error{ErrorCode::invalid_argument, "an agent's key is needed", "key"};
    if (options.key.find_first_of("\r\n") != std::string::npos)
        return Error{ErrorCode::invalid_argument, "must be one line", "key"};
    if (!is_https && !is_loopback_url(options.url) && !options.may_use_http)
        return Error{ErrorCode::invalid_argument,
                     fmt::format("the key would go unencrypted to `{}`; use https", options.url),
                     "url"};
    return std::make_unique<Remote>(options);
}

}  // namespace holdpoint::agent
