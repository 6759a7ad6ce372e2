#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "api/auth/authenticator.h"
#include "api/auth/caller.h"
#include "api/http/http.h"
#include "api/http/timers.h"
#include "store/store.h"

namespace holdpoint::api {

/// Server-sent events. A stream first gets what it missed from the store, then what commits bring;
/// what arrives in between is kept for it, so that nothing is lost or doubled. Network thread only.
class EventStreams {
  public:
    static constexpr std::int64_t heartbeat_ms = 15'000;

    EventStreams(store::Store& store, Timers& timers, std::int64_t beat_ms = heartbeat_ms)
        : store_(store), timers_(timers), beat_ms_(beat_ms) {}
    ~EventStreams();

    /// `after` is the last event the client has seen; nothing means "from now on". The stream ends
    /// when the caller's credential does.
    void start(http::Exchange& exchange, const auth::Caller& caller, store::ListFilter filter,
               std::optional<std::int64_t> after, Timestamp now);

    void on_commit(const std::vector<store::Change>& changes);

    /// Sends this to every person who listens, but not to those who asked for one session only; it
    /// is not kept for anybody.
    void tell_people(const std::string& text);

    /// Closes the streams whose credential is no longer good; called when identities change.
    void recheck(auth::Authenticator& authenticator);

    /// Tells every client to reconnect, and closes.
    void stop();

    std::size_t size() const { return count_; }

  private:
    class EventStream;
    std::vector<std::shared_ptr<EventStream>> all() const;
    void add(const std::shared_ptr<EventStream>& stream);
    void remove(EventStream& stream);

    store::Store& store_;
    Timers& timers_;
    std::int64_t beat_ms_;
    /// Streams by what they can be interested in at all: one session, one agent's requests, or
    /// everything. A commit looks at three shelves, not at every stream.
    std::unordered_map<std::size_t, std::vector<std::shared_ptr<EventStream>>> shelves_;
    std::size_t count_ = 0;
};

}  // namespace holdpoint::api
