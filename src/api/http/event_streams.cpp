#include "api/http/event_streams.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <utility>

#include "api/wire/request.h"
#include "service/read.h"

namespace holdpoint::api {
namespace {

constexpr int replay_page = 200;
/// Events that one look at the store goes through, so that a rare filter does not keep others
/// waiting.
constexpr std::int64_t replay_span = 10'000;
/// A client that catches up gets more when it has taken most of what was sent. It would be cut off
/// else, and again at the same place whenever it comes back.
constexpr std::size_t replay_queue_max = 256 * 1024;
constexpr std::size_t replay_queue_low = replay_queue_max / 4;
/// At the next turn of the timers.
constexpr std::int64_t replay_pause_ms = 1;
/// What is committed meanwhile is kept up to this size; beyond it, it is read once more.
constexpr std::size_t kept_bytes_max = 256 * 1024;
constexpr std::int64_t endless = std::numeric_limits<std::int64_t>::max();

// Numbers instead of names: with a hundred thousand streams every byte counts. Two that are equal
// by chance only cost a look, since every stream checks what it is offered.
using Shelf = std::size_t;
constexpr Shelf everything = 0;
Shelf shelf_of_session(const std::string& session) {
    return std::hash<std::string>{}("session " + session);
}
Shelf shelf_of_agent(const PrincipalId& agent) { return PrincipalId::Hash{}(agent); }

bool is_empty(const store::ListFilter& filter) {
    return !filter.state && !filter.outcome && !filter.session && !filter.thread && !filter.task &&
           !filter.user && !filter.agent && !filter.tool && !filter.risk && !filter.kind &&
           !filter.batch && !filter.since && !filter.until;
}

}  // namespace

/// One client.
class EventStreams::EventStream : public Timer, public std::enable_shared_from_this<EventStream> {
  public:
    EventStream(EventStreams& streams, std::shared_ptr<http::Stream> stream,
                const auth::Caller& caller, store::ListFilter filter, Timestamp now)
        : streams_(streams),
          stream_(std::move(stream)),
          viewer_(caller.actor),
          credential_(caller.credential),
          is_cookie_(caller.is_cookie) {
        if (caller.expires_at) ends_ms_ = streams.timers_.now_ms() + (*caller.expires_at - now);
        if (filter.session && !filter.session->empty())
            session_ = std::exchange(filter.session, std::nullopt).value();
        if (!is_empty(filter)) filter_ = std::make_unique<store::ListFilter>(std::move(filter));
    }

    /// The shelf whose changes can concern this stream.
    Shelf shelf() const {
        if (!session_.empty()) return shelf_of_session(session_);
        return viewer_.is_agent ? shelf_of_agent(viewer_.id) : everything;
    }
    std::size_t place = 0;  ///< on the shelf; kept by EventStreams

    void open() {
        stream_->on_close([weak = weak_from_this()] {
            if (const std::shared_ptr<EventStream> self = weak.lock()) self->forget();
        });
        stream_->send("retry: 2000\n\n");
        sleep();
    }

    void replay_after(std::int64_t seq) {
        replay_ = std::make_unique<Replay>();
        last_ = seq;
        read_page();
    }

    void offer(const store::Change& change, const std::string& text) {
        if (!service::may_see(viewer_, *change.request)) return;
        if (!session_.empty() && change.request->session != session_) return;
        if (filter_ && !service::matches(*filter_, change)) return;
        if (!replay_) return send(change.event.seq, text);
        replay_->keep(change.event.seq, text);
    }

    void tell_person(const std::string& text) {
        if (!viewer_.is_agent && !replay_) stream_->send(text);
    }

    void on_timer() override {
        const std::shared_ptr<EventStream> kept_until_return = shared_from_this();
        if (left_ms() <= 0) return close();
        if (replay_ && replay_->is_paused) return go_on_reading();
        // While it catches up, a beat would say that it has.
        if (replay_)
            stream_->send(": still reading\n\n");
        else
            send_beat();
        sleep();
    }

    void close() {
        stream_->close();
        forget();
    }

    void tell_to_reconnect() {
        stream_->send("event: reconnect\ndata: {}\n\n");
        close();
    }

