#include "base/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace holdpoint {
namespace {

using std::string_literals::operator""s;
using testing::ElementsAre;
using testing::Pair;

TEST(Utf8, TakesTheFirstAndLastOfEveryLength) {
    for (const char* text : {"", "\x01", "\x7F", "\u0080", "\u07FF", "\u0800", "\uD7FF", "\uE000",
                             "\uFFFF", "\U00010000", "\U0010FFFF", "plain", "12345678ä€😀"}) {
        EXPECT_TRUE(is_utf8(text)) << text;
    }
}

TEST(Utf8, RefusesWhatIsNoCodePoint) {  // categories 77 to 80
    for (const char* text :
         {"\x80", "\xBF", "\xC0\x80", "\xC1\xBF", "\xC2", "\xC2\x41", "\xE0\x9F\xBF", "\xE2\x82",
          "\xED\xA0\x80", "\xED\xBF\xBF", "\xF0\x8F\xBF\xBF", "\xF4\x90\x80\x80",
          "\xF5\x80\x80\x80", "\xFF", "12345678\xFE", "1234567\xF0\x9F\x98"}) {
        EXPECT_FALSE(is_utf8(text));
    }
    EXPECT_EQ(utf8_prefix("abcdefghä\xFFz"), 10U);
}

TEST(CutUtf8, NeverSplitsACodePoint) {
    EXPECT_EQ(cut_utf8("hello", 5), "hello");
    EXPECT_EQ(cut_utf8("hello!", 5), "he…");
    EXPECT_EQ(cut_utf8("ääää", 7), "ää…");
    EXPECT_EQ(cut_utf8("ääää", 6), "ä…");
    EXPECT_EQ(cut_utf8("😀😀", 7), "😀…");
    EXPECT_EQ(cut_utf8("😀😀", 6), "…");
    EXPECT_EQ(cut_utf8("😀", 2), "");
    EXPECT_EQ(cut_utf8("ab", 1), "a");
    for (std::size_t limit = 0; limit < 20; ++limit) {
        const std::string cut = cut_utf8("aä€😀aä€😀aä€😀", limit);
        EXPECT_LE(cut.size(), limit);
        EXPECT_TRUE(is_utf8(cut));
    }
}

TEST(Visible, LeavesOrdinaryTextAlone) {
    const std::string text = "Refund 1 < 2 & 3 > 2, für Zoë, 日本語, עברית, 😀 <U <b>";
    EXPECT_EQ(visible(text), text);
    EXPECT_EQ(visible(""), "");
}

TEST(Visible, ShowsWhatSteersOrHides) {  // categories 85 to 96, 100 to 102, 123 to 126
    const std::pair<std::string, std::string> samples[] = {
        {"\0"s, "<U+0000>"},
        {"a\tb", "a<U+0009>b"},
        {"a\r\nb", "a<U+000D><U+000A>b"},
        {"\x1B[2J", "<U+001B>[2J"},
        {"\x7F", "<U+007F>"},
        {"\u0085\u009B", "<U+0085><U+009B>"},
        {"\u00AD", "<U+00AD>"},
        {"\u061C", "<U+061C>"},
        {"\u200B\u200C\u200D\u200E\u200F", "<U+200B><U+200C><U+200D><U+200E><U+200F>"},
        {"\u2028\u2029", "<U+2028><U+2029>"},
        {"\u202A\u202B\u202C\u202D\u202E", "<U+202A><U+202B><U+202C><U+202D><U+202E>"},
        {"\u2060\u2066\u2067\u2068\u2069", "<U+2060><U+2066><U+2067><U+2068><U+2069>"},
        {"\u2800\u3164\u115F\uFFA0", "<U+2800><U+3164><U+115F><U+FFA0>"},
        {"\uE000\uF8FF", "<U+E000><U+F8FF>"},
        {"\uFE00\uFE0F", "<U+FE00><U+FE0F>"},
        {"\uFEFF", "<U+FEFF>"},
        {"\uFDD0\uFFFE\U0001FFFF", "<U+FDD0><U+FFFE><U+1FFFF>"},
        {"\U000E0041\U000E0100", "<U+E0041><U+E0100>"},
        {"\U000F0000\U0010FFFD", "<U+F0000><U+10FFFD>"},
        {"a\xFFz", "a<0xFF>z"},
    };
    for (const auto& [text, shown] : samples) EXPECT_EQ(visible(text), shown);
}

TEST(Visible, KeepsNewlinesOnlyWhenAsked) {
    EXPECT_EQ(visible("a\nb\tc\r\n", Newlines::keep), "a\nb<U+0009>c<U+000D>\n");
}

TEST(Visible, CannotBeImitated) {
    EXPECT_EQ(visible("<U+202E>"), "<U+003C>U+202E>");
    EXPECT_EQ(visible("<0xFF>"), "<U+003C>0xFF>");
    EXPECT_NE(visible("<U+003C>U+202E>"), visible("<U+202E>"));
}

TEST(Visible, ShowsEveryCodePointEitherItselfOrByNumber) {
    for (char32_t value = 0; value <= 0x10FFFF; ++value) {
        if (value >= 0xD800 && value <= 0xDFFF) continue;
        std::string text;
        if (value < 0x80) {
            text = {static_cast<char>(value)};
        } else if (value < 0x800) {
            text = {static_cast<char>(0xC0 | value >> 6), static_cast<char>(0x80 | (value & 63))};
        } else if (value < 0x10000) {
            text = {static_cast<char>(0xE0 | value >> 12),
                    static_cast<char>(0x80 | (value >> 6 & 63)),
                    static_cast<char>(0x80 | (value & 63))};
        } else {
            text = {static_cast<char>(0xF0 | value >> 18),
                    static_cast<char>(0x80 | (value >> 12 & 63)),
                    static_cast<char>(0x80 | (value >> 6 & 63)),
                    static_cast<char>(0x80 | (value & 63))};
        }
        ASSERT_EQ(first_code_point(text).value, value);
        const std::string shown = visible(text);
        ASSERT_TRUE(shown == text || shown.starts_with("<U+")) << shown;
        ASSERT_EQ(visible(shown) == shown, shown == text) << shown;
    }
}

TEST(Text, PercentEncodedTextIsOnePartOfAnAddressAndComesBack) {
    EXPECT_EQ(percent_encode("req_1-aB"), "req_1-aB");
    EXPECT_EQ(percent_encode(".."), "%2E%2E");
    EXPECT_EQ(percent_encode("a/b?c=%d&e +ä"), "a%2Fb%3Fc%3D%25d%26e%20%2B%C3%A4");
    EXPECT_EQ(*percent_decode(percent_encode("\xff\n~")), "\xff\n~");
}

TEST(PercentDecode, UndoesEscapesOfBothCases) {
    EXPECT_EQ(*percent_decode("a%20b%2fc%2F"), "a b/c/");
    EXPECT_EQ(*percent_decode("%C3%A4%00"), "ä\0"s);
    EXPECT_EQ(*percent_decode("%2541"), "%41");
    EXPECT_EQ(*percent_decode(""), "");
}

TEST(PercentDecode, TakesPlusAsSpaceOnlyWhenAsked) {
    EXPECT_EQ(*percent_decode("a+b"), "a+b");
    EXPECT_EQ(*percent_decode("a+b%2B", Plus::space), "a b+");
}

TEST(PercentDecode, RefusesIncompleteEscapes) {  // category 171
    for (const char* text :
         {"%", "%4", "a%", "a%4", "%4G", "%G4", "%%41", "% 41", "%u0041", "%-1"}) {
        const Result<std::string> decoded = percent_decode(text);
        ASSERT_FALSE(decoded) << text;
        EXPECT_EQ(decoded.error().code, ErrorCode::invalid_argument);
    }
    EXPECT_EQ(percent_decode("ab%\x01z").error().message, "bad percent escape `%<U+0001>z`");
}

TEST(ParseQuery, KeepsRepeatedNamesInOrder) {  // categories 169 and 170
    EXPECT_THAT(*parse_query("a=1&b=2&a=3&a[]=4"),
                ElementsAre(Pair("a", "1"), Pair("b", "2"), Pair("a", "3"), Pair("a[]", "4")));
}

TEST(ParseQuery, DecodesNamesAndValues) {
    EXPECT_THAT(*parse_query("na+me=a%26b%3D+c&%C3%A4=x=y"),
                ElementsAre(Pair("na me", "a&b= c"), Pair("ä", "x=y")));
}

TEST(ParseQuery, TakesMissingValuesAndSkipsEmptyParts) {
    EXPECT_THAT(*parse_query("&&a&b=&=c&"),
                ElementsAre(Pair("a", ""), Pair("b", ""), Pair("", "c")));
    EXPECT_TRUE(parse_query("")->empty());
}

TEST(ParseQuery, RefusesBadEscapesBadTextAndNul) {  // categories 164, 165, 171
    for (const char* text : {"a=%", "%zz=1", "a=%FF", "%C0%AF=1", "a=%00", "a=b&c=%ED%A0%80"}) {
        const auto parsed = parse_query(text);
        ASSERT_FALSE(parsed) << text;
        EXPECT_EQ(parsed.error().code, ErrorCode::invalid_argument);
    }
    EXPECT_EQ(parse_query("state=pending&limit=%").error().field, "limit");
}

}  // namespace
}  // namespace holdpoint
