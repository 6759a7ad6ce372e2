#include "base/clock.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace holdpoint {
namespace {

constexpr std::int64_t second = 1000;
constexpr std::int64_t year = 365LL * 86'400 * second;
constexpr Timestamp start{1'800'000'000'000};

ClockReading reading(Timestamp wall, std::int64_t boot_ms, std::string boot_id = "boot-1") {
    return {wall, boot_ms, std::move(boot_id)};
}

TEST(SteadyClock, T4_follows_the_wall_clock_while_nobody_sets_it) {
    SteadyClock clock(reading(start, 5000));
    EXPECT_EQ(clock.now(reading(start, 5000)), start);
    EXPECT_EQ(clock.now(reading(start + 250, 5250)), start + 250);
    EXPECT_EQ(clock.now(reading(start + year, 5000 + year)), start + year);
    EXPECT_EQ(clock.skew_ms(), 0);
}

TEST(SteadyClock, T4_a_jump_of_years_forward_expires_nothing) {
    SteadyClock clock(reading(start, 5000));
    EXPECT_EQ(clock.now(reading(start + 3 * year, 6000)), start + second);
    EXPECT_EQ(clock.now(reading(start + 3 * year + second, 7000)), start + 2 * second);
    EXPECT_EQ(clock.skew_ms(), 3 * year - second);
}

TEST(SteadyClock, T4_a_jump_of_years_backward_neither_stops_nor_turns_time) {
    SteadyClock clock(reading(start, 5000));
    EXPECT_EQ(clock.now(reading(start + -3 * year, 6000)), start + second);
    EXPECT_EQ(clock.now(reading(start + -3 * year + second, 7000)), start + 2 * second);
    EXPECT_LT(clock.skew_ms(), -2 * year);
}

TEST(SteadyClock, T4_a_clock_that_is_set_back_right_again_is_followed_again) {
    SteadyClock clock(reading(start, 5000));
    clock.now(reading(start + year, 6000));
    EXPECT_EQ(clock.now(reading(start + 2 * second + 40, 7000)), start + 2 * second + 40);
    EXPECT_EQ(clock.skew_ms(), 40);
}

TEST(SteadyClock, T4_small_steps_are_followed) {
    SteadyClock clock(reading(start, 5000));
    EXPECT_EQ(clock.now(reading(start + second + 900, 6000)), start + second + 900);
    // The step is part of our time now: the next one is measured from there.
    EXPECT_EQ(clock.now(reading(start + 3 * second + 900 + 1500, 8000)), start + 5 * second + 400);
}

TEST(SteadyClock, T4_the_largest_step_is_followed_and_one_more_is_not) {
    SteadyClock follows(reading(start, 0));
    EXPECT_EQ(follows.now(reading(start + SteadyClock::jump_ms_max, 0)),
              start + SteadyClock::jump_ms_max);
    SteadyClock stays(reading(start, 0));
    EXPECT_EQ(stays.now(reading(start + SteadyClock::jump_ms_max + 1, 0)), start);
}

TEST(SteadyClock, T4_never_runs_backwards_on_a_small_step_back) {
    SteadyClock clock(reading(start, 5000));
    EXPECT_EQ(clock.now(reading(start + second, 6000)), start + second);
    EXPECT_EQ(clock.now(reading(start + second + -700, 6100)), start + second);
    EXPECT_EQ(clock.now(reading(start + second + 100, 6900)), start + second + 100);
}

TEST(SteadyClock, T4_never_runs_backwards_whatever_the_wall_clock_does) {
    SteadyClock clock(reading(start, 0));
    std::uint64_t state = 42;
    Timestamp before = start;
    for (std::int64_t boot_ms = 0; boot_ms < 200'000; boot_ms += 37) {
        state = state * 6364136223846793005ULL + 1442695040888963407ULL;
        const auto noise = static_cast<std::int64_t>(state >> 33) % (4 * year) - 2 * year;
        const bool is_wild = (state >> 20) % 3 == 0;
        const Timestamp wall = start + boot_ms + (is_wild ? noise : noise % 1500);
        const Timestamp now = clock.now(reading(wall, boot_ms));
        ASSERT_GE(now, before) << "at " << boot_ms << " ms";
        before = now;
    }
    // Every step within the limit may be followed, but no jump ever was.
    EXPECT_LT(before, start + year);
}

TEST(SteadyClock, T4_a_restart_in_the_same_boot_goes_on_where_the_last_run_stood) {
    const ClockReading last = reading(start, 10'000);
    for (const std::int64_t jump : {0 * year, 10 * year, -10 * year}) {
        SteadyClock clock(reading(start + 60 * second + jump, 70'000), &last);
        EXPECT_EQ(clock.now(reading(start + 61 * second + jump, 71'000)), start + 61 * second)
            << "wall clock set by " << jump << " ms meanwhile";
    }
}

TEST(SteadyClock, T4_after_a_reboot_a_clock_set_back_by_years_does_not_give_time_back) {
    const ClockReading last = reading(start, 10'000);
    SteadyClock clock(reading(start + -10 * year, 3000, "boot-2"), &last);
    EXPECT_EQ(clock.now(reading(start + -10 * year + second, 4000, "boot-2")), start + second);
    EXPECT_LT(clock.skew_ms(), -9 * year);
}

TEST(SteadyClock, T4_after_a_reboot_the_time_the_machine_was_off_counts) {
    const ClockReading last = reading(start, 10'000);
    SteadyClock clock(reading(start + 3600 * second, 3000, "boot-2"), &last);
    EXPECT_EQ(clock.now(reading(start + 3601 * second, 4000, "boot-2")), start + 3601 * second);
}

TEST(SteadyClock, T4_an_unknown_boot_id_is_treated_as_a_reboot) {
    const ClockReading last = reading(start, 10'000, "");
    SteadyClock clock(reading(start + 5 * second, 99'000, ""), &last);
    EXPECT_EQ(clock.now(reading(start + 5 * second, 99'000, "")), start + 5 * second);
}

TEST(SteadyClock, T4_a_boot_counter_behind_the_stored_one_is_not_the_same_boot) {
    const ClockReading last = reading(start, 10'000);
    SteadyClock clock(reading(start + second, 500), &last);
    EXPECT_EQ(clock.now(reading(start + second, 500)), start + second);
}

TEST(SteadyClock, T4_reads_the_machine_and_ascends_from_many_threads) {
    SteadyClock clock(read_system_clock());
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i)
        threads.emplace_back([&clock] {
            Timestamp before = clock.now();
            for (int n = 0; n < 500; ++n) {
                const Timestamp now = clock.now();
                EXPECT_GE(now, before);
                before = now;
            }
        });
    for (std::thread& thread : threads) thread.join();
    EXPECT_LT(std::abs(clock.skew_ms()), SteadyClock::jump_ms_max);
}

TEST(ManualClock, stands_until_it_is_moved) {
    ManualClock clock(start);
    EXPECT_EQ(clock.now(), start);
    clock.advance(1500);
    EXPECT_EQ(clock.now(), start + 1500);
}

}  // namespace
}  // namespace holdpoint
