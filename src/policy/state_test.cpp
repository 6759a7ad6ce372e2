#include "policy/state.h"

#include <gmock/gmock.h>

#include <cmath>

#include "policy/test_policies.h"

namespace holdpoint::policy {
namespace {

using namespace test;
using core::Outcome;
using testing::HasSubstr;

constexpr std::int64_t hour = 3'600'000;

TEST(SlidingSum, counts_what_is_inside_the_window_and_never_too_little) {
    SlidingSum sum;
    std::vector<std::pair<Timestamp, double>> all;
    std::uint64_t seed = 7;
    Timestamp now = noon;
    for (int i = 0; i < 5000; ++i) {
        seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
        now = now + static_cast<std::int64_t>((seed >> 33) % (hour / 3));
        add(sum, hour, now, 1);
        all.emplace_back(now, 1);
        double exact = 0, twice = 0;
        for (const auto& [at, amount] : all) {
            if (now - at < hour) exact += amount;
            if (now - at < 2 * hour) twice += amount;
        }
        EXPECT_GE(total(sum, hour, now), exact);
        EXPECT_LE(total(sum, hour, now), twice);
    }
    EXPECT_EQ(total(sum, hour, now + 2 * hour), 0);
}

TEST(SlidingSum, a_negative_amount_makes_no_room) {
    SlidingSum sum;
    add(sum, hour, noon, 100);
    add(sum, hour, noon, -1000);
    EXPECT_EQ(total(sum, hour, noon), 100);
}

TEST(SlidingSum, a_clock_that_goes_back_loses_nothing) {
    SlidingSum sum;
    add(sum, hour, noon, 1);
    add(sum, hour, noon + -5 * hour, 1);
    EXPECT_EQ(total(sum, hour, noon), 2);
}

TEST(SlidingSum, what_is_taken_back_leaves_what_others_added) {
    SlidingSum sum;
    add(sum, hour, noon, 10);
    add(sum, hour, noon + 1, 5);
    take_back(sum, hour, noon, noon + 2, 4);
    EXPECT_EQ(total(sum, hour, noon + 2), 11);
    add(sum, hour, noon + (hour - 1), 1);
    take_back(sum, hour, noon, noon + hour, 2);
    EXPECT_EQ(total(sum, hour, noon + hour), 10) << "from the bucket it stands in";
    take_back(sum, hour, noon + hour, noon + hour, 1000);
    EXPECT_EQ(total(sum, hour, noon + hour), 10) << "nothing was added in this one";
    take_back(sum, hour, noon, noon + hour, -5);
    EXPECT_EQ(total(sum, hour, noon + hour), 10);
    add(sum, hour, noon + 3 * hour, 7);
    take_back(sum, hour, noon, noon + 3 * hour, 7);
    EXPECT_EQ(total(sum, hour, noon + 3 * hour), 7) << "what left the window cannot be returned";
}

TEST(SlidingSum, G7_nobody_empties_a_budget_by_spending_too_much_of_it_and_taking_it_back) {
    SlidingSum sum;
    add(sum, hour, noon, 3);
    for (int i = 0; i < 40; ++i) add(sum, hour, noon, 9007199254740480.0);
    for (int i = 0; i < 40; ++i) take_back(sum, hour, noon, noon, 9007199254740480.0);
    EXPECT_GE(total(sum, hour, noon), 3);
    SlidingSum large;
    add(large, hour, noon, 3);
    for (int i = 0; i < 1000; ++i) add(large, hour, noon, 1e9);
    for (int i = 0; i < 1000; ++i) take_back(large, hour, noon, noon, 1e9);
    EXPECT_EQ(total(large, hour, noon), 3);
}

TEST(SlidingSum, G7_X6_what_is_too_much_to_count_is_above_every_limit) {
    SlidingSum sum;
    add(sum, hour, noon, 1e12);
    EXPECT_EQ(total(sum, hour, noon), 1e12);
    for (int i = 0; i < 20; ++i) add(sum, hour, noon + 10, 1e12);
    EXPECT_GT(total(sum, hour, noon + 10), 1e15);
    EXPECT_TRUE(std::isfinite(total(sum, hour, noon + 10) * 1000));
    add(sum, hour, noon + hour, 1);
    EXPECT_GT(total(sum, hour, noon + (hour + 5)), 1e15) << "it may still be inside";
    EXPECT_EQ(total(sum, hour, noon + (hour + 10)), 1);
}

constexpr std::string_view refunds = R"~(
extends: standard
tools:
  refund: {destructive: true, risk: high, args: {customer: string, amount: number, currency: string}}
  note: {risk: medium, args: {text: string}}
  sh: {risk: medium, args: {command: string}, shell: {arg: command}}
counters:
  per_customer: {on: refund, key: args.customer, window: 24h}
  total: {on: refund, add: args.amount, window: 1h}
rules:
  - {id: burst, tools: [refund], when: counters.total + args.amount > 1000.0, then: require}
  - {id: never-x, tools: [refund], when: args.currency == 'X', then: deny}
grants:
  offer: [similar, session]
  max_ttl: 1h
  max_uses: 3
  max_sum: 100
  max_risk: high
  similar: {refund: {pin: [agent.id, args.currency], bound: {args.amount: {at_most: approved}}}, sh: {argv_prefix: true}}
)~";

Call call_of(const Policy& policy, std::string_view text) { return situation(policy, text).call; }

std::string refund(double amount, std::string_view currency = "EUR") {
    std::string number;
    json::append_number(number, amount);
    return R"({"tool":"refund","args":{"customer":"c","amount":)" + number + R"(,"currency":")" +
           std::string(currency) + R"("}})";
}

