// Policies with memory, against the real store: counters, budgets, grants, trust, changes.

#include "service/judge.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/digest.h"
#include "service/expire.h"
#include "service/follow_up.h"
#include "service/grants.h"
#include "service/test_store.h"

namespace holdpoint::service::test {
namespace {

using core::DecisionKind;
using core::Outcome;
using core::State;

class Policies : public StoreTest {
  protected:
    core::Proposal refund(double amount, const std::string& currency = "EUR") {
        return core::test::proposal(
            core::Kind::action,
            fmt::format(R"({{"tool":"refund","arguments":{{"amount":{},"currency":"{}"}}}})",
                        amount, currency));
    }
    RequestPtr propose(core::Proposal proposal, Timestamp now = start) {
        return submitted(std::move(proposal), now);
    }
    Result<Decided> approve_with_grant(const RequestId& id, policy::GrantTerms terms,
                                       Timestamp now = start + 1000) {
        terms.id = "gr_" + id.text();
        terms.by = "ann";
        DecideCall call{id, command(DecisionKind::approve), person("ann"), {}, now, terms};
        return decide_call(call);
    }

    /// As a damaged store might hold it.
    void save_unreadable_grant() {
        get([&](store::Transaction& tx) -> Result<bool> {
            store::GrantRecord unreadable;
            unreadable.grant.id = "gr_x";
            unreadable.grant.agent = "bot";
            unreadable.grant.tool = "refund";
            unreadable.grant.uses_left = -1;
            unreadable.grant.expires_at = start + 3'600'000;
            if (Result<void> ok = tx.save_grant(unreadable); !ok) return ok.error();
            return true;
        });
    }

    static constexpr const char* counted = R"(
holdpoint: 1
policy: counted
defaults: {decision: allow, max_auto_risk: high}
tools:
  refund: {risk: low, args: {amount: number, currency: string}}
counters:
  refunded: {on: [refund], key: agent.id, add: args.amount, window: 1h}
rules:
  - id: too-much
    tools: [refund]
    when: counters.refunded + args.amount > 100.0
    then: require
)";
    static constexpr const char* granting = R"(
holdpoint: 1
policy: granting
defaults: {decision: require, max_auto_risk: high}
tools:
  refund: {risk: medium, args: {amount: number, currency: string}}
grants:
  offer: [once, similar]
  max_ttl: 1h
  max_uses: 10
  max_risk: medium
  similar:
    refund: {pin: [args.currency], bound: {args.amount: {at_most: approved}}}
)";
    static constexpr const char* trusting = R"(
holdpoint: 1
policy: trusting
defaults: {decision: require, max_auto_risk: high}
tools:
  refund: {risk: low, args: {amount: number, currency: string}}
trust: {after: 2, tools: [refund], scope: [agent.id, args.amount, args.currency], max_risk: low}
)";
};

TEST_F(Policies, G7_a_counter_grows_with_every_release_and_holds_what_goes_beyond) {
    load_policy(counted);
    EXPECT_EQ(propose(refund(60))->outcome, Outcome::allowed);
    EXPECT_EQ(propose(refund(40))->outcome, Outcome::allowed);
    const RequestPtr held = propose(refund(1));
    EXPECT_EQ(held->state, State::pending);
    EXPECT_EQ(held->verdict.rule, "too-much");
    EXPECT_EQ(propose(refund(60), start + 2 * 3'600'000)->outcome, Outcome::allowed)
        << "the window has passed";
}

TEST_F(Policies, G7_the_last_unit_is_used_once_also_within_a_batch) {
    load_policy(counted);
    SubmitCall call = call_with({refund(70), refund(70)});
    call.batch = BatchId::fresh(start);
    const Result<Submitted> answer = submit_call(call);
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(answer->requests[0]->outcome, Outcome::allowed);
    EXPECT_EQ(answer->requests[1]->state, State::pending);
}

TEST_F(Policies, G7_what_people_release_counts_too) {
    load_policy(counted);
    const RequestPtr held = propose(refund(500));
    ASSERT_EQ(held->state, State::pending);
    ASSERT_FALSE(decide_now(held->id, DecisionKind::approve, person("ann"))->refusal);
    EXPECT_EQ(propose(refund(1))->state, State::pending) << "500 were released";
}

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

