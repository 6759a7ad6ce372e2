#include <gtest/gtest.h>

#include "base/json.h"
#include "base/text.h"
#include "cli/detail.h"
#include "cli/diff.h"
#include "cli/duration.h"
#include "cli/json_text.h"
#include "cli/marks.h"
#include "cli/output.h"
#include "cli/resource.h"
#include "cli/style.h"

namespace holdpoint::cli {
namespace {

class Utf8 : public ::testing::Test {
  protected:
    void SetUp() override { use_utf8_locale(); }
};
using Width = Utf8;
using Wrap = Utf8;
using Tables = Utf8;

std::string joined(const Line& line) {
    std::string text;
    for (const Span& span : line) text += span.text;
    return text;
}

TEST(Duration, ReadsWhatPeopleWrite) {
    EXPECT_EQ(*parse_duration_s("90s"), 90);
    EXPECT_EQ(*parse_duration_s("5m"), 300);
    EXPECT_EQ(*parse_duration_s("1h30m"), 5400);
    EXPECT_EQ(*parse_duration_s("2d"), 172'800);
    EXPECT_EQ(*parse_duration_s("1d2h3m4s"), 93'784);
    EXPECT_EQ(*parse_duration_s("45"), 45);
    EXPECT_EQ(*parse_duration_s("0"), 0);
}

TEST(Duration, RefusesWhatCouldMeanTwoThings) {
    for (const char* text : {"", "m", "5x", "1h30", "30m1h", "5m5m", "-5m", "1.5h", "5 m", " 5m",
                             "99999999999999999999s", "9999999d"})
        EXPECT_FALSE(parse_duration_s(text)) << text;
}

TEST(Duration, IsShortInAColumn) {
    EXPECT_EQ(short_duration(-5), "0s");
    EXPECT_EQ(short_duration(59'999), "59s");
    EXPECT_EQ(short_duration(252'000), "4:12");
    EXPECT_EQ(short_duration(7'500'000), "2h05");
    EXPECT_EQ(short_duration(3 * 86'400'000LL), "3d");
}

TEST_F(Width, CountsColumnsNotBytes) {
    EXPECT_EQ(width("abc"), 3);
    EXPECT_EQ(width("12 €"), 4);
    EXPECT_EQ(width("日本"), 4);
    EXPECT_EQ(width("e\u0301"), 1);
}

TEST_F(Width, FitPadsAndCutsToExactlyTheColumns) {
    for (const char* text : {"", "abc", "€€€€€€€€", "日本語日本語", "a日b本c", "e\u0301e\u0301"})
        for (int columns = 1; columns < 10; ++columns)
            EXPECT_EQ(width(fit(text, columns)), columns) << text << " in " << columns;
    EXPECT_EQ(fit("abcdef", 4), "abc…");
    EXPECT_EQ(fit_right("7", 3), "  7");
}

TEST_F(Wrap, KeepsWordsWholeAndIndentsWhatFollows) {
    const std::vector<Line> lines = wrap({{Style::plain, "  one two three four"}}, 12, 4);
    ASSERT_EQ(lines.size(), 3u);
    EXPECT_EQ(joined(lines[0]), "  one two ");
    EXPECT_EQ(joined(lines[1]), "    three ");
    EXPECT_EQ(joined(lines[2]), "    four");
}

TEST_F(Wrap, NeverPassesTheEdgeAndLosesNothingButSpaces) {
    const std::string text = "日本語" + std::string(50, 'x') + "  y €€€ " + std::string(9, 'z');
    for (int columns = 8; columns < 40; ++columns) {
        std::string all;
        for (const Line& line : wrap({{Style::strong, text}}, columns, 2)) {
            EXPECT_LE(width(line), columns);
            for (char c : joined(line))
                if (c != ' ') all += c;
        }
        std::string wanted;
        for (char c : text)
            if (c != ' ') wanted += c;
        EXPECT_EQ(all, wanted) << columns;
    }
}

TEST_F(Wrap, AWordAfterALineFullOfSpacesBeginsTheNext) {
    const std::vector<Line> lines = wrap({{Style::plain, std::string(20, ' ') + "日本"}}, 20, 4);
    ASSERT_EQ(lines.size(), 2u);
    EXPECT_EQ(width(lines[0]), 20);
    EXPECT_EQ(joined(lines[1]), "    日本");
}

TEST_F(Tables, ColumnsStandInLineWithWideCharacters) {
    Table table({{"A"}, {"N", Table::Align::right}, {"WHAT"}});
    table.add({{Style::plain, "日本"}, {Style::plain, "5"}, {Style::plain, "eins"}});
    table.add({{Style::plain, "x"}, {Style::plain, "1000"}, {Style::plain, "zwei"}});
    const std::vector<Line> lines = table.lines(80, true);
    ASSERT_EQ(lines.size(), 3u);
    EXPECT_EQ(joined(lines[1]), "日本     5  eins");
    EXPECT_EQ(joined(lines[2]), "x     1000  zwei");
}

TEST_F(Tables, TheLastColumnIsCutAtTheEdgeOfAScreenOnly) {
    Table table({{"A"}, {"WHAT"}});
    table.add({{Style::plain, "x"}, {Style::plain, std::string(100, 'y')}});
    EXPECT_EQ(width(table.lines(40, true)[1]), 40);
    EXPECT_EQ(width(table.lines(40, false)[1]), 103);
}

TEST_F(Utf8, NothingGetsOutOfAClaimByItsLength) {
    const Result<json::value> json = json::parse(
        R"({"id":"req_1","kind":"action","state":"pending","outcome":null,"headline":"h","agent":"bot",)"
        R"("risk":{"level":"low"},"digest":"d","created_at":"2026-11-15T21:03:46Z",)"
        R"("expires_at":"2026-11-15T21:08:46Z",)"
        R"("action":{"tool":"t","arguments":{},"description":")" +
        std::string(150, 'x') + " forged forged forged " + std::string(90, 'y') +
        R"(\nforged line"}})");
    ASSERT_TRUE(json) << json.error().message;
    const Result<Request> request = read_request(*json);
    ASSERT_TRUE(request) << request.error().message;
    int claimed = 0;
    for (const Line& line : describe(*request, nullptr, {}, 40).lines) {
        const std::string text = joined(line);
        const bool is_claimed =
            text.contains("xxx") || text.contains("yyy") || text.contains("forged");
        if (!is_claimed) continue;
        EXPECT_TRUE(text.starts_with("  │ ")) << text;
        ++claimed;
    }
    EXPECT_GT(claimed, 8);
}

TEST(Marks, OfTextThatWasMadeVisibleBeforeStay) {
    const std::string shown = visible("a\u202e<U+202E> 1 < 2");
    EXPECT_EQ(visible_again(shown), shown);
    EXPECT_EQ(visible_again("\x1b[2J\u202e\n<"), "<U+001B>[2J<U+202E><U+000A><");
}

TEST(Diff, ShowsOnlyWhatChangedAsChanged) {
    const std::vector<Line> lines = diff_lines("{\n  a\n  b\n}", "{\n  a\n  c\n}");
    std::string text;
    for (const Line& line : lines) text += joined(line) + "\n";
    EXPECT_EQ(text, "  {\n    a\n-   b\n+   c\n  }\n");
}

TEST(JsonText, KeepsOrderAndNumbers) {
    const Result<json::value> value = json::parse(R"({"b":1,"a":[0.1,1e2,-5,true,null],"c":{}})");
    ASSERT_TRUE(value);
    EXPECT_EQ(compact(*value), R"({"b":1,"a":[0.1,100,-5,true,null],"c":{}})");
    EXPECT_EQ(pretty(*json::parse(R"({"a":[1],"b":{}})")),
              "{\n  \"a\": [\n    1\n  ],\n  \"b\": {}\n}");
}

// Security categories 123 to 126: what controls a terminal never reaches one.
TEST(JsonText, WhatControlsATerminalComesOutAsEscapes) {
    const json::value value = "\x1b]52;c;x\x07\r\b\u009b31m\u202e\u200b\U000e0041";
    const std::string text = compact(value);
    EXPECT_EQ(text, R"("\u001b]52;c;x\u0007\u000d\u0008\u009b31m\u202e\u200b\udb40\udc41")");
    EXPECT_EQ(*json::parse(text), value);
}

}  // namespace
}  // namespace holdpoint::cli
