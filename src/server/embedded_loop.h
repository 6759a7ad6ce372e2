#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

namespace holdpoint::server {

/// A thread that runs what is posted to it, in order, and what is due. What is still queued when it
/// is stopped runs before the thread ends; what is due later does not run any more.
class EmbeddedLoop {
  public:
    using Work = std::move_only_function<void()>;
    using Time = std::chrono::steady_clock::time_point;

    EmbeddedLoop() : thread_([this] { run(); }) {}
    ~EmbeddedLoop() { stop(); }
    EmbeddedLoop(const EmbeddedLoop&) = delete;
    EmbeddedLoop& operator=(const EmbeddedLoop&) = delete;

    void post(Work work) {
        const std::lock_guard lock(mutex_);
        queue_.push_back(std::move(work));
        is_changed_.notify_one();
    }
    void at(Time time, Work work) {
        const std::lock_guard lock(mutex_);
        timers_.emplace(time, std::move(work));
        is_changed_.notify_one();
    }
    void stop() {
        {
            const std::lock_guard lock(mutex_);
            is_stopping_ = true;
            is_changed_.notify_one();
        }
        if (thread_.joinable()) thread_.join();
    }

  private:
    bool next(Work& work) {
        std::unique_lock lock(mutex_);
        for (;;) {
            if (!queue_.empty()) {
                work = std::move(queue_.front());
                queue_.pop_front();
                return true;
            }
            if (is_stopping_) return false;
            if (timers_.empty()) {
                is_changed_.wait(lock);
                continue;
            }
            const Time due = timers_.begin()->first;
            if (due <= std::chrono::steady_clock::now()) {
                work = std::move(timers_.begin()->second);
                timers_.erase(timers_.begin());
                return true;
            }
            is_changed_.wait_until(lock, due);
        }
    }
    void run() {
        Work work;
        while (next(work)) work();
    }

    std::mutex mutex_;
    std::condition_variable is_changed_;
    std::deque<Work> queue_;            // guarded by mutex_
    std::multimap<Time, Work> timers_;  // guarded by mutex_
    bool is_stopping_ = false;          // guarded by mutex_
    std::thread thread_;
};

}  // namespace holdpoint::server