TEST_F(Policies, T1_silence_releases_a_change_only_as_its_own_gate_would) {
    load_policy(R"(
holdpoint: 1
policy: silent
defaults: {decision: require}
tools:
  refund: {risk: low, args: {amount: number, currency: string}}
approvers:
  two: {roles: [finance]}
gates:
  small: {type: custom, tools: [refund], when: args.amount < 100.0, on_timeout: default, default_decision: approve, approvers: [{group: two, quorum: 2}]}
  large: {type: custom, tools: [refund], when: args.amount >= 100.0, on_timeout: default, default_decision: abort, approvers: [{group: two, quorum: 2}]}
)");
    const RequestPtr request = propose(refund(50));
    ASSERT_EQ(request->timing.on_timeout, core::TimeoutAction::use_default);
    DecideCall call{
        request->id, command(DecisionKind::modify), person("ann", {"finance"}), {}, start + 1};
    call.command.replacement.text = R"({"amount":500,"currency":"EUR"})";
    ASSERT_FALSE(decide_call(call)->refusal);
    EXPECT_EQ(load(request->id)->timing.on_timeout, core::TimeoutAction::reject);
}

TEST_F(Policies, D3_what_a_person_changes_is_judged_again) {
    load_policy(R"(
holdpoint: 1
policy: changed
defaults: {decision: require}
tools:
  refund: {risk: low, args: {amount: number, currency: string}}
approvers:
  finance: {roles: [finance]}
rules:
  - {id: never, tools: [refund], when: args.amount > 1000.0, then: deny, because: too large for anybody}
  - {id: large, tools: [refund], when: args.amount > 100.0, then: require, approvers: [{group: finance, quorum: 1}]}
)");
    const RequestPtr request = propose(refund(50));
    const auto change = [&](double amount) {
        DecideCall call{request->id, command(DecisionKind::modify), person("ann"), {}, start + 1};
        call.command.replacement.text = fmt::format(R"({{"amount":{},"currency":"EUR"}})", amount);
        return *decide_call(call);
    };
    const Decided denied = change(5000);
    ASSERT_TRUE(denied.refusal);
    EXPECT_EQ(denied.refusal->code, ErrorCode::refused);
    EXPECT_NE(denied.refusal->message.find("too large for anybody"), std::string::npos);
    EXPECT_EQ(load(request->id)->state, State::pending);

    const Decided held = change(500);
    ASSERT_FALSE(held.refusal) << held.refusal->message;
    EXPECT_EQ(held.request->state, State::pending) << "finance has to see it now";
}

TEST_F(Policies, G7_reported_usage_fills_the_budget_of_the_session) {
    load_policy(R"(
holdpoint: 1
policy: budget
defaults: {decision: allow, max_auto_risk: high}
tools:
  search: {risk: low, read_only: true}
gates:
  money: {type: budget_based, cost_above: 5.0, window: session}
)");
    core::Proposal proposal =
        core::test::proposal(core::Kind::action, R"({"tool":"search","arguments":{}})");
    proposal.session = "s-1";
    const RequestPtr first = propose(proposal);
    ASSERT_EQ(first->outcome, Outcome::allowed);
    core::Report done;
    done.is_success = true;
    const Result<Decided> reported = run([&](store::Transaction& tx) {
        return report(tx, *in_force(), first->id, done, {.cost = 6, .tokens = 100}, agent(),
                      start + 1);
    });
    ASSERT_TRUE(reported && !reported->refusal);
    EXPECT_EQ(propose(proposal, start + 2)->state, State::pending) << "6 of 5 are spent";
    proposal.session = "s-2";
    EXPECT_EQ(propose(proposal, start + 3)->outcome, Outcome::allowed) << "another session";
}

constexpr const char* priced = R"(
holdpoint: 1
policy: priced
defaults: {decision: allow, max_auto_risk: high}
tools:
  render: {risk: low, read_only: true, args: {pages: integer}, cost: args.pages}
  note: {risk: low, read_only: true}
gates:
  money: {type: budget_based, cost_above: 10.0, window: session}
)";

