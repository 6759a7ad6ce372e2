#include <gtest/gtest.h>

#include "cli/grant_flags.h"
#include "cli/policy_call.h"
#include "cli/policy_file.h"

namespace holdpoint::cli {
namespace {

std::string placed(const std::string& message, const std::string& path) {
    return with_place(Error{ErrorCode::invalid_argument, message}, path).message;
}

TEST(PolicyPlace, LineAndColumnBecomeALink) {
    EXPECT_EQ(placed("line 3, column 5: no such key", "a/p.yaml"), "a/p.yaml:3:5: no such key");
    EXPECT_EQ(placed("line 3, column 5: no such key", "-"), "<stdin>:3:5: no such key");
}

TEST(PolicyPlace, APlaceInAParentNamesTheParentsFile) {
    EXPECT_EQ(placed("in `team.yaml`: line 3, column 5: wrong", "a/p.yaml"),
              "a/team.yaml:3:5: wrong");
    EXPECT_EQ(placed("in `team.yaml`: line 3, column 5: wrong", "p.yaml"), "team.yaml:3:5: wrong");
}

TEST(PolicyPlace, WithoutAPlaceTheFileIsNamed) {
    EXPECT_EQ(placed("something is wrong", "p.yaml"), "p.yaml: something is wrong");
    EXPECT_EQ(placed("line x, column 5: wrong", "p.yaml"), "p.yaml: line x, column 5: wrong");
    EXPECT_EQ(placed("line 3: wrong", "p.yaml"), "p.yaml: line 3: wrong");
}

TEST(PolicyCalls, OneDocumentMayTakeSeveralLines) {
    const GivenCalls given = read_calls("{\n  \"tool\": \"a\",\n  \"args\": {}\n}\n");
    EXPECT_FALSE(given.is_lines);
    ASSERT_EQ(given.calls.size(), 1U);
    EXPECT_TRUE(given.calls[0].json.has_value());
}

TEST(PolicyCalls, LinesKeepTheirNumbersAndBlankOnesAreNone) {
    const GivenCalls given = read_calls("{\"tool\":\"a\"}\n\n  \n{\"tool\":\"b\"}\r\n");
    EXPECT_TRUE(given.is_lines);
    ASSERT_EQ(given.calls.size(), 2U);
    EXPECT_EQ(given.calls[0].line, 1);
    EXPECT_EQ(given.calls[1].line, 4);
}

TEST(PolicyCalls, ABrokenLineDoesNotSpoilTheOthers) {
    const GivenCalls given =
        read_calls("{\"tool\":\"a\",\"tool\":\"b\"}\n{\"tool\":\"b\"}\nhello\n");
    ASSERT_EQ(given.calls.size(), 3U);
    EXPECT_FALSE(given.calls[0].json.has_value());
    EXPECT_TRUE(given.calls[0].is_object);
    EXPECT_TRUE(given.calls[1].json.has_value());
    EXPECT_FALSE(given.calls[2].is_object);
}

TEST(PolicyCalls, ABrokenDocumentIsNotTakenForLines) {
    EXPECT_FALSE(read_calls("{\n\"tool\": \"a\",\n\"args\":\n{}\n").is_lines);
    EXPECT_FALSE(read_calls("").is_lines);
    EXPECT_FALSE(read_calls("").calls.at(0).json.has_value());
}

TEST(PolicyCalls, NothingPassesUnread) {
    const json::object verdict =
        unreadable_verdict({ErrorCode::invalid_argument, "key twice", "args.a"}, "sha256:1");
    EXPECT_EQ(verdict.at("kind").as_string(), "deny");
    EXPECT_EQ(verdict.at("risk").as_string(), "critical");
    EXPECT_EQ(verdict.at("because").as_string(), "the call cannot be read: `args.a` key twice");
}

TEST(PolicyCalls, OnlyFaultsOfTheArgumentsAreJudged) {
    for (const char* field : {"args", "args.amount", "args[0]", "call.args", "call.args.x"})
        EXPECT_TRUE(is_fault_of_arguments({ErrorCode::invalid_argument, "", field})) << field;
    for (const char* field : {"", "argsx", "tool", "call", "call.tool", "context.args"})
        EXPECT_FALSE(is_fault_of_arguments({ErrorCode::invalid_argument, "", field})) << field;
}

TEST(GrantFlags, NothingIsGrantedUnlessAsked) {
    json::object body;
    EXPECT_TRUE(put_grant(body, {}));
    EXPECT_TRUE(body.empty());
}

TEST(GrantFlags, SayHowLongHowOftenAndHowMuch) {
    json::object body;
    ASSERT_TRUE(put_grant(
        body, {.duration = "1h30m", .uses = 3, .sum = 99.5, .is_for_session = true, .words = 2}));
    EXPECT_EQ(json::canonical(body),
              R"({"grant":{"for_s":5400,"session":true,"sum":99.5,"uses":3,"words":2}})");
    EXPECT_FALSE(put_grant(body, {.duration = "soon"}));
}

}  // namespace
}  // namespace holdpoint::cli
