#include "service/wait.h"

namespace holdpoint::service {

Waiters::Ticket Waiters::add(const RequestId& id, Wake wake) {
    const Ticket ticket = ++last_;
    waiting_.emplace(id, Waiting{ticket, std::move(wake)});
    return ticket;
}

void Waiters::remove(const RequestId& id, Ticket ticket) {
    const auto [begin, end] = waiting_.equal_range(id);
    for (auto it = begin; it != end; ++it) {
        if (it->second.ticket != ticket) continue;
        waiting_.erase(it);
        return;
    }
}

void Waiters::on_commit(const std::vector<store::Change>& changes) {
    if (waiting_.empty()) return;
    for (const store::Change& change : changes) {
        if (change.event.event.kind != core::EventKind::settled) continue;
        // Taken out before they are called: a waiter may subscribe again from its callback.
        std::vector<Wake> woken;
        const auto [begin, end] = waiting_.equal_range(change.request->id);
        for (auto it = begin; it != end; ++it) woken.push_back(std::move(it->second.wake));
        waiting_.erase(begin, end);
        for (Wake& wake : woken) wake(change.request);
    }
}

}  // namespace holdpoint::service
