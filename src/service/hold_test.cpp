#include "service/hold.h"

#include "service/expire.h"
#include "service/test_store.h"

namespace holdpoint::service {
namespace {

using namespace core::test;
using core::DecisionKind;
using core::Outcome;
using core::State;
using test::RequestPtr;

constexpr std::int64_t second = 1000;

class HoldTest : public test::StoreTest {
  protected:
    HoldTest() {
        add_person("ann");
        add_person("ben");
    }
    Result<Decided> decide_held(const RequestId& id, DecisionKind kind, const core::Actor& by,
                                std::int64_t hold_ms = 5 * second, Timestamp now = start + second) {
        DecideCall call{id, command(kind), by, {}, now};
        call.hold_ms = hold_ms;
        return decide_call(call);
    }
    Result<Decided> take_back(const RequestId& id, const core::Actor& by, Timestamp now) {
        return run([&](store::Transaction& tx) { return undo(tx, *in_force(), id, by, now); });
    }
    /// What the timer does.
    Expired pass(Timestamp now) {
        return get([&](store::Transaction& tx) { return expire_due(tx, *in_force(), now, 100); });
    }
};

TEST_F(HoldTest, D8_a_held_decision_takes_effect_by_the_timer) {
    const RequestId id = submitted()->id;
    const Result<Decided> held = decide_held(id, DecisionKind::approve, person("ann"));
    ASSERT_TRUE(held);
    ASSERT_FALSE(held->refusal) << held->refusal->message;
    EXPECT_EQ(held->request->state, State::pending);
    ASSERT_EQ(held->request->holds.size(), 1u);
    EXPECT_EQ(get([](store::Transaction& tx) { return tx.next_due(); }), start + 6 * second);
    EXPECT_EQ(pass(start + 5 * second).count, 0);
    EXPECT_EQ(pass(start + 6 * second).count, 1);
    EXPECT_EQ(load(id)->outcome, Outcome::approved);
    EXPECT_TRUE(load(id)->is_released);
    EXPECT_TRUE(load(id)->holds.empty());
}

TEST_F(HoldTest, it_can_be_taken_back_until_then_and_not_after) {
    const RequestId id = submitted()->id;
    ASSERT_TRUE(decide_held(id, DecisionKind::approve, person("ann")));
    EXPECT_TRUE(take_back(id, person("ben"), start + 2 * second)->refusal);
    ASSERT_FALSE(take_back(id, person("ann"), start + 5 * second)->refusal);
    EXPECT_EQ(pass(start + 10 * second).count, 0);
    EXPECT_EQ(load(id)->state, State::pending);
    ASSERT_TRUE(
        decide_held(id, DecisionKind::approve, person("ann"), 5 * second, start + 11 * second));
    // The timer is late; whoever asks first lets time pass, and then it is too late to take back.
    const Result<Decided> late = take_back(id, person("ann"), start + 17 * second);
    ASSERT_TRUE(late);
    ASSERT_TRUE(late->refusal);
    EXPECT_EQ(late->refusal->code, ErrorCode::conflict);
    EXPECT_EQ(late->request->outcome, Outcome::approved);
}

TEST_F(HoldTest, what_another_person_decides_meanwhile_stands) {
    const RequestId id = submitted()->id;
    ASSERT_TRUE(decide_held(id, DecisionKind::approve, person("ann")));
    ASSERT_FALSE(decide_now(id, DecisionKind::reject, person("ben"), start + 2 * second)->refusal);
    EXPECT_EQ(load(id)->outcome, Outcome::rejected);
    EXPECT_EQ(pass(start + 10 * second).count, 0);
    EXPECT_EQ(load(id)->outcome, Outcome::rejected) << "one decision";
}

TEST_F(HoldTest, who_may_not_decide_any_more_has_not_decided) {
    const RequestId id = submitted()->id;
    ASSERT_TRUE(decide_held(id, DecisionKind::approve, person("ann")));
    get([](store::Transaction& tx) -> Result<bool> {
        Result<std::optional<store::Principal>> ann = tx.find_principal(std::string("ann"));
        (*ann)->is_disabled = true;
        if (Result<void> ok = tx.save_principal(**ann); !ok) return ok.error();
        return true;
    });
    EXPECT_EQ(pass(start + 6 * second).count, 1);
    EXPECT_EQ(load(id)->state, State::pending);
    EXPECT_TRUE(load(id)->holds.empty());
    EXPECT_EQ(changes_.back().event.event.kind, core::EventKind::undone);
}

TEST_F(HoldTest, a_held_abort_ends_the_whole_run_when_it_takes_effect) {
    core::Proposal one = proposal();
    one.session = "run";
    const RequestId first = submitted(one)->id;
    const RequestId sibling = submitted(one)->id;
    ASSERT_FALSE(decide_held(first, DecisionKind::abort, person("ann"))->refusal);
    EXPECT_EQ(load(sibling)->state, State::pending);
    pass(start + 6 * second);
    EXPECT_EQ(load(first)->outcome, Outcome::aborted);
    EXPECT_EQ(load(sibling)->outcome, Outcome::aborted);
}

TEST_F(HoldTest, D2_D6_a_no_that_is_held_counts_though_time_ends_the_run_before) {
    core::Proposal ending = proposal(), refused = proposal();
    ending.session = refused.session = "run";
    ending.on_timeout = core::TimeoutAction::abort;
    ending.timeout_ms = 2 * second;
    const RequestId first = submitted(ending)->id;
    const RequestId rejected = submitted(refused)->id, aborted = submitted(refused)->id,
                    approved = submitted(refused)->id;
    ASSERT_FALSE(decide_held(rejected, DecisionKind::reject, person("ann"))->refusal);
    ASSERT_FALSE(decide_held(aborted, DecisionKind::abort, person("ben"))->refusal);
    ASSERT_FALSE(decide_held(approved, DecisionKind::approve, person("ben"))->refusal);
    pass(start + 3 * second);
    EXPECT_EQ(load(first)->timeout_taken, core::TimeoutAction::abort);
    EXPECT_EQ(load(rejected)->outcome, Outcome::rejected);
    ASSERT_TRUE(load(rejected)->decision);
    EXPECT_EQ(load(rejected)->decision->by, "ann");
    EXPECT_EQ(load(aborted)->outcome, Outcome::aborted);
    EXPECT_EQ(load(approved)->outcome, Outcome::expired);
    EXPECT_FALSE(load(approved)->is_released);
}

/// Two requests of one run: the first ends the run after two seconds, the second would be released
/// after four.
class AbortedRun : public HoldTest, public testing::WithParamInterface<std::pair<bool, bool>> {
  protected:
    AbortedRun() {
        core::Proposal ending = proposal(), releasing = proposal();
        ending.session = releasing.session = "run";
        policy_.risk = core::RiskLevel::low;
        if (is_by_time()) {
            ending.on_timeout = core::TimeoutAction::abort;
            ending.timeout_ms = 2 * second;
        }
        if (is_released_by_silence()) {
            releasing.on_timeout = core::TimeoutAction::approve;
            policy_.timing.timeout_ms = 4 * second;
        }
        first_ = submitted(ending)->id;
        second_ = submitted(releasing)->id;
        if (!is_by_time()) hold(first_, DecisionKind::abort, "ann", 2 * second);
        if (!is_released_by_silence()) hold(second_, DecisionKind::approve, "ben", 4 * second);
    }
    static bool is_by_time() { return GetParam().first; }
    static bool is_released_by_silence() { return GetParam().second; }
    void hold(const RequestId& id, DecisionKind kind, const char* by, std::int64_t ms) {
        const Result<Decided> held = decide_held(id, kind, person(by), ms, start);
        if (held->refusal || held->request->holds.empty()) throw std::runtime_error("not held");
    }
    void expect_ended() {
        const Outcome outcome = is_by_time() ? Outcome::expired : Outcome::aborted;
        EXPECT_EQ(load(first_)->outcome, outcome);
        EXPECT_EQ(load(second_)->outcome, outcome);
        EXPECT_FALSE(load(second_)->is_released) << load(second_)->message_for_agent;
        EXPECT_EQ(load(second_)->timeout_taken, load(first_)->timeout_taken);
    }