TEST(Needs, name_the_counters_of_this_call_with_key_and_amount) {
    const auto policy = policy_of(refunds);
    const Needs needed = needs(*policy, call_of(*policy, refund(20)));
    ASSERT_EQ(needed.counters.size(), 2u);
    EXPECT_EQ(needed.counters[0].name, "per_customer");
    EXPECT_EQ(needed.counters[0].key, "c");
    EXPECT_EQ(needed.counters[0].add, 1);
    EXPECT_EQ(needed.counters[1].add, 20);
    EXPECT_EQ(needed.counters[1].window_ms, hour);
    EXPECT_TRUE(needed.wants_grants);
    EXPECT_TRUE(needs(*policy, call_of(*policy, R"({"tool":"note","args":{"text":"x"}})"))
                    .counters.empty());
}

constexpr std::string_view priced = R"~(
defaults: {decision: allow, max_auto_risk: high}
tools:
  render: {read_only: true, risk: low, args: {pages: integer, "parts?": integer}, cost: args.pages * 2}
  split: {read_only: true, risk: low, args: {a: number, b: number}, cost: args.a / args.b}
  note: {read_only: true, risk: low}
gates: {money: {type: budget_based, tools: [render, split], cost_above: 10.0, window: session}}
)~";

CostEstimate cost_of(const Policy& policy, std::string_view call) {
    return needs(policy, call_of(policy, call)).cost;
}

TEST(Needs, G7_G11_the_cost_is_the_operators_and_an_agent_can_only_raise_it) {
    const auto policy = policy_of(priced);
    EXPECT_EQ(cost_of(*policy, R"({"tool":"render","args":{"pages":3}})").highest, 6);
    const auto claimed = [&](std::string_view estimate) {
        return cost_of(*policy,
                       R"({"tool":"render","args":{"pages":3},"context":{"cost":{"estimate":)" +
                           std::string(estimate) + "}}}");
    };
    EXPECT_EQ(claimed("0").highest, 6);
    EXPECT_EQ(claimed("9").highest, 9);
    EXPECT_EQ(claimed("9").operators, 6);
    EXPECT_EQ(cost_of(*policy, R"({"tool":"note","context":{"cost":{"estimate":4}}})").highest, 4)
        << "the gate is for other tools, the budget is one";
    const auto careless = policy_of("tools: {render: {cost: 5}}");
    EXPECT_EQ(cost_of(*careless, R"({"tool":"render"})").highest, 0) << "nobody asks for costs";
}

