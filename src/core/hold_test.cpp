#include "core/hold.h"

#include "core/expire.h"
#include "core/follow_up.h"
#include "core/test_requests.h"

namespace holdpoint::core {
namespace {

using namespace test;

constexpr std::int64_t second = 1000;

Request with_hold(const Request& request, DecisionKind kind, const Actor& by,
                  std::int64_t hold_ms = 5 * second, Timestamp now = start + second) {
    Result<Step> step = hold(request, command(kind, request.kind), by, now + hold_ms, now);
    if (!step) throw std::runtime_error(step.error().message);
    return std::move(step->request);
}

TEST(Hold, a_held_decision_is_recorded_and_changes_nothing_yet) {
    const Request before = pending();
    const Result<Step> step = hold(before, command(DecisionKind::approve), person("ann"),
                                   start + 6 * second, start + second);
    ASSERT_TRUE(step);
    const Request& request = step->request;
    EXPECT_EQ(request.state, State::pending);
    EXPECT_FALSE(request.is_released);
    EXPECT_TRUE(request.votes.empty());
    ASSERT_EQ(request.holds.size(), 1u);
    EXPECT_EQ(request.holds[0].person.name, "ann");
    EXPECT_EQ(request.holds[0].command.digest, before.digest);
    EXPECT_EQ(request.next_at, start + 6 * second);
    ASSERT_EQ(step->events.size(), 1u);
    EXPECT_EQ(step->events[0].kind, EventKind::held);
    EXPECT_TRUE(step->effects.empty()) << "nobody is told before it is so";
    EXPECT_FALSE(due_hold(request, start + 6 * second + -1));
    EXPECT_TRUE(due_hold(request, start + 6 * second));
}

TEST(Hold, S3_what_was_held_stays_in_the_record_when_it_is_taken_back) {
    DecisionCommand change = command(DecisionKind::modify);
    change.note = "half of it";
    const Request before = pending();
    const Result<Step> step =
        hold(before, change, person("ann"), start + 6 * second, start + second);
    ASSERT_TRUE(step);
    const json::value detail = parsed(step->events[0].detail.text);
    EXPECT_EQ(json::canonical(detail.at("arguments")), R"({"amount":4,"order":"A-1"})");
    EXPECT_EQ(detail.at("decision").as_string(), "modify");
    EXPECT_EQ(detail.at("note").as_string(), "half of it");
    EXPECT_EQ(detail.at("until").as_string(), to_string(start + 6 * second));
    const Step done = release_hold(step->request, id_of("ann"), start + 6 * second);
    EXPECT_EQ(detail.at("digest").as_string(), done.request.digest)
        << "of what it would have released";
}

TEST(Hold, it_takes_effect_as_if_it_had_been_made_then) {
    const Request held = with_hold(pending(), DecisionKind::approve, person("ann"));
    const Step step = release_hold(held, id_of("ann"), start + 6 * second);
    EXPECT_EQ(step.request.outcome, Outcome::approved);
    EXPECT_TRUE(step.request.is_released);
    EXPECT_TRUE(step.request.holds.empty());
    EXPECT_EQ(step.request.decision->by, "ann");
    EXPECT_EQ(step.request.version, held.version + 1);
}

TEST(Hold, its_author_and_nobody_else_takes_it_back) {
    const Request held = with_hold(pending(), DecisionKind::approve, person("ann"));
    EXPECT_EQ(undo(held, person("ben"), start + 2 * second).error().code, ErrorCode::conflict);
    EXPECT_EQ(undo(held, agent("ann"), start + 2 * second).error().code,
              ErrorCode::permission_denied);
    const Result<Step> step = undo(held, person("ann"), start + 2 * second);
    ASSERT_TRUE(step);
    EXPECT_TRUE(step->request.holds.empty());
    EXPECT_EQ(step->request.state, State::pending);
    EXPECT_EQ(step->request.next_at, step->request.expires_at);
    ASSERT_EQ(step->events.size(), 1u);
    EXPECT_EQ(step->events[0].kind, EventKind::undone);
    EXPECT_EQ(undo(step->request, person("ann"), start + 3 * second).error().code,
              ErrorCode::conflict);
    const Request done = release_hold(held, id_of("ann"), start + 6 * second).request;
    EXPECT_EQ(undo(done, person("ann"), start + 7 * second).error().code, ErrorCode::conflict);
}

TEST(Hold, is_refused_like_the_decision_itself) {
    const Request request = pending({people({"ann"})});
    const auto code = [&](DecisionKind kind, const Actor& by) {
        const Result<Step> step =
            hold(request, command(kind), by, start + 9 * second, start + second);
        return step ? ErrorCode::internal : step.error().code;
    };
    EXPECT_EQ(code(DecisionKind::approve, person("ben")), ErrorCode::permission_denied);
    EXPECT_EQ(code(DecisionKind::approve, agent()), ErrorCode::permission_denied);
    EXPECT_EQ(code(DecisionKind::answer, person("ann")), ErrorCode::refused);
    DecisionCommand stale = command(DecisionKind::approve);
    stale.digest = "sha256:other";
    EXPECT_EQ(hold(request, stale, person("ann"), start + 9 * second, start).error().code,
              ErrorCode::conflict);
}

TEST(Hold, the_same_again_is_a_conflict_and_another_replaces_it) {
    const Request held = with_hold(pending(), DecisionKind::approve, person("ann"));
    EXPECT_EQ(hold(held, command(DecisionKind::approve), person("ann"), start + 9 * second,
                   start + 2 * second)
                  .error()
                  .code,
              ErrorCode::conflict);
    const Request other = with_hold(held, DecisionKind::reject, person("ann"));
    ASSERT_EQ(other.holds.size(), 1u);
    EXPECT_EQ(other.holds[0].command.kind, DecisionKind::reject);
}

TEST(Hold, what_says_anything_else_replaces_it_though_its_kind_is_the_same) {
    const auto replaced = [](const Request& request, const DecisionCommand& first,
                             const DecisionCommand& then) {
        const Result<Step> one =
            hold(request, first, person("ann"), start + 6 * second, start + second);
        if (!one) throw std::runtime_error(one.error().message);
        return hold(one->request, then, person("ann"), start + 9 * second, start + 2 * second);
    };
    const DecisionCommand change = command(DecisionKind::modify);
    DecisionCommand other = change;
    other.replacement.text = R"({"amount":3,"order":"A-1"})";
    const Result<Step> changed = replaced(pending(), change, other);
    ASSERT_TRUE(changed) << changed.error().message;
    ASSERT_EQ(changed->request.holds.size(), 1u);
    EXPECT_EQ(changed->request.holds[0].command.replacement, other.replacement);
    EXPECT_EQ(changed->request.holds[0].until, start + 9 * second);

    DecisionCommand reason = command(DecisionKind::reject);
    reason.reason = "on second thoughts, too little";
    EXPECT_TRUE(replaced(pending(), command(DecisionKind::reject), reason));
    DecisionCommand answer = command(DecisionKind::answer);
    answer.answer.text = "8";
    EXPECT_TRUE(replaced(pending(Kind::input), command(DecisionKind::answer), answer));

    DecisionCommand code = change;
    code.confirm = "another way to confirm the same";
    EXPECT_EQ(replaced(pending(), change, code).error().code, ErrorCode::conflict);
    EXPECT_EQ(replaced(pending(), change, change).error().code, ErrorCode::conflict);
}

TEST(Hold, deciding_at_once_ends_what_one_holds) {
    const Request held = with_hold(pending({anybody(2)}), DecisionKind::reject, person("ann"));
    const Step step = decided(held, DecisionKind::approve, person("ann"), start + 2 * second);
    EXPECT_TRUE(step.request.holds.empty());
    EXPECT_EQ(step.request.votes.size(), 1u);
}

TEST(Hold, whoever_settles_it_first_ends_what_others_hold) {
    const Request held = with_hold(pending(), DecisionKind::approve, person("ann"));
    const Step rejected = decided(held, DecisionKind::reject, person("ben"), start + 2 * second);
    EXPECT_EQ(rejected.request.outcome, Outcome::rejected);
    EXPECT_TRUE(rejected.request.holds.empty());
    EXPECT_TRUE(cancel(held, "", agent(), start + 2 * second)->request.holds.empty());
}

TEST(Hold, nothing_is_released_over_a_stop_that_is_held) {
    Request request = with_hold(pending(), DecisionKind::approve, person("ann"), 2 * second);
    request = with_hold(request, DecisionKind::reject, person("ben"), 8 * second);
    EXPECT_FALSE(due_hold(request, start + 5 * second)) << "the approval waits for the objection";
    const Held* first = due_hold(request, start + 9 * second);
    ASSERT_TRUE(first);
    EXPECT_EQ(first->person.name, "ben");
    EXPECT_EQ(release_hold(request, id_of("ben"), start + 9 * second).request.outcome,
              Outcome::rejected);
    const Request without = undo(request, person("ben"), start + 5 * second)->request;
    ASSERT_TRUE(due_hold(without, start + 5 * second));
    EXPECT_EQ(due_hold(without, start + 5 * second)->person.name, "ann");
}

TEST(Hold, two_people_fill_two_places) {
    Request request = with_hold(pending({anybody(2)}), DecisionKind::approve, person("ann"));
    request = with_hold(request, DecisionKind::approve, person("ben"), 6 * second);
    request = release_hold(request, id_of("ann"), start + 6 * second).request;
    EXPECT_EQ(request.state, State::pending);
    EXPECT_EQ(request.holds.size(), 1u);
    EXPECT_EQ(request.next_at, start + 7 * second);
    EXPECT_EQ(release_hold(request, id_of("ben"), start + 7 * second).request.outcome,
              Outcome::approved);
}

TEST(Hold, what_does_not_fit_any_more_is_void) {
    const Request held = with_hold(pending({anybody(2)}), DecisionKind::approve, person("ann"));
    const Request changed =
        decided(held, DecisionKind::modify, person("ben"), start + 2 * second).request;
    ASSERT_EQ(changed.holds.size(), 1u);
    const Step step = release_hold(changed, id_of("ann"), start + 6 * second);
    EXPECT_EQ(step.request.state, State::pending);
    EXPECT_EQ(step.request.votes.size(), 1u) << "only what ben has seen counts";
    EXPECT_TRUE(step.request.holds.empty());
    ASSERT_EQ(step.events.size(), 1u);
    EXPECT_EQ(step.events[0].kind, EventKind::undone);
}

TEST(Hold, it_never_reaches_the_deadline) {
    const Request request = pending();
    EXPECT_EQ(hold_until(request, 5 * second, start), start + 5 * second);
    EXPECT_EQ(hold_until(request, 5 * second, request.expires_at + -4 * second),
              request.expires_at + -hold_margin_ms);
    EXPECT_FALSE(hold_until(request, 5 * second, request.expires_at + -hold_margin_ms));
    EXPECT_FALSE(hold_until(request, 5 * second, request.expires_at + -1));
}

TEST(Hold, an_approval_that_the_server_slept_over_is_void) {
    const Request held = with_hold(pending(), DecisionKind::approve, person("ann"));
    const Timestamp late = held.expires_at;
    EXPECT_FALSE(due_hold(held, late));
    const std::optional<Step> step = tick(held, late);
    ASSERT_TRUE(step);
    EXPECT_EQ(step->request.outcome, Outcome::expired);
    EXPECT_FALSE(step->request.is_released);
    ASSERT_EQ(step->events.size(), 2u);
    EXPECT_EQ(step->events[0].kind, EventKind::undone);
}

TEST(Hold, a_stop_that_the_server_slept_over_still_counts) {
    Verdict lenient = verdict();
    lenient.risk = RiskLevel::low;
    lenient.timing.on_timeout = TimeoutAction::approve;
    const Request held =
        with_hold(opened(proposal(), lenient).request, DecisionKind::reject, person("ann"));
    const Held* due = due_hold(held, held.expires_at + second);
    ASSERT_TRUE(due) << "silence must not release what a person rejected";
    const Step step = release_hold(held, due->person.id, held.expires_at + second);
    EXPECT_EQ(step.request.outcome, Outcome::rejected);
}

}  // namespace
}  // namespace holdpoint::core
