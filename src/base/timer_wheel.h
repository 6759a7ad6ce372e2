#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace holdpoint {

/// The hook of whatever can time out: derive from it or hold it as a member. Stays where it is
/// while armed, so it cannot be copied or moved; going away cancels it.
class TimerNode {
  public:
    TimerNode() = default;
    TimerNode(const TimerNode&) = delete;
    TimerNode& operator=(const TimerNode&) = delete;
    ~TimerNode() { cancel(); }

    bool is_armed() const { return next_ != this; }

    void cancel() {
        previous_->next_ = next_;
        next_->previous_ = previous_;
        next_ = previous_ = this;
    }

  private:
    friend class TimerWheel;

    void insert_before(TimerNode& other) {
        next_ = &other;
        previous_ = std::exchange(other.previous_, this);
        previous_->next_ = this;
    }

    TimerNode* next_ = this;
    TimerNode* previous_ = this;
    std::int64_t due_tick_ = 0;
};

/// Timeouts of many connections: add, move and cancel cost a few nanoseconds and never allocate.
/// Coarse on purpose: a timer fires in the first `advance` at or after its deadline rounded up to
/// a tick, never early. A deadline may lie any number of rounds ahead. For one thread. Wheel and
/// nodes may go in any order: what is armed when the wheel goes away is disarmed.
class TimerWheel {
  public:
    /// Times are milliseconds of any clock that never goes back.
    explicit TimerWheel(std::int64_t now_ms, std::int64_t tick_ms = 100)
        : tick_ms_(tick_ms), tick_(now_ms / tick_ms) {}
    TimerWheel(const TimerWheel&) = delete;
    TimerWheel& operator=(const TimerWheel&) = delete;
    ~TimerWheel() {
        for (TimerNode& slot : slots_) {
            while (slot.is_armed()) slot.next_->cancel();
        }
    }

    /// Arms `node`, or moves it if it was armed. A deadline that has passed fires with the next
    /// tick, not within this call.
    void add(TimerNode& node, std::int64_t deadline_ms) {
        node.cancel();
        const std::int64_t tick = (deadline_ms + tick_ms_ - 1) / tick_ms_;
        node.due_tick_ = tick > tick_ ? tick : tick_ + 1;
        node.insert_before(slot_of(node.due_tick_));
    }

    /// Looks at every slot: for once in a tick, not for once in a call.
    bool is_empty() const {
        return std::ranges::none_of(slots_, [](const TimerNode& slot) { return slot.is_armed(); });
    }

    /// Calls `fire(TimerNode&)` for every node that is due, disarmed before the call. `fire` may
    /// add, cancel and destroy any node, the fired one included; what it adds waits for a later
    /// `advance`. A clock that went back changes nothing.
    template <class Fire>
    void advance(std::int64_t now_ms, Fire&& fire) {
        const std::int64_t now_tick = now_ms / tick_ms_;
        if (now_tick <= tick_) return;
        // The head of a list of its own: `fire` may cancel what is still in it.
        TimerNode due;
        const std::int64_t round = static_cast<std::int64_t>(slots_.size());
        const std::int64_t first = now_tick - tick_ > round ? now_tick - round : tick_;
        for (std::int64_t tick = first + 1; tick <= now_tick; ++tick) {
            take_due(slot_of(tick), now_tick, due);
        }
        tick_ = now_tick;
        // Whatever ends this loop early (an exception of `fire`) leaves the rest for next time.
        const Returning returning{*this, due};
        while (due.is_armed()) {
            TimerNode& node = *due.next_;
            node.cancel();
            fire(node);
        }
    }

  private:
    struct Returning {
        TimerWheel& wheel;
        TimerNode& due;
        ~Returning() {
            while (due.is_armed()) wheel.add(*due.next_, 0);
        }
    };

    TimerNode& slot_of(std::int64_t tick) {
        return slots_[static_cast<std::size_t>(tick) % slots_.size()];
    }

    static void take_due(TimerNode& slot, std::int64_t now_tick, TimerNode& due) {
        for (TimerNode* node = slot.next_; node != &slot;) {
            TimerNode& current = *std::exchange(node, node->next_);
            if (current.due_tick_ > now_tick) continue;
            current.cancel();
            current.insert_before(due);
        }
    }

    std::int64_t tick_ms_;
    std::int64_t tick_;                   // everything due up to here has fired
    std::array<TimerNode, 512> slots_{};  // list heads; with the usual tick one round is 51.2 s
};

}  // namespace holdpoint
