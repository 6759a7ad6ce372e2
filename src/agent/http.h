#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace holdpoint::agent {

struct HttpCall {
    std::string method = "GET";
    std::string url;
    std::vector<std::string> headers = {};      ///< `Name: value`
    std::string body = {};                      ///< sent where the method is not GET
    std::chrono::milliseconds timeout{30'000};  ///< of the whole call; 0: none, silence ends it
    std::chrono::milliseconds delay{0};         ///< before it starts
    std::string ca_file = {};
    /// Gets the bytes of a 2xx answer as they come, on the engine's thread; false ends the call.
    /// What it throws ends it too, as `internal`.
    std::function<bool(std::string_view)> on_bytes = {};
};

struct HttpReply {
    int status = 0;
    std::string body;  ///< empty where on_bytes took it
    std::string content_type;
    int retry_after_s = 0;
};

/// Outgoing HTTP: one thread moves every call along. Never follows redirects, so that a key reaches
/// nobody but the server it was meant for. Any thread may call.
class HttpEngine {
  public:
    using Done = std::move_only_function<void(Result<HttpReply>)>;
    using CallId = std::uint64_t;

    HttpEngine();
    /// Ends every call with `unavailable`.
    ~HttpEngine();
    HttpEngine(const HttpEngine&) = delete;
    HttpEngine& operator=(const HttpEngine&) = delete;

    /// `done` is called once, on the engine's thread. An answer of any status is a reply; an error
    /// means that there was none (`unavailable`), or that it was too long (`too_large`).
    CallId start(HttpCall call, Done done);
    /// Ends a call with `unavailable`, unless it is over.
    void cancel(CallId id);
    /// Blocks. A stop ends it with `unavailable`.
    Result<HttpReply> call(HttpCall call, const std::stop_token& stop = {});

  private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

/// Whether the address names this machine.
bool is_loopback_url(std::string_view url);

}  // namespace holdpoint::agent
