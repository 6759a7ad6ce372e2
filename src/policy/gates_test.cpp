#include <gmock/gmock.h>

#include "core/expire.h"
#include "core/requirement.h"
#include "core/test_requests.h"
#include "policy/builder.h"
#include "policy/test_policies.h"

namespace holdpoint::policy {
namespace {

using namespace test;
using testing::HasSubstr;

constexpr std::string_view tools = R"~(
tools:
  read: {read_only: true, risk: low}
  write: {risk: low, args: {path: string}}
  drop: {destructive: true, risk: low}
  pay: {risk: low, args: {amount: number, "note?": string}}
  mail: {open_world: true, risk: low}
defaults: {decision: allow, max_auto_risk: critical}
)~";

std::shared_ptr<const Policy> with(std::string_view rest) {
    return policy_of(std::string(tools) + std::string(rest));
}

TEST(Gates, G1_tool_execution_holds_every_tool_call) {
    const auto policy = with("gates: {all: {type: tool_execution}}\n");
    EXPECT_EQ(said(*policy, R"({"tool":"read"})"), "hold all/all");
    EXPECT_EQ(said(*policy, R"({"tool":"write","args":{"path":"x"}})"), "hold all/all");
    EXPECT_EQ(kind(*policy, R"({"event":"final_response","response":{"text":"x"}})"), "allow");
}

TEST(Gates, G2_specific_tools_holds_the_named_and_no_others) {
    const auto policy = with("gates: {g: {type: specific_tools, tools: [pay, \"wr*\"]}}\n");
    EXPECT_EQ(said(*policy, R"({"tool":"pay","args":{"amount":1}})"), "hold g/g");
    EXPECT_EQ(said(*policy, R"({"tool":"write","args":{"path":"x"}})"), "hold g/g");
    EXPECT_EQ(kind(*policy, R"({"tool":"read"})"), "allow");
}

TEST(Gates, G2_a_bare_list_of_names_is_enough) {
    const auto policy = with("always_require: [pay]\n");
    EXPECT_EQ(said(*policy, R"({"tool":"pay","args":{"amount":1}})"), "hold always_require/");
    EXPECT_EQ(kind(*policy, R"({"tool":"read"})"), "allow");
}

TEST(Gates, G3_destructive_tools_are_held) {
    const auto policy = with("gates: {d: {type: destructive_actions}}\n");
    EXPECT_EQ(said(*policy, R"({"tool":"drop"})"), "hold d/d");
    EXPECT_EQ(kind(*policy, R"({"tool":"write","args":{"path":"x"}})"), "allow");
}

TEST(Gates, G3_a_destructive_hint_of_the_agent_holds_and_its_absence_frees_nothing) {
    const auto policy = with("gates: {d: {type: destructive_actions}}\n");
    EXPECT_EQ(said(*policy, R"({"tool":"read","context":{"claims":{"destructive":true}}})"),
              "hold d/d");
    EXPECT_EQ(said(*policy, R"({"tool":"drop","context":{"claims":{"destructive":false}}})"),
              "hold d/d");
}

TEST(Gates, G4_final_response_is_held_where_its_condition_holds) {
    const auto policy =
        with("gates: {f: {type: final_response, when: response.text.size() > 3}}\n");
    EXPECT_EQ(said(*policy, R"({"event":"final_response","response":{"text":"long"}})"),
              "hold f/f");
    EXPECT_EQ(kind(*policy, R"({"event":"final_response","response":{"text":"ok"}})"), "allow");
    EXPECT_EQ(kind(*policy, R"({"tool":"read"})"), "allow");
}

TEST(Gates, G5_plan_approval_holds_plans) {
    const auto policy = with(
        "gates: {p: {type: plan_approval, when: \"plan.steps.exists(s, s.tool == 'pay')\"}}\n");
    EXPECT_EQ(said(*policy, R"({"event":"plan","plan":{"steps":[{"tool":"pay"}]}})"), "hold p/p");
    EXPECT_EQ(kind(*policy, R"({"event":"plan","plan":{"steps":[{"tool":"read"}]}})"), "allow");
    EXPECT_EQ(said(*policy, R"({"event":"plan","plan":{"steps":[{"action":"read"}]}})"), "hold p/p")
        << "a step that does not say its tool cannot be judged";
}

TEST(Gates, G4_G5_G6_a_proposal_of_each_kind_is_judged_as_its_event) {
    const auto policy = with(
        "gates: {p: {type: plan_approval, when: \"plan.steps.exists(s, has(s.tool) && s.tool == "
        "'pay')\"}, f: {type: final_response}, u: {type: threshold_based, confidence_below: "
        "0.5}}\n");
    using core::Kind;
    const auto gate = [&](const core::Proposal& proposal) {
        const core::Verdict verdict = evaluate(*policy, proposal, {.agent = "bot", .now = noon});
        return std::string(to_string(verdict.record.kind)) + " " + verdict.record.gate;
    };
    EXPECT_EQ(gate(core::test::proposal(
                  Kind::plan, R"({"title":"t","steps":[{"action":"pay it","tool":"pay"}]})")),
              "hold p");
    EXPECT_EQ(gate(core::test::proposal(Kind::plan)), "allow ");
    EXPECT_EQ(gate(core::test::proposal(Kind::response)), "hold f");
    EXPECT_EQ(gate(core::test::proposal(Kind::input)), "hold ");
    core::Proposal unsure = core::test::proposal(Kind::action, R"({"tool":"read"})");
    EXPECT_EQ(gate(unsure), "allow ");
    unsure.risk_detail.text = R"({"confidence":0.4})";
    EXPECT_EQ(gate(unsure), "hold u");
    core::Proposal hinted =
        core::test::proposal(Kind::action, R"({"tool":"read","reversible":false})");
    EXPECT_EQ(gate(hinted), "allow ");
    hinted.subject.text = "{";
    EXPECT_EQ(gate(hinted), "deny ") << "what cannot be read is denied";
}

TEST(Gates, G6_a_stated_confidence_below_the_threshold_holds_whatever_allows) {
    const auto policy =
        with("gates: {u: {type: threshold_based, confidence_below: 0.6}}\nnever_require: [read]\n");
    EXPECT_EQ(said(*policy, R"({"tool":"read","context":{"confidence":0.59}})"), "hold u/u");
    EXPECT_EQ(kind(*policy, R"({"tool":"read","context":{"confidence":0.6}})"), "allow");
    EXPECT_EQ(kind(*policy, R"({"tool":"read"})"), "allow") << "nothing was stated";
    EXPECT_EQ(kind(*policy, R"({"event":"plan","plan":{"steps":[]},"context":{"confidence":0.1}})"),
              "hold");
}

TEST(Gates, G7_cost_of_the_call_and_of_what_came_before_is_held_above_the_budget) {
    const auto by = [&](std::string_view window) {
        return with("gates: {b: {type: budget_based, cost_above: 5, window: " +
                    std::string(window) + "}}\n");
    };
    EXPECT_EQ(said(*by("call"), R"({"tool":"read","context":{"cost":{"estimate":5.1}}})"),
              "hold b/b");
    EXPECT_EQ(kind(*by("call"), R"({"tool":"read","context":{"cost":{"task":9}}})"), "allow");
    EXPECT_EQ(kind(*by("task"), R"({"tool":"read","context":{"cost":{"task":5}}})"), "allow");
    EXPECT_EQ(
        kind(*by("task"), R"({"tool":"read","context":{"cost":{"task":4.9,"estimate":0.2}}})"),
        "hold");
    EXPECT_EQ(kind(*by("session"), R"({"tool":"read","context":{"cost":{"session":6}}})"), "hold");
    EXPECT_EQ(kind(*by("day"), R"({"tool":"read","context":{"cost":{"day":6}}})"), "hold");
}

TEST(Gates, G7_tokens_count_as_well) {
    const auto policy =
        with("gates: {b: {type: budget_based, tokens_above: 1000, window: session}}\n");
    EXPECT_EQ(kind(*policy, R"({"tool":"read","context":{"tokens":{"session":1001}}})"), "hold");
    EXPECT_EQ(kind(*policy, R"({"tool":"read","context":{"tokens":{"session":1000}}})"), "allow");
}

TEST(Gates, G7_the_operators_cost_counts_where_the_agent_claims_less) {
    const auto policy = policy_of(R"~(
tools: {scan: {read_only: true, cost: args.pages * 0.5, args: {pages: number}}}
defaults: {decision: allow}
gates: {b: {type: budget_based, cost_above: 5, window: call}}
)~");
    EXPECT_EQ(
        kind(*policy, R"({"tool":"scan","args":{"pages":20},"context":{"cost":{"estimate":0}}})"),
        "hold");
    EXPECT_EQ(kind(*policy, R"({"tool":"scan","args":{"pages":2}})"), "allow");
    EXPECT_EQ(
        kind(*policy, R"({"tool":"scan","args":{"pages":2},"context":{"cost":{"estimate":9}}})"),
        "hold")
        << "a higher claim counts";
}

TEST(Gates, G8_a_custom_gate_is_an_expression_in_the_file) {
    const auto policy = with("gates: {c: {type: custom, tools: [pay], when: args.amount > 10}}\n");
    EXPECT_EQ(said(*policy, R"({"tool":"pay","args":{"amount":11}})"), "hold c/c");
    EXPECT_EQ(kind(*policy, R"({"tool":"pay","args":{"amount":10}})"), "allow");
}

TEST(Gates, G8_a_custom_gate_is_a_callable_in_the_library) {
    using Answer = Extensions::Answer;
    const auto policy =
        Builder("p", "minimal")
            .tool({.name = "pay", .read_only = true})
            .custom_gate("fraud",
                         [](const Call& call, const StateView&) {
                             return call.user == "mallory" ? Answer::hold : Answer::pass;
                         },
                         {"pay"})
            .build();
    ASSERT_TRUE(policy) << policy.error().message;
    EXPECT_EQ(said(**policy, R"({"tool":"pay","context":{"user":{"id":"mallory"}}})"),
              "hold fraud/fraud");
    EXPECT_EQ(kind(**policy, R"({"tool":"pay","context":{"user":{"id":"ann"}}})"), "allow");
}

TEST(Gates, G8_X6_a_callable_that_fails_or_throws_never_lets_pass) {
    for (const bool throws : {false, true}) {
        const auto policy = Builder("p", "minimal")
                                .tool({.name = "pay", .read_only = true})
                                .custom_gate("bad",
                                             [throws](const Call&, const StateView&) {
                                                 if (throws) throw std::runtime_error("down");
                                                 return Extensions::Answer::error;
                                             })
                                .build();
        ASSERT_TRUE(policy) << policy.error().message;
        EXPECT_EQ(said(**policy, R"({"tool":"pay"})"), "hold bad/bad");
    }
}

TEST(Gates, G8_a_callable_that_nobody_registered_refuses_the_file) {
    EXPECT_THAT(refusal_of("gates: {g: {type: custom, callable: fraud}}\n"), HasSubstr("`fraud`"));
}

TEST(Gates, G9_what_a_gate_says_reaches_the_request) {
    const auto policy = policy_of(R"~(
tools: {pay: {args: {amount: number}, risk: medium}}
approvers: {finance: {roles: [finance]}, cfo: {users: [ann]}, night: {roles: [on-call, boss], users: ["{{user.id}}"]}}
gates:
  g:
    type: specific_tools
    tools: [pay]
    risk: high
    approvers: [{group: finance, quorum: 2}, {group: cfo}, {group: night}]
    timeout: 10m
    on_timeout: escalate
    reminders: {every: 1m, max: 5}
    escalate: {after: 5m, to: [{group: cfo}]}
    allow_modification: false
    require_reason: true
    exclude_requester: true
    reject_threshold: 2
    confirm: code
    message: "Pay {{args.amount}}?"
    because: money leaves
)~");
    const Situation read =
        situation(*policy, R"({"tool":"pay","args":{"amount":7},"context":{"user":{"id":"bob"}}})");
    const core::Verdict verdict =
        to_core(*policy, read.call, evaluate(*policy, read.call, read.state), {});
    EXPECT_EQ(verdict.record.kind, core::VerdictKind::hold);
    EXPECT_EQ(verdict.record.gate, "g");
    EXPECT_EQ(verdict.record.because, "money leaves");
    EXPECT_EQ(verdict.record.policy, policy->version);
    EXPECT_EQ(verdict.risk, RiskLevel::high);
    EXPECT_EQ(verdict.headline, "Pay 7?");
    const core::Requirement& requirement = verdict.requirement;
    ASSERT_EQ(requirement.lines.size(), 3u);
    EXPECT_EQ(requirement.lines[0].group, "finance");
    EXPECT_EQ(requirement.lines[0].quorum, 2);
    EXPECT_EQ(requirement.lines[1].people, std::vector<std::string>{"ann"});
    EXPECT_EQ(requirement.lines[2].group, "on-call");
    EXPECT_EQ(requirement.lines[2].other_groups, std::vector<std::string>{"boss"});
    EXPECT_EQ(requirement.lines[2].people, std::vector<std::string>{"bob"});
    EXPECT_TRUE(requirement.reason_required);
    EXPECT_TRUE(requirement.exclude_requester);
    EXPECT_FALSE(requirement.modifiable);
    EXPECT_TRUE(requirement.confirm_required);
    EXPECT_EQ(requirement.reject_threshold, 2);
    EXPECT_EQ(verdict.timing.timeout_ms, 600'000);
    EXPECT_EQ(verdict.timing.on_timeout, TimeoutAction::escalate);
    EXPECT_EQ(verdict.timing.remind_every_ms, 60'000);
    EXPECT_EQ(verdict.timing.reminders_max, 5);
    EXPECT_EQ(verdict.timing.escalate_after_ms, 300'000);
    EXPECT_EQ(verdict.timing.escalate_to, "ann");
}

TEST(Gates, T1_a_gate_that_says_nothing_of_silence_is_not_released_by_it) {
    const auto ending = [](std::string_view more, std::string_view proposal_user = "") {
        const auto policy = policy_of(std::string(R"~(
extends: standard
tools:
  pay: {risk: low, args: {amount: number}}
approvers:
  desk: {roles: [desk]}
  finance: {roles: [finance]}
  user: {users: ["{{user.id}}"]}
)~") + std::string(more));
        Situation read = situation(*policy, R"({"tool":"pay","args":{"amount":500}})");
        read.call.user = proposal_user;
        const Verdict verdict = evaluate(*policy, read.call, read.state);
        return terms_of(*policy, read.call, verdict).timing.on_timeout;
    };
    const std::string quiet =
        "gates:\n  every: {type: specific_tools, tools: [pay], risk: low, timeout: 3s, on_timeout: "
        "approve, approvers: [{group: desk}]}\n";
    const std::string big =
        "  big: {type: custom, tools: [pay], when: args.amount > 100.0, timeout: 1h, approvers: "
        "[{group: finance}]}\n";
    EXPECT_EQ(ending(quiet), TimeoutAction::approve);
    EXPECT_EQ(ending(quiet + big), TimeoutAction::reject);
    EXPECT_EQ(ending("defaults: {on_timeout: abort}\n" + quiet + big), TimeoutAction::abort);
    const std::string users =
        "gates:\n  mine: {type: specific_tools, tools: [pay], risk: low, on_timeout: approve, "
        "approvers: [{group: user}]}\n";
    EXPECT_EQ(ending(users), TimeoutAction::reject) << "nobody is named";
    EXPECT_EQ(ending(users, "ghost"), TimeoutAction::reject) << "whom the agent names";
    const std::string passed_on =
        "gates:\n  every: {type: specific_tools, tools: [pay], risk: low, on_timeout: approve, "
        "approvers: [desk], escalate: {after: 1m, to: [user]}}\n";
    EXPECT_EQ(ending(passed_on, "ghost"), TimeoutAction::reject) << "who takes over from others";
}

TEST(Gates, T1_X6_silence_releases_nothing_that_could_not_be_evaluated) {
    const auto ending = [](std::string_view amount, std::string_view rest) {
        const auto policy = policy_of("tools: {pay: {risk: low}}\n" + std::string(rest));
        const Terms held =
            terms(*policy, R"({"tool":"pay","args":{"amount":)" + std::string(amount) + "}}");
        return core::silence_releases(held.timing);
    };
    const std::string_view gate =
        "gates: {small: {type: custom, tools: [pay], when: args.amount < 100.0, risk: low, "
        "timeout: 1m, on_timeout: approve}}\ndefaults: {decision: allow}\n";
    EXPECT_TRUE(ending("5", gate));
    EXPECT_FALSE(ending("\"1000000\"", gate));
    const std::string_view rule =
        "rules: [{id: small, tools: [pay], when: args.amount < 100.0, then: require}]\n"
        "defaults: {decision: allow, on_timeout: default, default_decision: approve}\n";
    EXPECT_FALSE(ending("\"1000000\"", rule));
}

TEST(Gates, T1_what_holds_a_call_without_a_word_about_silence_ends_it_as_the_defaults_say) {
    const auto ending = [](std::string_view rest) {
        const auto policy = policy_of(
            "tools: {pay: {risk: low}}\nrules: [{id: r, tools: [pay], then: require, "
            "on_timeout: skip}]\n" +
            std::string(rest));
        return terms(*policy, R"({"tool":"pay"})").timing.on_timeout;
    };
    const std::string gate = "gates: {g: {type: specific_tools, tools: [pay]}}\n";
    EXPECT_EQ(ending(""), TimeoutAction::skip) << "nothing else holds it";
    EXPECT_EQ(ending(gate), TimeoutAction::reject);
    EXPECT_EQ(ending(gate + "defaults: {on_timeout: abort}\n"), TimeoutAction::abort);
    EXPECT_EQ(ending(gate + "defaults: {on_timeout: default, default_decision: abort}\n"),
              TimeoutAction::use_default)
        << "what it comes to counts";
    EXPECT_EQ(ending(gate + "defaults: {on_timeout: retry}\n"), TimeoutAction::skip);
}

TEST(Gates, T1_silence_does_not_release_what_a_list_a_pattern_or_the_tool_itself_holds_as_well) {
    constexpr std::string_view quiet =
        "gates: {q: {type: specific_tools, tools: [write, pay], risk: low, timeout: 10m, "
        "on_timeout: approve}}\n";
    const auto ends = [&](std::string_view rest, std::string_view call) {
        return terms(*with(std::string(quiet) + std::string(rest)), call).timing.on_timeout;
    };
    constexpr std::string_view drop = R"({"tool":"write","args":{"path":"DROP TABLE t"}})";
    constexpr std::string_view pay = R"({"tool":"pay","args":{"amount":1}})";
    EXPECT_EQ(ends("", drop), TimeoutAction::approve);
    EXPECT_EQ(ends("patterns: {always_require: [{word: DROP}]}\n", drop), TimeoutAction::reject);
    EXPECT_EQ(ends("always_require: [pay]\n", pay), TimeoutAction::reject);
    const auto itself = policy_of(
        "tools: {pay: {risk: low, requires_approval: true}}\ndefaults: {decision: allow}\n" +
        std::string(quiet));
    EXPECT_EQ(terms(*itself, R"({"tool":"pay"})").timing.on_timeout, TimeoutAction::reject);
}

TEST(Gates, T1_who_takes_over_does_not_depend_on_the_order_of_the_file) {
    constexpr std::string_view late =
        "  a: {type: specific_tools, tools: [mail], escalate: {after: 2h, to: [late]}}\n";
    constexpr std::string_view soon =
        "  b: {type: specific_tools, tools: [mail], escalate: {after: 1h, to: [soon]}}\n";
    constexpr std::string_view also =
        "  c: {type: specific_tools, tools: [mail], escalate: {after: 1h, to: [zoe]}}\n";
    for (const auto& order : {std::array{late, soon, also},
                              {also, soon, late},
                              {soon, late, also},
                              {late, also, soon}}) {
        const auto policy = with(
            "approvers: {late: {roles: [late]}, soon: {roles: [soon]}, zoe: {users: [zoe]}}\n"
            "gates:\n" +
            std::string(order[0]) + std::string(order[1]) + std::string(order[2]));
        const core::Timing timing = terms(*policy, R"({"tool":"mail"})").timing;
        EXPECT_EQ(timing.escalate_to, "group:soon");
        EXPECT_EQ(timing.escalate_after_ms, 3'600'000);
    }
}

TEST(Gates, D2_as_few_say_no_as_anything_that_holds_the_call_wants) {
    const auto threshold = [](std::string_view rest) {
        const auto policy = with(
            "gates:\n  vote: {type: specific_tools, tools: [mail], "
            "reject_threshold: 3}\n" +
            std::string(rest));
        return terms(*policy, R"({"tool":"mail"})").requirement.reject_threshold;
    };
    EXPECT_EQ(threshold(""), 3);
    EXPECT_EQ(threshold("  other: {type: custom, tools: [mail], when: \"true\"}\n"), 1)
        << "which says nothing and means one";
    EXPECT_EQ(threshold("always_require: [mail]\n"), 1);
    EXPECT_EQ(threshold("rules: [{id: r, tools: [mail], then: require, gate: vote}]\n"), 3)
        << "a rule speaks for its gate";
}

TEST(Gates, T1_what_a_list_holds_ends_as_strictly_as_the_defaults_say) {
    const auto policy = policy_of(
        "tools: {pay: {risk: low}}\ndefaults: {on_timeout: abort}\nalways_require: [pay]\n"
        "gates: {g: {type: specific_tools, tools: [pay], on_timeout: skip}}\n");
    EXPECT_EQ(terms(*policy, R"({"tool":"pay"})").timing.on_timeout, TimeoutAction::abort);
}

TEST(Gates, G9_a_group_of_several_roles_is_filled_by_any_of_them) {
    const auto policy =
        policy_of("approvers: {g: {roles: [a, b], users: [olga]}}\ndefaults: {approvers: [g]}\n");
    const core::RequirementLine line = terms(*policy, R"({"tool":"x"})").requirement.lines.at(0);
    EXPECT_TRUE(core::is_in_line(line, "x", {"a"}));
    EXPECT_TRUE(core::is_in_line(line, "x", {"other", "b"}));
    EXPECT_TRUE(core::is_in_line(line, "olga", {}));
    EXPECT_FALSE(core::is_in_line(line, "x", {"c"}));
    EXPECT_FALSE(core::is_in_line(line, "x", {""}));
}

TEST(Gates, G9_the_users_own_line_is_for_nobody_when_there_is_no_user) {
    const auto policy =
        policy_of("approvers: {me: {users: [\"{{user.id}}\"]}}\ndefaults: {approvers: [me]}\n");
    const Terms held = terms(*policy, R"({"tool":"x"})");
    ASSERT_EQ(held.requirement.lines.size(), 1u);
    EXPECT_FALSE(held.requirement.lines[0].people.empty())
        << "an empty line would be one that anybody can fill";
}

TEST(Gates, X6_a_gate_that_cannot_be_evaluated_holds) {
    const auto policy = with("gates: {c: {type: custom, tools: [pay], when: args.note == 'x'}}\n");
    EXPECT_EQ(said(*policy, R"({"tool":"pay","args":{"amount":1}})"), "hold c/c");
    EXPECT_THAT(because(*policy, situation(*policy, R"({"tool":"pay","args":{"amount":1}})").call,
                        judge(*policy, R"({"tool":"pay","args":{"amount":1}})")),
                HasSubstr("could not be evaluated"));
}

TEST(Gates, X6_on_error_deny_denies_and_on_error_allow_passes_low_risk_only_and_says_so) {
    const auto denying =
        with("gates: {c: {type: custom, tools: [pay], when: args.note == 'x', on_error: deny}}\n");
    EXPECT_EQ(said(*denying, R"({"tool":"pay","args":{"amount":1}})"), "deny c/c");
    const auto open =
        with("gates: {c: {type: custom, tools: [pay], when: args.note == 'x', on_error: allow}}\n");
    EXPECT_EQ(said(*open, R"({"tool":"pay","args":{"amount":1}})"), "allow ungated/c");
    ASSERT_EQ(open->warnings.size(), 1u);
    EXPECT_THAT(open->warnings[0].message, HasSubstr("cannot be evaluated"));
    EXPECT_EQ(
        kind(*open, R"({"tool":"pay","args":{"amount":1},"context":{"claims":{"risk":"medium"}}})"),
        "hold")
        << "only low risk may fail open";
}

TEST(Gates, G11_a_tool_may_ask_for_approval_itself_always_or_by_its_arguments) {
    const auto policy = policy_of(R"~(
defaults: {decision: allow}
tools:
  always: {requires_approval: true}
  never: {requires_approval: false}
  some: {requires_approval: args.n > 3, args: {n: integer}}
  broken: {requires_approval: args.n > 3, args: {"n?": integer}}
)~");
    EXPECT_EQ(said(*policy, R"({"tool":"always"})"), "hold requires_approval/");
    EXPECT_EQ(kind(*policy, R"({"tool":"never"})"), "allow");
    EXPECT_EQ(kind(*policy, R"({"tool":"some","args":{"n":4}})"), "hold");
    EXPECT_EQ(kind(*policy, R"({"tool":"some","args":{"n":3}})"), "allow");
    EXPECT_EQ(kind(*policy, R"({"tool":"broken","args":{}})"), "hold");
}

TEST(Gates, G12_whatever_asks_for_approval_wins_over_whatever_does_not) {
    const auto policy = Builder("p", "minimal")
                            .tool({.name = "pay"})
                            .rule({.id = "pass", .tools = {"pay"}, .then = Effect::allow})
                            .never_require({"pay"})
                            .require_above("pay", "amount", 500)
                            .build();
    ASSERT_TRUE(policy) << policy.error().message;
    EXPECT_EQ(said(**policy, R"({"tool":"pay","args":{"amount":500}})"), "allow pass/");
    EXPECT_EQ(kind(**policy, R"({"tool":"pay","args":{"amount":501}})"), "hold");
    EXPECT_EQ(kind(**policy, R"({"tool":"pay","args":{"amount":"9"}})"), "hold")
        << "text is no amount";
    EXPECT_EQ(kind(**policy, R"({"tool":"pay","args":{}})"), "hold");
}

TEST(Gates, G12_amount_and_role_rules_need_no_code) {
    const auto policy = with(R"~(
approvers: {finance: {roles: [finance]}}
rules:
  - {id: large, tools: [pay], when: args.amount > 500, then: require, approvers: [{group: finance, quorum: 2}]}
  - {id: staff-only, tools: [pay], unless: "'staff' in user.roles", then: deny}
)~");
    EXPECT_EQ(said(*policy, R"({"tool":"pay","args":{"amount":1}})"), "deny staff-only/");
    EXPECT_EQ(kind(*policy,
                   R"({"tool":"pay","args":{"amount":1},"context":{"user":{"roles":["staff"]}}})"),
              "allow");
    EXPECT_EQ(
        said(*policy,
             R"({"tool":"pay","args":{"amount":501},"context":{"user":{"roles":["staff"]}}})"),
        "hold large/");
}

TEST(Gates, G12_a_policy_from_code_is_the_same_as_one_from_a_file) {
    const auto built = Builder("test")
                           .tool({.name = "pay", .risk = RiskLevel::low})
                           .people("finance", {"finance"})
                           .require_role("pay", "staff")
                           .build();
    ASSERT_TRUE(built);
    const auto read = policy_of(R"~(
tools: {pay: {risk: low}}
approvers: {finance: {roles: [finance]}}
rules: [{id: pay-for-staff, tools: [pay], unless: "\"staff\" in user.roles", then: deny, because: "`pay` is for people with the role `staff`"}]
)~");
    for (const std::string_view call :
         {R"({"tool":"pay"})", R"({"tool":"pay","context":{"user":{"roles":["staff"]}}})",
          R"({"tool":"other"})"})
        EXPECT_EQ(said(**built, call), said(*read, call)) << call;
    EXPECT_TRUE((*built)->version.starts_with("sha256:"));
}

TEST(Gates, G12_two_policies_from_code_that_differ_have_different_versions) {
    const auto a = Builder("p").always_require({"x"}).build();
    const auto b = Builder("p").always_require({"y"}).build();
    EXPECT_NE((*a)->version, (*b)->version);
}

}  // namespace
}  // namespace holdpoint::policy
