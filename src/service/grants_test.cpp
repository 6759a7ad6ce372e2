// What lets similar calls pass for a while, and what ends it: grants and trust, against the real
// store.

#include "service/grants.h"

#include <gtest/gtest.h>

#include "service/expire.h"
#include "service/test_policies.h"

namespace holdpoint::service::test {
namespace {

using core::DecisionKind;
using core::Outcome;
using core::State;

TEST_F(Policies, P7_U1_a_grant_covers_similar_calls_within_its_bounds) {
    load_policy(granting);
    const RequestPtr first = propose(refund(50));
    ASSERT_EQ(first->state, State::pending);
    policy::GrantTerms terms;
    terms.uses = 2;
    const Result<Decided> given = approve_with_grant(first->id, terms);
    ASSERT_TRUE(given && !given->refusal) << given->refusal->message;
    ASSERT_TRUE(given->grant);

    EXPECT_EQ(propose(refund(51), start + 2000)->state, State::pending) << "more than approved";
    EXPECT_EQ(propose(refund(50, "USD"), start + 2000)->state, State::pending) << "pinned";
    EXPECT_EQ(propose(refund(50), start + 2000)->outcome, Outcome::allowed);
    EXPECT_EQ(propose(refund(20), start + 2000)->outcome, Outcome::allowed);
    EXPECT_EQ(propose(refund(20), start + 2000)->state, State::pending) << "two uses";
    const store::GrantRecord record =
        get([&](store::Transaction& tx) { return read_grant(tx, given->grant->grant.id); });
    EXPECT_EQ(record.uses, 2);
}

TEST_F(Policies, P7_a_grant_ends_by_time_by_revocation_and_by_a_rejection) {
    load_policy(granting);
    const auto granted = [&](Timestamp now) {
        const RequestPtr request = propose(refund(50), now);
        EXPECT_EQ(request->state, State::pending);
        const Result<Decided> given = approve_with_grant(request->id, {}, now + 1);
        EXPECT_TRUE(given && given->grant);
        return given->grant->grant.id;
    };
    granted(start);
    EXPECT_EQ(propose(refund(50), start + 3'600'000 + 10)->state, State::pending) << "an hour";

    const Timestamp later = start + 10 * 3'600'000LL;
    const std::string id = granted(later);
    EXPECT_EQ(propose(refund(50), later + 2)->outcome, Outcome::allowed);
    ASSERT_TRUE(run(
        [&](store::Transaction& tx) { return revoke_grant(tx, id, person("ben"), later + 3); }));
    EXPECT_EQ(
        run([&](store::Transaction& tx) { return revoke_grant(tx, id, person("ben"), later + 3); })
            .error()
            .code,
        ErrorCode::conflict);
    const RequestPtr after = propose(refund(50), later + 4);
    EXPECT_EQ(after->state, State::pending) << "revoked";

    const Timestamp third = later + 10 * 3'600'000LL;
    granted(third);
    const RequestPtr rejected = propose(refund(90), third + 2);
    ASSERT_EQ(rejected->state, State::pending);
    ASSERT_FALSE(decide_now(rejected->id, DecisionKind::reject, person("ann"), third + 3)->refusal);
    EXPECT_EQ(propose(refund(50), third + 4)->state, State::pending)
        << "who says no to one does not mean yes to the others";
}

TEST_F(Policies, D6_P7_who_stops_the_run_ends_what_lets_it_go_on) {
    load_policy(granting);
    const RequestPtr first = propose(refund(50));
    ASSERT_TRUE(approve_with_grant(first->id, {})->grant);
    ASSERT_EQ(propose(refund(50), start + 2000)->outcome, Outcome::allowed);
    const RequestPtr stopped = propose(refund(90), start + 3000);
    ASSERT_FALSE(
        decide_now(stopped->id, DecisionKind::abort, person("ann"), start + 3001)->refusal);
    EXPECT_EQ(propose(refund(50), start + 4000)->state, State::pending);
}

TEST_F(Policies, D6_P7_the_end_of_a_run_ends_its_grants_whatever_it_was_asked_about) {
    load_policy(R"(
holdpoint: 1
policy: session
defaults: {decision: require, max_auto_risk: high}
tools:
  refund: {risk: low, args: {amount: number, currency: string}}
  other: {risk: low}
gates: {plans: {type: plan_approval}}
grants: {offer: [session], max_risk: low, max_ttl: 10h}
)");
    const auto in_run = [&](core::Proposal proposal) {
        proposal.session = "run";
        return proposal;
    };
    const auto passes = [&](Timestamp now) {
        return propose(in_run(refund(50)), now)->outcome == Outcome::allowed;
    };
    const auto grant = [&](Timestamp now) {
        const RequestPtr first = propose(in_run(refund(50)), now);
        policy::GrantTerms terms;
        terms.is_for_session = true;
        EXPECT_TRUE(approve_with_grant(first->id, terms, now + 1)->grant);
        EXPECT_TRUE(passes(now + 2));
    };
    grant(start);
    const RequestPtr plan = propose(in_run(core::test::proposal(core::Kind::plan)), start + 10);
    ASSERT_EQ(plan->state, State::pending);
    ASSERT_FALSE(decide_now(plan->id, DecisionKind::abort, person("ann"), start + 11)->refusal);
    EXPECT_FALSE(passes(start + 12)) << "a plan";

    const Timestamp later = start + core::test::minute * 30;
    grant(later);
    core::Proposal timed =
        in_run(core::test::proposal(core::Kind::action, R"({"tool":"other","arguments":{}})"));
    timed.on_timeout = core::TimeoutAction::abort;
    timed.timeout_ms = 1000;
    propose(timed, later + 10);
    get([&](store::Transaction& tx) { return expire_due(tx, *in_force(), later + 2000, 10); });
    EXPECT_FALSE(passes(later + 2001)) << "nobody answered in time";
}

TEST_F(Policies, D2_D6_P7_a_no_that_is_held_is_remembered_though_the_run_ends_before) {
    load_policy(granting);
    add_person("ann");
    ASSERT_TRUE(approve_with_grant(propose(refund(50))->id, {})->grant);
    core::Proposal refused = refund(90), ending = refund(91);
    refused.session = ending.session = "run";
    ending.on_timeout = core::TimeoutAction::abort;
    ending.timeout_ms = 1000;
    DecideCall call{propose(refused, start + 2000)->id,
                    command(DecisionKind::reject),
                    person("ann"),
                    {},
                    start + 2001};
    call.hold_ms = 5000;
    ASSERT_FALSE(decide_call(call)->refusal);
    propose(ending, start + 2002);
    ASSERT_EQ(propose(refund(50), start + 2003)->outcome, Outcome::allowed);
    get([&](store::Transaction& tx) { return expire_due(tx, *in_force(), start + 4000, 10); });
    EXPECT_EQ(load(call.id)->outcome, Outcome::rejected);
    EXPECT_EQ(propose(refund(50), start + 4001)->state, State::pending) << "the grant has ended";
}

TEST_F(Policies, D2_P7_an_agent_cannot_withdraw_a_no) {
    load_policy(granting);
    add_person("ann", store::Role::approver, {});
    const RequestPtr first = propose(refund(50));
    ASSERT_TRUE(approve_with_grant(first->id, {})->grant);
    const RequestPtr refused = propose(refund(90), start + 2000);
    DecideCall call{refused->id, command(DecisionKind::reject), person("ann"), {}, start + 2001};
    call.hold_ms = 5000;
    ASSERT_FALSE(decide_call(call)->refusal);
    const auto withdraw = [&](const RequestId& id, Timestamp now) {
        return run(
            [&](store::Transaction& tx) { return cancel(tx, *in_force(), id, "", agent(), now); });
    };
    const Result<Decided> withdrawn = withdraw(refused->id, start + 2002);
    ASSERT_TRUE(withdrawn && withdrawn->refusal);
    EXPECT_EQ(withdrawn->refusal->code, ErrorCode::conflict);
    get([&](store::Transaction& tx) { return expire_due(tx, *in_force(), start + 8000, 10); });
    EXPECT_EQ(load(refused->id)->outcome, Outcome::rejected);
    EXPECT_EQ(propose(refund(50), start + 9000)->state, State::pending) << "the grant has ended";
}

TEST_F(Policies, P7_a_grant_for_a_large_call_is_read_as_long_as_it_lives) {
    load_policy(R"(
holdpoint: 1
policy: large
defaults: {decision: require}
tools: {refund: {risk: low}}
grants: {offer: [similar], max_risk: low}
)");
    const std::string subject = fmt::format(
        R"({{"tool":"refund","arguments":{{"a":"{0}","b":"{0}"}}}})", std::string(60'000, 'x'));
    const RequestPtr first = propose(core::test::proposal(core::Kind::action, subject));
    ASSERT_TRUE(approve_with_grant(first->id, {})->grant);
    EXPECT_EQ(propose(core::test::proposal(core::Kind::action, subject), start + 2000)->outcome,
              Outcome::allowed);
    const RequestPtr other = propose(refund(5), start + 2000);
    ASSERT_FALSE(decide_now(other->id, DecisionKind::reject, person("ann"), start + 2001)->refusal);
    EXPECT_EQ(propose(core::test::proposal(core::Kind::action, subject), start + 3000)->state,
              State::pending)
        << "the no has ended it";
}

TEST_F(Policies, T1_P7_what_cannot_end_keeps_no_other_deadline_waiting) {
    load_policy(granting);
    add_person("ann");
    const RequestId stuck = propose(refund(50))->id;
    const RequestId timed = propose(refund(60))->id;
    DecideCall call{stuck, command(DecisionKind::reject), person("ann"), {}, start + 1};
    call.hold_ms = 5000;
    ASSERT_FALSE(decide_call(call)->refusal);
    const std::size_t events = event_count(stuck);
    save_unreadable_grant();
    const Timestamp now = start + 10 * core::test::minute;
    const Expired passed =
        get([&](store::Transaction& tx) { return expire_due(tx, *in_force(), now, 100); });
    EXPECT_EQ(load(timed)->outcome, Outcome::expired);
    EXPECT_EQ(load(stuck)->state, State::pending);
    EXPECT_EQ(load(stuck)->holds.size(), 1u) << "what it wrote is taken back";
    EXPECT_EQ(event_count(stuck), events);
    EXPECT_EQ(passed.next, now + 60 * core::test::minute) << "not again and again";
    const Result<Decided> late =
        decide_now(stuck, DecisionKind::approve, person("ben"), now + 1000);
    ASSERT_FALSE(late) << "nobody releases it meanwhile";
    EXPECT_EQ(late.error().code, ErrorCode::internal);
}

TEST_F(Policies, D6_T1_a_run_ends_also_where_policy_cannot_remember_it) {
    load_policy(granting);
    add_person("ann");
    core::Proposal ending = refund(50), waiting = refund(60);
    ending.session = waiting.session = "run";
    ending.timeout_ms = 2000;
    ending.on_timeout = core::TimeoutAction::abort;
    const RequestId first = propose(ending)->id, second = propose(waiting)->id;
    DecideCall call{second, command(DecisionKind::approve), person("ann"), {}, start + 1};
    call.hold_ms = 4000;
    ASSERT_FALSE(decide_call(call)->refusal);
    save_unreadable_grant();
    get([&](store::Transaction& tx) {
        return expire_due(tx, *in_force(), start + 10 * core::test::minute, 100);
    });
    EXPECT_EQ(load(first)->timeout_taken, core::TimeoutAction::abort);
    EXPECT_EQ(load(second)->state, State::settled);
    EXPECT_FALSE(load(second)->is_released) << "its run was over before";
}

TEST_F(Policies, P7_a_grant_needs_the_approval_that_releases) {
    load_policy(granting);
    const RequestPtr request = propose(refund(50));
    DecideCall call{request->id, command(DecisionKind::approve), person("ann"), {}, start + 1};
    call.grant = policy::GrantTerms{.id = "gr_x", .by = "ann"};
    call.command.kind = DecisionKind::reject;
    const Result<Decided> refused = decide_call(call);
    ASSERT_TRUE(refused);
    ASSERT_TRUE(refused->refusal);
    EXPECT_EQ(refused->refusal->field, "grant");
    EXPECT_EQ(load(request->id)->state, State::pending) << "and nothing was changed";
}

TEST_F(Policies, P3_trust_comes_after_approvals_of_the_same_call_and_goes_with_a_rejection) {
    load_policy(trusting);
    const auto approve = [&](double amount, Timestamp now) {
        const RequestPtr request = propose(refund(amount), now);
        EXPECT_EQ(request->state, State::pending);
        EXPECT_FALSE(
            decide_now(request->id, DecisionKind::approve, person("ann"), now + 1)->refusal);
    };
    approve(10, start);
    approve(10, start + 10);
    EXPECT_EQ(propose(refund(10), start + 20)->outcome, Outcome::allowed);
    const RequestPtr other = propose(refund(11), start + 30);
    EXPECT_EQ(other->state, State::pending) << "another amount is another call";

    // A timeout of the trusted call itself would reset it; here a person says no to the same call.
    policy_.otherwise = core::VerdictKind::hold;
    loaded_ = nullptr;
    const RequestPtr same = propose(refund(10), start + 40);
    ASSERT_EQ(same->state, State::pending);
    load_policy(trusting);
    ASSERT_FALSE(decide_now(same->id, DecisionKind::reject, person("ann"), start + 41)->refusal);
    EXPECT_EQ(propose(refund(10), start + 50)->state, State::pending) << "reset";
}

TEST_F(Policies, P3_X1_trust_stands_in_for_nobody_who_was_not_asked) {
    load_policy(R"(
holdpoint: 1
policy: evenings
defaults: {decision: require, max_auto_risk: high}
tools:
  refund: {risk: low, args: {amount: number, currency: string}}
approvers:
  finance: {roles: [finance]}
gates:
  evening: {type: custom, tools: [refund], when: now.getHours('UTC') >= 20, approvers: [finance]}
trust: {after: 2, tools: [refund], scope: [agent.id, args.amount, args.currency], max_risk: low}
)");
    const auto approve = [&](const core::Actor& by, Timestamp now) {
        const RequestPtr request = propose(refund(10), now);
        ASSERT_EQ(request->state, State::pending);
        EXPECT_FALSE(decide_now(request->id, DecisionKind::approve, by, now + 1)->refusal);
    };
    const Timestamp morning = start, evening = start + 12 * 3'600'000LL;
    approve(person("ann"), morning);
    approve(person("ann"), morning + 10);
    EXPECT_EQ(propose(refund(10), morning + 20)->outcome, Outcome::allowed);
    approve(person("fin", {"finance"}), evening);
    approve(person("fin", {"finance"}), evening + 10);
    EXPECT_EQ(propose(refund(10), evening + 20)->outcome, Outcome::allowed) << "their own yes";
    EXPECT_EQ(propose(refund(10), evening + 12 * 3'600'000LL)->outcome, Outcome::allowed)
        << "anybody could release that";
}

TEST_F(Policies, P3_a_change_takes_the_trust_from_what_was_proposed) {
    load_policy(trusting);
    const auto decided = [&](DecisionKind kind, Timestamp now) {
        const RequestPtr request = propose(refund(10), now);
        ASSERT_EQ(request->state, State::pending);
        DecideCall call{request->id, command(kind), person("ann"), {}, now + 1};
        if (kind == DecisionKind::modify)
            call.command.replacement.text = R"({"amount":9,"currency":"EUR"})";
        ASSERT_FALSE(decide_call(call)->refusal);
    };
    decided(DecisionKind::approve, start);
    decided(DecisionKind::modify, start + 10);
    decided(DecisionKind::approve, start + 20);
    decided(DecisionKind::approve, start + 30);
    EXPECT_EQ(propose(refund(10), start + 40)->outcome, Outcome::allowed) << "two since then";
}

}  // namespace
}  // namespace holdpoint::service::test
