#include "policy/extend.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "policy/test_policies.h"

namespace holdpoint::policy {
namespace {

using test::policy_of;
using testing::HasSubstr;

PolicyFile child_of(std::string_view body) {
    Result<PolicyFile> file = read_policy("holdpoint: 1\npolicy: p\n" + std::string(body));
    EXPECT_TRUE(file) << file.error().message << "\n" << body;
    return file ? *file : PolicyFile{};
}

/// A project's file with this body below an organisation's with that.
Result<PolicyFile> below_of(std::string_view above, std::string_view body) {
    return extend(child_of("extends: org\n" + std::string(body)), [&](const std::string&) {
        return Result<std::string>("holdpoint: 1\nlayer: organisation\n" + std::string(above));
    });
}

/// The policy that comes of it.
std::shared_ptr<const Policy> policy_below(std::string_view above, std::string_view body) {
    const auto read_above = [&](const std::string&) {
        return Result<std::string>("holdpoint: 1\nlayer: organisation\n" + std::string(above));
    };
    return policy_of("extends: org\n" + std::string(body),
                     {.read_parent = read_above, .extensions = {}});
}

TEST(Extend, the_child_counts_and_the_parent_fills_the_rest) {
    PolicyFile child = child_of(
        "extends: standard\ndefaults: {decision: require}\ngates: {destructive: {type: "
        "destructive_actions, risk: high}}\n");
    const Result<PolicyFile> merged = extend(std::move(child));
    ASSERT_TRUE(merged) << merged.error().message;
    EXPECT_EQ(merged->defaults.decision, Effect::require);
    EXPECT_EQ(merged->defaults.auto_risk_max->level, RiskLevel::low);
    EXPECT_EQ(merged->defaults.patience.timeout_ms, 300'000);
    ASSERT_EQ(merged->gates.size(), 2u);
    EXPECT_EQ(merged->gates[0].risk, RiskLevel::high);
    EXPECT_EQ(merged->gates[1].name, "external");
}

TEST(Extend, an_unknown_parent_and_a_circle_are_refused) {
    EXPECT_FALSE(extend(child_of("extends: standart\n")));
    const auto circle = [](const std::string&) -> Result<std::string> {
        return std::string("holdpoint: 1\nextends: me\n");
    };
    const Result<PolicyFile> merged = extend(child_of("extends: me\n"), circle);
    ASSERT_FALSE(merged);
    EXPECT_THAT(merged.error().message, HasSubstr("its own parent"));
}

TEST(Extend, an_error_in_the_parent_names_the_parent) {
    const auto broken = [](const std::string&) -> Result<std::string> {
        return std::string("holdpoint: 1\nruels: []\n");
    };
    const Result<PolicyFile> merged = extend(child_of("extends: company\n"), broken);
    ASSERT_FALSE(merged);
    EXPECT_THAT(merged.error().message, HasSubstr("in `company`: line 2, column 1"));
}

class LayerTest : public testing::Test {
  protected:
    static Result<std::string> organisation(const std::string& name) {
        if (name == "team")
            return std::string(
                "holdpoint: 1\nlayer: team\nextends: organisation\ndelegate: [read_logs]\n");
        return std::string(
            "holdpoint: 1\nlayer: organisation\nextends: strict\ndelegate: [\"read_*\", deploy]\n"
            "tools: {pay: {risk: critical}}\ngates: {pay: {type: specific_tools, tools: [pay]}}\n"
            "rules: [{id: no-prod, tools: [drop], then: deny}]\n");
    }
    static Result<PolicyFile> below(std::string_view body, std::string_view parent = "org") {
        return extend(
            child_of(std::string("extends: ") + std::string(parent) + "\n" + std::string(body)),
            organisation);
    }
};

TEST_F(LayerTest, a_lower_layer_may_add_denies_and_requirements) {
    const Result<PolicyFile> merged = below(
        "rules: [{id: mine, tools: [x], then: deny}, {id: too, tools: [w], then: require}]\n"
        "always_require: [z]\ngates: {g: {type: specific_tools, tools: [z]}}\n"
        "defaults: {decision: deny}\n");
    ASSERT_TRUE(merged) << merged.error().message;
    EXPECT_EQ(merged->rules.size(), 4u);
}

TEST_F(LayerTest, it_may_allow_only_what_is_delegated) {
    EXPECT_TRUE(below("rules: [{id: a, tools: [deploy, read_logs], then: allow}]\n"));
    EXPECT_TRUE(below("never_require: [\"read_*\"]\n"));
    EXPECT_FALSE(below("rules: [{id: a, tools: [pay], then: allow}]\n"));
    EXPECT_FALSE(below("rules: [{id: a, then: allow}]\n"));
    EXPECT_FALSE(below("never_require: [\"*\"]\n"));
    EXPECT_FALSE(below("never_require: [\"r*\"]\n"));
    EXPECT_FALSE(below("patterns: {auto_allow: [{word: ok}]}\n"));
    EXPECT_FALSE(below("tools: {mail: {read_only: true}}\n"));
}

TEST_F(LayerTest, it_cannot_soften_what_stands_above) {
    for (const std::string_view body :
         {"enabled: false\n", "defaults: {decision: allow}\n", "defaults: {max_auto_risk: high}\n",
          "defaults: {on_timeout: approve}\n", "defaults: {unknown_tools: allow}\n",
          "rules: [{id: no-prod, tools: [drop], then: require}]\n",
          "rules: [{id: opaque-shell, then: require}]\n",
          "gates: {pay: {type: custom, when: \"false\"}}\n", "tools: {pay: {risk: low}}\n",
          "grants: {max_risk: high}\n", "trust: {after: 2, tools: [x]}\n",
          "gates: {g: {type: tool_execution, on_error: allow}}\n",
          "gates: {g: {type: specific_tools, tools: [pay], risk: low, on_timeout: approve}}\n",
          "rules: [{id: r, tools: [pay], then: require, on_timeout: default, default_decision: "
          "approve}]\n",
          "approvers: {mine: {roles: [m]}}\n"
          "defaults: {escalate: {after: 2s, to: [{group: mine}]}}\n",
          "approvers: {mine: {roles: [m]}}\ngates: {g: {type: specific_tools, tools: [pay], "
          "escalate: {after: 2s, to: [{group: mine}]}}}\n"}) {
        const Result<PolicyFile> merged = below(body);
        ASSERT_FALSE(merged) << body;
        EXPECT_EQ(merged.error().code, ErrorCode::refused) << body;
    }
}

TEST_F(LayerTest, it_cannot_make_a_look_alike_known_by_naming_it) {
    constexpr std::string_view above =
        "defaults: {unknown_tools: allow}\ntools: {refund: {}}\nalways_require: [pay]\n";
    for (const std::string_view name : {"rеfund", "Refund", "PAY", "zahlüng", "a\\u200bb"}) {
        for (const std::string_view body :
             {"rules: [{{id: x, tools: [\"{}\"], when: \"false\", then: deny}}]\n",
              "always_require: [\"{}\"]\n", "counters: {{n: {{on: [\"{}\"], window: 1h}}}}\n",
              "gates: {{g: {{type: specific_tools, tools: [\"{}\"]}}}}\n"}) {
            const Result<PolicyFile> refused =
                below_of(above, fmt::format(fmt::runtime(body), name));
            ASSERT_FALSE(refused) << name << body;
            EXPECT_EQ(refused.error().code, ErrorCode::refused);
            EXPECT_THAT(refused.error().message, HasSubstr("cannot name the tool"));
        }
    }
    EXPECT_TRUE(below_of(above, "always_require: [refund, pay, ship]\n"));
}

TEST_F(LayerTest, whom_it_asks_is_asked_on_top_of_whom_the_layer_above_asks_by_default) {
    const auto above = [](const std::string&) -> Result<std::string> {
        return std::string(
            "holdpoint: 1\nlayer: organisation\nextends: strict\n"
            "approvers: {fin: {roles: [finance]}}\n"
            "defaults: {approvers: [{group: fin, quorum: 2}]}\n");
    };
    const Result<PolicyFile> merged =
        extend(child_of("extends: org\napprovers: {mine: {roles: [m]}}\n"
                        "gates: {also: {type: specific_tools, tools: [pay], approvers: [{group: "
                        "mine}]}, less: {type: specific_tools, tools: [pay], approvers: [fin]}, "
                        "plain: {type: specific_tools, tools: [z]}}\n"),
               above);
    ASSERT_TRUE(merged) << merged.error().message;
    for (const Gate& gate : merged->gates) {
        if (gate.name == "also") {
            ASSERT_EQ(gate.approvers.size(), 2u);
            EXPECT_EQ(gate.approvers[1].group, "fin");
        }
        if (gate.name == "less") {
            ASSERT_EQ(gate.approvers.size(), 1u);
            EXPECT_EQ(gate.approvers[0].quorum, 2);
        }
        if (gate.name == "plain") EXPECT_TRUE(gate.approvers.empty()) << "the default stands";
    }
}

TEST_F(LayerTest, what_the_layer_above_does_not_say_is_as_strict_as_without_a_word) {
    const auto below_plain = [](std::string_view body) {
        return extend(child_of("extends: org\n" + std::string(body)), [](const std::string&) {
            return Result<std::string>("holdpoint: 1\nlayer: organisation\n");
        });
    };
    for (const std::string_view body :
         {"defaults: {decision: allow}\n", "defaults: {max_auto_risk: medium}\n"}) {
        const Result<PolicyFile> merged = below_plain(body);
        ASSERT_FALSE(merged) << body;
        EXPECT_EQ(merged.error().code, ErrorCode::refused) << body;
    }
    EXPECT_TRUE(below_plain("defaults: {decision: deny, max_auto_risk: low}\n"));
}

TEST_F(LayerTest, what_it_asks_about_stays_denied_where_the_layer_above_denies_by_default) {
    constexpr std::string_view above =
        "defaults: {decision: deny}\ndelegate: [deploy]\nalways_require: [pay]\n"
        "tools: {read_logs: {read_only: true}, drop_db: {}, pay: {}, deploy: {}}\n"
        "rules: [{id: l, tools: [read_logs], then: allow}]\n";
    const auto answer = [&](std::string_view body, std::string_view tool) {
        return test::kind(*policy_below(above, body), R"({"tool":")" + std::string(tool) + "\"}");
    };
    EXPECT_EQ(answer("", "drop_db"), "deny");
    for (const std::string_view body :
         {"approvers: {mine: {users: [eve]}}\n"
          "rules: [{id: r, tools: [drop_db], then: require, approvers: [mine]}]\n",
          "rules: [{id: r, then: require}]\n", "always_require: [drop_db, pay, read_logs]\n",
          "always_require: [\"*\"]\n", "gates: {g: {type: tool_execution}}\n",
          "gates: {all_tools: {type: tool_execution}}\n",
          "patterns: {always_require: [{re: \".*\"}]}\n"}) {
        EXPECT_EQ(answer(body, "drop_db"), "deny") << body;
        EXPECT_EQ(answer(body, "nobody"), "deny") << body;
        EXPECT_EQ(answer(body, "pay"), "hold") << body << "as the layer above says";
    }
    EXPECT_EQ(answer("rules: [{id: r, tools: [read_logs], then: require}]\n", "read_logs"), "hold")
        << "what would pass";
    EXPECT_EQ(answer("rules: [{id: r, tools: [deploy], then: require}]\n", "deploy"), "hold")
        << "what it might have let pass";
}

TEST_F(LayerTest, whoever_asks_about_what_a_layer_above_denies_is_told_that_it_stays_denied) {
    const auto warnings = [](std::string_view above, std::string_view body) {
        std::string out;
        for (const Warning& warning : policy_below(above, body)->warnings)
            out += warning.message + "\n";
        return out;
    };
    constexpr std::string_view denying = "defaults: {decision: deny}\ntools: {drop: {}}\n";
    constexpr std::string_view rule = "rules: [{id: r, tools: [drop], then: require}]\n";
    constexpr std::string_view gate = "gates: {g: {type: tool_execution}}\n";
    EXPECT_THAT(warnings(denying, rule), HasSubstr("rule `r`: holds only what would pass"));
    EXPECT_THAT(warnings(denying, gate), HasSubstr("gate `g`: holds only what would pass"));
    EXPECT_EQ(warnings("tools: {drop: {}}\n", rule), "");
    EXPECT_EQ(warnings(denying, "rules: [{id: r, tools: [drop], then: deny}]\n"), "");
}

TEST_F(LayerTest, a_layer_may_deny_by_default_and_ask_about_single_tools_itself) {
    const auto policy = policy_below("",
                                     "defaults: {decision: deny}\n"
                                     "rules: [{id: r, tools: [pay], then: require}]\n");
    EXPECT_EQ(test::kind(*policy, R"({"tool":"pay"})"), "hold");
    EXPECT_EQ(test::kind(*policy, R"({"tool":"drop"})"), "deny");
}

TEST_F(LayerTest, it_cannot_ask_people_about_unknown_tools_that_the_layer_above_denies) {
    constexpr std::string_view above = "defaults: {decision: deny}\n";
    const Result<PolicyFile> refused = below_of(above, "defaults: {unknown_tools: require}\n");
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message, HasSubstr("`defaults.unknown_tools`"));
    EXPECT_TRUE(below_of(above, "defaults: {unknown_tools: deny}\n"));
}

TEST_F(LayerTest, T1_it_cannot_shorten_the_silence_that_releases_above) {
    const std::string_view gate =
        "gates: {quiet: {type: specific_tools, tools: [a], risk: low, timeout: 1h, on_timeout: "
        "approve}}\n";
    const std::string_view by_default =
        "defaults: {on_timeout: default, default_decision: approve}\n";
    const std::string_view refining =
        "rules: [{id: r, tools: [a], then: require, gate: quiet, timeout: 1s}]\n";
    const std::string_view own = "gates: {g: {type: specific_tools, tools: [a], timeout: 1s}}\n";
    const Result<PolicyFile> refused = below_of(gate, refining);
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message, HasSubstr("cannot set `timeout` in rule `r`"));
    EXPECT_FALSE(below_of(gate, "defaults: {timeout: 1s}\n"));
    const std::string_view slower =
        "gates: {quiet: {type: specific_tools, tools: [a], risk: low, timeout: 1m, on_timeout: "
        "approve}}\nrules: [{id: slow, tools: [a], then: require, gate: quiet, timeout: 1h}]\n";
    const std::string_view plain = "rules: [{id: r, tools: [a], then: require, gate: quiet}]\n";
    EXPECT_FALSE(below_of(slower, plain)) << "the gate's own minute would count again";
    EXPECT_TRUE(below_of(gate, plain));
    EXPECT_FALSE(below_of(by_default, own));
    EXPECT_FALSE(below_of(by_default, "defaults: {timeout: 1s}\n"));
    EXPECT_TRUE(below_of(gate, own)) << "a gate of its own is not released by silence";
    EXPECT_TRUE(below_of("", "defaults: {timeout: 1s}\n"));
}

