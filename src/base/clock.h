#pragma once

#include <mutex>
#include <string>

#include "base/time.h"

namespace holdpoint {

/// Where "now" comes from. Everything that depends on time gets one of these, so that tests and
/// the simulator own time. Implementations may be called from any thread.
class Clock {
  public:
    virtual ~Clock() = default;
    virtual Timestamp now() = 0;
};

/// What the machine's clocks say at one moment.
struct ClockReading {
    Timestamp wall;            ///< may be set by anyone, may jump
    std::int64_t boot_ms = 0;  ///< since boot, counts through suspend, cannot be set
    std::string boot_id;       ///< changes with every boot
};

ClockReading read_system_clock();

/// Time for deadlines. It follows the wall clock, but a jump of more than `jump_ms_max` against
/// the time since boot is not followed: a deadline is a promise about how long somebody has, and
/// setting the clock must neither release nor expire anything.
class SteadyClock : public Clock {
  public:
    static constexpr std::int64_t jump_ms_max = 2000;

    /// `last` is the reading stored by the previous run: within the same boot, time goes on from
    /// there, however the wall clock was set meanwhile; after a reboot it never runs backwards.
    explicit SteadyClock(const ClockReading& reading, const ClockReading* last = nullptr);

    Timestamp now() override;

    /// For tests: what now() answers for a given reading.
    Timestamp now(const ClockReading& reading);

    /// How far the wall clock stands from our time; beyond jump_ms_max somebody set it.
    std::int64_t skew_ms() const;

  private:
    mutable std::mutex mutex_;
    Timestamp anchor_;             // guarded by mutex_
    std::int64_t anchor_boot_ms_;  // guarded by mutex_
    Timestamp latest_;             // guarded by mutex_
    std::int64_t skew_ms_ = 0;     // guarded by mutex_
};

/// A clock that stands until it is moved.
class ManualClock : public Clock {
  public:
    explicit ManualClock(Timestamp start) : now_(start) {}
    Timestamp now() override;
    void advance(std::int64_t ms);

  private:
    std::mutex mutex_;
    Timestamp now_;  // guarded by mutex_
};

}  // namespace holdpoint