TEST(Needs, G7_X6_a_cost_that_is_no_number_holds_and_does_not_count_as_nothing) {
    const auto policy = policy_of(priced);
    for (const std::string_view args : {R"({"a":0,"b":0})", R"({"a":1,"b":0})"}) {
        const std::string call = R"({"tool":"split","args":)" + std::string(args) + "}";
        const Verdict verdict = judge(*policy, call);
        EXPECT_EQ(verdict.kind, core::VerdictKind::hold) << args;
        EXPECT_TRUE(verdict.decisive.is_error) << args;
        EXPECT_EQ(cost_of(*policy, call).highest, 0) << args;
    }
    EXPECT_EQ(kind(*policy, R"({"tool":"split","args":{"a":-100,"b":1}})"), "allow");
    EXPECT_EQ(cost_of(*policy, R"({"tool":"split","args":{"a":-100,"b":1}})").highest, 0)
        << "less than nothing makes no room";
}

TEST(Needs, G7_costs_are_loaded_for_whatever_reads_them) {
    const auto needs_of = [](std::string_view text) {
        const auto policy = policy_of(text);
        return needs(*policy, call_of(*policy, R"({"tool":"t"})")).wants_costs;
    };
    EXPECT_FALSE(needs_of("tools: {t: {}}"));
    EXPECT_TRUE(needs_of("tools: {t: {}}\ngates: {g: {type: budget_based, cost_above: 1}}"));
    EXPECT_TRUE(
        needs_of("tools: {t: {}}\nrules: [{id: r, tools: [t], when: cost.session > 5.0, "
                 "then: require}]"));
    EXPECT_TRUE(
        needs_of("tools: {t: {}}\nvars: {much: tokens.day > 5.0}\nrules: [{id: r, tools: "
                 "[t], when: vars.much, then: require}]"));
}

TEST(Counters, an_amount_that_is_no_number_is_not_counted_as_nothing) {
    const auto policy = policy_of(R"~(
defaults: {decision: allow}
tools: {t: {read_only: true, risk: low, args: {a: number, b: number}}}
counters: {sum: {on: t, add: args.a / args.b, window: 1h}}
rules: [{id: r, tools: [t], when: counters.sum > 5.0, then: require}]
)~");
    const Call call = call_of(*policy, R"({"tool":"t","args":{"a":0,"b":0}})");
    EXPECT_TRUE(needs(*policy, call).counters.empty());
    EXPECT_EQ(evaluate(*policy, call, {}).kind, core::VerdictKind::hold);
}

TEST(Counters, other_tools_see_a_counter_that_they_do_not_add_to) {
    const auto policy = policy_of(R"~(
defaults: {decision: allow}
tools:
  fail: {read_only: true, risk: low, args: {who: string}}
  open: {read_only: true, risk: low, args: {door: string}}
counters:
  failures: {on: fail, key: agent.id, window: 1h}
  by_person: {on: fail, key: args.who, window: 1h}
rules:
  - {id: enough, tools: [open], when: counters.failures >= 3, then: require}
  - {id: person, tools: [open], when: "args.door == 'x' && counters.by_person >= 3", then: require}
)~");
    const Call open = call_of(*policy, R"({"tool":"open","args":{"door":"d"}})");
    const Needs needed = needs(*policy, open);
    ASSERT_EQ(needed.counters.size(), 1u) << "the key of the other is an argument of another tool";
    EXPECT_EQ(needed.counters[0].name, "failures");
    EXPECT_EQ(needed.counters[0].key, "a1");
    EXPECT_EQ(needed.counters[0].add, 0);
    StateView state;
    state.counters = {2.0, std::nullopt};
    EXPECT_EQ(evaluate(*policy, open, state).kind, core::VerdictKind::allow);
    state.counters = {3.0, std::nullopt};
    EXPECT_EQ(evaluate(*policy, open, state).kind, core::VerdictKind::hold);
    const Call fail = call_of(*policy, R"({"tool":"fail","args":{"who":"w"}})");
    EXPECT_EQ(needs(*policy, fail).counters.size(), 2u);
    EXPECT_EQ(needs(*policy, fail).counters[0].add, 1);
}

