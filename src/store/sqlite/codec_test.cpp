#include "store/sqlite/codec.h"

#include <gtest/gtest.h>

#include <limits>

#include "store/sqlite/grant_codec.h"

namespace holdpoint::store::sqlite {
namespace {

template <class T>
bool is_refused(const std::string& text) {
    T value;
    const Result<void> read = decode(text, value);
    return !read && read.error().code == ErrorCode::internal;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
}

TEST(Codec, TextsKeepEveryByte) {
    const std::vector<std::string> names{"", "a\"b\\c", "tab\t\nnul-ish\x01\x1f", "ünï 🙂", "\x7f"};
    std::vector<std::string> read;
    ASSERT_TRUE(decode(encode(names), read));
    EXPECT_EQ(read, names);
}

TEST(Codec, CanonicalJsonInsideKeepsItsVeryBytes) {
    core::Decision decision;
    decision.replacement.text = R"({"amount":12500.75,"big":9007199254740991})";
    core::Decision read;
    ASSERT_TRUE(decode(encode(decision), read));
    EXPECT_EQ(read.replacement, decision.replacement);
    EXPECT_TRUE(read.answer.is_null());
}

// A requirement that lost a part must never be taken for an easier one.
TEST(Codec, EveryGroupOfALineComesBack) {
    core::Requirement requirement;
    requirement.lines = {{"finance", {}, 1, 0, {"boss", "audit"}}, {"ops", {}, 2, 1, {}}};
    requirement.confirm_required = true;
    core::Requirement back;
    ASSERT_TRUE(decode(encode(requirement), back));
    EXPECT_EQ(back, requirement);
}

TEST(Codec, AHoldOfAnEarlierVersionIsRead) {
    std::vector<core::Held> holds(1);
    holds[0].command.kind = core::DecisionKind::approve;
    holds[0].command.digest = "sha256:aa";
    std::string text = encode(holds);
    text.insert(text.size() - 2, R"(,"as_proposed":true)");
    std::vector<core::Held> read;
    ASSERT_TRUE(decode(text, read)) << text;
    EXPECT_EQ(read[0].command.digest, "sha256:aa");
}

TEST(Codec, P7_AGrantForAsMuchAsADoorTakesIsReadBack) {
    policy::Grant grant;
    grant.id = "gr_1";
    grant.pins = {{"args", "{\"text\":\"" + std::string(1 << 20, 'x') + "\"}"}};
    grant.bounds = {{"args.amount", std::numeric_limits<double>::max()}};
    grant.asked = policy::Asked{std::string(1 << 17, 'g')};
    const Result<policy::Grant> back = decode_grant(encode(grant));
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_EQ(back->pins, grant.pins);
    EXPECT_EQ(back->bounds, grant.bounds);
    EXPECT_EQ(back->asked, grant.asked);
}

TEST(Codec, ADamagedRequirementIsRefusedNotGuessed) {
    core::Requirement requirement;
    requirement.lines = {{"finance", {"ann"}, 2, 1}};
    const std::string text = encode(requirement);
    core::Requirement read;
    ASSERT_TRUE(decode(text, read));
    EXPECT_EQ(read, requirement);

    EXPECT_TRUE(is_refused<core::Requirement>(""));
    EXPECT_TRUE(is_refused<core::Requirement>("null"));
    EXPECT_TRUE(is_refused<core::Requirement>("[]"));
    EXPECT_TRUE(is_refused<core::Requirement>(text.substr(0, text.size() - 1)));
    const std::string line = R"(["finance",["ann"],2,1])";
    for (const char* damaged :
         {R"(["finance",["ann"],2])", R"(["finance",["ann"],"2",1])",
          R"(["finance",["ann"],2.5,1])", R"(["finance",["ann"],99999999999,1])",
          R"(["finance",[1],2,1])", R"(["finance",null,2,1])", R"(["finance",["ann"],2,1,0])",
          R"({"group":"finance"})", "7"}) {
        EXPECT_TRUE(is_refused<core::Requirement>(replaced(text, line, damaged))) << damaged;
    }
    EXPECT_TRUE(is_refused<core::Requirement>(replaced(text, ",false]", "]")));
    EXPECT_TRUE(is_refused<core::Requirement>(replaced(text, ",false]", ",0]")));
    EXPECT_TRUE(is_refused<core::Requirement>(replaced(text, ",false]", ",false,1]")));
    EXPECT_TRUE(is_refused<core::Requirement>(text + "x"));
}

TEST(Codec, ATimingThatWasNeverShiftedIsReadAsBefore) {
    core::Timing timing;
    const std::string before = R"([300000,"reject","low","",0,3,0,0,"",false,1,0])";
    EXPECT_EQ(encode(timing), before);
    timing.shifted_ms = 9;
    ASSERT_TRUE(decode(before, timing));
    EXPECT_EQ(encode(timing), before) << "what was there before is gone";
    timing.shifted_ms = -5;
    core::Timing read;
    ASSERT_TRUE(decode(encode(timing), read));
    EXPECT_EQ(read.shifted_ms, -5);
}

TEST(Codec, AnUnknownWordIsRefused) {
    const std::string timing = encode(core::Timing{});
    EXPECT_TRUE(is_refused<core::Timing>(replaced(timing, R"("reject")", R"("perhaps")")));
    EXPECT_TRUE(is_refused<core::Timing>(replaced(timing, R"("low")", R"("none")")));
    const std::string decision = encode(core::Decision{});
    EXPECT_TRUE(is_refused<core::Decision>(replaced(decision, R"("reject")", R"("approved")")));
    EXPECT_TRUE(is_refused<core::Decision>(replaced(decision, "prn_", "req_")));
    EXPECT_TRUE(is_refused<core::VerdictRecord>(R"({"kind":"maybe"})"));
    EXPECT_TRUE(is_refused<core::Report>(R"({"is_success":1,"at":0})"));
}

}  // namespace
}  // namespace holdpoint::store::sqlite