TEST_F(LayerTest, T1_it_cannot_hurry_those_who_take_over_above) {
    const std::string_view who =
        "approvers: {finance: {roles: [finance]}, oncall: {roles: [oncall]}}\n";
    const std::string gate = std::string(who) +
                             "gates: {pay: {type: specific_tools, tools: [pay], approvers: "
                             "[finance], timeout: 4h, on_timeout: escalate, escalate: {after: 4h, "
                             "to: [oncall]}}}\n";
    const Result<PolicyFile> refused =
        below_of(gate, "rules: [{id: r, tools: [pay], then: require, gate: pay, timeout: 1s}]\n");
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message, HasSubstr("cannot set `timeout` in rule `r`"));
    EXPECT_FALSE(below_of(gate, "defaults: {timeout: 1s}\n"));
    const std::string_view own = "gates: {g: {type: specific_tools, tools: [pay], timeout: 1s}}\n";
    EXPECT_TRUE(below_of(gate, own)) << "after a second it is rejected, by the default";
    EXPECT_FALSE(below_of("defaults: {on_timeout: skip}\n" + gate, own));
    EXPECT_FALSE(below_of(std::string(who) + "defaults: {on_timeout: escalate, escalate: {after: "
                                             "4h, to: [oncall]}}\n",
                          own));
    EXPECT_TRUE(below_of(gate, "rules: [{id: r, tools: [pay], then: require, gate: pay}]\n"));
}