TEST(Counters, a_counter_that_was_not_loaded_is_an_error_and_holds) {
    const auto policy = policy_of(refunds);
    const Call call = call_of(*policy, refund(1));
    const Verdict verdict = evaluate(*policy, call, {});
    EXPECT_EQ(verdict.kind, core::VerdictKind::hold);
    EXPECT_TRUE(verdict.decisive.is_error);
}

class GrantTest : public testing::Test {
  protected:
    std::shared_ptr<const Policy> policy_ = policy_of(refunds);
    GrantTerms terms_{.id = "g1", .by = "ann"};

    Grant grant_for(std::string_view call, GrantTerms terms) {
        const Situation read = situation(*policy_, call);
        const Verdict verdict = evaluate(*policy_, read.call, read.state);
        Result<Grant> grant = make_grant(*policy_, read.call, verdict.risk, terms);
        if (!grant) throw std::runtime_error(grant.error().message);
        return *grant;
    }
    std::string said_with(const Grant& grant, std::string_view call, std::int64_t later = 0) {
        Situation read = situation(*policy_, call);
        read.call.now = read.call.now + later;
        read.state.grants = {grant};
        const Verdict verdict = evaluate(*policy_, read.call, read.state);
        return std::string(core::to_string(verdict.kind)) + " " + rule_name(*policy_, verdict);
    }
};

TEST_F(GrantTest, P7_U1_similar_actions_pass_within_pins_and_bounds) {
    const Grant grant = grant_for(refund(50), terms_);
    EXPECT_EQ(said_with(grant, refund(50)), "allow grant");
    EXPECT_EQ(said_with(grant, refund(1)), "allow grant");
    EXPECT_EQ(said_with(grant, refund(50.01)), "hold destructive");
    EXPECT_EQ(said_with(grant, refund(-5)), "hold destructive") << "another direction";
    EXPECT_EQ(said_with(grant, refund(50, "USD")), "hold destructive");
    EXPECT_EQ(
        said_with(
            grant,
            R"({"tool":"refund","args":{"customer":"c","amount":1,"currency":"EUR"},"context":{"agent":{"id":"other"}}})"),
        "hold destructive");
    EXPECT_EQ(said_with(grant, R"({"tool":"note","args":{"text":"x"}})"), "hold max_auto_risk");
}

TEST_F(GrantTest, P7_it_never_passes_a_denial_or_a_hard_requirement_or_its_risk) {
    const Grant grant = grant_for(refund(50), terms_);
    EXPECT_EQ(said_with(grant_for(refund(50, "X"), terms_), refund(50, "X")), "deny never-x");
    EXPECT_EQ(
        said_with(
            grant,
            R"({"tool":"refund","args":{"customer":"c","amount":5,"currency":"EUR"},"counters":{"total":999}})"),
        "hold burst");
    EXPECT_EQ(
        said_with(
            grant,
            R"({"tool":"refund","args":{"customer":"c","amount":5,"currency":"EUR"},"context":{"claims":{"risk":"critical"}}})"),
        "hold destructive");
}

TEST_F(GrantTest, P7_it_ends_by_time_by_uses_by_sum_by_revocation_and_with_the_policy) {
    Grant grant = grant_for(refund(60), terms_);
    EXPECT_EQ(said_with(grant, refund(5), hour - 1), "allow grant");
    EXPECT_EQ(said_with(grant, refund(5), hour), "hold destructive");
    EXPECT_EQ(grant.uses_left, 3);
    EXPECT_EQ(grant.sum_left, 100);
    const Call call = call_of(*policy_, refund(60));
    consume(grant, call);
    EXPECT_EQ(grant.uses_left, 2);
    EXPECT_EQ(grant.sum_left, 40);
    EXPECT_EQ(said_with(grant, refund(60)), "hold destructive") << "more than is left";
    EXPECT_EQ(said_with(grant, refund(40)), "allow grant");
    consume(grant, call_of(*policy_, refund(1)));
    consume(grant, call_of(*policy_, refund(1)));
    EXPECT_EQ(said_with(grant, refund(1)), "hold destructive") << "no uses are left";

    Grant revoked = grant_for(refund(60), terms_);
    revoked.is_revoked = true;
    EXPECT_EQ(said_with(revoked, refund(1)), "hold destructive");
    Grant old = grant_for(refund(60), terms_);
    old.policy = "sha256:other";
    EXPECT_EQ(said_with(old, refund(1)), "hold destructive");
}

