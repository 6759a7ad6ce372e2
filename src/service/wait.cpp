#include "service/wait.h"

namespace holdpoint::service {

void Waiters::add(const RequestId& id, Waiter& waiter) { waiting_.emplace(id, &waiter); }

void Waiters::remove(const RequestId& id, const Waiter& waiter) {
    const auto [begin, end] = waiting_.equal_range(id);
    for (auto it = begin; it != end; ++it) {
        if (it->second != &waiter) continue;
        waiting_.erase(it);
        return;
    }
}

void Waiters::on_commit(const std::vector<store::Change>& changes) {
    if (waiting_.empty()) return;
    for (const store::Change& change : changes) {
        if (change.event.event.kind != core::EventKind::settled) continue;
        // One at a time, out of the map before it is called: a waiter may remove others, or
        // subscribe again, from its callback.
        const RequestId id = change.request->id;
        for (auto next = waiting_.find(id); next != waiting_.end(); next = waiting_.find(id)) {
            Waiter* waiter = next->second;
            waiting_.erase(next);
            waiter->on_settled(change.request);
        }
    }
}

}  // namespace holdpoint::service
