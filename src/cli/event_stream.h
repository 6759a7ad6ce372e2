#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "cli/client.h"

namespace holdpoint::cli {

/// What stays open across lost connections: reconnects with growing pauses and asks for what was
/// missed. Driven by Client::pump() plus tick().
class EventStream {
  public:
    struct Handlers {
        std::function<void()> on_open;  ///< again after every reconnect: read the list anew
        std::function<void(const ServerEvent&)> on_event;
        std::function<void(const Failure&, int pause_ms)> on_lost;
        std::function<void(const Failure&)> on_refused;  ///< no use in trying again
    };
    EventStream(Client& client, Query query, Handlers handlers);
    ~EventStream();
    EventStream(const EventStream&) = delete;
    EventStream& operator=(const EventStream&) = delete;

    /// Connects when it is time to. Returns how many milliseconds may pass before the next tick.
    int tick(std::int64_t now_ms);

    bool is_open() const { return is_open_; }

  private:
    void connect();
    void lost(const Failure& failure, int retry_ms);

    Client& client_;
    Query query_;
    Handlers handlers_;
    std::optional<Client::TransferId> transfer_;
    std::string last_event_id_;
    bool is_open_ = false;
    bool is_refused_ = false;
    int failures_ = 0;
    std::int64_t next_connect_ms_ = 0;
    std::int64_t now_ms_ = 0;
};

}  // namespace holdpoint::cli