TEST_F(GrantTest, P7_what_a_person_asks_for_stays_within_the_policy) {
    GrantTerms greedy = terms_;
    greedy.ttl_ms = 100 * hour;
    greedy.uses = 1000;
    greedy.sum = 1e9;
    const Grant grant = grant_for(refund(60), greedy);
    EXPECT_EQ(grant.expires_at, noon + hour);
    EXPECT_EQ(grant.uses_left, 3);
    EXPECT_EQ(grant.sum_left, 100);
    const Call call = call_of(*policy_, refund(60));
    EXPECT_FALSE(make_grant(*policy_, call, RiskLevel::critical, terms_)) << "above the cap";
    EXPECT_FALSE(make_grant(*policy_of("extends: standard\n"), call, RiskLevel::low, terms_));
}

TEST_F(GrantTest, P7_a_tool_without_similar_is_granted_with_exactly_these_arguments) {
    const Grant grant = grant_for(R"({"tool":"note","args":{"text":"x"}})", terms_);
    EXPECT_EQ(said_with(grant, R"({"tool":"note","args":{"text":"x"}})"), "allow grant");
    EXPECT_EQ(said_with(grant, R"({"tool":"note","args":{"text":"y"}})"), "hold max_auto_risk");
}

TEST_F(GrantTest, P7_shell_grants_pin_the_words_and_never_an_opaque_command) {
    const auto sh = [](std::string_view command) {
        return R"({"tool":"sh","args":{"command":")" + std::string(command) + R"("}})";
    };
    const Grant whole = grant_for(sh("npm run build"), terms_);
    EXPECT_EQ(said_with(whole, sh("npm  run 'build'")), "allow grant") << "the same words";
    EXPECT_EQ(said_with(whole, sh("npm run build x")), "hold max_auto_risk");
    GrantTerms prefix = terms_;
    prefix.argv_words = 2;
    const Grant start = grant_for(sh("npm run build"), prefix);
    EXPECT_EQ(said_with(start, sh("npm run test")), "allow grant");
    EXPECT_EQ(said_with(start, sh("npm run test && reboot")), "hold max_auto_risk");
    EXPECT_EQ(said_with(start, sh("npm run $X")), "hold opaque-shell");
    EXPECT_FALSE(
        make_grant(*policy_, call_of(*policy_, sh("npm run $X")), RiskLevel::medium, terms_));
    prefix.argv_words = 1;
    EXPECT_FALSE(
        make_grant(*policy_, call_of(*policy_, sh("npm run x")), RiskLevel::medium, prefix))
        << "one word would be the program with everything it can do";
}

