#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

#include "core/request.h"
#include "store/store.h"

namespace holdpoint::service {

/// Who waits for which request. A subscription costs a map node and no thread; it is woken by the
/// commit that settles the request. Whoever subscribes does so before reading the store, so that a
/// decision that came early is never missed. Network thread only.
class Waiters {
  public:
    /// Called once with the settled request.
    using Wake = std::move_only_function<void(const std::shared_ptr<const core::Request>&)>;
    using Ticket = std::uint64_t;

    Ticket add(const RequestId& id, Wake wake);
    /// Forgets a subscription that was not woken; a ticket that is gone is ignored.
    void remove(const RequestId& id, Ticket ticket);
    /// Wakes everybody whose request was settled by this commit.
    void on_commit(const std::vector<store::Change>& changes);

    std::size_t size() const { return waiting_.size(); }

  private:
    struct Waiting {
        Ticket ticket;
        Wake wake;
    };
    std::unordered_multimap<RequestId, Waiting, RequestId::Hash> waiting_;
    Ticket last_ = 0;
};

}  // namespace holdpoint::service