core::Proposal render(int pages, const std::string& session = "s-1", double claim = 0) {
    core::Proposal proposal = core::test::proposal(
        core::Kind::action,
        fmt::format(
            R"({{"arguments":{{"pages":{}}},"estimated_cost":{},"tool":"render","type":"tool_call"}})",
            pages, claim));
    proposal.session = session;
    return proposal;
}

TEST_F(Policies, G7_the_operators_estimate_fills_the_budget_without_any_report) {
    load_policy(priced);
    EXPECT_EQ(propose(render(6))->outcome, Outcome::allowed);
    const RequestPtr held = propose(render(5));
    EXPECT_EQ(held->state, State::pending) << "6 + 5 are more than 10";
    EXPECT_EQ(held->verdict.gate, "money");
    EXPECT_EQ(propose(render(4))->outcome, Outcome::allowed) << "held is not spent";
    EXPECT_EQ(propose(render(1))->state, State::pending);
    ASSERT_FALSE(decide_now(held->id, DecisionKind::approve, person("ann"))->refusal);
    EXPECT_EQ(propose(render(10, "s-2"))->outcome, Outcome::allowed) << "another session";
}

TEST_F(Policies, G7_what_people_release_takes_from_the_budget) {
    load_policy(priced);
    const RequestPtr held = propose(render(20));
    ASSERT_EQ(held->state, State::pending);
    EXPECT_EQ(propose(render(1))->outcome, Outcome::allowed);
    ASSERT_FALSE(decide_now(held->id, DecisionKind::approve, person("ann"))->refusal);
    EXPECT_EQ(propose(render(1))->state, State::pending);
}

TEST_F(Policies, G7_two_requests_in_one_commit_cannot_both_take_the_last_unit) {
    load_policy(priced);
    std::vector<Result<Submitted>> answers;
    const SubmitCall one = call_with({render(6)});
    const SubmitCall two = call_with({render(6)});
    for (const SubmitCall* call : {&one, &two})
        store_->run([this, call](store::Transaction& tx) { return submit(tx, *in_force(), *call); },
                    [&answers](Result<Submitted> answer) { answers.push_back(std::move(answer)); });
    ASSERT_TRUE(pump_until([&] { return answers.size() == 2; }));
    int allowed = 0;
    for (const Result<Submitted>& answer : answers) {
        ASSERT_TRUE(answer) << answer.error().message;
        allowed += answer->requests.front()->outcome == Outcome::allowed;
    }
    EXPECT_EQ(allowed, 1);

    SubmitCall batch = call_with({render(6, "s-2"), render(6, "s-2")});
    batch.batch = BatchId::fresh(start);
    const Result<Submitted> both = submit_call(batch);
    ASSERT_TRUE(both) << both.error().message;
    EXPECT_EQ(both->requests[0]->outcome, Outcome::allowed);
    EXPECT_EQ(both->requests[1]->state, State::pending);
}

class Budgets : public Policies {
  protected:
    Result<Decided> reports(const RequestPtr& request, Usage usage) {
        core::Report done;
        done.is_success = true;
        return run([&](store::Transaction& tx) {
            return report(tx, *in_force(), request->id, done, usage, agent(), start + 1);
        });
    }
    /// What is left of the session's ten, found by asking for ever less.
    int left(const std::string& session) {
        for (int pages = 20; pages > 0; --pages) {
            const Result<Judgement> asked = run([&](store::Transaction& tx) {
                return preview(tx, *in_force(), render(pages, session), {agent(), "olga"},
                               start + 2);
            });
            if (asked->verdict.record.kind == core::VerdictKind::allow) return pages;
        }
        return 0;
    }
};

TEST_F(Budgets, G7_what_it_really_cost_replaces_the_estimate) {
    load_policy(priced);
    const RequestPtr dear = propose(render(3, "dear"));
    ASSERT_EQ(left("dear"), 7);
    ASSERT_FALSE(reports(dear, {.cost = 5})->refusal);
    EXPECT_EQ(left("dear"), 5) << "5 in the place of 3, not 8";

    const RequestPtr careful = propose(render(1, "careful", 9));
    ASSERT_EQ(left("careful"), 1) << "the agent itself said 9";
    ASSERT_FALSE(reports(careful, {.cost = 2})->refusal);
    EXPECT_EQ(left("careful"), 8) << "what the agent said too much comes back";
}

