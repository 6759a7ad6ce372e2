#include "policy/file.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "policy/extend.h"
#include "policy/section.h"

namespace holdpoint::policy {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::string_view head = "holdpoint: 1\npolicy: p\n";

PolicyFile file_of(std::string_view body) {
    Result<PolicyFile> file = read_policy(std::string(head) + std::string(body));
    EXPECT_TRUE(file) << file.error().message << "\n" << body;
    return file ? *file : PolicyFile{};
}

std::string file_refusal(std::string_view body) {
    const Result<PolicyFile> file = read_policy(std::string(head) + std::string(body));
    EXPECT_FALSE(file) << body;
    return file ? "" : file.error().message;
}

TEST(PolicyFile, G11_reads_the_facts_of_a_tool) {
    const PolicyFile file = file_of(R"(
tools:
  refund:
    destructive: true
    reversible: false
    open_world: true
    risk: high
    args: {order: string, amount: number, "note?": string, tags: list(string), where: {city: string, "zip?": integer}}
    message: "Refund {{args.amount}}"
    consequences: [money leaves]
    redact: [note]
    cost: 0.5
    requires_approval: args.amount > 10.0
  shell: {shell: {arg: command, dialect: bash}}
)");
    ASSERT_EQ(file.tools.size(), 2u);
    const Tool& tool = file.tools[0];
    EXPECT_EQ(tool.destructive, true);
    EXPECT_EQ(tool.reversible, false);
    EXPECT_FALSE(tool.read_only);
    EXPECT_EQ(tool.risk, RiskLevel::high);
    ASSERT_TRUE(tool.args);
    EXPECT_EQ(to_string(*tool.args),
              "{order: string, amount: number, note?: string, tags: list(string), where: {city: "
              "string, zip?: integer}}");
    EXPECT_EQ(tool.cost.text, "0.5");
    EXPECT_EQ(tool.requires_approval.text, "args.amount > 10.0");
    EXPECT_EQ(tool.requires_approval.mark.line, 15);
    EXPECT_EQ(file.tools[1].shell->arg, "command");
}

TEST(PolicyFile, G3_takes_mcp_annotations_as_facts_when_the_operator_writes_them) {
    const PolicyFile file = file_of(
        "tools: {drop: {annotations: {destructiveHint: true, openWorldHint: false}, open_world: "
        "true}}\n");
    EXPECT_EQ(file.tools[0].destructive, true);
    EXPECT_EQ(file.tools[0].open_world, true) << "the operator's own word counts";
}

TEST(PolicyFile, G9_a_gate_carries_all_its_fields) {
    const PolicyFile file = file_of(R"(
gates:
  g:
    type: specific_tools
    tools: [pay, "refund_*"]
    when: args.amount > 5
    risk: high
    approvers: [{group: finance, quorum: 2}, cfo]
    timeout: 1h30m
    on_timeout: escalate
    reminders: {every: 10m, max: 2}
    escalate: {after: 20m, to: [{group: cfo}]}
    retries: 2
    allow_modification: false
    require_reason: true
    exclude_requester: true
    reject_threshold: 2
    confirm: code
    message: "Pay?"
    because: money
    on_error: deny
)");
    ASSERT_EQ(file.gates.size(), 1u);
    const Gate& gate = file.gates[0];
    EXPECT_EQ(gate.type, GateType::specific_tools);
    EXPECT_THAT(gate.tools, ElementsAre("pay", "refund_*"));
    EXPECT_EQ(gate.when.text, "args.amount > 5");
    ASSERT_EQ(gate.approvers.size(), 2u);
    EXPECT_EQ(gate.approvers[0].quorum, 2);
    EXPECT_EQ(gate.approvers[1].group, "cfo");
    EXPECT_EQ(gate.approvers[1].quorum, 1);
    EXPECT_EQ(gate.patience.timeout_ms, 90 * 60'000);
    EXPECT_EQ(gate.patience.on_timeout, TimeoutAction::escalate);
    EXPECT_EQ(gate.patience.remind_every_ms, 600'000);
    EXPECT_EQ(gate.patience.reminders_max, 2);
    EXPECT_EQ(gate.patience.escalate_after_ms, 1'200'000);
    EXPECT_EQ(gate.patience.retries_max, 2);
    EXPECT_EQ(gate.demands.allow_modification, false);
    EXPECT_EQ(gate.demands.require_reason, true);
    EXPECT_EQ(gate.demands.exclude_requester, true);
    EXPECT_EQ(gate.demands.reject_threshold, 2);
    EXPECT_EQ(gate.demands.confirm_code, true);
    EXPECT_EQ(gate.on_error, OnError::deny);
}

TEST(PolicyFile, reads_all_eight_types_of_gate) {
    const PolicyFile file = file_of(R"(
gates:
  a: {type: tool_execution}
  b: {type: specific_tools, tools: [x]}
  c: {type: destructive_actions}
  d: {type: final_response}
  e: {type: plan_approval}
  f: {type: threshold_based, confidence_below: 0.6}
  g: {type: budget_based, cost_above: 5, window: session}
  h: {type: custom, when: "true"}
)");
    ASSERT_EQ(file.gates.size(), 8u);
    for (std::size_t i = 0; i < 8; ++i) EXPECT_EQ(static_cast<std::size_t>(file.gates[i].type), i);
    EXPECT_EQ(file.gates[6].window, Window::session);
}

TEST(PolicyFile, reads_rules_with_shell_and_path) {
    const PolicyFile file = file_of(R"(
rules:
  - id: danger
    tools: [Bash]
    shell: {any: [[sudo], [git, [push, reset], {has: ["--force"]}]]}
    then: deny
    because: never
  - id: fetch
    shell: {pipe: [[[curl], [wget]], [[sh]]]}
    then: require
    gate: g
    risk: critical
    approvers: [{group: owners}]
    timeout: 2m
  - id: src
    tools: [Write]
    path: {arg: path, all: ["src/**"]}
    unless: tool.read_only
    then: allow
    auto_risk: high
)");
    ASSERT_EQ(file.rules.size(), 3u);
    const ShellTest& danger = *file.rules[0].shell;
    ASSERT_EQ(danger.any.size(), 2u);
    EXPECT_THAT(danger.any[1][1].any_of, ElementsAre("push", "reset"));
    EXPECT_TRUE(danger.any[1][2].is_option_set);
    EXPECT_EQ(file.rules[1].shell->pipe.size(), 2u);
    EXPECT_EQ(file.rules[1].risk, RiskLevel::critical);
    EXPECT_EQ(file.rules[1].patience.timeout_ms, 120'000);
    EXPECT_THAT(file.rules[2].path->all, ElementsAre("src/**"));
    EXPECT_EQ(file.rules[2].auto_risk->level, RiskLevel::high);
}

TEST(PolicyFile, P3_P7_reads_what_is_remembered) {
    const PolicyFile file = file_of(R"(
grants:
  offer: [once, similar]
  max_ttl: 1h
  max_uses: 10
  max_sum: 500
  max_risk: high
  similar:
    refund: {pin: [agent.id, args.currency], bound: {args.amount: {at_most: approved}}}
trust:
  after: 5
  tools: [Bash]
  scope: [agent.id, shell.argv]
  max_risk: medium
  min_review: 2s
  expires: 14d
  reset_on: [reject, modify]
  sample: 0.1
  distinct_approvers: 2
)");
    ASSERT_TRUE(file.grants && file.trust);
    EXPECT_EQ(file.grants->ttl_max_ms, 3'600'000);
    EXPECT_EQ(file.grants->sum_max, 500);
    EXPECT_THAT(file.grants->similar[0].bound, ElementsAre("args.amount"));
    EXPECT_EQ(file.trust->after, 5);
    EXPECT_EQ(file.trust->expires_ms, 14 * 86'400'000LL);
    EXPECT_EQ(file.trust->sample, 0.1);
}

TEST(PolicyFile, reads_tests_as_one_document_each) {
    const PolicyFile file = file_of(R"(
tests:
  - {name: a, call: {tool: x, args: {n: 1}}, context: {confidence: 0.3}, counters: {c: 2}, now: "2026-03-02T10:00:00Z", expect: {decision: require, approvals: [[finance, 2]]}}
  - {name: b, event: plan, plan: {steps: []}, expect: {decision: allow}}
)");
    ASSERT_EQ(file.tests.size(), 2u);
    EXPECT_EQ(json::canonical(file.tests[0].call),
              R"({"args":{"n":1},"context":{"confidence":0.3},"tool":"x"})");
    EXPECT_EQ(file.tests[0].approvals->front().quorum, 2);
    EXPECT_TRUE(file.tests[0].now);
    EXPECT_EQ(json::canonical(file.tests[1].call), R"({"event":"plan","plan":{"steps":[]}})");
}

TEST(PolicyFile, a_misspelt_word_is_refused_with_its_place_and_the_word_it_should_be) {
    struct Case {
        std::string_view body;
        std::string_view place;
        std::string_view says;
    };
    for (const Case& c : std::initializer_list<Case>{
             {"ruels: []\n", "line 3, column 1", "`rules`"},
             {"tools: {x: {destuctive: true}}\n", "line 3, column 13", "`destructive`"},
             {"tools: {x: {risk: hihg}}\n", "line 3, column 19", "`high`"},
             {"tools: {x: {args: {a: strin}}}\n", "line 3, column 23", "`string`"},
             {"gates: {g: {type: specific_tool, tools: [x]}}\n", "line 3, column 19",
              "`specific_tools`"},
             {"gates: {g: {type: tool_execution, timout: 5m}}\n", "line 3, column 35", "`timeout`"},
             {"rules: [{id: r, then: alow}]\n", "line 3, column 23", "`allow`"},
             {"rules: [{id: r, then: allow, unles: x}]\n", "line 3, column 30", "`unless`"}}) {
        const std::string refusal = file_refusal(c.body);
        EXPECT_THAT(refusal, HasSubstr(c.place)) << c.body;
        EXPECT_THAT(refusal, HasSubstr(c.says)) << c.body;
    }
}

TEST(PolicyFile, names_of_vars_and_counters_are_plain_words_and_take_over_nothing_else) {
    for (const std::string_view name :
         {"limits.refund", "$cost.day", "$reserved", "a-b", "1st", "größe", "a[0]"}) {
        const auto refused = [&](std::string_view body) {
            EXPECT_THAT(file_refusal(fmt::format(fmt::runtime(body), name)),
                        HasSubstr(fmt::format("`{}` cannot be read by conditions", name)));
        };
        refused("vars: {{\"{}\": 1000000000000.0}}\n");
        refused("counters: {{\"{}\": {{on: [t], window: 1s}}}}\n");
    }
    EXPECT_TRUE(
        read_policy("holdpoint: 1\nvars: {limit_2: 1.0}\ncounters: {_n: {on: [t], window: 1s}}\n"));
}

TEST(PolicyFile, what_makes_no_sense_is_refused) {
    for (const std::string_view body : {
             "gates: {g: {type: threshold_based}}\n",
             "gates: {g: {type: budget_based}}\n",
             "gates: {g: {type: tool_execution, confidence_below: 0.5}}\n",
             "gates: {g: {type: specific_tools}}\n",
             "gates: {g: {type: custom}}\n",
             "gates: {g: {type: tool_execution, on_timeout: default}}\n",
             "gates: {g: {type: tool_execution, timeout: 5}}\n",
             "gates: {g: {type: tool_execution, timeout: 5 minutes}}\n",
             "gates: {g: {type: tool_execution, reminders: {every: 10ms}}}\n",
             "rules: [{id: r}]\n",
             "rules: [{then: deny}]\n",
             "rules: [{id: r, then: deny}, {id: r, then: deny}]\n",
             "rules: [{id: r, then: deny, gate: g}]\n",
             "rules: [{id: r, then: require, auto_risk: high}]\n",
             "rules: [{id: r, then: allow, risk: high}]\n",
             "rules: [{id: r, then: allow, path: {arg: p, any: [x]}}]\n",
             "rules: [{id: r, then: allow, shell: {any: [[ls]]}}]\n",
             "rules: [{id: r, then: deny, shell: {every: [[ls]]}}]\n",
             "rules: [{id: r, then: deny, shell: {any: [[ls]], opaque: true}}]\n",
             "rules: [{id: r, then: deny, tools: []}]\n",
             "rules: [{id: r, then: deny, when: 1}]\n",
             "tools: {x: {read_only: true, destructive: true}}\n",
             "tools: {x: {args: {a: string}, shell: {arg: command}}}\n",
             "tools: {x: {args: {a: string, \"a?\": string}}}\n",
             "defaults: {on_error: allow}\n",
             "trust: {after: 1, tools: [x]}\n",
             "trust: {after: 5}\n",
             "trust: {after: 5, tools: [x], max_risk: high}\n",
             "trust: {after: 5, tools: [x], reset_on: [modify]}\n",
             "counters: {c: {on: x}}\n",
             "patterns: {auto_allow: [{word: a, re: b}]}\n",
             "approvers: {a: {}}\n",
             "grants: {similar: {x: {pin: [args.a, now]}}}\n",
             "tests: [{name: t, expect: {decision: allow}}]\n",
             "tests: [{name: t, call: {tool: x}, expect: {}}]\n",
         })
        EXPECT_THAT(file_refusal(body), HasSubstr("line ")) << body;
    EXPECT_FALSE(read_policy("policy: p\n")) << "the format's version is missing";
    EXPECT_FALSE(read_policy("holdpoint: 2\n"));
}

TEST(Duration, reads_units_in_falling_order) {
    EXPECT_EQ(parse_duration("500ms"), 500);
    EXPECT_EQ(parse_duration("1h30m"), 5'400'000);
    EXPECT_EQ(parse_duration("14d"), 14 * 86'400'000LL);
    for (const std::string_view text : {"", "5", "m", "5m1h", "1m1m", "-5m", "1.5h", "5 m", "0s",
                                        "9999999999h", "99999d", "5min"})
        EXPECT_FALSE(parse_duration(text)) << text;
    EXPECT_EQ(duration_text(5'400'000), "1h30m");
}

TEST(Presets, G10_each_can_be_read) {
    for (const std::string_view name : {"minimal", "standard", "strict", "paranoid"}) {
        const Result<PolicyFile> file = read_policy(preset_text(name));
        ASSERT_TRUE(file) << name << ": " << file.error().message;
        EXPECT_EQ(file->name, name);
    }
    EXPECT_TRUE(preset_text("lenient").empty());
}

}  // namespace
}  // namespace holdpoint::policy