    const std::string& credential() const { return credential_; }
    bool is_cookie() const { return is_cookie_; }

  private:
    /// While it reads what was before.
    struct Replay {
        std::vector<std::pair<std::int64_t, std::string>> kept;  ///< committed meanwhile
        std::size_t kept_bytes = 0;
        bool has_missed = false;  ///< something was not kept
        bool is_paused = false;   ///< until the client has taken what was sent
        /// Events that are read at once: what is read and then not taken is read in vain.
        int page = replay_page;

        void keep(std::int64_t seq, const std::string& text) {
            kept_bytes += text.size();
            has_missed = has_missed || kept_bytes > kept_bytes_max;
            if (has_missed)
                kept = {};
            else
                kept.emplace_back(seq, text);
        }
    };

    /// Until the next beat, or the end of the credential if that comes first.
    void sleep() { sleep(streams_.beat_ms_); }
    void sleep(std::int64_t ms_max) {
        streams_.timers_.arm(*this, std::clamp<std::int64_t>(left_ms(), 0, ms_max));
    }
    /// Of the credential.
    std::int64_t left_ms() const {
        return ends_ms_ == endless ? endless : ends_ms_ - streams_.timers_.now_ms();
    }

    void send(std::int64_t seq, const std::string& text) {
        if (seq <= last_) return;
        last_ = seq;
        stream_->send(text);
    }

    struct Page {
        std::vector<store::Change> changes;
        std::int64_t read_to = 0;
        std::int64_t newest = 0;  ///< of all events, whatever the filter
    };

    void pause() {
        replay_->is_paused = true;
        sleep(replay_pause_ms);
    }

    void go_on_reading() {
        if (stream_->queued() > replay_queue_low) return pause();
        replay_->is_paused = false;
        sleep();
        read_page();
    }

    void read_page() {
        // Whatever was not kept so far is in the store by now.
        if (replay_->has_missed) *replay_ = {};
        store::ListFilter filter = filter_ ? *filter_ : store::ListFilter{};
        if (!session_.empty()) filter.session = session_;
        auto work = [after = last_, most = replay_->page,
                     filter = service::visible_to(viewer_, std::move(filter))](
                        store::Transaction& tx) -> Result<Page> {
            const Result<std::int64_t> newest = tx.last_event();
            if (!newest) return newest.error();
            // A client may claim to have seen whatever it likes.
            const std::int64_t start = std::min(after, *newest);
            const store::EventSpan span{start, std::min(start + replay_span, *newest)};
            Result<std::vector<store::Change>> changes = tx.events(span, filter, most);
            if (!changes) return changes.error();
            const bool is_full = static_cast<int>(changes->size()) == most;
            const std::int64_t read_to = is_full ? changes->back().event.seq : span.up_to;
            return Page{std::move(*changes), read_to, *newest};
        };
        auto done = [weak = weak_from_this()](const Result<Page>& page) {
            if (const std::shared_ptr<EventStream> self = weak.lock()) self->on_page(page);
        };
        streams_.store_.run(std::move(work), std::move(done));
    }

    void on_page(const Result<Page>& page) {
        // The client reconnects and asks again; a gap would be worse.
        if (!page) return close();
        // Who has seen more than there is knows another store: everything from here on is new.
        last_ = std::min(last_, page->newest);
        int told = 0;
        for (const store::Change& change : page->changes) {
            if (stream_->queued() > replay_queue_max) {
                replay_->page = std::max(told, 1);
                return pause();
            }
            send(change.event.seq, wire::to_sse(change));
            ++told;
        }
        last_ = std::max(last_, page->read_to);
        replay_->page = std::min(2 * replay_->page, replay_page);
        // The last one may itself be more than a reader is allowed to be behind.
        if (stream_->queued() > replay_queue_max) return pause();
        if (page->read_to < page->newest || replay_->has_missed) return read_page();
        const std::unique_ptr<Replay> replayed = std::move(replay_);
        for (const auto& [seq, text] : replayed->kept) send(seq, text);
        // Now the client knows everything up to here.
        send_beat();
    }

