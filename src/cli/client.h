#pragma once

#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "cli/sse.h"

namespace holdpoint::cli {

/// Where the server is and how we prove who we are.
struct Endpoint {
    std::string url;    ///< without a slash at the end
    std::string token;  ///< empty: calls go without a credential
    std::string ca_file;
    bool may_use_http = false;  ///< send the token unencrypted beyond this machine
};

using Query = std::vector<std::pair<std::string, std::string>>;

/// For whatever the server sends. Lists hold up to a hundred requests, and one request may hold its
/// arguments several times and deeper than a body: much more than what we would send.
constexpr json::Limits answer_limits{.bytes_max = 64 * 1024 * 1024,
                                     .depth_max = 64,
                                     .nodes_max = 4'000'000,
                                     .string_bytes_max = 1024 * 1024,
                                     .keys_max = 4096};

/// One call to the server.
struct Call {
    std::string method = "GET";
    std::string path = {};  ///< `/v1/requests`; parts from outside go through path_part()
    Query query = {};
    std::optional<json::value> body = {};
    std::string idempotency_key = {};
    int wait_s = 0;  ///< long-poll: adds `wait` and that much patience
    bool is_anonymous = false;
};

struct Reply {
    int status = 0;
    json::value body;
    std::string date;  ///< the server's Date header
};

/// A call that did not work. `error.code` is unavailable where no server answered.
struct Failure {
    Error error;
    std::string hint = {};     ///< what to try next, may be empty
    json::value request = {};  ///< 409 and 410: the request as it stands
    std::string code = {};     ///< what to type so that it is taken: a change made it necessary
    bool is_interrupted = false;
};

template <class T>
using Answer = std::expected<T, Failure>;

/// What happens on an event stream. `on_close` comes last and once, unless the stream is stopped.
struct StreamHandlers {
    std::function<void()> on_open;
    std::function<void(ServerEvent)> on_event;
    std::function<void(Failure, int retry_ms)> on_close;
};

/// The only part of this program that speaks HTTP. Not for several threads. Never follows
/// redirects, so that the token reaches nobody but the server it was meant for.
class Client {
  public:
    using Done = std::function<void(Answer<Reply>)>;
    using TransferId = std::size_t;

    explicit Client(Endpoint endpoint);
    ~Client();
    Client(const Client&) = delete;
    Client& operator=(const Client&) = delete;

    /// Blocks until the answer is there. If `interrupt_fd` becomes readable meanwhile, gives up
    /// with `is_interrupted`.
    Answer<Reply> call(const Call& call, int interrupt_fd = -1);

    /// Starts a call; `done` is called from pump().
    TransferId start(const Call& call, Done done);

    /// Opens a stream of server-sent events; the handlers are called from pump().
    TransferId open_stream(const Query& query, const std::string& last_event_id,
                           StreamHandlers handlers);

    /// Ends a transfer without calling anything.
    void stop(TransferId id);

    /// Moves all transfers along, at most for `timeout_ms`. True as soon as `fd` is readable.
    bool pump(int timeout_ms, int fd = -1);

    const Endpoint& endpoint() const { return endpoint_; }

  private:
    struct Transfer;
    struct Multi;

    Transfer& prepare(const Call& call);
    void deliver_events();
    void deliver_events_of(TransferId id);
    void finish(TransferId id, int curl_code);
    std::optional<Failure> refusal(const Call& call) const;
    Failure unreachable(const Transfer& transfer, int curl_code) const;

    Endpoint endpoint_;
    std::unique_ptr<Multi> multi_;
};

/// Text from outside as one segment of a path: everything but plain letters is escaped.
std::string path_part(std::string_view text);

}  // namespace holdpoint::cli
