#include "api/http/deadline_wheel.h"

#include "base/assert.h"

namespace holdpoint::http::detail {

DeadlineWheel::DeadlineWheel() {
    for (Entry& slot : slots_) slot.previous_ = slot.next_ = &slot;
    due_.previous_ = due_.next_ = &due_;
}

void DeadlineWheel::link(Entry& list, Entry& entry) {
    entry.previous_ = list.previous_;
    entry.next_ = &list;
    list.previous_->next_ = &entry;
    list.previous_ = &entry;
}

void DeadlineWheel::unlink(Entry& entry) {
    entry.previous_->next_ = entry.next_;
    entry.next_->previous_ = entry.previous_;
    entry.previous_ = entry.next_ = nullptr;
}

void DeadlineWheel::arm(Entry& entry, std::uint64_t ticks) {
    disarm(entry);
    // The current tick has partly passed already, hence one more.
    entry.due_ = now_ + ticks + 1;
    link(slots_[entry.due_ % slots], entry);
    ++armed_;
}

void DeadlineWheel::disarm(Entry& entry) {
    if (!entry.is_armed()) return;
    unlink(entry);
    --armed_;
}

void DeadlineWheel::set_now(std::uint64_t tick) {
    HOLDPOINT_ASSERT(is_empty() && tick >= now_);
    now_ = tick;
}

void DeadlineWheel::collect_due() {
    ++now_;
    Entry& slot = slots_[now_ % slots];
    for (Entry* entry = slot.next_; entry != &slot;) {
        Entry* const next = entry->next_;
        if (entry->due_ <= now_) {
            unlink(*entry);
            link(due_, *entry);
        }
        entry = next;
    }
}

}  // namespace holdpoint::http::detail
