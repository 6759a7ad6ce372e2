#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include <holdpoint/holdpoint.h>

namespace holdpoint::agent {

/// Where proposals go: a server, or the engine in this process. Speaks in the resources of the REST
/// API, so that both are read by the same code. Any thread; every `done` is called exactly once, on
/// a thread of the backend, and must not block.
class Backend {
  public:
    using Done = std::move_only_function<void(Result<Json>)>;
    /// When whoever asks has no more time: no answer is then `unavailable`, however patient the
    /// backend is otherwise.
    using Until = std::optional<std::chrono::steady_clock::time_point>;

    virtual ~Backend() = default;

    /// One proposal, or `{"requests": […]}`. Answers the request, or `{"requests": […]}`. The same
    /// key and body answer the same requests again.
    virtual void propose(Json body, bool is_batch, std::string key, Until until, Done done) = 0;
    /// Answers the request once it is settled, or as it stands when the time is up.
    virtual void wait(std::string id, std::chrono::milliseconds at_most, Until until,
                      Done done) = 0;
    virtual void read(std::string id, Done done) = 0;
    virtual void cancel(std::string id, std::string reason, Done done) = 0;
    virtual void report(std::string id, Json body, Done done) = 0;
    virtual void decide(std::string id, Json body, std::string by, Done done) = 0;
    virtual void list(std::string session, Done done) = 0;
    /// Blocks, and calls `on_event` on the thread that called.
    virtual Result<void> events(const EventFilter& filter, const Holdpoint::OnEvent& on_event,
                                const std::stop_token& stop) = 0;
    /// Gives a number by which it can be taken back.
    virtual Result<std::uint64_t> declare(const std::vector<ToolFacts>& tools) = 0;
    virtual void undeclare(std::uint64_t number) = 0;
    virtual void notify(const Notification& notification) = 0;
    virtual bool is_remote() const = 0;
};

/// The body of a proposal.
Json body_of(const Action& action);
Json body_of(const Plan& plan);
Json body_of(const Question& question);
Json body_of(const Confirmation& confirmation);
Json body_of_response(const std::string& text, const Asking& asking);

/// The body of a decision.
Json body_of(const Decision& decision, Kind kind);

}  // namespace holdpoint::agent
