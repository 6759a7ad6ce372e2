#include "api/http/long_poll.h"

#include <algorithm>

#include "api/wire/errors.h"

namespace holdpoint::api {

LongPolls::~LongPolls() {
    for (const std::shared_ptr<Poll>& poll : polls_) poll->drop_subscriptions();
}

std::shared_ptr<LongPolls::Poll> LongPolls::start(std::shared_ptr<http::Exchange> exchange,
                                                  const std::vector<RequestId>& ids,
                                                  Answer answer) {
    http::Exchange& client = *exchange;
    auto poll = std::make_shared<Poll>(*this, std::move(exchange), std::move(answer));
    poll->is_single_ = ids.size() == 1;
    polls_.insert(poll);
    const std::weak_ptr<Poll> weak = poll;
    for (const RequestId& id : ids) {
        const service::Waiters::Ticket ticket =
            waiters_.add(id, [weak, id](const std::shared_ptr<const core::Request>& request) {
                if (const std::shared_ptr<Poll> woken = weak.lock()) woken->on_settled(id, request);
            });
        poll->subscriptions_.push_back({id, ticket});
    }
    client.on_abandon([weak] {
        if (const std::shared_ptr<Poll> gone = weak.lock()) gone->take();
    });
    return poll;
}

void LongPolls::stop() {
    const std::unordered_set<std::shared_ptr<Poll>> polls = polls_;
    for (const std::shared_ptr<Poll>& poll : polls)
        if (const std::shared_ptr<http::Exchange> exchange = poll->take())
            exchange->respond(wire::to_response(
                {ErrorCode::unavailable, "the server is stopping; ask again", "", 1}));
}

LongPolls::Poll::Poll(LongPolls& polls, std::shared_ptr<http::Exchange> exchange, Answer answer)
    : polls_(polls), exchange_(std::move(exchange)), answer_(std::move(answer)) {}

void LongPolls::Poll::forget(const RequestId& id) {
    std::erase_if(subscriptions_, [&](const Subscription& subscription) {
        if (subscription.id != id) return false;
        polls_.waiters_.remove(id, subscription.ticket);
        return true;
    });
}

void LongPolls::Poll::wait(std::int64_t ms) {
    if (is_over()) return;
    // The last one may have been settled after the store was read and before this.
    if (subscriptions_.empty()) return on_timer();
    polls_.timers_.arm(*this, ms);
}

std::shared_ptr<http::Exchange> LongPolls::Poll::take() {
    if (is_over()) return nullptr;
    std::shared_ptr<http::Exchange> exchange = std::move(exchange_);
    exchange_ = nullptr;
    drop_subscriptions();
    cancel();
    polls_.polls_.erase(shared_from_this());
    return exchange;
}

void LongPolls::Poll::drop_subscriptions() {
    for (const Subscription& subscription : subscriptions_)
        polls_.waiters_.remove(subscription.id, subscription.ticket);
    subscriptions_.clear();
}

void LongPolls::Poll::on_settled(const RequestId& id,
                                 const std::shared_ptr<const core::Request>& request) {
    std::erase_if(subscriptions_, [&](const Subscription& other) { return other.id == id; });
    if (!subscriptions_.empty()) return;
    const std::shared_ptr<Poll> self = shared_from_this();
    Answer answer = std::move(answer_);
    if (std::shared_ptr<http::Exchange> exchange = take())
        answer(std::move(exchange), is_single_ ? request : nullptr);
}

void LongPolls::Poll::on_timer() {
    const std::shared_ptr<Poll> self = shared_from_this();
    Answer answer = std::move(answer_);
    if (std::shared_ptr<http::Exchange> exchange = take()) answer(std::move(exchange), nullptr);
}

}  // namespace holdpoint::api
