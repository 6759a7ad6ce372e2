#include <gtest/gtest.h>
#include <holdpoint/request.h>

#include <limits>

namespace holdpoint {
namespace {

constexpr std::string_view settled_request = R"json({
  "id": "req_1", "kind": "action", "state": "settled", "outcome": "modified", "session": "s",
  "thread": null, "task": null, "user": null, "agent": "bot", "batch": null,
  "action": {"tool": "refund", "arguments": {"amount": 4}, "type": "tool_call"},
  "proposed": {"amount": 5}, "headline": "refund(amount: 4)",
  "risk": {"level": "high", "factors": ["money"], "consequences": [], "reversibility": null},
  "verdict": {"kind": "hold", "rule": "r", "gate": "g", "because": "b"},
  "requirement": {"lines": [], "reason_required": true, "modifiable": true, "confirm": null},
  "votes": [{"decision": "modify", "by": "ann", "at": "x"}],
  "digest": "sha256:aa", "created_at": "2026-01-01T00:00:00.000Z",
  "expires_at": "2026-01-01T00:05:00.000Z", "settled_at": "2026-01-01T00:01:00.000Z",
  "context": null, "metadata": null,
  "decision": {"kind": "modify", "by": "ann", "via": "key", "at": "x", "note": null, "reason": null,
               "guidance": null, "target": null, "arguments": {"amount": 4}, "answer": null},
  "release": {"arguments": {"amount": 4}, "digest": "sha256:aa", "receipt": null},
  "message_for_agent": "changed", "report": null})json";

Json resource() { return *Json::parse(settled_request); }

TEST(JsonValue, WhatIsAbsentReadsAsNull) {
    const Json json = Json::object({{"a", 1}, {"b", Json::array({"x", true, nullptr})}});
    EXPECT_TRUE(json["c"]["d"][7].is_null());
    EXPECT_EQ(json["a"].integer(), 1);
    EXPECT_EQ(json["b"][0].text(), "x");
    EXPECT_EQ(json["b"][1].boolean(), true);
    EXPECT_EQ(json["a"].text(), std::nullopt);
    EXPECT_EQ(json.dump(), R"({"a":1,"b":["x",true,null]})");
}

TEST(JsonValue, ChangesMakeCopies) {
    const Json before = Json::object({{"a", 1}});
    const Json after = before.with("b", 2.5).without("a");
    EXPECT_EQ(before.dump(), R"({"a":1})");
    EXPECT_EQ(after.dump(), R"({"b":2.5})");
    EXPECT_EQ(*Json::parse(R"({"b":2,"a":1})"), *Json::parse(R"({ "a": 1, "b": 2 })"));
}

TEST(JsonValue, ANumberThatReadersWouldChangeIsNoNumber) {
    EXPECT_TRUE(Json(std::numeric_limits<double>::infinity()).is_null());
    EXPECT_TRUE(Json(std::numeric_limits<std::int64_t>::max()).is_null());
    EXPECT_TRUE(Json(1e20).is_null());
    EXPECT_EQ(Json(0.1).dump(), "0.1");
}

TEST(JsonValue, DuplicateKeysAreRefused) { EXPECT_FALSE(Json::parse(R"({"a":1,"a":2})")); }

TEST(RequestResource, AReleaseCarriesWhatThePersonMadeOfIt) {
    const Result<Request> request = Request::read(resource());
    ASSERT_TRUE(request) << request.error().message;
    EXPECT_EQ(request->tool(), "refund");
    EXPECT_EQ(request->outcome, Outcome::modified);
    EXPECT_EQ(request->risk, RiskLevel::high);
    EXPECT_EQ(request->decision->by, "ann");
    EXPECT_TRUE(request->release->is_modified);
    EXPECT_EQ(request->release->arguments.dump(), R"({"amount":4})");
    EXPECT_EQ(request->voters, std::vector<std::string>{"ann"});
}

TEST(RequestResource, AnAnswerThatCannotBeUnderstoodIsAnErrorThatNamesTheField) {
    const auto wrong = [](const Json& json) {
        const Result<Request> request = Request::read(json);
        return request ? std::string("it was read") : request.error().message;
    };
    EXPECT_NE(wrong(resource().with("outcome", "approvedish")).find("outcome"), std::string::npos);
    EXPECT_NE(wrong(resource().with("outcome", nullptr)).find("outcome"), std::string::npos);
    EXPECT_NE(wrong(resource().with("state", "pending")).find("outcome"), std::string::npos);
    EXPECT_NE(wrong(resource().with("action", 7)).find("action"), std::string::npos);
    EXPECT_NE(wrong(resource().without("digest")).find("digest"), std::string::npos);
    EXPECT_NE(wrong(resource().with("release", Json::object({{"digest", "d"}}))).find("release"),
              std::string::npos);
    EXPECT_NE(wrong(Json::array()).find("id"), std::string::npos);
}

}  // namespace
}  // namespace holdpoint
