#include "store/sqlite/recent.h"

namespace holdpoint::store::sqlite {

const Seen* Recent::find(const RequestId& id) const {
    const auto found = seen_.find(id);
    return found == seen_.end() ? nullptr : &found->second;
}

void Recent::put(Seen seen) {
    const RequestId id = seen.request->id;
    bytes_ += bytes_of(*seen.request);
    const auto [entry, is_new] = seen_.try_emplace(id);
    if (is_new)
        order_.push_back(id);
    else
        bytes_ -= bytes_of(*entry->second.request);
    entry->second = std::move(seen);
    while (bytes_ > bytes_max_ && order_.size() > 1) drop_oldest();
}

void Recent::clear() {
    seen_.clear();
    order_.clear();
    bytes_ = 0;
}

void Recent::drop_oldest() {
    const auto oldest = seen_.find(order_.front());
    bytes_ -= bytes_of(*oldest->second.request);
    seen_.erase(oldest);
    order_.pop_front();
}

std::size_t Recent::bytes_of(const core::Request& request) {
    // What can be large; the rest is a constant.
    constexpr std::size_t base = sizeof(core::Request) + 512;
    return base + request.subject.text.size() + request.proposed.text.size() +
           request.context.text.size() + request.metadata.text.size() +
           request.suggested.text.size() + request.risk_detail.text.size() +
           request.message_for_agent.size() +
           (request.decision ? request.decision->answer.text.size() : 0) +
           (request.report ? request.report->result.text.size() : 0);
}

}  // namespace holdpoint::store::sqlite
