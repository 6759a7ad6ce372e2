#include "base/timer_wheel.h"

#include <map>
#include <memory>
#include <optional>
#include <random>
#include <stdexcept>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace holdpoint {
namespace {

using testing::ElementsAre;

struct Connection : TimerNode {
    explicit Connection(int number) : name(number) {}
    int name;
};

std::vector<int> fired_by(TimerWheel& wheel, std::int64_t now_ms) {
    std::vector<int> names;
    wheel.advance(now_ms,
                  [&](TimerNode& node) { names.push_back(static_cast<Connection&>(node).name); });
    return names;
}

TEST(TimerWheel, FiresOnceAtTheDeadlineAndNeverEarly) {
    TimerWheel wheel(1'000);
    Connection a(1);
    wheel.add(a, 1'250);
    EXPECT_TRUE(a.is_armed());
    EXPECT_THAT(fired_by(wheel, 1'249), ElementsAre());
    EXPECT_THAT(fired_by(wheel, 1'299), ElementsAre());
    EXPECT_THAT(fired_by(wheel, 1'300), ElementsAre(1));
    EXPECT_FALSE(a.is_armed());
    EXPECT_THAT(fired_by(wheel, 100'000), ElementsAre());
}

TEST(TimerWheel, TicksAsOftenAsAsked) {
    TimerWheel wheel(0, 5);
    Connection connection(1);
    wheel.add(connection, 12);
    EXPECT_THAT(fired_by(wheel, 14), ElementsAre());
    EXPECT_THAT(fired_by(wheel, 15), ElementsAre(1));
}

TEST(TimerWheel, KnowsWhetherAnythingIsArmed) {
    TimerWheel wheel(0);
    EXPECT_TRUE(wheel.is_empty());
    Connection connection(1);
    wheel.add(connection, 100'000);
    EXPECT_FALSE(wheel.is_empty());
    connection.cancel();
    EXPECT_TRUE(wheel.is_empty());
}

TEST(TimerWheel, WaitsSeveralRoundsForLongTimeouts) {
    TimerWheel wheel(0);
    Connection day(1);
    Connection soon(2);
    wheel.add(day, 86'400'000);
    wheel.add(soon, 86'400'000 % 51'200);  // shares the slot
    for (std::int64_t now = 0; now < 86'400'000; now += 1'000) {
        const std::vector<int> fired = fired_by(wheel, now);
        if (!fired.empty()) {
            EXPECT_THAT(fired, ElementsAre(2));
            EXPECT_LT(now, 51'200);
        }
    }
    EXPECT_FALSE(soon.is_armed());
    EXPECT_THAT(fired_by(wheel, 86'400'000), ElementsAre(1));
}

TEST(TimerWheel, MovesAnArmedTimer) {
    TimerWheel wheel(0);
    Connection a(1);
    wheel.add(a, 500);
    wheel.add(a, 900);
    EXPECT_THAT(fired_by(wheel, 800), ElementsAre());
    EXPECT_THAT(fired_by(wheel, 900), ElementsAre(1));
}

TEST(TimerWheel, ForgetsCancelledAndDestroyedTimers) {
    TimerWheel wheel(0);
    Connection kept(1);
    Connection cancelled(2);
    std::optional<Connection> destroyed(3);
    for (Connection* each : {&kept, &cancelled, &*destroyed}) wheel.add(*each, 300);
    cancelled.cancel();
    cancelled.cancel();
    destroyed.reset();
    EXPECT_THAT(fired_by(wheel, 300), ElementsAre(1));
}

TEST(TimerWheel, CatchesUpAfterALongPause) {
    TimerWheel wheel(0);
    Connection a(1);
    Connection b(2);
    Connection later(3);
    wheel.add(a, 70'000);
    wheel.add(b, 200);
    wheel.add(later, 10'000'000);
    EXPECT_THAT(fired_by(wheel, 9'999'999), testing::UnorderedElementsAre(1, 2));
    EXPECT_THAT(fired_by(wheel, 10'000'000), ElementsAre(3));
}

TEST(TimerWheel, FiresAPassedDeadlineWithTheNextTick) {
    TimerWheel wheel(10'000);
    Connection a(1);
    wheel.add(a, 5);
    EXPECT_THAT(fired_by(wheel, 10'050), ElementsAre());
    EXPECT_THAT(fired_by(wheel, 10'100), ElementsAre(1));
}

TEST(TimerWheel, IgnoresAClockThatWentBack) {
    TimerWheel wheel(10'000);
    Connection a(1);
    wheel.add(a, 10'200);
    EXPECT_THAT(fired_by(wheel, 0), ElementsAre());
    EXPECT_THAT(fired_by(wheel, 10'200), ElementsAre(1));
}

TEST(TimerWheel, LetsTheCallbackArmTheSameTimerAgain) {
    TimerWheel wheel(0);
    Connection beat(1);
    wheel.add(beat, 100);
    int beats = 0;
    for (std::int64_t now = 0; now <= 1'000; now += 100) {
        wheel.advance(now, [&](TimerNode& node) {
            ++beats;
            wheel.add(node, now);  // already passed: must not loop within this call
        });
    }
    EXPECT_EQ(beats, 10);
}

TEST(TimerWheel, LetsTheCallbackCancelAndDestroyOthersThatAreDue) {
    TimerWheel wheel(0);
    Connection first(1);
    Connection second(2);
    auto third = std::make_unique<Connection>(3);
    for (Connection* each : {&first, &second, third.get()}) wheel.add(*each, 100);
    std::vector<int> fired;
    wheel.advance(100, [&](TimerNode& node) {
        fired.push_back(static_cast<Connection&>(node).name);
        second.cancel();
        third.reset();
    });
    EXPECT_THAT(fired, ElementsAre(1));
}

TEST(TimerWheel, LetsTheCallbackDestroyTheTimerItself) {
    TimerWheel wheel(0);
    auto* connection = new Connection(1);
    wheel.add(*connection, 100);
    wheel.advance(100, [](TimerNode& node) { delete &static_cast<Connection&>(node); });
}

TEST(TimerWheel, KeepsTheRestWhenACallbackThrows) {
    TimerWheel wheel(0);
    Connection first(1);
    Connection second(2);
    wheel.add(first, 100);
    wheel.add(second, 100);
    EXPECT_THROW(wheel.advance(100, [](TimerNode&) { throw std::runtime_error("x"); }),
                 std::runtime_error);
    EXPECT_THAT(fired_by(wheel, 200), ElementsAre(2));
}

TEST(TimerWheel, DisarmsWhatIsLeftWhenItGoesAway) {
    Connection a(1);
    {
        TimerWheel wheel(0);
        wheel.add(a, 100);
    }
    EXPECT_FALSE(a.is_armed());
}

TEST(TimerWheel, AgreesWithAnOrderedMapOnRandomUse) {
    std::mt19937 random(11);
    TimerWheel wheel(0);
    std::vector<std::unique_ptr<Connection>> connections;
    for (int i = 0; i < 100; ++i) connections.push_back(std::make_unique<Connection>(i));
    std::map<int, std::int64_t> expected;  // name -> tick
    std::int64_t now = 0;
    for (int step = 0; step < 20'000; ++step) {
        const int name = static_cast<int>(random() % 100);
        switch (random() % 4) {
            case 0:
            case 1: {
                const std::int64_t deadline = now + random() % 200'000;
                wheel.add(*connections[name], deadline);
                expected[name] = std::max((deadline + 99) / 100, now / 100 + 1);
                break;
            }
            case 2:
                connections[name]->cancel();
                expected.erase(name);
                break;
            default:
                now += random() % (random() % 50 == 0 ? 100'000 : 500);
                for (const int fired : fired_by(wheel, now)) {
                    ASSERT_TRUE(expected.contains(fired));
                    ASSERT_LE(expected[fired], now / 100);
                    expected.erase(fired);
                }
                for (const auto& [waiting, tick] : expected) ASSERT_GT(tick, now / 100) << waiting;
        }
    }
}

}  // namespace
}  // namespace holdpoint
