#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "core/request.h"
#include "store/store.h"

namespace holdpoint::service {

/// Somebody who waits for requests to be settled.
class Waiter {
  public:
    virtual ~Waiter() = default;
    /// Called once for each subscription, which is gone by then.
    virtual void on_settled(const std::shared_ptr<const core::Request>& request) = 0;
};

/// Who waits for which request. A subscription costs a map node and no thread; it is woken by the
/// commit that settles the request. Whoever subscribes does so before reading the store, so that a
/// decision that came early is never missed. Network thread only.
class Waiters {
  public:
    /// The waiter must outlive its subscription.
    void add(const RequestId& id, Waiter& waiter);
    /// Forgets a subscription; one that is gone is ignored.
    void remove(const RequestId& id, const Waiter& waiter);
    /// Wakes everybody whose request was settled by this commit.
    void on_commit(const std::vector<store::Change>& changes);

    std::size_t size() const { return waiting_.size(); }

  private:
    std::unordered_multimap<RequestId, Waiter*, RequestId::Hash> waiting_;
};

}  // namespace holdpoint::service
