#include "api/http/presence.h"

#include <gtest/gtest.h>

namespace holdpoint::api {
namespace {

constexpr Timestamp start{1'800'000'000'000};

PrincipalId person(unsigned char mark) { return {{{mark}}}; }
RequestId request(unsigned char mark) { return {{{mark}}}; }

TEST(Presence, is_kept_while_it_is_said_again) {
    Presence presence;
    EXPECT_TRUE(presence.note(request(1), person(1), "ann", true, start));
    EXPECT_FALSE(presence.note(request(1), person(1), "ann", true, start + 10'000)) << "no news";
    EXPECT_EQ(presence.viewers(request(1), start + 29'999).size(), 1u);
    EXPECT_EQ(presence.viewers(request(1), start + 29'999)[0].since, start);
    EXPECT_TRUE(presence.viewers(request(1), start + 30'000).empty());
    EXPECT_TRUE(presence.viewers(request(2), start).empty());
}

TEST(Presence, who_goes_or_is_not_heard_of_is_forgotten) {
    Presence presence;
    presence.note(request(1), person(1), "ann", true, start);
    presence.note(request(1), person(2), "ben", true, start + 5000);
    presence.note(request(2), person(1), "ann", true, start + 5000);
    EXPECT_FALSE(presence.note(request(1), person(3), "cleo", false, start));
    EXPECT_TRUE(presence.note(request(2), person(1), "ann", false, start + 6000));
    EXPECT_TRUE(presence.forget(start + 19'999).empty());
    EXPECT_EQ(presence.forget(start + 20'000), std::vector<RequestId>{request(1)});
    ASSERT_EQ(presence.viewers(request(1), start + 20'000).size(), 1u);
    EXPECT_EQ(presence.viewers(request(1), start + 20'000)[0].name, "ben");
    presence.forget(start + 60'000);
    EXPECT_TRUE(presence.is_empty());
}

TEST(Presence, has_bounds) {
    Presence presence;
    for (unsigned i = 0; i < Presence::viewers_max + 10; ++i)
        presence.note(request(1), person(static_cast<unsigned char>(i)), "x", true, start);
    EXPECT_EQ(presence.viewers(request(1), start).size(), Presence::viewers_max);
}

}  // namespace
}  // namespace holdpoint::api
