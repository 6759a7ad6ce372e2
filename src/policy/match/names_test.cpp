#include "policy/match/names.h"

#include <vector>

#include <gtest/gtest.h>

namespace holdpoint::policy::match {
namespace {

TEST(Names, ordinary_names_are_ordinary) {
    for (const char* name :
         {"Bash", "process_refund", "cms.getPage", "mcp__server__tool", "a-b:c/d", "tool2"}) {
        EXPECT_EQ(flaw_of_name(name), NameFlaw::none) << name;
    }
}

TEST(Names, odd_names_are_flagged) {
    const struct {
        const char* title;
        std::string name;
        NameFlaw flaw;
    } cases[] = {
        {"empty", "", NameFlaw::empty},
        {"zero width", "process\u200b_refund", NameFlaw::odd_character},
        {"right to left", "process\u202e_refund", NameFlaw::odd_character},
        {"newline", "process_refund\n", NameFlaw::odd_character},
        {"unusual space", "process\u00a0refund", NameFlaw::odd_character},
        {"not UTF-8", "process\xff", NameFlaw::odd_character},
        {"blank", "process refund", NameFlaw::blank},
        {"trailing blank", "Bash ", NameFlaw::blank},
        {"one Cyrillic letter", "pr\u043ecess_refund", NameFlaw::mixed_script},
        {"one Greek letter", "Ba\u03c3h", NameFlaw::mixed_script},
        {"all Cyrillic", "\u0430\u0441\u0435", NameFlaw::non_ascii},
        {"an accent", "rembours\u00e9", NameFlaw::non_ascii},
        {"full width", "\uff22\uff41\uff53\uff48", NameFlaw::non_ascii},
        {"too long", std::string(201, 'a'), NameFlaw::too_long},
    };
    for (const auto& c : cases) {
        EXPECT_EQ(flaw_of_name(c.name), c.flaw) << c.title;
        EXPECT_FALSE(to_string(c.flaw).empty());
    }
}

TEST(Names, a_look_alike_is_recognised) {
    const std::vector<std::string> known = {"process_refund", "Bash", "Read", "send_payment",
                                            "delete_file"};
    const struct {
        const char* title;
        const char* name;
        const char* like;
    } cases[] = {
        {"Cyrillic o", "pr\u043ecess_refund", "process_refund"},
        {"Cyrillic a", "B\u0430sh", "Bash"},
        {"full width", "\uff22\uff41\uff53\uff48", "Bash"},
        {"mathematical bold", "\U0001d401\U0001d41a\U0001d42c\U0001d421", "Bash"},
        {"zero width", "Ba\u200bsh", "Bash"},
        {"combining mark", "Ba\u0301sh", "Bash"},
        {"accent", "B\u00e1sh", "Bash"},
        {"case", "BASH", "Bash"},
        {"another dash", "process-refund", "process_refund"},
        {"a long dash", "process\u2014refund", "process_refund"},
        {"zero for o", "pr0cess_refund", "process_refund"},
        {"one for l", "de1ete_file", "delete_file"},
        {"capital i for l", "deIete_file", "delete_file"},
        {"rn for m", "send_payrnent", "send_payment"},
        {"dotless i", "delete_f\u0131le", "delete_file"},
    };
    for (const auto& c : cases) {
        const auto like = looks_like(c.name, known);
        ASSERT_TRUE(like) << c.title;
        EXPECT_EQ(*like, c.like) << c.title;
    }
}

TEST(Names, what_is_known_or_different_looks_like_nothing) {
    const std::vector<std::string> known = {"process_refund", "Bash", "bash"};
    EXPECT_FALSE(looks_like("Bash", known));
    EXPECT_FALSE(looks_like("bash", known));
    EXPECT_FALSE(looks_like("process_refunds", known));
    EXPECT_FALSE(looks_like("Basher", known));
    EXPECT_FALSE(looks_like("", known));
}

}  // namespace
}  // namespace holdpoint::policy::match