TEST_F(GrantTest, P7_the_same_words_in_another_place_are_not_what_was_granted) {
    for (const std::string_view similar : {"", "  similar: {sh: {argv_prefix: true}}\n"}) {
        policy_ = policy_of(std::string(R"~(
extends: standard
defaults: {decision: require}
tools:
  sh: {risk: medium, args: {command: string, "cwd?": string, "host?": string}, shell: {arg: command}}
grants:
  offer: [similar]
  max_ttl: 1h
  max_uses: 3
  max_risk: high
)~") + std::string(similar));
        const auto sh = [](std::string_view more) {
            return R"({"tool":"sh","args":{"command":"git push")" + std::string(more) + "}}";
        };
        const Grant staging = grant_for(sh(R"(,"cwd":"/staging")"), terms_);
        EXPECT_EQ(said_with(staging, sh(R"(,"cwd":"/staging")")), "allow grant");
        EXPECT_NE(said_with(staging, sh(R"(,"cwd":"/live")")), "allow grant");
        EXPECT_NE(said_with(staging, sh("")), "allow grant");
        EXPECT_NE(said_with(staging, sh(R"(,"cwd":"/staging","host":"b")")), "allow grant");
        EXPECT_THAT(describe(staging), HasSubstr(R"(the other arguments {"cwd":"/staging"})"));
        const Grant alone = grant_for(sh(""), terms_);
        EXPECT_EQ(said_with(alone, sh("")), "allow grant");
        EXPECT_NE(said_with(alone, sh(R"(,"cwd":"/")")), "allow grant");
        EXPECT_THAT(describe(alone), HasSubstr("with no other argument"));
    }
}

TEST_F(GrantTest, P7_P2_a_quoted_operator_is_a_word_and_no_operator) {
    const auto sh = [](std::string_view command) {
        return R"({"tool":"sh","args":{"command":")" + std::string(command) + R"("}})";
    };
    for (const std::string_view operation : {"&&", ";", "||", "|"}) {
        const std::string quoted = "echo x '\\n" + std::string(operation) + "' deploy prod";
        const Grant grant = grant_for(sh(quoted), terms_);
        EXPECT_EQ(said_with(grant, sh(quoted)), "allow grant");
        EXPECT_NE(said_with(grant, sh("echo x " + std::string(operation) + " deploy prod")),
                  "allow grant")
            << operation;
    }
}

TEST_F(GrantTest, P7_X1_a_grant_stands_in_for_no_stricter_yes) {
    policy_ = policy_of(R"~(
extends: standard
defaults: {decision: require}
tools:
  pay: {risk: low, args: {to: string}}
gates:
  foreign: {type: custom, tools: [pay], when: args.to == "abroad", exclude_requester: true}
  coded: {type: custom, tools: [pay], when: args.to == "bank", confirm: code}
grants:
  offer: [similar]
  max_ttl: 1h
  max_uses: 3
  max_risk: high
  similar: {pay: {pin: []}}
)~");
    const auto pay = [](std::string_view to) {
        return R"({"tool":"pay","args":{"to":")" + std::string(to) + R"("}})";
    };
    const Grant owners = grant_for(pay("home"), terms_);
    EXPECT_EQ(said_with(owners, pay("home")), "allow grant");
    EXPECT_EQ(said_with(owners, pay("abroad")), "hold foreign") << "the owner may not decide that";
    EXPECT_EQ(said_with(owners, pay("bank")), "hold coded");
    GrantTerms of_others = terms_;
    of_others.asked = {.people = {}, .excludes_requester = true, .takes_code = true};
    const Grant others = grant_for(pay("abroad"), of_others);
    EXPECT_EQ(said_with(others, pay("abroad")), "allow grant");
    EXPECT_EQ(said_with(others, pay("bank")), "allow grant");
}

TEST_F(GrantTest, P7_D10_one_persons_grant_stands_in_for_nobody_else) {
    policy_ = policy_of(R"~(
extends: standard
defaults: {decision: require}
tools:
  pay: {risk: low, args: {customer: string, amount: number}}
approvers:
  desk: {roles: [support]}
  finance: {roles: [finance]}
gates:
  vip: {type: custom, tools: [pay], when: args.customer == "vip", approvers: [{group: finance, quorum: 2}]}
  shop: {type: custom, tools: [pay], when: args.customer == "shop", approvers: [{group: desk}]}
  bank: {type: custom, tools: [pay], when: args.customer == "bank", approvers: [{group: finance}]}
grants:
  offer: [similar]
  max_ttl: 1h
  max_uses: 3
  max_risk: high
  similar: {pay: {pin: [], bound: {args.amount: {at_most: approved}}}}
)~");
    const auto pay = [](std::string_view customer) {
        return R"({"tool":"pay","args":{"amount":5,"customer":")" + std::string(customer) +
               R"("}})";
    };
    const Grant anybodys = grant_for(pay("bob"), terms_);
    EXPECT_EQ(said_with(anybodys, pay("ben")), "allow grant");
    EXPECT_EQ(said_with(anybodys, pay("vip")), "hold vip") << "two people of finance are asked";
    EXPECT_EQ(said_with(anybodys, pay("shop")), "hold shop") << "others are asked";

    GrantTerms of_desk = terms_;
    core::Requirement desk;
    desk.lines[0].group = "support";
    of_desk.asked = asked_of(desk);
    const Grant desks = grant_for(pay("shop"), of_desk);
    EXPECT_EQ(said_with(desks, pay("shop")), "allow grant");
    EXPECT_EQ(said_with(desks, pay("ben")), "allow grant") << "anybody could release that";
    EXPECT_EQ(said_with(desks, pay("bank")), "hold bank");
    EXPECT_EQ(said_with(desks, pay("vip")), "hold vip");
}

