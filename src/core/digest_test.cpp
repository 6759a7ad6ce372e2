#include "core/digest.h"

#include <random>
#include <set>

#include "base/json.h"
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

/// Mostly of what ends or escapes something in JSON.
std::string random_text(std::mt19937& random) {
    constexpr std::string_view characters = "\"\\{}[],:a\n";
    std::string text(random() % 12, ' ');
    for (char& c : text) c = characters[random() % characters.size()];
    return text;
}

json::value random_value(std::mt19937& random, int depth) {
    switch (random() % (depth > 0 ? 5 : 3)) {
        case 0:
            return static_cast<std::int64_t>(random() % 100);
        case 1:
            return random() % 2 == 0 ? json::value(nullptr) : json::value(true);
        case 2:
            return json::value(random_text(random));
        case 3: {
            json::array list;
            for (std::size_t i = random() % 4; i > 0; --i)
                list.push_back(random_value(random, depth - 1));
            return list;
        }
        default: {
            json::object members;
            for (std::size_t i = random() % 4; i > 0; --i)
                members[random_text(random)] = random_value(random, depth - 1);
            return members;
        }
    }
}

TEST(JsonText, every_member_of_any_object_is_found_whole) {
    std::mt19937 random(7);
    for (int round = 0; round < 5000; ++round) {
        json::object object;
        for (int i = 0; i < 4; ++i) object[random_text(random)] = random_value(random, 3);
        const std::string text = json::canonical(object);
        for (const auto& member : object) {
            const std::string quoted = json::quoted(member.key());
            const std::string_view name(quoted.data() + 1, quoted.size() - 2);
            ASSERT_EQ(member_text(text, name), json::canonical(member.value())) << text;
        }
    }
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
        for (std::uint64_t n = next(5); n > 0; --n) out += pieces[next(std::size(pieces))];
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
