#include "api/auth/challenges.h"

#include <gtest/gtest.h>

namespace holdpoint::auth {
namespace {

constexpr Timestamp start{1'800'000'000'000};

TEST(Challenges, X2_are_good_once_for_their_purpose_and_their_time) {
    Challenges challenges;
    const Challenges::Purpose purpose{"decide", "ann approves this"};
    const std::string challenge = challenges.issue(purpose, start);
    EXPECT_FALSE(challenges.take(challenge, {"decide", "ann rejects this"}, start));
    EXPECT_FALSE(challenges.take(challenge, {"sign-in", "ann approves this"}, start));
    EXPECT_FALSE(challenges.take(challenge, purpose, start + Challenges::life_ms));
    EXPECT_TRUE(challenges.take(challenge, purpose, start + Challenges::life_ms + -1));
    EXPECT_FALSE(challenges.take(challenge, purpose, start));
}

TEST(Challenges, one_that_led_to_nothing_can_be_tried_again) {
    Challenges challenges;
    const std::string challenge = challenges.issue({"register", "ann"}, start);
    ASSERT_TRUE(challenges.take(challenge, {"register", "ann"}, start));
    challenges.give_back(challenge);
    EXPECT_TRUE(challenges.take(challenge, {"register", "ann"}, start));
}

TEST(Challenges, no_two_are_alike_and_none_is_known_elsewhere) {
    Challenges challenges, others;
    const Challenges::Purpose purpose{"sign-in", ""};
    const std::string challenge = challenges.issue(purpose, start);
    EXPECT_NE(challenge, challenges.issue(purpose, start));
    EXPECT_FALSE(others.take(challenge, purpose, start)) << "after a restart the key is another";
    for (std::size_t i = 0; i < challenge.size(); ++i) {
        std::string changed = challenge;
        changed[i] = static_cast<char>(changed[i] ^ 1);
        EXPECT_FALSE(challenges.take(changed, purpose, start)) << i;
    }
    EXPECT_FALSE(challenges.take("", purpose, start));
    EXPECT_FALSE(challenges.take(challenge.substr(1), purpose, start));
}

}  // namespace
}  // namespace holdpoint::auth
