#pragma once

#include <gtest/gtest.h>
#include <holdpoint/holdpoint.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

/// People for tests: they answer from a list, and remember what they were asked.
namespace holdpoint::test {

/// Run<T> by a name that means something else within a test: testing::Test has a member Run.
template <class T>
using Got = holdpoint::Run<T>;

inline Decision approve() { return {.kind = DecisionKind::approve}; }
inline Decision reject(std::string reason = "too much") {
    return {.kind = DecisionKind::reject, .reason = std::move(reason)};
}
inline Decision modify(Json arguments) {
    return {.kind = DecisionKind::modify, .replacement = std::move(arguments)};
}
inline Decision defer(std::string guidance) {
    return {.kind = DecisionKind::defer, .guidance = std::move(guidance)};
}
inline Decision abort_run(std::string reason = "enough") {
    return {.kind = DecisionKind::abort, .reason = std::move(reason)};
}
inline Decision answer(Json value) {
    return {.kind = DecisionKind::answer, .answer = std::move(value)};
}

class People {
  public:
    People() = default;
    explicit People(std::deque<Decision> answers) : answers_(std::move(answers)) {}

    std::shared_ptr<HumanInterface> interface() {
        const auto next = [this](const Request& request, const std::stop_token&) {
            return take(request);
        };
        return make_callback(
            {.approval = next,
             .input = next,
             .notification = [this](const Notification& notification) { tell(notification.text); },
             .is_available = [this] { return is_there_.load(); }});
    }
    void will(Decision decision) {
        const std::lock_guard lock(mutex_);
        answers_.push_back(std::move(decision));
    }
    /// So many times they say nothing when they are asked.
    void stay_silent(int times) {
        const std::lock_guard lock(mutex_);
        silent_ = times;
    }
    void leave() { is_there_ = false; }
    std::vector<Request> asked() {
        const std::lock_guard lock(mutex_);
        return asked_;
    }
    std::vector<std::string> told() {
        const std::lock_guard lock(mutex_);
        return told_;
    }

    /// The next answer, for whoever puts requests before these people.
    std::optional<Decision> take(const Request& request) {
        const std::lock_guard lock(mutex_);
        asked_.push_back(request);
        if (silent_ > 0 || answers_.empty()) {
            silent_ = std::max(0, silent_ - 1);
            return std::nullopt;
        }
        Decision next = std::move(answers_.front());
        answers_.pop_front();
        return next;
    }
    void tell(std::string text) {
        const std::lock_guard lock(mutex_);
        told_.push_back(std::move(text));
    }

  private:
    std::mutex mutex_;
    std::deque<Decision> answers_;   // guarded by mutex_
    int silent_ = 0;                 // guarded by mutex_
    std::vector<Request> asked_;     // guarded by mutex_
    std::vector<std::string> told_;  // guarded by mutex_
    std::atomic<bool> is_there_ = true;
};

/// A Holdpoint that must open.
inline Holdpoint opened(EmbeddedOptions options) {
    Result<Holdpoint> holdpoint = Holdpoint::embedded(std::move(options));
    if (!holdpoint) throw std::runtime_error(holdpoint.error().message);
    return std::move(*holdpoint);
}

inline Holdpoint opened(People& people) {
    EmbeddedOptions options;
    options.human = people.interface();
    return opened(std::move(options));
}

/// Why something did not run; `broken` with a text of its own when it did.
template <class T>
Why why(const Got<T>& run) {
    if (run) {
        ADD_FAILURE() << "it ran";
        return Why::broken;
    }
    return run.error().why;
}

}  // namespace holdpoint::test
