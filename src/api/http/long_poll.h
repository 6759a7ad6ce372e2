#pragma once

#include <functional>
#include <memory>
#include <unordered_set>
#include <vector>

#include "api/http/http.h"
#include "api/http/timers.h"
#include "service/wait.h"

namespace holdpoint::api {

/// Answers that wait until their requests are settled, the time is over, or the server stops.
/// Network thread only.
class LongPolls {
  public:
    /// Makes the final answer. Given the settled request when the wait was for one and the commit
    /// brought it; null when the time is over or several were awaited: read the store then.
    using Answer = std::move_only_function<void(std::shared_ptr<http::Exchange>,
                                                const std::shared_ptr<const core::Request>&)>;
    class Poll;

    LongPolls(service::Waiters& waiters, Timers& timers) : waiters_(waiters), timers_(timers) {}
    ~LongPolls();

    /// Subscribes at once. The caller then reads the store, calls forget() for what is settled
    /// already, then wait().
    std::shared_ptr<Poll> start(std::shared_ptr<http::Exchange> exchange,
                                const std::vector<RequestId>& ids, Answer answer);

    /// Tells everybody to come back: the server is stopping.
    void stop();

    std::size_t size() const { return polls_.size(); }

  private:
    friend class Poll;
    service::Waiters& waiters_;
    Timers& timers_;
    std::unordered_set<std::shared_ptr<Poll>> polls_;
};

/// One waiting answer.
class LongPolls::Poll : public Timer, public std::enable_shared_from_this<Poll> {
  public:
    Poll(LongPolls& polls, std::shared_ptr<http::Exchange> exchange, Answer answer);

    /// This one is settled already: no commit will tell of it.
    void forget(const RequestId& id);
    /// Goes on waiting for at most this long.
    void wait(std::int64_t ms);
    /// Nothing more to wait for: hands the exchange back, once; null when it was answered.
    std::shared_ptr<http::Exchange> take();
    bool is_over() const { return !exchange_; }

    void on_timer() override;

  private:
    friend class LongPolls;
    struct Subscription {
        RequestId id;
        service::Waiters::Ticket ticket;
    };
    void on_settled(const RequestId& id, const std::shared_ptr<const core::Request>& request);
    void drop_subscriptions();

    LongPolls& polls_;
    std::shared_ptr<http::Exchange> exchange_;
    Answer answer_;
    std::vector<Subscription> subscriptions_;
    bool is_single_ = false;
};

}  // namespace holdpoint::api