TEST_F(GrantTest, U3_a_session_grant_is_remembered_within_the_session_only) {
    GrantTerms session = terms_;
    session.is_for_session = true;
    const auto in = [](std::string_view name) {
        return R"({"tool":"note","args":{"text":"x"},"context":{"session":")" + std::string(name) +
               R"("}})";
    };
    const Grant grant = grant_for(in("s1"), session);
    EXPECT_EQ(said_with(grant, in("s1")), "allow grant");
    EXPECT_EQ(said_with(grant, in("s2")), "hold max_auto_risk");
    EXPECT_FALSE(make_grant(*policy_, call_of(*policy_, R"({"tool":"note","args":{"text":"x"}})"),
                            RiskLevel::medium, session));
}

TEST_F(GrantTest, P7_the_card_says_exactly_what_it_covers) {
    const std::string text = describe(grant_for(refund(60), terms_));
    for (const std::string_view part :
         {"`refund`", "`a1`", "`args.currency` = \"EUR\"", "`args.amount` at most 60",
          "3 more times", "100 in total", "high risk"})
        EXPECT_THAT(text, HasSubstr(part));
}

constexpr std::string_view trusting = R"~(
extends: standard
defaults: {decision: require}
tools:
  sh: {risk: medium, args: {command: string}, shell: {arg: command}}
  drop: {destructive: true, risk: medium, args: {name: string}}
  big: {risk: high, args: {name: string}}
  plain: {risk: low, args: {name: string}}
patterns: {always_require: [{word: secret}]}
trust: {after: 3, tools: [sh, drop, big, plain], min_review: 2s, expires: 14d, distinct_approvers: 2, sample: 0.1}
)~";

class TrustTest : public testing::Test {
  protected:
    std::shared_ptr<const Policy> policy_ = policy_of(trusting);

    TrustEntry after(std::string_view call, const std::vector<TrustOutcome>& outcomes) {
        TrustEntry entry;
        entry.key = trust_key(*policy_, call_of(*policy_, call));
        entry.policy = policy_->version;
        entry.last_at = noon;
        for (const TrustOutcome& outcome : outcomes) entry = count(entry, *policy_, outcome);
        return entry;
    }
    static std::vector<TrustOutcome> approvals(int number, std::int64_t review_ms = 5000) {
        std::vector<TrustOutcome> out;
        for (int i = 0; i < number; ++i)
            out.push_back({Outcome::approved, i % 2 ? "ann" : "bob", review_ms, noon});
        return out;
    }
    std::string said_with(const TrustEntry& entry, std::string_view call, double draw = 0.5) {
        Situation read = situation(*policy_, call);
        read.state.trust = entry;
        read.state.draw = draw;
        const Verdict verdict = evaluate(*policy_, read.call, read.state);
        EXPECT_EQ(verdict.is_trusted, verdict.decisive.cause == Cause::trust);
        return std::string(core::to_string(verdict.kind)) + " " + rule_name(*policy_, verdict);
    }
};

constexpr std::string_view status = R"({"tool":"sh","args":{"command":"git status"}})";