TEST_F(Budgets, G7_no_report_brings_the_budget_below_the_operators_estimate) {
    load_policy(priced);
    const RequestPtr cheap = propose(render(8, "cheap"));
    ASSERT_FALSE(reports(cheap, {.cost = 0})->refusal);
    EXPECT_EQ(left("cheap"), 2);
    const RequestPtr silent = propose(render(8, "silent"));
    ASSERT_FALSE(reports(silent, {.tokens = 5})->refusal);
    EXPECT_EQ(left("silent"), 2) << "a report without a cost leaves the estimate";
}

TEST_F(Budgets, G7_a_report_that_comes_again_is_counted_once) {
    load_policy(priced);
    const RequestPtr request = propose(render(1, "again"));
    ASSERT_FALSE(reports(request, {.cost = 4})->refusal);
    ASSERT_FALSE(reports(request, {.cost = 4})->refusal);
    EXPECT_EQ(left("again"), 6);
}

TEST_F(Budgets, G7_who_names_no_session_is_judged_by_the_day) {
    load_policy(priced);
    EXPECT_EQ(propose(render(8, "s-1"))->outcome, Outcome::allowed);
    EXPECT_EQ(propose(render(8, ""))->state, State::pending);
    EXPECT_EQ(propose(render(2, ""))->outcome, Outcome::allowed);
    EXPECT_EQ(propose(render(1, ""))->state, State::pending);
}

TEST_F(Budgets, G7_rules_see_what_was_spent_without_a_budget_gate) {
    load_policy(R"(
holdpoint: 1
policy: rule
defaults: {decision: allow, max_auto_risk: high}
tools:
  render: {risk: low, read_only: true, args: {pages: integer}, cost: args.pages}
rules:
  - {id: enough, tools: [render], when: cost.day + cost.estimate > 10.0, then: require}
)");
    EXPECT_EQ(propose(render(6))->outcome, Outcome::allowed);
    EXPECT_EQ(propose(render(6))->verdict.rule, "enough");
}

constexpr const char* by_role = R"(
holdpoint: 1
policy: roles
defaults: {decision: allow, max_auto_risk: high}
tools:
  pay: {risk: low, read_only: true}
rules:
  - {id: interns, tools: [pay], when: "'intern' in user.roles", then: deny}
)";

TEST_F(Policies, G12_an_agent_cannot_choose_the_person_whose_roles_count) {
    load_policy(by_role);
    add_person("olga", store::Role::approver, {"intern"});
    core::Proposal pay =
        core::test::proposal(core::Kind::action, R"({"tool":"pay","arguments":{}})");
    const auto outcome_for = [&](const std::string& user) {
        pay.user = user;
        const RequestPtr request = propose(pay);
        return request->outcome;
    };
    EXPECT_EQ(outcome_for("olga"), Outcome::denied);
    EXPECT_EQ(outcome_for(""), Outcome::denied) << "naming nobody means the owner of the key";
    EXPECT_EQ(outcome_for("somebody"), std::nullopt) << "whose roles nobody knows is held";
}

TEST_F(Policies, what_depends_on_a_persons_roles_is_not_judged_ahead) {
    const std::string text = R"(
holdpoint: 1
policy: roles
defaults: {decision: require}
tools:
  pay: {risk: low}
rules:
  - {id: interns, tools: [pay], when: "CONDITION", then: deny}
)";
    const auto is_foreseen = [&](const char* condition) {
        std::string with = text;
        load_policy(with.replace(with.find("CONDITION"), 9, condition));
        const core::Proposal pay =
            core::test::proposal(core::Kind::action, R"({"tool":"pay","arguments":{}})");
        return foresee(*in_force(), call_with({pay})).at(0).has_value();
    };
    EXPECT_TRUE(is_foreseen("agent.role == 'intern'"));
    EXPECT_FALSE(is_foreseen("'intern' in user.roles"));
}

