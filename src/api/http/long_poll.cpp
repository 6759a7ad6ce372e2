#include "api/http/long_poll.h"

#include <algorithm>

#include "api/http/answers.h"
#include "api/wire/errors.h"

namespace holdpoint::api {
namespace {

using core::RequestPtr;
using Requests = std::vector<RequestPtr>;

Error credential_ended() {
    return {ErrorCode::unavailable, "a credential of yours has ended; ask again", "", 1};
}
Error stopping() { return {ErrorCode::unavailable, "the server is stopping; ask again", "", 1}; }

}  // namespace

/// One waiting answer. It keeps itself alive until it is over.
class LongPolls::Poll : public Timer,
                        public service::Waiter,
                        public std::enable_shared_from_this<Poll> {
  public:
    Poll(LongPolls& polls, std::shared_ptr<http::Exchange> exchange, std::vector<RequestId> ids,
         const service::Viewer& viewer, const Shape& shape)
        : polls_(polls),
          exchange_(std::move(exchange)),
          ids_(std::move(ids)),
          viewer_(viewer),
          shape_(shape) {}

    void start(std::int64_t wait_ms) {
        self_ = shared_from_this();
        link();
        // Subscribed first, read second: a decision that comes in between is seen by one or the
        // other.
        for (const RequestId& id : ids_) polls_.waiters_.add(id, *this);
        missing_ = ids_.size();
        exchange_->on_abandon([weak = weak_from_this()] {
            if (const std::shared_ptr<Poll> gone = weak.lock()) gone->leave();
        });
        read([wait_ms](Poll& poll, Result<Requests> requests) {
            if (poll.is_over()) return;
            if (requests && !are_settled(*requests)) {
                if (!poll.polls_.is_stopping_) return poll.wait_for_rest(*requests, wait_ms);
                if (!poll.has_proposed()) requests = stopping();
            }
            poll.respond(requests);
        });
    }

    void on_settled(const RequestPtr& request) override {
        if (--missing_ > 0) return;
        // One that was awaited alone came with its commit; several are read again, together.
        if (ids_.size() == 1 && service::may_see(viewer_, *request))
            return respond(Requests{request});
        on_timer();
    }

    void on_timer() override {
        read([](Poll& poll, Result<Requests> requests) {
            if (!poll.is_over()) poll.respond(requests);
        });
    }

    /// Ends the wait early.
    void send_back(const Error& why) {
        if (is_over()) return;
        // Who has just proposed must not do so twice: they get what is stored, and wait for that.
        if (has_proposed()) return on_timer();
        respond(why);
    }
    const PrincipalId& whose() const { return viewer_.id; }

    Poll* next() const { return next_; }

    /// Ends the wait without an answer; the poll may be gone afterwards.
    std::shared_ptr<http::Exchange> take() {
        const std::shared_ptr<Poll> keep = std::move(self_);
        for (const RequestId& id : ids_) polls_.waiters_.remove(id, *this);
        cancel();
        unlink();
        return std::move(exchange_);
    }

  private:
    /// The client has ended its side. It may still read, and must learn what it has proposed; but
    /// nobody waits on behalf of somebody who is probably gone.
    void leave() {
        if (is_over()) return;
        if (!exchange_->is_open()) {
            take();
            return;
        }
        for (const RequestId& id : ids_) polls_.waiters_.remove(id, *this);
        on_timer();
    }

    bool is_over() const { return !exchange_; }
    bool has_proposed() const { return shape_.status == 201; }

    void wait_for_rest(const Requests& requests, std::int64_t wait_ms) {
        // For what is settled already no commit will come.
        for (const RequestPtr& request : requests)
            if (request->state == core::State::settled &&
                polls_.waiters_.remove(request->id, *this))
                --missing_;
        // The last one may have been settled after the store was read and before this.
        if (missing_ == 0) return on_timer();
        polls_.timers_.arm(*this, wait_ms);
    }

    template <class Then>
    void read(Then then) {
        auto work = [ids = ids_, viewer = viewer_](store::Transaction& tx) {
            return service::read_all(tx, ids, viewer);
        };
        auto done = [self = shared_from_this(), then](Result<Requests> requests) {
            then(*self, std::move(requests));
        };
        polls_.store_.run(std::move(work), std::move(done));
    }

    void respond(const Result<Requests>& requests) {
        const std::shared_ptr<Poll> keep = shared_from_this();
        const std::shared_ptr<http::Exchange> exchange = take();
        exchange->respond(requests ? render(shape_, *requests)
                                   : wire::to_response(requests.error()));
    }

    void link() {
        next_ = polls_.first_;
        if (next_) next_->previous_ = this;
        polls_.first_ = this;
        ++polls_.count_;
    }

    void unlink() {
        (previous_ ? previous_->next_ : polls_.first_) = next_;
        if (next_) next_->previous_ = previous_;
        next_ = previous_ = nullptr;
        --polls_.count_;
    }

    LongPolls& polls_;
    std::shared_ptr<http::Exchange> exchange_;
    std::shared_ptr<Poll> self_;
    std::vector<RequestId> ids_;
    std::size_t missing_ = 0;
    service::Viewer viewer_;
    Shape shape_;
    Poll* next_ = nullptr;
    Poll* previous_ = nullptr;
};

LongPolls::~LongPolls() {
    while (first_) first_->take();
}

void LongPolls::answer(std::shared_ptr<http::Exchange> exchange, std::vector<RequestId> ids,
                       const service::Viewer& viewer, std::int64_t wait_ms, const Shape& shape) {
    std::make_shared<Poll>(*this, std::move(exchange), std::move(ids), viewer, shape)
        ->start(wait_ms);
}

void LongPolls::stop() {
    is_stopping_ = true;
    for (const std::shared_ptr<Poll>& poll : all()) poll->send_back(stopping());
}

void LongPolls::send_back(const PrincipalId& whose) {
    for (const std::shared_ptr<Poll>& poll : all())
        if (poll->whose() == whose) poll->send_back(credential_ended());
}

std::vector<std::shared_ptr<LongPolls::Poll>> LongPolls::all() const {
    std::vector<std::shared_ptr<Poll>> polls;
    polls.reserve(count_);
    for (Poll* poll = first_; poll; poll = poll->next()) polls.push_back(poll->shared_from_this());
    return polls;
}

}  // namespace holdpoint::api
