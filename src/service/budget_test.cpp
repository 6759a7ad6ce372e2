// Counters and budgets, against the real store.

#include <gtest/gtest.h>

#include "service/follow_up.h"
#include "service/judge.h"
#include "service/test_policies.h"

namespace holdpoint::service::test {
namespace {

using core::DecisionKind;
using core::Outcome;
using core::State;

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

TEST_F(Policies, G7_what_people_release_counts_for_the_roles_it_was_proposed_with) {
    const std::string text = R"(
holdpoint: 1
policy: by-role
defaults: {decision: allow, max_auto_risk: high}
tools:
  refund: {risk: low, args: {amount: number, currency: string}}
counters:
  refunded: {on: [refund], key: "KEY", add: args.amount, window: 24h}
rules:
  - {id: large, tools: [refund], when: args.amount > 100.0, then: require}
  - {id: too-much, tools: [refund], when: counters.refunded > 100.0, then: deny}
)";
    store::Principal billing;
    billing.id = agent().id;
    billing.name = agent().name;
    billing.role = store::Role::agent;
    billing.groups = {"billing"};
    billing.created_at = start;
    ASSERT_TRUE(run([&](store::Transaction& tx) { return tx.save_principal(billing); }));
    add_person("olga", store::Role::approver, {"desk"});
    for (const char* key : {"agent.role + '/role'", "user.roles[0]"}) {
        std::string with = text;
        load_policy(with.replace(with.find("KEY"), 3, key));
        const auto propose_as_billing = [&](double amount) {
            SubmitCall call = call_with({refund(amount)});
            call.agent.groups = billing.groups;
            const Result<Submitted> answer = submit_call(call);
            if (!answer) throw std::runtime_error(answer.error().message);
            return answer->requests[0];
        };
        const RequestPtr held = propose_as_billing(500);
        ASSERT_EQ(held->state, State::pending) << key;
        ASSERT_FALSE(decide_now(held->id, DecisionKind::approve, person("ann"))->refusal);
        EXPECT_EQ(propose_as_billing(1)->outcome, Outcome::denied) << key << ": 500 were released";
    }
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

}  // namespace
}  // namespace holdpoint::service::test