TEST_F(Policies, D3_a_changed_call_is_judged_with_the_roles_of_its_agent) {
    load_policy(R"(
holdpoint: 1
policy: agents
defaults: {decision: require}
tools:
  refund: {risk: low, args: {amount: number, currency: string}}
rules:
  - {id: trainee, tools: [refund], when: "agent.role == 'trainee' && args.amount > 10.0", then: deny}
)");
    store::Principal trainee;
    trainee.id = agent().id;
    trainee.name = agent().name;
    trainee.role = store::Role::agent;
    trainee.groups = {"trainee"};
    trainee.created_at = start;
    ASSERT_TRUE(run([&](store::Transaction& tx) { return tx.save_principal(trainee); }));
    const RequestPtr request = propose(refund(5));
    DecideCall call{request->id, command(DecisionKind::modify), person("ann"), {}, start + 1};
    call.command.replacement.text = R"({"amount":50,"currency":"EUR"})";
    const Result<Decided> denied = decide_call(call);
    ASSERT_TRUE(denied && denied->refusal);
    EXPECT_EQ(denied->refusal->code, ErrorCode::refused);
}

TEST_F(Policies, D9_critical_risk_asks_for_the_code_that_stands_with_the_request) {
    load_policy(R"(
holdpoint: 1
policy: critical
defaults: {decision: require}
tools:
  drop: {risk: critical, destructive: true}
)");
    const RequestPtr request =
        propose(core::test::proposal(core::Kind::action, R"({"tool":"drop","arguments":{}})"));
    ASSERT_TRUE(request->requirement.confirm_required);
    DecideCall call{request->id, command(DecisionKind::approve), person("ann"), {}, start + 1};
    const Result<Decided> refused = decide_call(call);
    ASSERT_TRUE(refused->refusal);
    EXPECT_EQ(refused->refusal->field, "confirm");
    call.command.confirm = core::confirmation_code(request->digest);
    EXPECT_EQ(call.command.confirm.size(), 6U);
    EXPECT_EQ(decide_call(call)->request->outcome, Outcome::approved);
}

TEST_F(Policies, D3_D9_a_change_that_becomes_critical_is_taken_with_the_code_of_what_was_changed) {
    load_policy(R"(
holdpoint: 1
policy: growing
defaults: {decision: require}
rules:
  - {id: huge, tools: [refund], when: args.amount > 1000, then: require, risk: critical}
)");
    const RequestPtr request = propose(refund(5));
    ASSERT_FALSE(request->requirement.confirm_required);
    DecideCall call{request->id, command(DecisionKind::modify), person("ann"), {}, start + 1};
    call.command.replacement.text = R"({"amount":5000,"currency":"EUR"})";
    const Result<Decided> refused = decide_call(call);
    ASSERT_TRUE(refused->refusal);
    EXPECT_EQ(refused->refusal->field, "confirm");
    EXPECT_TRUE(
        refused->refusal->message.starts_with("as you changed it this takes a confirmation"));
    call.command.confirm = core::confirmation_code(request->digest);
    const Result<Decided> taken = decide_call(call);
    ASSERT_FALSE(taken->refusal) << taken->refusal->message;
    EXPECT_EQ(taken->request->outcome, Outcome::modified);
}

TEST_F(Policies, X4_what_the_door_took_is_judged_and_changed_whatever_its_size) {
    load_policy("holdpoint: 1\npolicy: plain\ndefaults: {decision: require}\n");
    std::string large = "{";
    for (int i = 0; i < 8; ++i)
        large +=
            (i ? ",\"k" : "\"k") + std::to_string(i) + "\":\"" + std::string(50'000, 'x') + '"';
    large += '}';
    core::Proposal proposal =
        core::test::proposal(core::Kind::action, R"({"tool":"write","arguments":{}})");
    proposal.subject.text = R"({"arguments":)" + large + R"(,"tool":"write","type":"tool_call"})";
    const RequestPtr request = propose(proposal);
    ASSERT_EQ(request->state, State::pending);
    DecideCall call{request->id, command(DecisionKind::modify), person("ann"), {}, start + 1};
    call.command.replacement.text = large.substr(0, large.size() - 1) + R"(,"z":1})";
    const Result<Decided> decided = decide_call(call);
    ASSERT_TRUE(decided && !decided->refusal);
    EXPECT_EQ(decided->request->proposed.text, large);
}

TEST_F(Policies, P6_the_version_of_the_policy_stands_in_the_verdict) {
    load_policy(counted);
    EXPECT_EQ(propose(refund(1))->verdict.policy, in_force()->version);
}

}  // namespace
}  // namespace holdpoint::service::test