TEST_F(TrustTest, P3_after_enough_approvals_of_the_very_same_it_passes_and_says_so) {
    EXPECT_EQ(said_with(after(status, approvals(2)), status), "hold all_tools");
    EXPECT_EQ(said_with(after(status, approvals(3)), status), "allow trust");
    EXPECT_EQ(
        said_with(after(status, approvals(3)), R"({"tool":"sh","args":{"command":"git log"}})"),
        "hold all_tools")
        << "another command is another fingerprint";
}

TEST_F(TrustTest, P3_one_rejection_modification_or_timeout_starts_over) {
    for (const Outcome outcome : {Outcome::rejected, Outcome::modified, Outcome::expired,
                                  Outcome::aborted, Outcome::deferred}) {
        std::vector<TrustOutcome> outcomes = approvals(5);
        outcomes.push_back({outcome, "ann", 5000, noon});
        EXPECT_EQ(after(status, outcomes).approvals, 0);
        EXPECT_EQ(said_with(after(status, outcomes), status), "hold all_tools");
    }
}

TEST_F(TrustTest, P3_clicks_too_fast_one_lone_person_and_old_approvals_do_not_count) {
    EXPECT_EQ(after(status, approvals(9, 1999)).approvals, 0);
    std::vector<TrustOutcome> alone(5, {Outcome::approved, "ann", 5000, noon});
    EXPECT_EQ(said_with(after(status, alone), status), "hold all_tools");
    TrustEntry old = after(status, approvals(5));
    old.last_at = noon + -14 * 24 * hour;
    EXPECT_EQ(said_with(old, status), "hold all_tools");
    TrustEntry other = after(status, approvals(5));
    other.policy = "sha256:other";
    EXPECT_EQ(said_with(other, status), "hold all_tools");
}

TEST_F(TrustTest, P3_never_for_high_risk_for_destructive_tools_or_where_a_pattern_requires) {
    const auto of = [&](std::string_view call) {
        return said_with(after(call, approvals(5)), call);
    };
    EXPECT_EQ(of(R"({"tool":"plain","args":{"name":"x"}})"), "allow trust");
    EXPECT_EQ(of(R"({"tool":"drop","args":{"name":"x"}})"), "hold destructive");
    EXPECT_EQ(of(R"({"tool":"big","args":{"name":"x"}})"), "hold all_tools");
    EXPECT_EQ(of(R"({"tool":"plain","args":{"name":"a secret"}})"), "hold pattern");
    EXPECT_EQ(of(R"({"tool":"plain","args":{"name":"x"},"context":{"claims":{"risk":"high"}}})"),
              "hold all_tools");
    EXPECT_EQ(trust_key(*policy_, call_of(*policy_, R"({"tool":"sh","args":{"command":"ls $X"}})")),
              "")
        << "an opaque command has no fingerprint";
}

TEST_F(TrustTest, P3_X1_the_yes_of_others_starts_over) {
    std::vector<TrustOutcome> outcomes = approvals(3);
    outcomes.push_back({Outcome::approved, "fin", 5000, noon, Asked{"\"finance\""}});
    const TrustEntry entry = after(status, outcomes);
    EXPECT_EQ(entry.approvals, 1);
    EXPECT_EQ(entry.approvers, std::vector<std::string>{"fin"});
    EXPECT_EQ(entry.asked.people, "\"finance\"");
}

TEST_F(TrustTest, P3_a_sample_still_goes_to_a_person) {
    EXPECT_EQ(said_with(after(status, approvals(5)), status, 0.09), "hold all_tools");
    EXPECT_EQ(said_with(after(status, approvals(5)), status, 0.1), "allow trust");
}

TEST_F(TrustTest, P3_is_off_unless_a_policy_says_so) {
    policy_ =
        policy_of("extends: standard\ndefaults: {decision: require}\ntools: {sh: {risk: low}}\n");
    EXPECT_EQ(trust_key(*policy_, call_of(*policy_, R"({"tool":"sh"})")), "");
    EXPECT_EQ(said_with(after(R"({"tool":"sh"})", approvals(50)), R"({"tool":"sh"})"),
              "hold all_tools");
}

}  // namespace
}  // namespace holdpoint::policy
