#include "agent/listen.h"

#include <condition_variable>
#include <coroutine>
#include <mutex>
#include <semaphore>
#include <thread>

namespace holdpoint::agent {
namespace {

/// Has one event looked at on the executor. Nobody waits longer than `stop` for an executor that
/// does not run any more, so what it may still run owns what it touches.
class Delivery : public std::enable_shared_from_this<Delivery> {
  public:
    explicit Delivery(std::shared_ptr<const Holdpoint::OnEvent> on_event)
        : on_event_(std::move(on_event)) {}

    bool operator()(const Event& event, const Executor& executor, const std::stop_token& stop) {
        executor([self = shared_from_this(), event] { self->look_at(event); });
        std::unique_lock lock(mutex_);
        is_changed_.wait(lock, stop, [this] { return goes_on_.has_value() || thrown_; });
        if (thrown_) std::rethrow_exception(thrown_);
        return goes_on_.value_or(false);
    }

  private:
    void look_at(const Event& event) {
        std::optional<bool> goes_on;
        std::exception_ptr thrown;
        try {
            goes_on = (*on_event_)(event);
        } catch (...) {
            thrown = std::current_exception();
        }
        const std::lock_guard lock(mutex_);
        goes_on_ = goes_on;
        thrown_ = thrown;
        is_changed_.notify_all();
    }

    const std::shared_ptr<const Holdpoint::OnEvent> on_event_;
    std::mutex mutex_;
    std::condition_variable_any is_changed_;
    std::optional<bool> goes_on_;  // guarded by mutex_
    std::exception_ptr thrown_;    // guarded by mutex_
};

/// Awaits a function that blocks, on a thread of its own.
class OnAThread {
  public:
    OnAThread(Executor executor, std::move_only_function<Result<void>()> work)
        : executor_(std::move(executor)), work_(std::move(work)) {}
    ~OnAThread() {
        if (!thread_.joinable()) return;
        // Where the executor runs things at once the coroutine ended on this very thread.
        if (thread_.get_id() == std::this_thread::get_id())
            thread_.detach();
        else
            thread_.join();
    }
    OnAThread(const OnAThread&) = delete;
    OnAThread& operator=(const OnAThread&) = delete;

    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> waiting) {
        // The coroutine may go on, and this object be gone, as soon as the thread runs.
        const auto is_kept = std::make_shared<std::binary_semaphore>(0);
        thread_ = std::thread([this, is_kept, waiting] {
            is_kept->acquire();
            try {
                ended_.emplace(work_());
            } catch (...) {
                thrown_ = std::current_exception();
            }
            const Executor executor = executor_;
            executor([waiting] { waiting.resume(); });
        });
        is_kept->release();
    }
    Result<void> await_resume() {
        if (thrown_) std::rethrow_exception(thrown_);
        return std::move(*ended_);
    }

  private:
    Executor executor_;
    std::move_only_function<Result<void>()> work_;
    std::thread thread_;
    std::optional<Result<void>> ended_;
    std::exception_ptr thrown_;
};

}  // namespace

Task<Result<void>> listen(std::shared_ptr<Client> client, EventFilter filter,
                          Holdpoint::OnEvent on_event, std::stop_token stop, Executor executor) {
    const auto shared = std::make_shared<const Holdpoint::OnEvent>(std::move(on_event));
    auto work = [&] {
        const auto deliver = [&](const Event& event) {
            return (*std::make_shared<Delivery>(shared))(event, executor, stop);
        };
        return client->backend().events(filter, deliver, stop);
    };
    OnAThread listening(executor, std::move(work));
    Result<void> ended = co_await listening;
    co_return ended;
}

}  // namespace holdpoint::agent
