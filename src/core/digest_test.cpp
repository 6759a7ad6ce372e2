#include "core/digest.h"

#include <set>

#include "core/json_text.h"
#include "core/requirement.h"
#include "core/test_requests.h"

namespace holdpoint::core {
namespace {

using namespace test;

std::string digest_with(std::string_view subject, Kind kind = Kind::action) {
    Request request = opened(proposal(kind, subject), verdict()).request;
    return digest_of(request);
}

TEST(Digest, X2_changes_with_everything_that_gives_the_action_its_meaning) {
    const Request base = pending();
    std::set<std::string> digests{base.digest};
    const auto changed = [&](const char* what, auto change) {
        Request other = base;
        change(other);
        EXPECT_TRUE(digests.insert(digest_of(other)).second) << what;
    };
    changed("agent", [](Request& r) { r.agent = "other-bot"; });
    changed("agent id", [](Request& r) { r.agent_id = id_of("else"); });
    changed("tool", [](Request& r) { r.tool = "refund2"; });
    changed("time", [](Request& r) { r.created_at = r.created_at + 1; });
    changed("deadline", [](Request& r) { r.timing.timeout_ms += 7; });
    changed("kind", [](Request& r) { r.kind = Kind::response; });
    changed("a value", [](Request& r) {
        r.subject = with_member(r.subject, "arguments", R"({"amount":6,"order":"A-1"})");
    });
    changed("a type", [](Request& r) {
        r.subject = with_member(r.subject, "arguments", R"({"amount":"5","order":"A-1"})");
    });
    changed("a name", [](Request& r) {
        r.subject = with_member(r.subject, "arguments", R"({"amounts":5,"order":"A-1"})");
    });
    changed("one more", [](Request& r) {
        r.subject = with_member(r.subject, "arguments", R"({"amount":5,"order":"A-1","x":null})");
    });
}

TEST(Digest, X2_every_part_of_the_other_kinds_counts) {
    std::set<std::string> digests;
    for (const char* text :
         {R"({"title":"t","steps":[{"action":"a"}]})", R"({"title":"u","steps":[{"action":"a"}]})",
          R"({"title":"t","steps":[{"action":"b"}]})",
          R"({"title":"t","steps":[{"action":"a","optional":true}]})",
          R"({"title":"t","steps":[{"action":"a"},{"action":"a"}]})"})
        EXPECT_TRUE(digests.insert(digest_with(text, Kind::plan)).second) << text;
    for (const char* text :
         {R"({"message":"m"})", R"({"message":"n"})", R"({"message":"m","confirm_label":"Go"})"})
        EXPECT_TRUE(digests.insert(digest_with(text, Kind::confirmation)).second) << text;
    for (const char* text : {R"({"question":"q"})", R"({"question":"q","type":"number"})",
                             R"({"question":"q","type":"number","max":1})"})
        EXPECT_TRUE(digests.insert(digest_with(text, Kind::input)).second) << text;
    for (const char* text : {R"({"text":"t"})", R"({"text":"t","format":"markdown"})"})
        EXPECT_TRUE(digests.insert(digest_with(text, Kind::response)).second) << text;
}

TEST(Digest, does_not_change_with_prose_or_with_what_happens_later) {
    const std::string plain = digest_with(R"({"tool":"t","arguments":{"a":1}})");
    EXPECT_EQ(plain,
              digest_with(
                  R"({"tool":"t","arguments":{"a":1},"description":"d","expected_outcome":"o"})"));
    const Request base = pending();
    Request later = base;
    later.headline = "other words";
    later.context.text = R"({"x":1})";
    later.metadata.text = R"({"x":1})";
    later.suggested.text = "1";
    later.version = 9;
    later.expires_at = later.expires_at + minute;
    later.state = State::settled;
    later.message_for_agent = "x";
    EXPECT_EQ(digest_of(later), base.digest);
}

TEST(Digest, is_the_sha_256_of_a_known_text) {
    // Pinned: receipts and stored votes depend on these bytes.
    Request request;
    request.kind = Kind::action;
    request.agent = "bot";
    request.tool = "ping";
    request.subject.text = R"({"arguments":{},"tool":"ping","type":"tool_call"})";
    request.created_at = Timestamp{0};
    request.timing.timeout_ms = 1000;
    EXPECT_EQ(digest_of(request),
              "sha256:3fbbd37d3e18afac9a92d804fca036922049e7fd8e0021d7188111eab41faeda");
}

Vote vote(const std::string& name, std::vector<std::string> groups,
          DecisionKind kind = DecisionKind::approve) {
    Vote vote;
    vote.decision.kind = kind;
    vote.decision.by = name;
    vote.decision.by_id = id_of(name);
    vote.groups = std::move(groups);
    return vote;
}

TEST(Requirement, D10_seats_as_many_people_as_possible) {
    Requirement requirement;
    requirement.lines = {group("a"), group("b"), people({"x", "y"})};
    EXPECT_TRUE(
        seat_votes(requirement, {vote("x", {"a", "b"}), vote("p", {"a"}), vote("q", {"b"})}));
    EXPECT_TRUE(
        seat_votes(requirement, {vote("y", {"a"}), vote("x", {"a", "b"}), vote("p", {"a"})}));
    EXPECT_FALSE(
        seat_votes(requirement, {vote("p", {"a"}), vote("q", {"b"}), vote("r", {"a", "b"})}));
    EXPECT_FALSE(seat_votes(requirement, {}));
}

TEST(Requirement, D10_only_approvals_take_a_seat) {
    Requirement requirement;
    requirement.lines = {anybody(2)};
    EXPECT_FALSE(seat_votes(requirement, {vote("x", {}), vote("y", {}, DecisionKind::reject)}));
    EXPECT_EQ(requirement.lines[0].have, 1);
    EXPECT_TRUE(seat_votes(requirement, {vote("x", {}), vote("y", {}, DecisionKind::modify)}));
}

TEST(Requirement, nothing_asked_is_never_complete) {
    Requirement requirement;
    requirement.lines.clear();
    EXPECT_FALSE(seat_votes(requirement, {vote("x", {})}));
}

TEST(Requirement, who_is_in_a_line) {
    EXPECT_TRUE(is_in_line(anybody(), "x", {}));
    EXPECT_TRUE(is_in_line(group("a"), "x", {"b", "a"}));
    EXPECT_FALSE(is_in_line(group("a"), "a", {"b"}))
        << "a person named like a group is not the group";
    EXPECT_TRUE(is_in_line(people({"x"}), "x", {}));
    EXPECT_FALSE(is_in_line(people({"x"}), "y", {"x"}))
        << "a group named like a person is not the person";
}

TEST(Requirement, an_escalation_target_is_a_group_or_a_person) {
    EXPECT_EQ(line_for("group:a"), group("a"));
    EXPECT_EQ(line_for("a"), people({"a"}));
}

TEST(Requirement, redirect_keeps_the_number_of_places) {
    Requirement requirement;
    requirement.lines = {group("a", 2), group("b", 1)};
    requirement.lines[0].have = 1;
    ASSERT_TRUE(redirect(requirement, "group:c"));
    ASSERT_EQ(requirement.lines.size(), 2u);
    EXPECT_EQ(requirement.lines[0].quorum, 1);
    EXPECT_EQ(requirement.lines[1], group("c", 2));
}

TEST(Requirement, D10_a_refused_redirect_changes_nothing) {
    Requirement requirement;
    requirement.lines = {group("a", 3), group("b", 1)};
    requirement.lines[0].have = 1;
    const Requirement before = requirement;
    EXPECT_EQ(redirect(requirement, "zoe").error().code, ErrorCode::refused);
    EXPECT_EQ(requirement, before);
}

}  // namespace
}  // namespace holdpoint::core
