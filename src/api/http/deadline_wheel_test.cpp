#include "api/http/deadline_wheel.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace holdpoint::http::detail {
namespace {

std::vector<DeadlineWheel::Entry*> advance(DeadlineWheel& wheel, std::uint64_t tick) {
    std::vector<DeadlineWheel::Entry*> due;
    wheel.advance(tick, [&](DeadlineWheel::Entry& entry) { due.push_back(&entry); });
    return due;
}

TEST(DeadlineWheel, CallsNeverTooEarlyAndOnce) {
    DeadlineWheel wheel;
    DeadlineWheel::Entry entry;
    wheel.set_now(100);
    wheel.arm(entry, 3);
    EXPECT_TRUE(advance(wheel, 103).empty());
    EXPECT_EQ(advance(wheel, 104).size(), 1U);
    EXPECT_TRUE(wheel.is_empty());
    EXPECT_TRUE(advance(wheel, 2000).empty());
}

TEST(DeadlineWheel, KeepsDeadlinesLongerThanOneTurn) {
    DeadlineWheel wheel;
    DeadlineWheel::Entry near;
    DeadlineWheel::Entry far;
    wheel.arm(far, 512 * 3 + 5);
    wheel.arm(near, 5);
    EXPECT_EQ(advance(wheel, 6), std::vector{&near});
    EXPECT_TRUE(advance(wheel, 512 * 3 + 5).empty());
    EXPECT_EQ(advance(wheel, 512 * 3 + 6), std::vector{&far});
}

TEST(DeadlineWheel, ForgetsDisarmedAndMovesRearmedEntries) {
    DeadlineWheel wheel;
    DeadlineWheel::Entry gone;
    DeadlineWheel::Entry later;
    wheel.arm(gone, 1);
    wheel.arm(later, 1);
    wheel.disarm(gone);
    wheel.arm(later, 10);
    EXPECT_TRUE(advance(wheel, 10).empty());
    EXPECT_EQ(advance(wheel, 11), std::vector{&later});
}

TEST(DeadlineWheel, ACallbackMayDisarmItsNeighbourAndDestroyItself) {
    DeadlineWheel wheel;
    auto first = std::make_unique<DeadlineWheel::Entry>();
    auto second = std::make_unique<DeadlineWheel::Entry>();
    wheel.arm(*first, 1);
    wheel.arm(*second, 1);
    int calls = 0;
    wheel.advance(5, [&](DeadlineWheel::Entry&) {
        ++calls;
        wheel.disarm(*second);
        first.reset();
    });
    EXPECT_EQ(calls, 1);
    EXPECT_TRUE(wheel.is_empty());
}

}  // namespace
}  // namespace holdpoint::http::detail
