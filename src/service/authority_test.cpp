// Who may decide is asked when it counts, not when a page was opened.

#include <fmt/format.h>

#include "service/expire.h"
#include "service/read.h"
#include "service/test_store.h"

namespace holdpoint::service {
namespace {

using namespace core::test;
using core::DecisionKind;
using core::Outcome;
using core::State;
using test::RequestPtr;

class Authority : public test::StoreTest {
  protected:
    Authority() {
        load_policy(R"(
holdpoint: 1
policy: people
defaults: {decision: require}
tools:
  refund: {risk: low, args: {amount: number, currency: string}, message: "Give back {{args.amount}}?"}
approvers:
  ops: {roles: [ops]}
  finance: {roles: [finance]}
grants:
  offer: [once, similar]
  max_ttl: 1h
  max_uses: 10
  max_risk: medium
  similar:
    refund: {pin: [args.currency], bound: {args.amount: {at_most: approved}}}
rules:
  - {id: small, tools: [refund], when: args.amount <= 50.0 && args.amount != 7.0, then: require, approvers: [{group: ops, quorum: 1}]}
  - {id: quiet, tools: [refund], when: args.amount == 7.0, then: require, approvers: [{group: ops, quorum: 2}], timeout: 1m, on_timeout: approve}
  - {id: two, tools: [refund], when: args.amount > 50.0 && args.amount <= 100.0, then: require, approvers: [{group: ops, quorum: 2}]}
  - {id: large, tools: [refund], when: args.amount > 100.0, then: require, approvers: [{group: finance, quorum: 1}]}
  - {id: never, tools: [refund], when: args.amount > 1000.0, then: deny, because: the board said so}
)");
        for (const char* name : {"ann", "ben", "cleo"}) join(name, {"ops"});
        join("carol", {"finance"});
    }
    void join(const std::string& name, std::vector<std::string> groups) {
        add_person(name, store::Role::approver, std::move(groups));
    }
    void disable(const std::string& name) {
        get([&](store::Transaction& tx) -> Result<bool> {
            Result<std::optional<store::Principal>> found = tx.find_principal(name);
            if (!found) return found.error();
            (*found)->is_disabled = true;
            if (Result<void> ok = tx.save_principal(**found); !ok) return ok.error();
            return true;
        });
    }
    RequestPtr refund(double amount) { return submitted(proposal_of(amount)); }
    static core::Proposal proposal_of(double amount) {
        return core::test::proposal(
            core::Kind::action,
            fmt::format(R"({{"tool":"refund","arguments":{{"amount":{},"currency":"EUR"}}}})",
                        amount));
    }
    Result<Decided> change(const RequestPtr& request, double amount, const core::Actor& by) {
        DecideCall call{request->id, command(DecisionKind::modify), by, {}, start + 1};
        call.command.replacement.text = fmt::format(R"({{"amount":{},"currency":"EUR"}})", amount);
        return decide_call(call);
    }
    static core::Actor ops(const char* name) { return person(name, {"ops"}); }
};

TEST_F(Authority, D3_nobody_gets_a_place_in_a_request_by_changing_it) {
    const RequestPtr request = refund(20);
    const core::Actor carol = person("carol", {"finance"});
    for (const double amount : {500.0, 5000.0}) {
        const Result<Decided> refused = change(request, amount, carol);
        ASSERT_TRUE(refused && refused->refusal) << amount;
        EXPECT_EQ(refused->refusal->code, ErrorCode::permission_denied);
        EXPECT_EQ(refused->refusal->message.find("board"), std::string::npos)
            << "what policy says of it is not for her";
    }
    EXPECT_EQ(load(request->id)->digest, request->digest);
    EXPECT_TRUE(load(request->id)->votes.empty());

    const Result<Decided> changed = change(request, 500, ops("ann"));
    ASSERT_TRUE(changed && !changed->refusal) << changed->refusal->message;
    EXPECT_EQ(changed->request->state, State::pending) << "finance has to see it now";
    EXPECT_FALSE(decide_now(request->id, DecisionKind::approve, carol)->refusal);
    EXPECT_EQ(load(request->id)->outcome, Outcome::modified);
}

TEST_F(Authority, D3_what_people_read_of_a_change_is_what_the_operator_wrote) {
    const RequestPtr request = refund(20);
    EXPECT_EQ(request->headline, "Give back 20?");
    ASSERT_FALSE(change(request, 9, ops("ann"))->refusal);
    EXPECT_EQ(load(request->id)->headline, "Give back 9?");

    const RequestPtr later = refund(20);
    DecideCall held{later->id, command(DecisionKind::modify), ops("ann"), {}, start + 1};
    held.command.replacement.text = R"({"amount":9,"currency":"EUR"})";
    held.hold_ms = 5000;
    ASSERT_FALSE(decide_call(held)->refusal);
    EXPECT_EQ(load(later->id)->headline, later->headline) << "it stands as it was until then";
    get([&](store::Transaction& tx) { return expire_due(tx, *in_force(), start + 5001, 10); });
    EXPECT_EQ(load(later->id)->headline, "Give back 9?");
}

TEST_F(Authority, P7_what_several_people_release_is_not_granted_by_the_last_of_them) {
    const RequestPtr request = refund(80);
    ASSERT_FALSE(decide_now(request->id, DecisionKind::approve, ops("ann"))->refusal);
    DecideCall last{request->id, command(DecisionKind::approve), ops("ben"), {}, start + 2};
    last.grant = policy::GrantTerms{.id = "gr_x", .by = "ben"};
    const Result<Decided> refused = decide_call(last);
    ASSERT_TRUE(refused && refused->refusal);
    EXPECT_EQ(refused->refusal->field, "grant");
    EXPECT_EQ(load(request->id)->state, State::pending) << "and nothing was changed";
    last.grant.reset();
    EXPECT_FALSE(decide_call(last)->refusal);
    EXPECT_EQ(load(request->id)->outcome, Outcome::approved);
}

TEST_F(Authority, D10_the_vote_of_somebody_who_was_disabled_does_not_count_any_more) {
    const RequestPtr request = refund(80);
    ASSERT_FALSE(decide_now(request->id, DecisionKind::approve, ops("ann"))->refusal);
    disable("ann");
    ASSERT_FALSE(decide_now(request->id, DecisionKind::approve, ops("ben"))->refusal);
    EXPECT_EQ(load(request->id)->state, State::pending) << "one of two";
    EXPECT_EQ(load(request->id)->votes.size(), 1u);
    ASSERT_FALSE(decide_now(request->id, DecisionKind::approve, ops("cleo"))->refusal);
    EXPECT_EQ(load(request->id)->outcome, Outcome::approved);
}

TEST_F(Authority, D10_who_left_the_group_since_has_not_voted_for_it) {
    const RequestPtr request = refund(80);
    ASSERT_FALSE(decide_now(request->id, DecisionKind::approve, ops("ann"))->refusal);
    join("ann", {"finance"});
    ASSERT_FALSE(decide_now(request->id, DecisionKind::approve, ops("ben"))->refusal);
    EXPECT_EQ(load(request->id)->state, State::pending);
}

TEST_F(Authority, D8_a_held_decision_needs_its_place_when_it_takes_effect) {
    const RequestPtr request = refund(20);
    DecideCall call{request->id, command(DecisionKind::approve), ops("ann"), {}, start + 1};
    call.hold_ms = 5000;
    ASSERT_FALSE(decide_call(call)->refusal);
    join("ann", {"finance"});
    get([&](store::Transaction& tx) { return expire_due(tx, *in_force(), start + 5001, 10); });
    EXPECT_EQ(load(request->id)->state, State::pending);
    EXPECT_TRUE(load(request->id)->holds.empty());
    EXPECT_EQ(changes_.back().event.event.kind, core::EventKind::undone);
}

TEST_F(Authority, D10_when_others_are_asked_in_time_only_votes_that_still_count_are_seated) {
    loaded_ = nullptr;  // the agent names the people itself
    join("lee", {"legal"});
    join("bob", {"ops", "managers"});
    for (const bool is_disabled : {true, false}) {
        core::Proposal asked = proposal();
        asked.requirement = core::Requirement{};
        asked.requirement->lines = {group("ops"), group("legal")};
        asked.escalate_after_ms = 4000;
        asked.escalate_to = "group:managers";
        const RequestPtr request = submitted(asked);
        const core::Actor bob = person("bob", {"ops", "managers"});
        ASSERT_FALSE(decide_now(request->id, DecisionKind::approve, ops("ann"))->refusal);
        ASSERT_FALSE(decide_now(request->id, DecisionKind::approve, bob)->refusal);
        if (is_disabled)
            disable("ann");
        else
            join("ann", {"finance"});
        const RequestPtr shown =
            get([&](store::Transaction& tx) { return read(tx, request->id, bob); });
        EXPECT_EQ(shown->votes.size(), is_disabled ? 1u : 2u);
        EXPECT_EQ(shown->requirement.lines[0].have, 1) << "bob's place now";
        get([&](store::Transaction& tx) { return expire_due(tx, *in_force(), start + 5000, 10); });
        EXPECT_EQ(load(request->id)->state, State::pending) << "bob cannot sit in two places";
        EXPECT_TRUE(load(request->id)->timing.is_escalated);
        join("ann", {"ops"});
    }
}

TEST_F(Authority, D10_the_vote_of_somebody_who_was_disabled_is_not_shown_as_one_that_counts) {
    const RequestPtr request = refund(80);
    ASSERT_FALSE(decide_now(request->id, DecisionKind::approve, ops("ann"))->refusal);
    const auto shown = [&] {
        return get([&](store::Transaction& tx) { return read(tx, request->id, ops("ben")); });
    };
    EXPECT_EQ(shown()->requirement.lines[0].have, 1);
    disable("ann");
    EXPECT_EQ(shown()->requirement.lines[0].have, 0);
}

TEST_F(Authority, T1_silence_does_not_release_what_it_would_not_have_released_as_proposed) {
    const RequestPtr request = refund(7);
    ASSERT_EQ(request->timing.on_timeout, core::TimeoutAction::approve);
    ASSERT_FALSE(change(request, 8, ops("ann"))->refusal);
    ASSERT_EQ(load(request->id)->state, State::pending);
    get([&](store::Transaction& tx) { return expire_due(tx, *in_force(), start + 60'001, 10); });
    EXPECT_EQ(load(request->id)->outcome, Outcome::expired);
    EXPECT_FALSE(load(request->id)->is_released);

    const RequestPtr unchanged = refund(7);
    get([&](store::Transaction& tx) { return expire_due(tx, *in_force(), start + 60'001, 10); });
    EXPECT_TRUE(load(unchanged->id)->is_released) << "as the operator wrote it";
}

}  // namespace
}  // namespace holdpoint::service
