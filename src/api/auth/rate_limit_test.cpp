#include "api/auth/rate_limit.h"

#include <gtest/gtest.h>

#include "api/auth/caller.h"
#include "api/auth/secrets.h"
#include "base/sha256.h"

namespace holdpoint::auth {
namespace {

TEST(RateLimit, X4_a_burst_passes_and_then_one_per_interval) {
    RateLimit limit({2, 3});
    for (int i = 0; i < 3; ++i) EXPECT_FALSE(limit.take("a", 0)) << i;
    EXPECT_EQ(limit.take("a", 0), 1);
    EXPECT_TRUE(limit.take("a", 499));
    EXPECT_FALSE(limit.take("a", 500));
    EXPECT_TRUE(limit.take("a", 500));
}

TEST(RateLimit, X4_says_how_long_to_wait) {
    RateLimit limit({0.1, 1});
    EXPECT_FALSE(limit.take("a", 0));
    EXPECT_EQ(limit.take("a", 0), 10);
    EXPECT_EQ(limit.take("a", 7500), 3);
    EXPECT_FALSE(limit.take("a", 10'000));
}

TEST(RateLimit, buckets_do_not_share) {
    RateLimit limit({1, 1});
    EXPECT_FALSE(limit.take("a", 0));
    EXPECT_FALSE(limit.take("b", 0));
    EXPECT_TRUE(limit.take("a", 0));
}

TEST(RateLimit, a_bucket_does_not_fill_beyond_its_burst) {
    RateLimit limit({1, 2});
    EXPECT_FALSE(limit.take("a", 0));
    EXPECT_FALSE(limit.take("a", 3'600'000));
    EXPECT_FALSE(limit.take("a", 3'600'000));
    EXPECT_TRUE(limit.take("a", 3'600'000));
}

TEST(RateLimit, looking_takes_nothing) {
    RateLimit limit({1, 1});
    for (int i = 0; i < 10; ++i) EXPECT_FALSE(limit.blocked("a", 0));
    EXPECT_FALSE(limit.take("a", 0));
    EXPECT_EQ(limit.blocked("a", 0), 1);
    EXPECT_FALSE(limit.blocked("a", 1000));
}

TEST(RateLimit, what_is_given_back_can_be_taken_again) {
    RateLimit limit({1, 2});
    limit.give_back("a", 0);
    EXPECT_FALSE(limit.take("a", 0));
    EXPECT_FALSE(limit.take("a", 0));
    EXPECT_TRUE(limit.take("a", 0));
    limit.give_back("a", 0);
    EXPECT_FALSE(limit.take("a", 0));
    EXPECT_TRUE(limit.take("a", 0));
    for (int i = 0; i < 10; ++i) limit.give_back("a", 0);
    EXPECT_FALSE(limit.take("a", 0));
    EXPECT_FALSE(limit.take("a", 0));
    EXPECT_TRUE(limit.take("a", 0)) << "a bucket holds no more than its burst";
}

TEST(RateLimit, zero_means_no_limit) {
    RateLimit limit({0, 1});
    for (int i = 0; i < 1000; ++i) EXPECT_FALSE(limit.take("a", 0));
    EXPECT_FALSE(limit.blocked("a", 0));
}

TEST(RateLimit, time_that_runs_back_gives_nothing) {
    RateLimit limit({1, 1});
    EXPECT_FALSE(limit.take("a", 10'000));
    EXPECT_TRUE(limit.take("a", 5000));
}

TEST(RateLimit, memory_is_bounded_and_full_buckets_go_first) {
    RateLimit limit({1, 1}, 3);
    EXPECT_FALSE(limit.take("old1", 0));
    EXPECT_FALSE(limit.take("old2", 0));
    EXPECT_FALSE(limit.take("busy", 5000));
    EXPECT_FALSE(limit.take("new", 5000)) << "the old ones are full again and make room";
    EXPECT_TRUE(limit.take("busy", 5000)) << "the busy one is not forgotten";
}

TEST(Caller, X1_each_need_is_met_by_these_roles_only) {
    using store::Role;
    struct Row {
        Need need;
        bool agent, approver, auditor, admin;
    };
    const Row table[]{
        {Need::nothing, true, true, true, true},    {Need::anybody, true, true, true, true},
        {Need::propose, true, false, false, false}, {Need::decide, false, true, false, true},
        {Need::oversee, false, true, true, true},   {Need::audit, false, false, true, true},
        {Need::admin, false, false, false, true},
    };
    for (const Row& row : table) {
        EXPECT_EQ(may(Role::agent, row.need), row.agent);
        EXPECT_EQ(may(Role::approver, row.need), row.approver);
        EXPECT_EQ(may(Role::auditor, row.need), row.auditor);
        EXPECT_EQ(may(Role::admin, row.need), row.admin);
    }
}

TEST(Secrets, X3_keys_have_their_form_and_differ) {
    const Secret key = new_key(store::Role::approver);
    EXPECT_TRUE(key.text.starts_with("hp_approver_"));
    EXPECT_EQ(key.text.size(), std::string("hp_approver_").size() + 43);
    EXPECT_EQ(key.hash, hash_of(key.text));
    EXPECT_EQ(key.hash.size(), 32u);
    EXPECT_TRUE(key.text.starts_with(key.hint));
    EXPECT_LT(key.hint.size(), 20u);
    EXPECT_TRUE(looks_like_key(key.text));
    EXPECT_NE(new_key(store::Role::approver).text, key.text);
    EXPECT_EQ(new_token().text.size(), 43u);
}

TEST(Secrets, only_our_form_is_looked_up) {
    const std::string key = new_key(store::Role::agent).text;
    for (const std::string& text :
         {std::string(), std::string("hp_"), std::string("hp_agent_"), key + "x",
          key.substr(0, key.size() - 1), "xp_" + key.substr(3), new_token().text})
        EXPECT_FALSE(looks_like_key(text)) << text;
}

TEST(Secrets, X3_a_password_is_stored_as_argon2id_and_checked) {
    const Result<std::string> hash = hash_password("correct horse");
    ASSERT_TRUE(hash);
    EXPECT_TRUE(hash->starts_with("$argon2id$"));
    EXPECT_TRUE(is_password(*hash, "correct horse"));
    EXPECT_FALSE(is_password(*hash, "correct horsE"));
    EXPECT_FALSE(is_password("", "")) << "no password is not the empty password";
}

TEST(Secrets, are_compared_whole) {
    EXPECT_TRUE(equal_secret("abc", "abc"));
    EXPECT_FALSE(equal_secret("abc", "abd"));
    EXPECT_FALSE(equal_secret("abc", "ab"));
    EXPECT_FALSE(equal_secret("", "a"));
}

TEST(RateLimit, X4_what_was_charged_beyond_the_bucket_is_waited_for_and_not_forgotten) {
    RateLimit limit({1, 2}, 3);
    limit.charge("busy", 12, 0);
    EXPECT_EQ(limit.take("busy", 0), 11);
    EXPECT_FALSE(limit.take("second", 5000));
    EXPECT_FALSE(limit.take("third", 5000));
    EXPECT_FALSE(limit.take("fourth", 8000)) << "makes room by dropping what is full again";
    EXPECT_EQ(limit.take("busy", 8000), 3);
    EXPECT_FALSE(limit.take("busy", 11'000));
}

}  // namespace
}  // namespace holdpoint::auth
