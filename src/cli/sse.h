#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace holdpoint::cli {

/// One server-sent event as it came over the wire.
struct ServerEvent {
    std::string id;    ///< the last id seen, also when this event had none of its own
    std::string name;  ///< `message` where none was given
    std::string data;
};

/// Cuts a byte stream into server-sent events. Bytes may arrive split anywhere.
class EventParser {
  public:
    /// A stream that sends more than this without ending an event is broken or hostile.
    static constexpr std::size_t event_bytes_max = 4 * 1024 * 1024;

    explicit EventParser(std::function<void(ServerEvent)> on_event)
        : on_event_(std::move(on_event)) {}

    /// False once an event grew beyond the limit; the stream must then be closed.
    bool feed(std::string_view bytes);

    /// How long the server asks to wait before connecting again; 0 where it did not say.
    int retry_ms() const { return retry_ms_; }

  private:
    void take_line(std::string_view line);
    void end_event();

    std::function<void(ServerEvent)> on_event_;
    std::string line_;
    ServerEvent event_;
    bool has_data_ = false;
    bool was_carriage_return_ = false;
    int retry_ms_ = 0;
};

}  // namespace holdpoint::cli