TEST_F(LayerTest, T1_T2_it_cannot_put_off_the_deadline_above_or_remind_more_rarely) {
    constexpr std::string_view by_default =
        "defaults: {timeout: 1h, on_timeout: abort, reminders: {every: 10m, max: 4}}\n";
    for (const std::string_view body :
         {"defaults: {timeout: 3650d}\n", "defaults: {reminders: {every: 3650d}}\n",
          "defaults: {reminders: {every: 10m, max: 0}}\n"}) {
        const Result<PolicyFile> refused = below_of(by_default, body);
        ASSERT_FALSE(refused) << body;
        EXPECT_EQ(refused.error().code, ErrorCode::refused) << body;
    }
    EXPECT_FALSE(below_of("", "defaults: {timeout: 1h}\n")) << "unsaid it is five minutes";
    EXPECT_TRUE(below_of(by_default, "defaults: {timeout: 1m, reminders: {every: 1m, max: 9}}\n"));

    const std::string above = std::string(by_default) +
                              "tools: {pay: {}, own: {}}\n"
                              "gates: {g: {type: specific_tools, tools: [pay]}}\n"
                              "rules: [{id: free, tools: [own], then: allow}]\n";
    const auto timing = [&](std::string_view body, std::string_view tool) {
        return test::terms(*policy_below(above, body), R"({"tool":")" + std::string(tool) + "\"}")
            .timing;
    };
    constexpr std::string_view slow = "timeout: 3650d, reminders: {every: 3650d, max: 0}";
    for (const std::string& body :
         {fmt::format("gates: {{mine: {{type: tool_execution, {}}}}}\n", slow),
          fmt::format("rules: [{{id: r, tools: [pay, own], then: require, {}}}]\n", slow),
          fmt::format("rules: [{{id: r, tools: [pay], then: require, gate: g, {}}}]\n", slow)}) {
        const core::Timing pay = timing(body, "pay");
        EXPECT_EQ(pay.timeout_ms, 3'600'000) << body;
        EXPECT_EQ(pay.remind_every_ms, 600'000) << body;
        EXPECT_EQ(pay.reminders_max, 4) << body;
    }
}

