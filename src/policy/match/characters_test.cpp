#include "policy/match/characters.h"

#include <gtest/gtest.h>

namespace holdpoint::policy::match {
namespace {

TEST(Characters, plain_text_of_any_language_is_not_odd) {
    for (const char* text :
         {"", "plain ASCII ~!@#", "naïve", "Straße", "日本語", "привет", "שלום", "🎉"}) {
        EXPECT_FALSE(find_odd_character(text)) << text;
    }
}

TEST(Characters, what_hides_or_misleads_is_found_with_its_place_and_kind) {
    const struct {
        const char* text;
        std::size_t offset;
        char32_t value;
        Oddity oddity;
    } cases[] = {
        {"a\tb", 1, '\t', Oddity::control},
        {"a\nb", 1, '\n', Oddity::control},
        {"\x1b[2K", 0, 0x1B, Oddity::control},
        {"ab\x7f", 2, 0x7F, Oddity::control},
        {"é\u0085", 2, 0x85, Oddity::control},
        {"a\u00a0b", 1, 0xA0, Oddity::space},
        {"a\u00adb", 1, 0xAD, Oddity::invisible},
        {"a\u200bb", 1, 0x200B, Oddity::invisible},
        {"a\u200db", 1, 0x200D, Oddity::invisible},
        {"a\u202eb", 1, 0x202E, Oddity::bidi},
        {"a\u2066b", 1, 0x2066, Oddity::bidi},
        {"a\u200fb", 1, 0x200F, Oddity::bidi},
        {"a\u061cb", 1, 0x61C, Oddity::bidi},
        {"a\u2028b", 1, 0x2028, Oddity::separator},
        {"a\ufeffb", 1, 0xFEFF, Oddity::invisible},
        {"a\ufe0fb", 1, 0xFE0F, Oddity::invisible},
        {"a\u3164b", 1, 0x3164, Oddity::invisible},
        {"a\u3000b", 1, 0x3000, Oddity::space},
        {"a\U000e0041b", 1, 0xE0041, Oddity::invisible},
        {"a\ue000b", 1, 0xE000, Oddity::unassigned},
        {"a\ufffeb", 1, 0xFFFE, Oddity::unassigned},
        {"a\xff", 1, 0xFF, Oddity::not_utf8},
        {"a\xc0\xaf", 1, 0xC0, Oddity::not_utf8},
        {"日\xe6\x97", 3, 0xE6, Oddity::not_utf8},
    };
    for (const auto& c : cases) {
        const auto odd = find_odd_character(c.text);
        ASSERT_TRUE(odd) << c.text;
        EXPECT_EQ(odd->offset, c.offset) << c.text;
        EXPECT_EQ(odd->value, c.value) << c.text;
        EXPECT_EQ(odd->oddity, c.oddity) << c.text;
        EXPECT_FALSE(to_string(odd->oddity).empty());
    }
}

TEST(Characters, the_search_goes_on_behind_a_place) {
    const std::string_view text = "a\nb\u200bc";
    EXPECT_EQ(find_odd_character(text, 0)->offset, 1U);
    EXPECT_EQ(find_odd_character(text, 2)->offset, 3U);
    EXPECT_FALSE(find_odd_character(text, 6));
    EXPECT_FALSE(find_odd_character(text, 100));
}

}  // namespace
}  // namespace holdpoint::policy::match
