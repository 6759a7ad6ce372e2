#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "api/http/http.h"
#include "api/http/timers.h"
#include "service/read.h"
#include "service/wait.h"
#include "store/store.h"

namespace holdpoint::api {

/// How an answer that shows requests looks.
struct Shape {
    int status = 200;
    bool is_replay = false;
    std::optional<BatchId> batch = std::nullopt;  ///< set: `{"id", "requests"}` instead of one
};

/// Answers that wait until their requests are settled, the time is over, or the server stops. A
/// waiting answer keeps nothing of its call: it is what an idle agent costs. Network thread only.
class LongPolls {
  public:
    LongPolls(store::Store& store, service::Waiters& waiters, Timers& timers)
        : store_(store), waiters_(waiters), timers_(timers) {}
    ~LongPolls();

    /// Answers with these requests: at once when they are settled, else when they are, or after
    /// `wait_ms` as they then stand.
    void answer(std::shared_ptr<http::Exchange> exchange, std::vector<RequestId> ids,
                const service::Viewer& viewer, std::int64_t wait_ms, const Shape& shape);

    /// Tells those who wait as this principal to ask again: a credential of theirs has ended. Who
    /// waits for a proposal of the same call gets it as it stands.
    void send_back(const PrincipalId& whose);

    /// Tells everybody to come back in the same way: the server is stopping.
    void stop();

    std::size_t size() const { return count_; }

  private:
    class Poll;
    std::vector<std::shared_ptr<Poll>> all() const;

    store::Store& store_;
    service::Waiters& waiters_;
    Timers& timers_;
    Poll* first_ = nullptr;  ///< head of the list that the polls form
    std::size_t count_ = 0;
    bool is_stopping_ = false;
};

}  // namespace holdpoint::api
