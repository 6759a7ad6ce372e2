#include "api/auth/password_tries.h"

#include <gtest/gtest.h>

#include <set>

#include "api/auth/hash_queue.h"

namespace holdpoint::auth {
namespace {

TEST(PasswordTries, X4_guesses_elsewhere_do_not_lock_a_person_out) {
    PasswordTries tries;
    for (int i = 0; i < 5; ++i) EXPECT_FALSE(tries.take("ann", "203.0.113.9", 0));
    EXPECT_EQ(tries.take("ann", "203.0.113.9", 0), 180);
    EXPECT_FALSE(tries.take("ann", "192.0.2.1", 0)) << "who sits elsewhere";
    EXPECT_FALSE(tries.take("ben", "203.0.113.9", 0)) << "who sits beside the guesser";
}

TEST(PasswordTries, X4_a_network_counts_as_one) {
    PasswordTries tries;
    std::set<bool> refused;
    for (int i = 0; i < 6; ++i)
        refused.insert(tries.take("ann", "2001:db8::" + std::to_string(i + 1), 0).has_value());
    EXPECT_TRUE(refused.contains(true));
}

TEST(PasswordTries, X4_many_networks_together_are_bounded) {
    PasswordTries tries;
    int taken = 0;
    for (int i = 0; i < 200; ++i)
        taken += tries.take("ann", "192.0.2." + std::to_string(i), 0) ? 0 : 1;
    EXPECT_EQ(taken, 100);
    EXPECT_FALSE(tries.take("ann", "198.51.100.1", 36'000)) << "and the bound passes";
}

TEST(PasswordTries, who_knows_the_password_is_not_counted) {
    PasswordTries tries;
    for (int i = 0; i < 500; ++i) {
        ASSERT_FALSE(tries.take("ann", "192.0.2.1", 0)) << i;
        tries.give_back("ann", "192.0.2.1", 0);
    }
    for (int i = 0; i < 5; ++i) EXPECT_FALSE(tries.take("ann", "192.0.2.1", 0));
    EXPECT_TRUE(tries.take("ann", "192.0.2.1", 0)) << "what was given back is no more than taken";
}

TEST(HashQueue, X4_takes_so_many_and_then_says_when_to_come_back) {
    std::vector<std::move_only_function<void()>> waiting;
    HashQueue queue(
        [&](std::move_only_function<void()> work, std::move_only_function<void()> then) {
            work();
            waiting.push_back(std::move(then));
        });
    int done = 0;
    for (int i = 0; i < HashQueue::waiting_max; ++i) {
        ASSERT_FALSE(queue.full()) << i;
        queue.run([] {}, [&done] { ++done; });
    }
    ASSERT_TRUE(queue.full());
    EXPECT_EQ(queue.full()->code, ErrorCode::unavailable);
    EXPECT_GT(queue.full()->retry_after_s, 0);
    waiting.front()();
    EXPECT_EQ(done, 1);
    EXPECT_FALSE(queue.full());
}

}  // namespace
}  // namespace holdpoint::auth
