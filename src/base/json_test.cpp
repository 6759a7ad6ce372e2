#include "base/json.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <boost/json/monotonic_resource.hpp>
#include <boost/json/static_resource.hpp>

#include "base/text.h"

namespace holdpoint::json {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string rewritten(std::string_view text) {
    const Result<value> parsed = parse(text);
    return parsed ? canonical(*parsed) : "refused: " + parsed.error().message;
}

Error refusal(std::string_view text, const Limits& limits = {}) {
    const Result<value> parsed = parse(text, limits);
    if (parsed) return {ErrorCode::internal, "accepted as " + canonical(*parsed)};
    return parsed.error();
}

std::string repeated(std::string_view part, std::size_t times) {
    std::string result;
    for (std::size_t i = 0; i < times; ++i) result += part;
    return result;
}

// The numbers are the categories of bad input in the threat catalogue.
struct Bad {
    int category;
    std::string text;
    std::string what;  // the beginning of the message
};

std::ostream& operator<<(std::ostream& out, const Bad& bad) {
    return out << bad.category << ": " << visible(bad.text.substr(0, 80));
}

class BadText : public testing::TestWithParam<Bad> {};

TEST_P(BadText, IsRefusedWithAReasonAndAPlace) {
    const Error error = refusal(GetParam().text);
    EXPECT_EQ(error.code, ErrorCode::invalid_argument) << error.message;
    EXPECT_THAT(error.message, StartsWith(GetParam().what));
    EXPECT_TRUE(is_utf8(error.message));
    EXPECT_TRUE(is_utf8(error.field));
    EXPECT_LE(error.message.size(), 200U);
}

using std::string_literals::operator""s;

INSTANTIATE_TEST_SUITE_P(
    Syntax, BadText,
    testing::Values(
        Bad{1, "", "text is empty"}, Bad{2, " \t\r\n ", "text ends too early at line 2, column 2"},
        Bad{4, "[1,]", "unexpected `]` at line 1, column 4"},
        Bad{4, "{\"a\":1,}", "unexpected `}` at line 1, column 8"},
        Bad{5, "{}x", "more text after the JSON value at line 1, column 3"},
        Bad{5, "{}}", "more text after"}, Bad{5, "[]]", "more text after"},
        Bad{6, "{}{}", "more text after"}, Bad{6, "{}\n{}", "more text after"},
        Bad{7, "/* a */{}", "unexpected `/`"}, Bad{7, "{} // a", "more text after"},
        Bad{7, "[1 /* a */]", "unexpected `/`"}, Bad{8, "{'a':1}", "unexpected `'`"},
        Bad{8, "['a']", "unexpected `'`"}, Bad{9, "{a:1}", "unexpected `a`"},
        Bad{10, "NaN", "unexpected `N`"}, Bad{10, "[Infinity]", "unexpected `I`"},
        Bad{10, "-Infinity", "unexpected `I`"}, Bad{10, "nan", "unexpected `a`"},
        Bad{11, "0x10", "more text after"}, Bad{11, "[017]", "unexpected `1`"},
        Bad{11, "-012", "number `-0` is negative zero"}, Bad{11, "012", "more text after"},
        Bad{11, "00", "more text after"}, Bad{12, "+1", "unexpected `+`"},
        Bad{12, ".5", "unexpected `.`"}, Bad{12, "1.", "text ends too early"},
        Bad{12, "[1.]", "unexpected `]`"}, Bad{12, "[1e]", "unexpected `]`"},
        Bad{12, "[1e+]", "unexpected `]`"}, Bad{12, "-", "text ends too early"},
        Bad{13, "\xEF\xBB\xBF{}", "text starts with a byte"},
        Bad{14, "\xFF\xFE{\0}\0"s, "text is not UTF-8"},
        Bad{14, "\0{\0}"s, "unexpected `<U+0000>`"}, Bad{14, "{\0}\0"s, "unexpected `<U+0000>`"},
        Bad{15, "\"a\x01z\"", "unexpected `<U+0001>`"},
        Bad{15, "\"a\tz\"", "unexpected `<U+0009>`"}, Bad{15, "\"\x1F\"", "unexpected `<U+001F>`"},
        Bad{16, R"("\x41")", "unexpected `x`"}, Bad{16, R"("\u12")", "escape without four"},
        Bad{16, R"("\u12G4")", "escape without four"}, Bad{16, R"("\U0041")", "unexpected `U`"},
        Bad{16, R"("\a")", "unexpected `a`"}, Bad{16, R"("\)", "text ends too early"},
        Bad{17, "\"a\nb\"", "unexpected `<U+000A>` at line 1, column 3"},
        Bad{18, "{}\0"s, "more text after"}, Bad{18, "\"a\0b\""s, "unexpected `<U+0000>`"},
        Bad{21, "\f{}", "unexpected `<U+000C>`"}, Bad{21, "\v{}", "unexpected `<U+000B>`"},
        Bad{21, "\u00A0{}", "unexpected `\u00A0`"},
        Bad{21, "[1,\u2028 2]", "unexpected `<U+2028>`"}, Bad{22, "undefined", "unexpected `u`"},
        Bad{22, "[undefined]", "unexpected `u`"},
        Bad{23, "<?xml version='1.0'?>", "unexpected `<`"}, Bad{23, "a: 1", "unexpected `a`"},
        Bad{23, "- a", "unexpected ` `"}, Bad{23, "\xA1\x61\x61\x01", "text is not UTF-8"},
        Bad{23, "\x16\0\0\0\x02\x61\0"s, "unexpected `<U+0016>`"},
        Bad{24, "\x1F\x8B\x08\0"s, "unexpected `<U+001F>`"}, Bad{22, "True", "unexpected `T`"},
        Bad{22, "[tru]", "unexpected"}, Bad{22, "nulll", "more text after"},
        Bad{4, "[1 2]", "unexpected `2`"}, Bad{4, "{\"a\" 1}", "unexpected `1`"},
        Bad{4, "{\"a\"}", "unexpected `}`"}, Bad{4, "{1:2}", "unexpected `1`"},
        Bad{4, "{,}", "unexpected `,`"}, Bad{4, "[,1]", "unexpected `,`"},
        Bad{4, "[1}", "unexpected `}`"}, Bad{4, "{\"a\":1]", "unexpected `]`"}));

INSTANTIATE_TEST_SUITE_P(
    Structure, BadText,
    testing::Values(Bad{25, R"({"a":1,"a":1})", "duplicate key `a` at line 1, column 9"},
                    Bad{26, R"({"a":1,"\u0061":2})", "duplicate key `a`"},
                    Bad{26, R"({"\u0061b":1,"a\u0062":2})", "duplicate key `ab`"},
                    Bad{26, R"({"/":1,"\/":2})", "duplicate key `/`"},
                    Bad{26, R"({"😀":1,"\ud83d\ude00":2})", "duplicate key `😀`"},
                    Bad{29, R"([{"x":{"k":0,"l":{"k":1},"k":2}}])", "duplicate key `k`"},
                    Bad{30, R"({"":1,"":2})", "duplicate key ``"},
                    Bad{31, R"({"__proto__":1,"__proto__":2})", "duplicate key `__proto__`"},
                    Bad{37, repeated("9", 100'000), "number `9999"},
                    Bad{36, "1" + repeated("0", 200'000), "number"},
                    Bad{36, "1." + repeated("0", 200'000) + "1", "number `1.0000"}));

INSTANTIATE_TEST_SUITE_P(
    Numbers, BadText,
    testing::Values(
        Bad{47, "9007199254740992", "number `9007199254740992` loses precision"},
        Bad{47, "9007199254740993", "number `9007199254740993` loses precision"},
        Bad{47, "-9007199254740993", "number `-9007199254740993` loses precision"},
        Bad{48, "9223372036854775808", "number"}, Bad{48, "18446744073709551616", "number"},
        Bad{48, "-9223372036854775809", "number"}, Bad{49, "1e309", "number `1e309` is beyond"},
        Bad{49, "1e400", "number `1e400` is beyond"}, Bad{49, "-1e400", "number"},
        Bad{49, "1e99999999999", "number beyond the range"},
        Bad{49, "1e2147483647", "number `1e2147483647` is beyond"},
        Bad{50, "1e-400", "number `1e-400` is beyond"}, Bad{50, "4.9e-324", "number"},
        Bad{50, "1e-2147483647", "number"}, Bad{51, "-0", "number `-0` is negative zero"},
        Bad{51, "-0.0", "number `-0.0` is negative zero"}, Bad{51, "-0e5", "number `-0e5`"},
        Bad{52, "0.1000000000000000055", "number `0.1000000000000000055` loses precision"},
        Bad{52, "0.10000000000000001", "number"}, Bad{52, "9007199254740993.0", "number"},
        Bad{52, "333333333.33333329", "number"}, Bad{47, "9007199254740992.0", "number"},
        Bad{47, "1e20", "number `1e20` loses precision"}, Bad{55, "[1 000]", "unexpected `0`"},
        Bad{55, "1'000", "more text after"}, Bad{55, "1_000", "more text after"},
        Bad{56, "\u0661\u0662", "unexpected `\u0661`"}, Bad{56, "\uFF11", "unexpected `\uFF11`"}));

INSTANTIATE_TEST_SUITE_P(
    Unicode, BadText,
    testing::Values(
        Bad{77, "\"\x80\"", "text is not UTF-8 at line 1, column 2"},
        Bad{77, "\"\xC3\"", "text is not UTF-8"}, Bad{77, "\"a\xE2\x82\"", "text is not UTF-8"},
        Bad{77, "{\"\xFF\":1}", "text is not UTF-8"}, Bad{78, "\"\xC0\xAF\"", "text is not UTF-8"},
        Bad{78, "\"\xE0\x80\xAF\"", "text is not UTF-8"},
        Bad{78, "\"\xF0\x80\x80\xAF\"", "text is not UTF-8"},
        Bad{79, "\"\xED\xA0\x80\"", "text is not UTF-8"},
        Bad{79, "\"\xED\xA0\xBD\xED\xB8\x80\"", "text is not UTF-8"},
        Bad{80, "\"\xF4\x90\x80\x80\"", "text is not UTF-8"},
        Bad{80, "\"\xF5\x80\x80\x80\"", "text is not UTF-8"},
        Bad{81, R"("\ud800")", "lone surrogate"}, Bad{81, R"("\uDBFFx")", "lone surrogate"},
        Bad{81, R"("\ud800\n")", "lone surrogate"}, Bad{81, R"("\ud800\u0041")", "lone surrogate"},
        Bad{81, R"({"\ud800":1})", "lone surrogate"}, Bad{81, R"("\udc00")", "lone surrogate"},
        Bad{82, R"("\udc00\ud800")", "lone surrogate"},
        Bad{84, R"("a\u0000b")", "string holds U+0000"},
        Bad{84, R"({"a\u0000b":1})", "string holds U+0000"},
        Bad{84, R"(["x\n\u0000"])", "string holds U+0000"}));

TEST(Parse, RefusesATextThatEndsAnywhereTooEarly) {  // category 3
    const std::string whole = R"({"ä\n":[1.5e2,true,{"b":null}],"c":"\ud83d\ude00€"})";
    ASSERT_TRUE(parse(whole));
    for (std::size_t size = 0; size < whole.size(); ++size) {
        EXPECT_EQ(refusal(whole.substr(0, size)).code, ErrorCode::invalid_argument) << size;
    }
}

TEST(Parse, TakesTopLevelValuesOfEveryKind) {  // categories 19 and 20
    for (const char* text : {"null", "true", "false", "0", "-1", "\"\"", "[]", "{}"}) {
        EXPECT_EQ(rewritten(text), text);
    }
    EXPECT_EQ(rewritten(" \t\r\n[ 1 , 2 ] \n"), "[1,2]");
}

TEST(Parse, KeepsKeysThatOnlyLookAlike) {  // categories 27, 28, 30, 31
    EXPECT_EQ(rewritten(R"({"A":1,"a":2,"":3})"), R"({"":3,"A":1,"a":2})");
    EXPECT_EQ(rewritten("{\"\u00E9\":1,\"e\u0301\":2}"), "{\"e\u0301\":2,\"\u00E9\":1}");
    EXPECT_EQ(rewritten(R"({"prototype":1,"__proto__":2,"constructor":3})"),
              R"({"__proto__":2,"constructor":3,"prototype":1})");
    EXPECT_EQ(rewritten(R"([{"a":{"a":{"a":1}}},{"a":2}])"), R"([{"a":{"a":{"a":1}}},{"a":2}])");
}

TEST(Parse, KeepsNoncharactersAndEscapedControls) {  // categories 83 and 85
    EXPECT_EQ(rewritten("\"\\uFFFE\uFFFF\""), "\"\uFFFE\uFFFF\"");
    EXPECT_EQ(rewritten(R"("\u0001\u007f\b")"), "\"\\u0001\x7F\\b\"");
}

TEST(Parse, TakesNumbersThatADoubleKeepsExactly) {  // categories 47, 49, 50, 53
    EXPECT_EQ(rewritten("[9007199254740991,-9007199254740991]"),
              "[9007199254740991,-9007199254740991]");
    EXPECT_EQ(rewritten("[1e2,100,1E+2,1.0,0.10,0e9,0.0]"), "[100,100,100,1,0.1,0,0]");
    EXPECT_EQ(rewritten("[1e308,5e-324,1e21,1.7976931348623157e308]"),
              "[1e+308,5e-324,1e+21,1.7976931348623157e+308]");
    EXPECT_EQ(rewritten("12500.75"), "12500.75");
    EXPECT_EQ(rewritten("0." + repeated("0", 400) + "1e401"), "1");
}

TEST(Parse, MakesIntegersOfTextWithoutPointAndExponent) {
    EXPECT_TRUE(parse("100")->is_int64());
    EXPECT_TRUE(parse("0")->is_int64());
    EXPECT_TRUE(parse("1e2")->is_double());
    EXPECT_TRUE(parse("1.0")->is_double());
}

TEST(Parse, ReadsDoublesAsTheStandardLibraryDoes) {
    // Boost.JSON itself is off by one unit in the last place for many of these.
    std::mt19937_64 random(7);
    for (int i = 0; i < 20'000; ++i) {
        const double number = std::bit_cast<double>(random());
        if (!std::isfinite(number)) continue;
        std::string text;
        append_number(text, number);
        const Result<value> parsed = parse(text);
        if (std::fabs(number) > 9e15 && std::fabs(number) < 1e21) continue;
        ASSERT_TRUE(parsed) << text;
        ASSERT_EQ(parsed->to_number<double>(), number) << text;
    }
}

TEST(Parse, NamesThePathOfTheOffendingValue) {
    EXPECT_EQ(refusal(R"({"action":{"arguments":{"amount":1,"amount":2}}})").field,
              "action.arguments.amount");
    EXPECT_EQ(refusal(R"({"action":{"arguments":{"z":1,"amount":9007199254740993}}})").field,
              "action.arguments.amount");
    EXPECT_EQ(refusal(R"([0,{"a":1},{"odd key":[true,-0]}])").field, R"([2]["odd key"][1])");
    EXPECT_EQ(refusal(R"({"steps":[{"a":{}},{"b":"\u0000"}]})").field, "steps[1].b");
    EXPECT_EQ(refusal(R"({"a":{"b":1},"c":tru})").field, "c");
    EXPECT_EQ(refusal(R"({"a":{"b":1} "c":1})").field, "");
    EXPECT_EQ(refusal("9007199254740993").field, "");
    EXPECT_EQ(refusal("{} {}").field, "");
}

TEST(Parse, CountsLinesAndColumnsInCodePointsFromOne) {
    EXPECT_THAT(refusal("{\n  \"ä\": 1,\n  \"öü\": -0\n}").message,
                HasSubstr("at line 3, column 9"));
    EXPECT_THAT(refusal("[\n\n\n1 2]").message, HasSubstr("at line 4, column 3"));
    EXPECT_EQ(refusal(R"({"n": 9007199254740993})").message,
              "number `9007199254740993` loses precision beyond ±(2^53-1) at line 1, column 7; "
              "send it as a string");
}

TEST(Parse, ShowsForeignTextShortAndHarmless) {
    const std::string key = "\\u001b[31m\u202E" + repeated("ä", 500);
    const Error error = refusal("{\"" + key + "\":1,\"" + key + "\":2}");
    EXPECT_THAT(error.message, StartsWith("duplicate key `<U+001B>[31m<U+202E>ää"));
    EXPECT_LE(error.message.size(), 130U);
    EXPECT_LE(error.field.size(), 80U);
    EXPECT_TRUE(is_utf8(error.message) && is_utf8(error.field));
    EXPECT_THAT(error.field, StartsWith("[\"<U+001B>[31m<U+202E>ää"));
    EXPECT_LE(refusal(repeated("9", 1000)).message.size(), 180U);
}

TEST(Parse, AllowsWhatIsExactlyAtTheLimit) {  // categories 32 to 35 and 38
    const auto nested = [](std::size_t depth) {
        return repeated("[", depth) + repeated("]", depth);
    };
    EXPECT_TRUE(parse(nested(32)));
    EXPECT_EQ(refusal(nested(33)).code, ErrorCode::too_large);
    EXPECT_EQ(refusal(repeated("{\"a\":", 33) + "1" + repeated("}", 33)).code,
              ErrorCode::too_large);
    EXPECT_TRUE(parse("\"" + repeated("x", 65536) + "\""));
    EXPECT_EQ(refusal("\"" + repeated("x", 65537) + "\"").code, ErrorCode::too_large);
    EXPECT_EQ(refusal("\"" + repeated("\\n", 65537) + "\"").code, ErrorCode::too_large);
    EXPECT_EQ(refusal("{\"" + repeated("x", 65537) + "\":1}").code, ErrorCode::too_large);
    EXPECT_TRUE(parse("[" + repeated("1,", 9998) + "1]"));
    EXPECT_EQ(refusal("[" + repeated("1,", 9999) + "1]").code, ErrorCode::too_large);
    EXPECT_EQ(refusal("[" + repeated("[],", 9999) + "1]").code, ErrorCode::too_large);

    const auto object_of = [](int keys) {
        std::string text = "{";
        for (int i = 0; i < keys; ++i) text += "\"k" + std::to_string(i) + "\":1,";
        text.back() = '}';
        return text;
    };
    EXPECT_TRUE(parse(object_of(512)));
    EXPECT_EQ(refusal(object_of(513)).code, ErrorCode::too_large);

    const Limits small{.bytes_max = 10};
    EXPECT_TRUE(parse("[1,2,3,45]", small));
    EXPECT_EQ(refusal("[1,2,3,456]", small).code, ErrorCode::too_large);
}

TEST(Parse, RefusesEnormousNestingWithoutUsingTheStack) {
    const Limits wide{.bytes_max = 4'000'000};
    for (const std::size_t depth : {1'000U, 1'000'000U}) {
        const Error error = refusal(repeated("[", depth), wide);
        EXPECT_EQ(error.code, ErrorCode::too_large);
        EXPECT_THAT(error.message, StartsWith("nested deeper than 32 levels at line 1, column 33"));
    }
}

TEST(Parse, FindsADuplicateAmongHundredsOfKeys) {
    std::string text = "{";
    for (int i = 0; i < 400; ++i) text += "\"key-number-" + std::to_string(i) + "\":{\"a\":1},";
    EXPECT_TRUE(parse(text + "\"z\":1}"));
    EXPECT_THAT(refusal(text + "\"key-number-17\":1}").message,
                StartsWith("duplicate key `key-number-17`"));
}

TEST(Parse, TakesExactlyTheUtf8ThatTheStandardAllows) {
    // All sequences of up to three bytes around the borders that validators get wrong.
    const std::vector<unsigned char> bytes = {0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF,
                                              0xC0, 0xC1, 0xC2, 0xDF, 0xE0, 0xE1, 0xEC, 0xED,
                                              0xEE, 0xEF, 0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xFF};
    for (const unsigned char a : bytes) {
        for (const unsigned char b : bytes) {
            for (const unsigned char c : bytes) {
                for (const std::size_t padding : {0U, 14U}) {
                    const std::string inner{static_cast<char>(a), static_cast<char>(b),
                                            static_cast<char>(c), static_cast<char>(0x80)};
                    const std::string text = "\"" + std::string(padding, 'x') + inner + "\"";
                    ASSERT_EQ(parse(text).has_value(), is_utf8(inner)) << visible(inner);
                }
            }
        }
    }
}

TEST(Parse, KeepsNothingOfARefusedTextInItsStorage) {
    for (int i = 0; i < 3; ++i) {
        boost::json::monotonic_resource memory;
        EXPECT_FALSE(
            parse(R"({"a":["long enough to need memory of its own",{"b":1}],"a":1})", {}, &memory));
    }
    EXPECT_EQ(rewritten(R"({"a":[1]})"), R"({"a":[1]})");
}

TEST(Parse, PutsTheValueIntoTheGivenStorage) {
    boost::json::monotonic_resource memory;
    const Result<value> parsed = parse(R"({"a":["x"]})", {}, &memory);
    ASSERT_TRUE(parsed);
    EXPECT_EQ(parsed->storage().get(), &memory);
    EXPECT_EQ(parsed->at("a").storage().get(), &memory);
}

TEST(Parse, AnswersUnavailableWhenTheStorageIsFull) {
    unsigned char buffer[64];
    boost::json::static_resource memory(buffer, sizeof buffer);
    const Result<value> parsed = parse("[\"" + repeated("x", 500) + "\"]", {}, &memory);
    ASSERT_FALSE(parsed);
    EXPECT_EQ(parsed.error().code, ErrorCode::unavailable);
    EXPECT_EQ(rewritten("[1]"), "[1]");
}

TEST(Parse, WorksOnSeveralThreadsAtOnce) {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([t] {
            const std::string text = "{\"a\\n\":[" + std::to_string(t) + ",{\"b\":1.5}]}";
            for (int i = 0; i < 500; ++i) ASSERT_EQ(rewritten(text), text);
        });
    }
}

TEST(Canonical, SortsKeysByUtf16CodeUnits) {
    // The emoji is a surrogate pair from 0xD83D on and so comes before U+FB33, not after it.
    EXPECT_EQ(rewritten("{\"\u20ac\":0,\"\\r\":1,\"\ufb33\":2,\"1\":3,\"\U0001f600\":4,"
                        "\"\u0080\":5,\"\u00f6\":6}"),
              "{\"\\r\":1,\"1\":3,\"\u0080\":5,\"\u00f6\":6,\"\u20ac\":0,\"\U0001f600\":4,"
              "\"\ufb33\":2}");
    EXPECT_EQ(rewritten("{\"\uFFFF\":1,\"\U0010FFFF\":2,\"\uE000\":3,\"\uD7FF\":4}"),
              "{\"\uD7FF\":4,\"\U0010FFFF\":2,\"\uE000\":3,\"\uFFFF\":1}");
    EXPECT_EQ(rewritten("{\"x\uFF5E\":1,\"x\U00010000\":2,\"x\":3}"),
              "{\"x\":3,\"x\U00010000\":2,\"x\uFF5E\":1}");
    EXPECT_EQ(rewritten(R"({"aa":1,"a":2,"B":3,"b":{"d":1,"c":2}})"),
              R"({"B":3,"a":2,"aa":1,"b":{"c":2,"d":1}})");
}

TEST(Canonical, KeepsTheOrderOfArrays) { EXPECT_EQ(rewritten("[3, 1, [2]]"), "[3,1,[2]]"); }

TEST(Canonical, EscapesOnlyWhatItMust) {
    EXPECT_EQ(rewritten(R"("\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/\b\t\f\r\u001b")"),
              "\"€$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\\b\\t\\f\\r\\u001b\"");
    std::string out;
    append_quoted(out, "12345678\x7F\u2028<>&\u0080plain text that is long");
    EXPECT_EQ(out, "\"12345678\x7F\u2028<>&\u0080plain text that is long\"");
}

TEST(Canonical, EscapesAtEveryPositionOfAWord) {
    for (const std::string bad : {"\"", "\\", "\x1F", "\x01"}) {
        for (std::size_t before = 0; before < 20; ++before) {
            const std::string text = std::string(before, 'x') + bad + std::string(9, '~');
            std::string out;
            append_quoted(out, text);
            const Result<value> parsed = parse(out);
            ASSERT_TRUE(parsed) << out;
            EXPECT_EQ(std::string_view(parsed->get_string()), text);
        }
    }
}

TEST(Canonical, WritesJsonEvenForBytesThatAreNotUtf8) {
    std::string out;
    append_quoted(out, "a\xFF\xC3z\xED\xA0\x80");
    EXPECT_EQ(out, "\"a\uFFFD\uFFFDz\uFFFD\uFFFD\uFFFD\"");
}

TEST(CanonicalDeathTest, StopsAtNumbersThatJsonCannotCarry) {
    EXPECT_DEATH(canonical(value(std::int64_t{1} << 53)), "broken invariant");
    EXPECT_DEATH(canonical(value(std::uint64_t{1} << 63)), "broken invariant");
    EXPECT_DEATH(canonical(value(std::numeric_limits<double>::infinity())), "broken invariant");
}

/// Random values with keys and strings that have every kind of escape and script in them.
class Dice {
  public:
    explicit Dice(std::uint64_t seed) : random_(seed) {}

    value any(int depth) {
        switch (random_() % (depth > 0 ? 8 : 6)) {
            case 0:
                return nullptr;
            case 1:
                return random_() % 2 == 0;
            case 2:
                return static_cast<std::int64_t>(random_() >> 11) * (random_() % 2 == 0 ? 1 : -1);
            case 3:
                return real();
            case 4:
                return static_cast<std::int64_t>(random_() % 100);
            case 5:
                return boost::json::string(text());
            case 6: {
                array result;
                for (std::uint64_t n = random_() % 6; n > 0; --n) result.push_back(any(depth - 1));
                return result;
            }
            default: {
                object result;
                for (std::uint64_t n = random_() % 9; n > 0; --n) result[text()] = any(depth - 1);
                return result;
            }
        }
    }

  private:
    double real() {
        const double number = std::bit_cast<double>(random_());
        const double size = std::fabs(number);
        const bool has_form = std::isfinite(number) && (size < 9e15 || size >= 1e21);
        return has_form ? number : static_cast<double>(random_() % 100'000) / 100;
    }

    std::string text() {
        static const std::vector<std::string> pieces = {
            "a",      "B",      "0",     "\"",         "\\",
            "\n",     "\x01",   "\x7F",  "ä",          "€",
            "\uFFFD", "\uE000", "😀",    "\U0010FFFF", "some longer plain text",
            "/",      " ",      "\u2028"};
        std::string result;
        for (std::uint64_t n = random_() % 7; n > 0; --n) {
            result += pieces[random_() % pieces.size()];
        }
        return result;
    }

    std::mt19937_64 random_;
};

TEST(Canonical, IsAFixedPointForRandomValues) {
    Dice dice(20);
    for (int i = 0; i < 3'000; ++i) {
        const std::string once = canonical(dice.any(5));
        const Result<value> parsed = parse(once);
        ASSERT_TRUE(parsed) << once << "\n" << parsed.error().message;
        ASSERT_EQ(canonical(*parsed), once);
    }
}

}  // namespace
}  // namespace holdpoint::json
