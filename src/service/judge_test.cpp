// What policy says of a call that changes, of critical ones, and of whoever asks, against the real
// store.

#include "service/judge.h"

#include <gtest/gtest.h>

#include "core/digest.h"
#include "service/test_policies.h"

namespace holdpoint::service::test {
namespace {

using core::DecisionKind;
using core::Outcome;
using core::State;

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
