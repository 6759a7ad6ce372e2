#pragma once

#include <coroutine>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>

#include "agent/backend.h"

namespace holdpoint::agent {

/// Awaits one call to the backend. Where `stop` comes first the answer is nothing, and what the
/// backend says later is dropped.
class Answer {
  public:
    using Start = std::move_only_function<void(Backend::Done)>;

    Answer(Executor executor, std::stop_token stop, Start start)
        : state_(std::make_shared<State>()), stop_(std::move(stop)), start_(std::move(start)) {
        state_->executor = std::move(executor);
    }

    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> waiting) {
        // From here on this object may be gone at any time: the coroutine that owns it goes on as
        // soon as the answer is there.
        const std::shared_ptr<State> state = state_;
        state->waiting = waiting;
        Start start = std::move(start_);
        std::stop_token stop = std::move(stop_);
        start([state](Result<Json> given) { State::settle(state, std::move(given)); });
        if (!stop.stop_possible()) return;
        auto watch = std::make_unique<Watch>(
            std::move(stop), Stopper{[state] { State::settle(state, std::nullopt); }});
        const std::lock_guard lock(state->mutex);
        if (!state->is_settled) state->watch = std::move(watch);
    }
    std::optional<Result<Json>> await_resume() {
        std::unique_ptr<Watch> watch;
        {
            const std::lock_guard lock(state_->mutex);
            watch = std::move(state_->watch);
        }
        return std::move(state_->answer);
    }

  private:
    struct Stopper {
        std::function<void()> call;
        void operator()() const { call(); }
    };
    using Watch = std::stop_callback<Stopper>;
    struct State {
        Executor executor;
        std::coroutine_handle<> waiting;
        std::mutex mutex;
        bool is_settled = false;                  // guarded by mutex
        std::optional<Result<Json>> answer = {};  // written before the coroutine goes on
        std::unique_ptr<Watch> watch;             // guarded by mutex

        static void settle(const std::shared_ptr<State>& state, std::optional<Result<Json>> given) {
            {
                const std::lock_guard lock(state->mutex);
                if (state->is_settled) return;
                state->is_settled = true;
                state->answer = std::move(given);
            }
            state->executor([waiting = state->waiting] { waiting.resume(); });
        }
    };

    std::shared_ptr<State> state_;
    std::stop_token stop_;
    Start start_;
};

}  // namespace holdpoint::agent
