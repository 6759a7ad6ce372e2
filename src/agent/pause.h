#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>

namespace holdpoint::agent {

/// Waits so long, or until `stop` comes.
inline void pause(std::chrono::milliseconds time, const std::stop_token& stop) {
    std::mutex mutex;
    std::condition_variable_any is_stopped;
    std::unique_lock lock(mutex);
    is_stopped.wait_for(lock, stop, time, [] { return false; });
}

}  // namespace holdpoint::agent
