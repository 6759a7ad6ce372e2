#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <utility>

namespace holdpoint::agent {

/// Starts something that answers once, on another thread, and blocks until it has.
template <class T, class Start>
T blocking(Start&& start) {
    std::mutex mutex;
    std::condition_variable is_done;
    std::optional<T> answer;
    std::forward<Start>(start)([&](T given) {
        const std::lock_guard lock(mutex);
        answer.emplace(std::move(given));
        is_done.notify_all();
    });
    std::unique_lock lock(mutex);
    is_done.wait(lock, [&] { return answer.has_value(); });
    return std::move(*answer);
}

}  // namespace holdpoint::agent