TEST_F(LayerTest, T1_it_may_take_its_own_time_for_what_it_alone_holds) {
    const auto policy =
        policy_below("defaults: {decision: allow}\ntools: {own: {read_only: true}}\n",
                     "rules: [{id: r, tools: [own], then: require, timeout: 1h}]\n");
    EXPECT_EQ(test::terms(*policy, R"({"tool":"own"})").timing.timeout_ms, 3'600'000);
}

TEST_F(LayerTest, T1_it_cannot_soften_what_silence_means_above) {
    const std::string_view gate =
        "gates: {stop: {type: specific_tools, tools: [a], on_timeout: abort}}\n";
    const std::string_view by_default = "defaults: {on_timeout: abort}\n";
    const auto rule = [](std::string_view gate_name, std::string_view on_timeout) {
        return fmt::format("rules: [{{id: r, tools: [a], then: require{}, on_timeout: {}}}]\n",
                           gate_name.empty() ? "" : fmt::format(", gate: {}", gate_name),
                           on_timeout);
    };
    const Result<PolicyFile> refused = below_of(gate, rule("stop", "skip"));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::refused);
    EXPECT_THAT(refused.error().message, HasSubstr("by `on_timeout` in rule `r`"));
    EXPECT_TRUE(below_of(gate, rule("stop", "abort")));
    EXPECT_FALSE(below_of(by_default, rule("", "skip")));
    EXPECT_FALSE(below_of(by_default,
                          "gates: {g: {type: specific_tools, tools: [a], on_timeout: reject}}\n"));
    EXPECT_FALSE(below_of("", rule("", "skip"))) << "without a word it counts as rejected";
    EXPECT_TRUE(below_of("defaults: {on_timeout: skip}\n", rule("", "skip")));
    const std::string_view decided =
        "gates: {stop: {type: specific_tools, tools: [a], on_timeout: default, default_decision: "
        "abort}}\n";
    EXPECT_FALSE(below_of(decided, rule("stop", "reject"))) << "what it comes to is an abort";
}

