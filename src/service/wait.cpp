#include "service/wait.h"

#include <utility>

namespace holdpoint::service {

void Waiters::add(const RequestId& id, Waiter& waiter) { waiting_.emplace(id, &waiter); }

bool Waiters::remove(const RequestId& id, const Waiter& waiter) {
    const auto [begin, end] = waiting_.equal_range(id);
    for (auto it = begin; it != end; ++it) {
        if (it->second != &waiter) continue;
        waiting_.erase(it);
        return true;
    }
    for (Waiter*& waking : waking_) {
        if (waking != &waiter) continue;
        waking = nullptr;
        return true;
    }
    return false;
}

void Waiters::on_commit(const std::vector<store::Change>& changes) {
    if (waiting_.empty()) return;
    for (const store::Change& change : changes) {
        if (change.event.event.kind != core::EventKind::settled) continue;
        // Out of the map before the first is called: what a callback adds waits for the next
        // commit.
        const auto [begin, end] = waiting_.equal_range(change.request->id);
        for (auto it = begin; it != end; ++it) waking_.push_back(it->second);
        waiting_.erase(begin, end);
        for (std::size_t i = 0; i < waking_.size(); ++i)
            if (Waiter* waiter = std::exchange(waking_[i], nullptr))
                waiter->on_settled(change.request);
        waking_.clear();
    }
}

}  // namespace holdpoint::service
