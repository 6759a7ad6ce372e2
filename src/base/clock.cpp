#include "base/clock.h"

#include <ctime>

#include <algorithm>
#include <cstdlib>
#include <fstream>

namespace holdpoint {
namespace {

std::int64_t read_ms(clockid_t id) {
    timespec time{};
    clock_gettime(id, &time);
    return time.tv_sec * 1000LL + time.tv_nsec / 1'000'000;
}

const std::string& boot_id() {
    static const std::string id = [] {
        std::ifstream file("/proc/sys/kernel/random/boot_id");
        std::string line;
        std::getline(file, line);
        return line;
    }();
    return id;
}

}  // namespace

ClockReading read_system_clock() {
    return {{read_ms(CLOCK_REALTIME)}, read_ms(CLOCK_BOOTTIME), boot_id()};
}

SteadyClock::SteadyClock(const ClockReading& reading, const ClockReading* last)
    : anchor_(reading.wall), anchor_boot_ms_(reading.boot_ms), latest_(reading.wall) {
    if (!last) return;
    const bool is_same_boot = !reading.boot_id.empty() && last->boot_id == reading.boot_id &&
                              last->boot_ms <= reading.boot_ms;
    anchor_ = is_same_boot ? last->wall + (reading.boot_ms - last->boot_ms)
                           : std::max(reading.wall, last->wall);
    latest_ = anchor_;
    skew_ms_ = reading.wall - anchor_;
}

Timestamp SteadyClock::now() {
    timespec wall{};
    clock_gettime(CLOCK_REALTIME, &wall);
    ClockReading reading;
    reading.wall = {wall.tv_sec * 1000LL + wall.tv_nsec / 1'000'000};
    reading.boot_ms = read_ms(CLOCK_BOOTTIME);
    return now(reading);
}

Timestamp SteadyClock::now(const ClockReading& reading) {
    const std::lock_guard lock(mutex_);
    const Timestamp expected = anchor_ + (reading.boot_ms - anchor_boot_ms_);
    skew_ms_ = reading.wall - expected;
    if (std::abs(skew_ms_) <= jump_ms_max) {
        anchor_ = reading.wall;
        anchor_boot_ms_ = reading.boot_ms;
        latest_ = std::max(latest_, reading.wall);
    } else {
        latest_ = std::max(latest_, expected);
    }
    return latest_;
}

std::int64_t SteadyClock::skew_ms() const {
    const std::lock_guard lock(mutex_);
    return skew_ms_;
}

Timestamp ManualClock::now() {
    const std::lock_guard lock(mutex_);
    return now_;
}

void ManualClock::advance(std::int64_t ms) {
    const std::lock_guard lock(mutex_);
    now_ = now_ + ms;
}

}  // namespace holdpoint
