#include "api/auth/hash_queue.h"

#include <utility>

namespace holdpoint::auth {

HashQueue::HashQueue(Offload offload) : offload_(std::move(offload)) {}

std::optional<Error> HashQueue::full() const {
    if (waiting_ < waiting_max) return std::nullopt;
    return Error{ErrorCode::unavailable, "too many passwords are being checked; try again", "", 2};
}

void HashQueue::run(std::move_only_function<void()> work, std::move_only_function<void()> then) {
    ++waiting_;
    offload_(std::move(work), [this, then = std::move(then)]() mutable {
        --waiting_;
        then();
    });
}

}  // namespace holdpoint::auth