    RequestId first_, second_;
};

TEST_P(AbortedRun, D6_ends_what_was_due_later_when_the_timer_is_in_time) {
    for (int i = 1; i <= 5; ++i) pass(start + i * second);
    expect_ended();
}

TEST_P(AbortedRun, D6_ends_what_was_due_later_when_the_timer_is_late) {
    pass(start + 5 * second);
    expect_ended();
}

TEST_P(AbortedRun, D6_ends_what_was_due_later_when_somebody_looks_at_that_first) {
    const Result<Decided> late =
        decide_now(second_, DecisionKind::approve, person("ann"), start + 5 * second);
    EXPECT_TRUE(late->refusal);
    expect_ended();
}

TEST_P(AbortedRun, D6_is_over_for_whoever_decides_before_the_timer_has_come) {
    const Result<Decided> late =
        decide_now(second_, DecisionKind::approve, person("ann"), start + 3 * second);
    EXPECT_TRUE(late->refusal);
    expect_ended();
}

INSTANTIATE_TEST_SUITE_P(ByPeopleAndByTime, AbortedRun,
                         testing::Values(std::pair(false, false), std::pair(false, true),
                                         std::pair(true, false), std::pair(true, true)));

TEST_F(HoldTest, D6_what_was_due_before_an_abort_has_happened_however_late_the_timer_is) {
    core::Proposal one = proposal();
    one.session = "run";
    const RequestId first = submitted(one)->id, sibling = submitted(one)->id;
    ASSERT_FALSE(decide_held(first, DecisionKind::abort, person("ann"), 4 * second)->refusal);
    ASSERT_FALSE(decide_held(sibling, DecisionKind::approve, person("ben"), 2 * second)->refusal);
    pass(start + 6 * second);
    EXPECT_EQ(load(first)->outcome, Outcome::aborted);
    EXPECT_EQ(load(sibling)->outcome, Outcome::approved);
}

TEST_F(HoldTest, D6_few_at_once_are_let_pass_in_order_too) {
    core::Proposal one = proposal();
    one.session = "run";
    std::vector<RequestId> approved;
    for (int i = 0; i < 5; ++i) {
        approved.push_back(submitted(one)->id);
        one.remind_every_ms = second;
        ASSERT_FALSE(decide_held(approved.back(), DecisionKind::approve, person("ben"), 5 * second)
                         ->refusal);
    }
    const RequestId first = submitted(one)->id;
    ASSERT_FALSE(decide_held(first, DecisionKind::abort, person("ann"), 4 * second)->refusal);
    int rounds = 0;
    const Timestamp now = start + 20 * second;
    const auto pass_two = [&] {
        return get([&](store::Transaction& tx) { return expire_due(tx, *in_force(), now, 2); });
    };
    while (pass_two().next.value_or(now + 1) <= now)
        ASSERT_LT(++rounds, 50) << "the timer would never sleep";
    EXPECT_EQ(load(first)->outcome, Outcome::aborted);
    for (const RequestId& id : approved) EXPECT_EQ(load(id)->outcome, Outcome::aborted);
}

TEST_F(HoldTest, D6_thousands_of_held_aborts_of_one_run_may_be_due_at_once) {
    core::Proposal one = proposal();
    one.session = "run";
    std::vector<RequestId> ids;
    for (int i = 0; i < 20; ++i) {
        const Result<Submitted> batch = submit_call(call_with(std::vector(120, one)));
        ASSERT_TRUE(batch);
        for (const RequestPtr& request : batch->requests) ids.push_back(request->id);
    }
    for (const RequestId& id : ids)
        ASSERT_FALSE(decide_held(id, DecisionKind::abort, person("ann"))->refusal);
    changes_.clear();
    EXPECT_GT(pass(start + 60 * second).count, 0);
    for (const RequestId& id : ids) ASSERT_EQ(load(id)->outcome, Outcome::aborted);
    EXPECT_EQ(changes_.size(), ids.size()) << "each ends once";
    EXPECT_EQ(pass(start + 60 * second).count, 0);
}

TEST_F(HoldTest, a_held_change_is_applied_when_it_takes_effect) {
    const RequestPtr before = submitted();
    ASSERT_FALSE(decide_held(before->id, DecisionKind::modify, person("ann"))->refusal);
    EXPECT_EQ(load(before->id)->subject, before->subject);
    EXPECT_EQ(load(before->id)->digest, before->digest);
    pass(start + 6 * second);
    EXPECT_EQ(load(before->id)->outcome, Outcome::modified);
    EXPECT_NE(load(before->id)->digest, before->digest);
}

TEST_F(HoldTest, what_policy_refuses_is_refused_at_once) {
    load_policy(
        "holdpoint: 1\npolicy: p\ndefaults: {decision: require}\n"
        "tools:\n  refund: {risk: low, args: {amount: number}}\n"
        "rules:\n  - {id: small, tools: [refund], when: args.amount < 5, then: deny}\n");
    const RequestId id = submitted()->id;
    const Result<Decided> refused = decide_held(id, DecisionKind::modify, person("ann"));
    ASSERT_TRUE(refused);
    EXPECT_TRUE(refused->refusal);
    EXPECT_TRUE(load(id)->holds.empty());
}

TEST_F(HoldTest, a_grant_does_not_wait) {
    const RequestId id = submitted()->id;
    DecideCall call{id, command(DecisionKind::approve), person("ann"), {}, start + second};
    call.hold_ms = 5 * second;
    call.grant.emplace();
    const Result<Decided> refused = decide_call(call);
    ASSERT_TRUE(refused);
    ASSERT_TRUE(refused->refusal);
    EXPECT_EQ(refused->refusal->field, "undo_s");
    EXPECT_EQ(load(id)->state, State::pending);
}

TEST_F(HoldTest, too_close_to_the_deadline_it_takes_effect_at_once) {
    const RequestPtr request = submitted();
    const Result<Decided> decided = decide_held(request->id, DecisionKind::approve, person("ann"),
                                                5 * second, request->expires_at + -second);
    ASSERT_FALSE(decided->refusal);
    EXPECT_EQ(decided->request->outcome, Outcome::approved);
}

}  // namespace
}  // namespace holdpoint::service
