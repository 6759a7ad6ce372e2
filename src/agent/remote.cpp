#include "agent/remote.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>

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
    Result<void> events(const EventFilter& filter, const Holdpoint::OnEvent& on_event,
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
            outgoing.delay =
                std::max(pause, milliseconds(std::int64_t{1000} * answer.error().retry_after_s));
            if (outgoing.until && *outgoing.until < *give_up) {
                // The caller's time ends before our patience: it is used to its end, so that what
                // ends the call is that the time is over.
                if (now >= *outgoing.until) return done(std::move(answer));
                outgoing.delay = std::min(outgoing.delay,
                                          std::chrono::ceil<milliseconds>(*outgoing.until - now));
            } else if (now + outgoing.delay > *give_up) {
                return done(std::move(answer));
            }
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

    /// How one connection to a stream of events ended.
    struct Ended {
        std::optional<Error> why = {};  ///< nothing: whoever listened had enough
        bool was_open = false;
    };
    /// Fails where the server says what cannot be understood.
    Result<Ended> listen(const EventFilter& filter, std::int64_t& after,
                         const Holdpoint::OnEvent& on_event, const std::stop_token& stop);

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

/// One connection to a stream of events: the engine's thread fills it, whoever listens empties it.
/// Where the listener is slow and too much waits, the connection is ended; the next one goes on
/// behind what was taken.
class Stream {
  public:
    struct Taken {
        std::optional<std::string> data;  ///< of one event; nothing: it is over
        Result<HttpReply> ended = HttpReply{};
    };

    bool feed(std::string_view bytes) {
        const std::lock_guard lock(mutex_);
        const bool is_wanted = parser_.feed(bytes, [this](const std::string& data) {
            waiting_bytes_ += data.size();
            waiting_.push_back(data);
            return waiting_bytes_ <= EventData::bytes_max;
        });
        is_changed_.notify_all();
        return is_wanted;
    }
    void end(Result<HttpReply> reply) {
        const std::lock_guard lock(mutex_);
        ended_.emplace(std::move(reply));
        is_changed_.notify_all();
    }
    /// Waits for the next one. Nothing at all once `stop` came.
    std::optional<Taken> take(const std::stop_token& stop) {
        std::unique_lock lock(mutex_);
        is_changed_.wait(lock, stop, [this] { return !waiting_.empty() || ended_; });
        if (stop.stop_requested()) return std::nullopt;
        if (waiting_.empty()) return Taken{std::nullopt, *ended_};
        Taken next{std::move(waiting_.front())};
        waiting_.pop_front();
        waiting_bytes_ -= next.data->size();
        return next;
    }

  private:
    std::mutex mutex_;
    std::condition_variable_any is_changed_;
    EventData parser_;                        // guarded by mutex_
    std::deque<std::string> waiting_;         // guarded by mutex_
    std::size_t waiting_bytes_ = 0;           // guarded by mutex_
    std::optional<Result<HttpReply>> ended_;  // guarded by mutex_
};

Result<std::optional<Event>> read_event(const std::string& data) {
    const Result<Json> json = Json::parse(data);
    if (!json) return Error{ErrorCode::internal, "an event is not what a Holdpoint server says"};
    if (!(*json)["request"].is_object()) return std::optional<Event>();  // a greeting
    Result<Request> request = Request::read((*json)["request"]);
    if (!request) return request.error();
    return Event{(*json)["seq"].integer().value_or(0), (*json)["type"].text_or(""),
                 std::move(*request)};
}

Result<Remote::Ended> Remote::listen(const EventFilter& filter, std::int64_t& after,
                                     const Holdpoint::OnEvent& on_event,
                                     const std::stop_token& stop) {
    HttpCall call =
        http_call({.path = "/v1/events" + (filter.session.empty()
                                               ? std::string()
                                               : "?session=" + percent_encode(filter.session))});
    call.headers.emplace_back("Accept: text/event-stream");
    if (after >= 0) call.headers.push_back(fmt::format("Last-Event-ID: {}", after));
    call.timeout = milliseconds(0);
    const auto stream = std::make_shared<Stream>();
    call.on_bytes = [stream](std::string_view bytes) { return stream->feed(bytes); };
    struct Hanging {
        HttpEngine& engine;
        HttpEngine::CallId id;
        ~Hanging() { engine.cancel(id); }
    };
    const Hanging hanging{engine_,
                          engine_.start(std::move(call), [stream](Result<HttpReply> reply) {
                              stream->end(std::move(reply));
                          })};
    for (;;) {
        const std::optional<Stream::Taken> taken = stream->take(stop);
        if (!taken) return Ended{};
        if (!taken->data) {
            const Result<HttpReply>& reply = taken->ended;
            if (!reply) return Ended{.why = reply.error()};
            if (reply->status >= 300)
                return Ended{.why = error_of(reply->status, reply->body, reply->retry_after_s)};
            return Ended{.why = Error{ErrorCode::unavailable, "the stream ended"},
                         .was_open = true};
        }
        Result<std::optional<Event>> event = read_event(*taken->data);
        if (!event) return event.error();
        if (!*event) continue;
        after = (*event)->seq;
        if (!on_event(**event)) return Ended{};
    }
}

Result<void> Remote::events(const EventFilter& filter, const Holdpoint::OnEvent& on_event,
                            const std::stop_token& stop) {
    std::int64_t after = filter.after;
    SteadyTime::time_point give_up = SteadyTime::now() + options_.unreachable_after;
    milliseconds wait = retry_first;
    while (!stop.stop_requested()) {
        const std::int64_t before = after;
        const Result<Ended> ended = listen(filter, after, on_event, stop);
        if (!ended) return ended.error();
        if (!ended->why) return {};
        const ErrorCode code = ended->why->code;
        if (code != ErrorCode::unavailable && code != ErrorCode::rate_limited) return *ended->why;
        const bool was_open = ended->was_open || after != before;
        if (was_open) give_up = SteadyTime::now() + options_.unreachable_after;
        wait = was_open ? retry_first : std::min(wait * 2, retry_max);
        if (SteadyTime::now() + wait > give_up) return *ended->why;
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