TEST_F(LayerTest, it_cannot_go_around_what_stands_above_by_a_file_between_them) {
    const auto around = [](std::string_view body) {
        return extend(child_of("layer: team\nextends: between\n" + std::string(body)),
                      [](const std::string& name) {
                          return name == "between"
                                     ? Result<std::string>(
                                           "holdpoint: 1\nlayer: team\nextends: org\n"
                                           "rules: [{id: mine, tools: [x], then: require}]\n")
                                     : organisation(name);
                      });
    };
    for (const std::string_view body :
         {"rules: [{id: no-prod, tools: [nothing], then: deny}]\n", "never_require: [drop]\n",
          "gates: {pay: {type: specific_tools, tools: [nothing]}}\n", "enabled: false\n"}) {
        const Result<PolicyFile> merged = around(body);
        ASSERT_FALSE(merged) << body;
        EXPECT_EQ(merged.error().code, ErrorCode::refused) << merged.error().message;
    }
    EXPECT_TRUE(around("rules: [{id: mine, tools: [z], then: deny}]\n"))
        << "what stands in its own layer it may replace";
}

TEST_F(LayerTest, T1_X1_a_gate_above_that_is_for_other_calls_is_no_way_around_the_defaults) {
    const auto read_above = [](const std::string&) {
        return Result<std::string>(
            "holdpoint: 1\nlayer: organisation\n"
            "approvers: {security: {roles: [security]}, desk: {roles: [desk]}}\n"
            "defaults: {on_timeout: abort, approvers: [security]}\n"
            "gates: {desk: {type: specific_tools, tools: [b], risk: low, on_timeout: approve, "
            "approvers: [desk]}}\n");
    };
    const auto policy = policy_of(
        "extends: org\nrules: [{id: r, tools: [a, b], then: require, gate: desk, risk: low}]\n",
        {.read_parent = read_above, .extensions = {}});
    const Terms other = test::terms(*policy, R"({"tool":"a"})");
    EXPECT_EQ(other.timing.on_timeout, TimeoutAction::abort);
    ASSERT_EQ(other.requirement.lines.size(), 2u);
    EXPECT_EQ(other.requirement.lines[0].group, "desk");
    EXPECT_EQ(other.requirement.lines[1].group, "security");
    const Terms own = test::terms(*policy, R"({"tool":"b"})");
    EXPECT_EQ(own.timing.on_timeout, TimeoutAction::approve) << "that is what the gate is for";
    ASSERT_EQ(own.requirement.lines.size(), 1u);
    EXPECT_EQ(own.requirement.lines[0].group, "desk");
}

