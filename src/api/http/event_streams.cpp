#include "api/http/event_streams.h"

#include <algorithm>

#include "api/wire/request.h"
#include "service/read.h"

namespace holdpoint::api {
namespace {

constexpr int replay_page = 200;
/// A client that falls this far behind while it catches up is cut off; it resumes by its last id.
constexpr std::size_t kept_max = 10'000;

}  // namespace

/// One client. While it replays, commits are kept in `kept_`.
class EventStreams::EventStream : public Timer, public std::enable_shared_from_this<EventStream> {
  public:
    EventStream(EventStreams& streams, std::shared_ptr<http::Stream> stream, auth::Caller caller,
                store::ListFilter filter)
        : streams_(streams),
          stream_(std::move(stream)),
          caller_(std::move(caller)),
          filter_(std::move(filter)) {}

    void open() {
        stream_->on_close([weak = weak_from_this()] {
            if (const std::shared_ptr<EventStream> self = weak.lock()) self->forget();
        });
        stream_->send("retry: 2000\n\n");
        streams_.timers_.arm(*this, streams_.beat_ms_);
    }

    void replay_after(std::int64_t seq) {
        is_replaying_ = true;
        last_ = seq;
        read_page();
    }

    void offer(const store::Change& change, const std::string& text) {
        if (!service::matches(filter_, *change.request)) return;
        if (!is_replaying_) return send(change.event.seq, text);
        if (kept_.size() >= kept_max) return close();
        kept_.emplace_back(change.event.seq, text);
    }

    void on_timer() override {
        stream_->send(": beat\n\n");
        streams_.timers_.arm(*this, streams_.beat_ms_);
    }

    void close() {
        stream_->close();
        forget();
    }

    void tell_to_reconnect() {
        stream_->send("event: reconnect\ndata: {}\n\n");
        close();
    }

    const auth::Caller& caller() const { return caller_; }

  private:
    void send(std::int64_t seq, const std::string& text) {
        if (seq <= last_) return;
        last_ = seq;
        stream_->send(text);
    }

    struct Page {
        std::vector<store::Change> changes;
        std::int64_t newest = 0;  ///< of all events, whatever the filter
    };

    void read_page() {
        auto work = [after = last_, filter = filter_](store::Transaction& tx) -> Result<Page> {
            Result<std::vector<store::Change>> changes =
                tx.events_after(after, filter, replay_page);
            if (!changes) return changes.error();
            const Result<std::int64_t> newest = tx.last_event();
            if (!newest) return newest.error();
            return Page{std::move(*changes), *newest};
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
        for (const store::Change& change : page->changes)
            send(change.event.seq, wire::to_sse(change));
        if (static_cast<int>(page->changes.size()) == replay_page) return read_page();
        is_replaying_ = false;
        for (const auto& [seq, text] : kept_) send(seq, text);
        kept_ = {};
    }

    void forget() {
        cancel();
        streams_.streams_.erase(shared_from_this());
    }

    EventStreams& streams_;
    std::shared_ptr<http::Stream> stream_;
    auth::Caller caller_;
    store::ListFilter filter_;
    std::int64_t last_ = 0;
    bool is_replaying_ = false;
    std::vector<std::pair<std::int64_t, std::string>> kept_;
};

EventStreams::~EventStreams() = default;

void EventStreams::start(http::Exchange& exchange, const auth::Caller& caller,
                         store::ListFilter filter, std::optional<std::int64_t> after) {
    http::Response head;
    head.content_type = "text/event-stream";
    head.headers.emplace_back("X-Accel-Buffering", "no");
    const auto stream =
        std::make_shared<EventStream>(*this, exchange.start_stream(std::move(head)), caller,
                                      service::visible_to(caller.actor, std::move(filter)));
    streams_.insert(stream);
    stream->open();
    if (after) stream->replay_after(*after);
}

void EventStreams::on_commit(const std::vector<store::Change>& changes) {
    if (streams_.empty()) return;
    // A stream may close itself while it is offered something.
    const std::vector<std::shared_ptr<EventStream>> streams(streams_.begin(), streams_.end());
    for (const store::Change& change : changes) {
        const std::string text = wire::to_sse(change);
        for (const std::shared_ptr<EventStream>& stream : streams) stream->offer(change, text);
    }
}

void EventStreams::recheck(auth::Authenticator& authenticator) {
    for (const std::shared_ptr<EventStream>& stream : streams_)
        authenticator.recheck(stream->caller(), [weak = std::weak_ptr(stream)](bool is_good) {
            const std::shared_ptr<EventStream> checked = weak.lock();
            if (checked && !is_good) checked->close();
        });
}

void EventStreams::stop() {
    const std::vector<std::shared_ptr<EventStream>> streams(streams_.begin(), streams_.end());
    for (const std::shared_ptr<EventStream>& stream : streams) stream->tell_to_reconnect();
}

}  // namespace holdpoint::api
