// Answers that cannot be trusted: whatever a server says, only what belongs to the action runs.
#include <gtest/gtest.h>

#include "agent/client.h"

namespace holdpoint::agent {
namespace {

Json answered(std::string_view outcome, const Json& arguments,
              std::string_view digest = "sha256:aa") {
    Json resource = *Json::parse(R"json({
      "id": "req_1", "kind": "action", "state": "settled", "session": "s", "agent": "bot",
      "headline": "refund", "risk": {"level": "low"}, "verdict": {"kind": "hold"}, "requirement": {},
      "digest": "sha256:aa", "created_at": "x", "expires_at": "x", "message_for_agent": "told"})json");
    resource = resource.with("outcome", outcome);
    resource =
        resource.with("action", Json::object({{"tool", "refund"}, {"arguments", arguments}}));
    return resource.with("release", Json::object({{"arguments", arguments}, {"digest", digest}}));
}

const Json ours = Json::object({{"amount", 5}});
const Action action{.tool = "refund", .arguments = ours};

std::optional<Why> why(const Json& resource) {
    const Result<Request> request = Request::read(resource);
    if (!request) return not_run(request.error()).why;
    const Run<Release> release = conclude(*request, action);
    if (release) return std::nullopt;
    return release.error().why;
}

TEST(Conclude, X2_a_release_of_this_very_action_is_accepted) {
    for (const char* outcome : {"allowed", "approved", "modified", "expired"})
        EXPECT_EQ(why(answered(outcome, ours)), std::nullopt) << outcome;
    EXPECT_EQ(why(answered("modified", Json::object({{"amount", 4}}))), std::nullopt);
}

TEST(Conclude, X2_other_arguments_count_only_where_a_person_changed_them) {
    for (const char* outcome : {"allowed", "approved", "expired"})
        EXPECT_EQ(why(answered(outcome, Json::object({{"amount", 5000}}))), Why::broken) << outcome;
}

TEST(Conclude, X2_a_wrong_digest_tool_or_kind_runs_nothing) {
    EXPECT_EQ(why(answered("approved", ours, "sha256:bb")), Why::broken);
    const Json good = answered("approved", ours);
    EXPECT_EQ(why(good.with("action", Json::object({{"tool", "pay"}, {"arguments", ours}}))),
              Why::broken);
    EXPECT_EQ(
        why(good.with("action", Json::object({{"tool", "refund"}, {"arguments", Json::object()}}))),
        Why::broken);
    EXPECT_EQ(why(good.with("release", nullptr)), Why::broken);
    EXPECT_EQ(why(good.with("release", true)), Why::broken);
    EXPECT_EQ(why(good.with("state", "pending")), Why::broken);
    EXPECT_EQ(why(good.with("outcome", "sure")), Why::broken);
}

TEST(Conclude, X2_a_no_stays_a_no_whatever_comes_with_it) {
    for (const char* outcome :
         {"denied", "rejected", "deferred", "aborted", "skipped", "cancelled"})
        EXPECT_EQ(why(answered(outcome, ours)), Why::broken) << outcome;
    const auto without = [](const char* outcome) {
        return why(answered(outcome, ours).with("release", nullptr));
    };
    EXPECT_EQ(without("rejected"), Why::rejected);
    EXPECT_EQ(without("denied"), Why::denied);
    EXPECT_EQ(without("expired"), Why::expired);
    EXPECT_EQ(without("aborted"), Why::aborted);
    EXPECT_EQ(without("cancelled"), Why::cancelled);
}

TEST(Conclude, T5_silence_that_stops_the_run_is_an_abort) {
    const auto timed_out = [](const char* action) {
        const Json resource = answered("expired", ours).with("release", nullptr);
        return why(resource.with("timed_out", Json::object({{"action", action}})));
    };
    EXPECT_EQ(timed_out("abort"), Why::aborted);
    EXPECT_EQ(timed_out("reject"), Why::expired);
    EXPECT_EQ(timed_out("something"), Why::broken);  // what is not understood is not guessed at
}

}  // namespace
}  // namespace holdpoint::agent