TEST_F(LayerTest, T1_a_gate_above_that_is_for_other_calls_shortens_no_silence_that_releases) {
    const auto policy = policy_below(
        "tools: {a: {risk: low}, b: {risk: low}}\n"
        "defaults: {decision: require, timeout: 4h, on_timeout: default, default_decision: "
        "approve, reminders: {every: 10m, max: 5}}\n"
        "gates: {fast: {type: specific_tools, tools: [b], timeout: 1s, reminders: {every: 1h, "
        "max: 0}}}\n",
        "rules: [{id: r, tools: [a], then: require, gate: fast}]\n");
    const core::Timing other = test::terms(*policy, R"({"tool":"a"})").timing;
    EXPECT_EQ(other.timeout_ms, 4 * 3'600'000);
    EXPECT_EQ(other.remind_every_ms, 600'000);
    EXPECT_EQ(other.reminders_max, 5);
    EXPECT_EQ(other.on_timeout, TimeoutAction::reject) << "nobody meant silence to be enough";
    const core::Timing own = test::terms(*policy, R"({"tool":"b"})").timing;
    EXPECT_EQ(own.timeout_ms, 1000) << "that is what the gate is for";
}

TEST_F(LayerTest, D2_it_cannot_make_a_no_harder_or_demand_less) {
    const auto below_strict = [](std::string_view body) {
        return extend(child_of("extends: org\n" + std::string(body)), [](const std::string&) {
            return Result<std::string>(
                "holdpoint: 1\nlayer: organisation\n"
                "defaults: {require_reason: true, allow_modification: false}\n");
        });
    };
    for (const std::string_view body :
         {"defaults: {require_reason: false}\n", "defaults: {allow_modification: true}\n",
          "defaults: {reject_threshold: 2}\n",
          "gates: {g: {type: specific_tools, tools: [a], reject_threshold: 2}}\n",
          "rules: [{id: r, tools: [a], then: require, reject_threshold: 2}]\n"}) {
        const Result<PolicyFile> merged = below_strict(body);
        ASSERT_FALSE(merged) << body;
        EXPECT_EQ(merged.error().code, ErrorCode::refused) << body;
    }
    EXPECT_TRUE(below_strict("defaults: {require_reason: true, reject_threshold: 1}\n"));
}

TEST_F(LayerTest, D2_a_gate_above_that_is_for_other_calls_makes_no_no_harder) {
    const auto policy = policy_below(
        "approvers: {sec: {roles: [sec]}}\ndefaults: {approvers: [sec]}\n"
        "tools: {wipe: {}, publish: {}}\nalways_require: [wipe]\n"
        "gates: {vote: {type: specific_tools, tools: [publish], reject_threshold: 3}}\n",
        "rules: [{id: r, tools: [wipe], then: require, gate: vote}]\n");
    EXPECT_EQ(test::terms(*policy, R"({"tool":"wipe"})").requirement.reject_threshold, 1);
    EXPECT_EQ(test::terms(*policy, R"({"tool":"publish"})").requirement.reject_threshold, 3);
}

TEST_F(LayerTest, it_does_not_talk_over_what_people_read_of_a_call_above) {
    const auto read_of = [](std::string_view above, std::string_view body, std::string_view tool) {
        const auto policy = policy_below(above, body);
        const Situation read = test::situation(*policy, R"({"tool":")" + std::string(tool) + "\"}");
        return headline(*policy, read.call, evaluate(*policy, read.call, read.state));
    };
    constexpr std::string_view above =
        "tools: {pay: {risk: low}, wipe: {risk: low, message: Wipe everything?}, ship: {}}\n"
        "gates: {g: {type: specific_tools, tools: [pay], message: Pay for real?}}\n";
    constexpr std::string_view body =
        "rules: [{id: r, tools: [pay, wipe, ship], then: require, risk: high, message: Just "
        "looking}]\n";
    EXPECT_EQ(read_of(above, body, "pay"), "Pay for real?");
    EXPECT_EQ(read_of(above, body, "wipe"), "Wipe everything?");
    EXPECT_EQ(read_of(above, body, "ship"), "Just looking") << "nobody above says anything";
}

TEST_F(LayerTest, what_is_passed_on_must_have_been_given) {
    EXPECT_TRUE(below("never_require: [read_logs]\n", "team"));
    EXPECT_FALSE(below("never_require: [deploy]\n", "team"));
    EXPECT_FALSE(below("layer: team\ndelegate: [pay]\n"));
}

}  // namespace
}  // namespace holdpoint::policy