    /// Without an id: it is nothing that one could resume after.
    void send_beat() { stream_->send("event: beat\ndata: {}\n\n"); }

    void forget() {
        cancel();
        streams_.remove(*this);
    }

    EventStreams& streams_;
    std::shared_ptr<http::Stream> stream_;
    service::Viewer viewer_;
    std::string credential_;          ///< for checking it again
    std::int64_t ends_ms_ = endless;  ///< when the credential does, by the timers' clock
    bool is_cookie_ = false;
    std::string session_;                        ///< the usual filter; empty when there is none
    std::unique_ptr<store::ListFilter> filter_;  ///< every other one; null when there is none
    std::int64_t last_ = 0;
    std::unique_ptr<Replay> replay_;  ///< null once it has caught up
};

EventStreams::~EventStreams() = default;

void EventStreams::start(http::Exchange& exchange, const auth::Caller& caller,
                         store::ListFilter filter, std::optional<std::int64_t> after,
                         Timestamp now) {
    http::Response head;
    head.content_type = "text/event-stream";
    head.headers.emplace_back("X-Accel-Buffering", "no");
    const auto stream = std::make_shared<EventStream>(*this, exchange.start_stream(std::move(head)),
                                                      caller, std::move(filter), now);
    add(stream);
    stream->open();
    if (after) stream->replay_after(*after);
}

std::vector<std::shared_ptr<EventStreams::EventStream>> EventStreams::all() const {
    std::vector<std::shared_ptr<EventStream>> streams;
    for (const auto& [name, shelf] : shelves_)
        streams.insert(streams.end(), shelf.begin(), shelf.end());
    return streams;
}

void EventStreams::add(const std::shared_ptr<EventStream>& stream) {
    std::vector<std::shared_ptr<EventStream>>& shelf = shelves_[stream->shelf()];
    stream->place = shelf.size();
    shelf.push_back(stream);
    ++count_;
}

void EventStreams::remove(EventStream& stream) {
    const auto found = shelves_.find(stream.shelf());
    if (found == shelves_.end()) return;
    std::vector<std::shared_ptr<EventStream>>& shelf = found->second;
    if (stream.place >= shelf.size() || shelf[stream.place].get() != &stream) return;
    const std::shared_ptr<EventStream> kept_until_return =
        std::exchange(shelf[stream.place], std::move(shelf.back()));
    shelf.pop_back();
    if (stream.place < shelf.size()) shelf[stream.place]->place = stream.place;
    if (shelf.empty()) shelves_.erase(found);
    --count_;
}

void EventStreams::on_commit(const std::vector<store::Change>& changes) {
    if (count_ == 0) return;
    for (const store::Change& change : changes) {
        std::string text;  // rendered once, and only if somebody may want it
        for (const Shelf name : {everything, shelf_of_session(change.request->session),
                                 shelf_of_agent(change.request->agent_id)}) {
            const auto shelf = shelves_.find(name);
            if (shelf == shelves_.end()) continue;
            if (text.empty()) text = wire::to_sse(change);
            // A stream may close itself while it is offered something.
            const std::vector<std::shared_ptr<EventStream>> streams = shelf->second;
            for (const std::shared_ptr<EventStream>& stream : streams) stream->offer(change, text);
        }
    }
}

void EventStreams::tell_people(const std::string& text) {
    const auto shelf = shelves_.find(everything);
    if (shelf == shelves_.end()) return;
    const std::vector<std::shared_ptr<EventStream>> streams = shelf->second;
    for (const std::shared_ptr<EventStream>& stream : streams) stream->tell_person(text);
}

void EventStreams::recheck(auth::Authenticator& authenticator) {
    for (const std::shared_ptr<EventStream>& stream : all())
        authenticator.recheck(stream->credential(), stream->is_cookie(),
                              [weak = std::weak_ptr(stream)](bool is_good) {
                                  const std::shared_ptr<EventStream> checked = weak.lock();
                                  if (checked && !is_good) checked->close();
                              });
}

void EventStreams::stop() {
    for (const std::shared_ptr<EventStream>& stream : all()) stream->tell_to_reconnect();
}

}  // namespace holdpoint::api
