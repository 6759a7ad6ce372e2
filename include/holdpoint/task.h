#pragma once

#include <condition_variable>
#include <coroutine>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <utility>

namespace holdpoint {

/// A coroutine that starts when it is awaited and gives its value to whoever awaits it.
///
///     Task<int> answer() { Run<Json> told = co_await holdpoint.ask_async(question); … co_return
///     42; }
///
/// Await each task once. A task that was never awaited never runs.
template <class T>
class [[nodiscard]] Task {
  public:
    struct promise_type {
        std::optional<T> value;
        std::exception_ptr thrown;
        std::coroutine_handle<> continuation;

        Task get_return_object() {
            return Task(std::coroutine_handle<promise_type>::from_promise(*this));
        }
        std::suspend_always initial_suspend() noexcept { return {}; }
        struct Final {
            bool await_ready() noexcept { return false; }
            std::coroutine_handle<> await_suspend(
                std::coroutine_handle<promise_type> self) noexcept {
                const std::coroutine_handle<> next = self.promise().continuation;
                return next ? next : std::noop_coroutine();
            }
            void await_resume() noexcept {}
        };
        Final final_suspend() noexcept { return {}; }
        void return_value(T given) { value.emplace(std::move(given)); }
        void unhandled_exception() { thrown = std::current_exception(); }
    };

    Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
    Task& operator=(Task&&) = delete;
    Task(const Task&) = delete;
    ~Task() {
        if (handle_) handle_.destroy();
    }

    bool await_ready() const noexcept { return false; }
    std::coroutine_handle<> await_suspend(std::coroutine_handle<> awaiting) noexcept {
        handle_.promise().continuation = awaiting;
        return handle_;
    }
    T await_resume() {
        if (handle_.promise().thrown) std::rethrow_exception(handle_.promise().thrown);
        return std::move(*handle_.promise().value);
    }

  private:
    explicit Task(std::coroutine_handle<promise_type> handle) : handle_(handle) {}
    std::coroutine_handle<promise_type> handle_;
};

/// Where a coroutine goes on once its answer is there: runs the function, now or later, on a thread
/// of its choice. One that runs it at once does so on a thread of Holdpoint's own, for which every
/// other answer waits too: such coroutines, and the work of run_async(), must not block and must
/// not call the blocking forms.
using Executor = std::function<void(std::move_only_function<void()>)>;

/// A queue of functions that one thread runs until something is done.
class RunLoop {
  public:
    void post(std::move_only_function<void()> work) {
        const std::lock_guard lock(mutex_);
        queue_.push_back(std::move(work));
        is_posted_.notify_all();
    }
    Executor executor() {
        return [this](std::move_only_function<void()> work) { post(std::move(work)); };
    }
    /// Runs what is posted until `is_done`, which only posted work may change.
    void run_until(const bool& is_done) {
        while (!is_done) {
            std::unique_lock lock(mutex_);
            is_posted_.wait(lock, [this] { return !queue_.empty(); });
            std::move_only_function<void()> next = std::move(queue_.front());
            queue_.pop_front();
            lock.unlock();
            next();
        }
    }

  private:
    std::mutex mutex_;
    std::condition_variable is_posted_;
    std::deque<std::move_only_function<void()>> queue_;  // guarded by mutex_
};

namespace detail {

/// Drives a task from a function that is no coroutine. The frame frees itself.
struct Driver {
    struct promise_type {
        Driver get_return_object() { return {}; }
        std::suspend_never initial_suspend() noexcept { return {}; }
        std::suspend_never final_suspend() noexcept { return {}; }
        void return_void() {}
        void unhandled_exception() { std::terminate(); }
    };
};

template <class T>
struct Outcome {
    std::optional<T> value;
    std::exception_ptr thrown;
};

template <class T>
Driver drive(Task<T> task, std::move_only_function<void(Outcome<T>)> done) {
    Outcome<T> outcome;
    try {
        outcome.value.emplace(co_await task);
    } catch (...) {
        outcome.thrown = std::current_exception();
    }
    done(std::move(outcome));
}

}  // namespace detail

/// Runs a task to its end from a plain function: this thread runs the loop that the task resumes
/// on.
template <class T>
T sync_wait(Task<T> task, RunLoop& loop) {
    bool is_done = false;
    detail::Outcome<T> outcome;
    detail::drive<T>(std::move(task), [&](detail::Outcome<T> given) {
        outcome = std::move(given);
        loop.post([&is_done] { is_done = true; });
    });
    loop.run_until(is_done);
    if (outcome.thrown) std::rethrow_exception(outcome.thrown);
    return std::move(*outcome.value);
}

/// The same for tasks that resume elsewhere.
template <class T>
T sync_wait(Task<T> task) {
    RunLoop loop;
    return sync_wait(std::move(task), loop);
}

}  // namespace holdpoint
