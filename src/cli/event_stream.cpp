#include "cli/event_stream.h"

#include <algorithm>

namespace holdpoint::cli {

EventStream::EventStream(Client& client, Query query, Handlers handlers)
    : client_(client), query_(std::move(query)), handlers_(std::move(handlers)) {}

EventStream::~EventStream() {
    if (transfer_) client_.stop(*transfer_);
}

int EventStream::tick(std::int64_t now_ms) {
    now_ms_ = now_ms;
    constexpr int idle_ms = 60'000;
    if (is_refused_ || transfer_) return idle_ms;
    if (now_ms >= next_connect_ms_) {
        connect();
        return idle_ms;
    }
    return static_cast<int>(next_connect_ms_ - now_ms);
}

void EventStream::connect() {
    StreamHandlers handlers;
    handlers.on_open = [this] {
        is_open_ = true;
        failures_ = 0;
        if (handlers_.on_open) handlers_.on_open();
    };
    handlers.on_event = [this](ServerEvent event) {
        if (!event.id.empty()) last_event_id_ = event.id;
        // `reconnect` is the server saying goodbye; the end of the stream follows. Who else looks
        // at a request is for pages, and a beat says only that the line is alive.
        if (event.name != "reconnect" && event.name != "presence" && event.name != "beat")
            handlers_.on_event(event);
    };
    handlers.on_close = [this](Failure failure, int retry_ms) { lost(failure, retry_ms); };
    transfer_ = client_.open_stream(query_, last_event_id_, std::move(handlers));
}

void EventStream::lost(const Failure& failure, int retry_ms) {
    const bool was_open = is_open_;
    is_open_ = false;
    transfer_.reset();
    const ErrorCode code = failure.error.code;
    const bool may_heal = code == ErrorCode::unavailable || code == ErrorCode::rate_limited ||
                          code == ErrorCode::internal;
    if (!may_heal) {
        is_refused_ = true;
        handlers_.on_refused(failure);
        return;
    }
    // The first try comes soon, since a restart takes a second; then the pauses grow to 15 s.
    int pause_ms = was_open ? std::max(200, std::min(retry_ms, 2000))
                            : std::min(15'000, 500 << std::min(failures_, 5));
    pause_ms = std::max(pause_ms, std::min(failure.error.retry_after_s, 60) * 1000);
    ++failures_;
    next_connect_ms_ = now_ms_ + pause_ms;
    handlers_.on_lost(failure, pause_ms);
}

}  // namespace holdpoint::cli
