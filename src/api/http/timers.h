#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "base/timer_wheel.h"

namespace holdpoint::api {

/// A timer of a waiting answer or a stream. The owner derives from it and is told once.
class Timer : public TimerNode {
  public:
    virtual ~Timer() = default;
    virtual void on_timer() = 0;
};

/// The timers of all waits and streams, driven by the owner of the loop a few times per second.
/// Network thread only.
class Timers {
  public:
    explicit Timers(std::int64_t now_ms) : wheel_(now_ms), now_ms_(now_ms) {}

    void arm(Timer& timer, std::int64_t in_ms) { wheel_.add(timer, now_ms_ + in_ms); }
    std::int64_t now_ms() const { return now_ms_; }
    void advance(std::int64_t now_ms) {
        now_ms_ = now_ms;
        wheel_.advance(now_ms, [](TimerNode& node) { static_cast<Timer&>(node).on_timer(); });
    }

  private:
    TimerWheel wheel_;
    std::int64_t now_ms_;
};

}  // namespace holdpoint::api
