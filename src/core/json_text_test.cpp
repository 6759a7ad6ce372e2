#include "core/json_text.h"

#include <gtest/gtest.h>

#include "base/json.h"

namespace holdpoint::core {
namespace {

TEST(JsonText, a_member_is_found_by_its_own_name_only) {
    const std::string_view text =
        R"({"a":{"b":1,"c":"}"},"b":"\"c\":2,","c":[{"c":3},"]"],"d\"e":4,"e":true,"f":-1.5e-7,"g":null,"h":"","i":{},"j":[]})";
    EXPECT_EQ(member_text(text, "a"), R"({"b":1,"c":"}"})");
    EXPECT_EQ(member_text(text, "b"), R"("\"c\":2,")");
    EXPECT_EQ(member_text(text, "c"), R"([{"c":3},"]"])");
    EXPECT_EQ(member_text(text, R"(d\"e)"), "4");
    EXPECT_EQ(member_text(text, "e"), "true");
    EXPECT_EQ(member_text(text, "f"), "-1.5e-7");
    EXPECT_EQ(member_text(text, "g"), "null");
    EXPECT_EQ(member_text(text, "h"), R"("")");
    EXPECT_EQ(member_text(text, "i"), "{}");
    EXPECT_EQ(member_text(text, "j"), "[]");
    EXPECT_EQ(member_text(text, "k"), "");
    EXPECT_EQ(member_text(text, ""), "");
}

TEST(JsonText, strings_with_escapes_do_not_end_early) {
    EXPECT_EQ(member_text(R"({"a":"\\","b":1})", "b"), "1");
    EXPECT_EQ(member_text(R"({"a":"\\\"","b":1})", "b"), "1");
    EXPECT_EQ(member_text(R"({"a":"{[,","b":{"x":"\\\\"},"c":2})", "c"), "2");
    EXPECT_EQ(member_text(R"({"a\\":1,"b":2})", "b"), "2");
    EXPECT_EQ(member_text("{\"ü\":\"é}\",\"z\":3}", "z"), "3");
    EXPECT_EQ(member_text("{\"ü\":\"é}\",\"z\":3}", "ü"), "\"é}\"");
}

TEST(JsonText, several_members_are_found_at_once) {
    NamedText members[] = {{"c"}, {"x", "absent"}, {"a"}};
    find_members(R"({"a":1,"b":"\"a\":2","c":[{"x":3}]})", members);
    EXPECT_EQ(members[0].text, R"([{"x":3}])");
    EXPECT_EQ(members[1].text, "absent");
    EXPECT_EQ(members[2].text, "1");
}

TEST(JsonText, odd_texts_have_no_members) {
    for (const char* text : {"", "{}", "null", "[]", "7", "\"a\"", "{"})
        EXPECT_EQ(member_text(text, "a"), "") << text;
}

TEST(JsonText, a_member_is_replaced_and_the_rest_stays) {
    const JsonText object{R"({"a":1,"b":{"a":2},"c":"x"})"};
    EXPECT_EQ(with_member(object, "a", R"({"z":[]})").text,
              R"({"a":{"z":[]},"b":{"a":2},"c":"x"})");
    EXPECT_EQ(with_member(object, "b", "null").text, R"({"a":1,"b":null,"c":"x"})");
    EXPECT_EQ(with_member(object, "c", "7").text, R"({"a":1,"b":{"a":2},"c":7})");
    EXPECT_DEATH((void)with_member(object, "d", "7"), "");
}

TEST(JsonText, agrees_with_the_parser_on_many_objects) {
    std::uint64_t state = 7;
    const auto next = [&](std::uint64_t below) {
        state = state * 6364136223846793005ULL + 1442695040888963407ULL;
        return (state >> 33) % below;
    };
    const char* pieces[]{"\"", "\\", "{", "}", "[", "]", ",", ":", "a", "é", "\n", "\x01", "/"};
    const auto text = [&] {
        std::string out;
        for (std::uint64_t n = next(8); n > 0; --n) out += pieces[next(std::size(pieces))];
        return out;
    };
    for (int round = 0; round < 2000; ++round) {
        json::object object;
        for (std::uint64_t n = next(6); n > 0; --n) {
            json::value value;
            switch (next(5)) {
                case 0:
                    value = text();
                    break;
                case 1:
                    value = static_cast<std::int64_t>(next(100));
                    break;
                case 2:
                    value = json::array{text(), nullptr, json::object{{text(), 1}}};
                    break;
                case 3:
                    value = json::object{{text(), text()}};
                    break;
                default:
                    value = next(2) == 0;
                    break;
            }
            object[text()] = std::move(value);
        }
        const std::string canonical = json::canonical(object);
        for (const auto& member : object) {
            std::string quoted;
            json::append_quoted(quoted, {member.key().data(), member.key().size()});
            const std::string key = quoted.substr(1, quoted.size() - 2);
            ASSERT_EQ(member_text(canonical, key), json::canonical(member.value())) << canonical;
            ASSERT_EQ(member_text(with_member({canonical}, key, "17").text, key), "17");
        }
    }
}

}  // namespace
}  // namespace holdpoint::core
