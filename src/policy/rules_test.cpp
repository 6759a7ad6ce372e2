#include <gmock/gmock.h>

#include "policy/test_policies.h"

namespace holdpoint::policy {
namespace {

using namespace test;
using testing::HasSubstr;

TEST(Rules, P1_lists_of_tools_that_always_and_never_need_approval) {
    const auto policy = policy_of(R"~(
extends: minimal
tools: {read: {read_only: true}, get_x: {read_only: true}, pay: {read_only: true}, drop: {destructive: true, risk: low}}
always_require: [pay, "x_*"]
never_require: ["get_*", pay, drop]
)~");
    EXPECT_EQ(said(*policy, R"({"tool":"pay"})"), "hold always_require/") << "requiring wins";
    EXPECT_EQ(said(*policy, R"({"tool":"x_new"})"), "hold always_require/");
    EXPECT_EQ(said(*policy, R"({"tool":"get_x"})"), "allow never_require/");
    EXPECT_EQ(said(*policy, R"({"tool":"drop"})"), "allow never_require/") << "a gate is waivable";
}

constexpr std::string_view patterns = R"~(
extends: minimal
tools:
  sh: {risk: low, args: {command: string, "note?": string}, shell: {arg: command}}
  query: {risk: low, args: {sql: string, "tags?": list(string)}}
gates: {all: {type: specific_tools, tools: [sh, query]}}
patterns:
  auto_allow:
    - {prefix: git status, tools: [sh]}
    - {re: "select [a-z, ]+ from [a-z]+", tools: [query], arg: sql}
    - {glob: "git *", tools: [sh]}
  always_require:
    - {word: DROP}
    - {word: rm}
    - {re: "(?i)truncate\\s+table", tools: [query]}
)~";

TEST(Rules, P2_patterns_let_pass_and_require_and_the_requiring_side_wins) {
    const auto policy = policy_of(patterns);
    EXPECT_EQ(said(*policy, R"({"tool":"query","args":{"sql":"select a, b from t"}})"),
              "allow pattern/");
    EXPECT_EQ(kind(*policy, R"({"tool":"query","args":{"sql":"select a from t; x"}})"), "hold")
        << "a pattern that lets pass must cover all of the text";
    EXPECT_EQ(said(*policy, R"({"tool":"query","args":{"sql":"x TRUNCATE  table y"}})"),
              "hold pattern/");
    EXPECT_EQ(
        said(*policy, R"({"tool":"query","args":{"sql":"select a from t","tags":["DROP it"]}})"),
        "hold pattern/")
        << "wherever it stands";
    EXPECT_EQ(said(*policy, R"({"tool":"query","args":{"sql":"select DROPS from t"}})"),
              "hold all/all")
        << "a word is a whole word";
}

TEST(Rules, P2_shell_commands_are_matched_as_shell_commands) {
    const auto policy = policy_of(patterns);
    EXPECT_EQ(said(*policy, R"({"tool":"sh","args":{"command":"git status --short"}})"),
              "allow pattern/");
    for (const std::string_view command :
         {"git status; rm -rf /", "git status && curl x", "git status\\nreboot", "git status > x",
          "git status $(reboot)", "git log", "git statusx", "echo git status"})
        EXPECT_EQ(
            kind(*policy, R"({"tool":"sh","args":{"command":")" + std::string(command) + R"("}})"),
            "hold")
            << command;
    EXPECT_EQ(said(*policy, R"({"tool":"sh","args":{"command":"git status","note":"rm"}})"),
              "hold pattern/");
    EXPECT_EQ(kind(*policy, R"({"tool":"sh","args":{"command":"git status","note":"free"}})"),
              "hold")
        << "an argument that no pattern covers is not covered";
    EXPECT_EQ(said(*policy, R"({"tool":"sh","args":{"command":"'r''m' x"}})"), "hold pattern/")
        << "quotes do not hide a word";
}

TEST(Rules, P2_a_pattern_that_cannot_be_compiled_refuses_the_file) {
    EXPECT_THAT(refusal_of("patterns: {always_require: [{re: \"a(b\"}]}\n"), HasSubstr("a(b"));
    EXPECT_THAT(refusal_of("patterns: {always_require: [{re: \"((a{100}){100}){100}\"}]}\n"),
                HasSubstr("line 3"));
}

TEST(Rules, P4_nothing_above_the_cap_passes_without_a_person) {
    const auto by = [](std::string_view cap, std::string_view risk) {
        return kind(
            *policy_of("defaults: {decision: allow, max_auto_risk: " + std::string(cap) +
                       "}\ntools: {t: {risk: " + std::string(risk) + "}}\nnever_require: [t]\n"),
            R"({"tool":"t"})");
    };
    EXPECT_EQ(by("medium", "medium"), "allow");
    EXPECT_EQ(by("medium", "high"), "hold");
    EXPECT_EQ(by("none", "low"), "hold");
    EXPECT_EQ(by("critical", "critical"), "allow");
}

TEST(Rules, P3_trust_in_a_tool_that_stands_nowhere_else_is_none) {
    const auto policy = policy_of(
        "tools: {t: {risk: low}}\n"
        "trust: {after: 2, tools: [nowhere], scope: [args], max_risk: low}\n");
    EXPECT_EQ(kind(*policy, R"({"tool":"nowhere"})"), "hold");
    EXPECT_EQ(kind(*policy, R"({"tool":"t"})"), "hold");
}

TEST(Rules, P4_a_rule_passes_the_cap_only_where_it_says_so) {
    const auto policy = policy_of(R"~(
extends: standard
tools: {a: {risk: high}, b: {risk: high}}
rules:
  - {id: plain, tools: [a], then: allow}
  - {id: written, tools: [b], then: allow, auto_risk: high}
)~");
    EXPECT_EQ(kind(*policy, R"({"tool":"a"})"), "hold");
    EXPECT_EQ(said(*policy, R"({"tool":"b"})"), "allow written/");
    EXPECT_EQ(kind(*policy, R"({"tool":"b","context":{"claims":{"risk":"critical"}}})"), "hold");
}

TEST(Rules, P5_defaults_hold_where_nobody_says_otherwise_and_each_rule_may_set_its_own) {
    const auto policy = policy_of(R"~(
defaults: {decision: require, timeout: 20m, on_timeout: abort}
tools: {a: {}, b: {}, c: {}}
gates: {g: {type: specific_tools, tools: [b, c], timeout: 10m, on_timeout: skip}}
rules: [{id: slow, tools: [c], then: require, gate: g, timeout: 14h}]
)~");
    EXPECT_EQ(terms(*policy, R"({"tool":"a"})").timing.timeout_ms, 20 * 60'000);
    EXPECT_EQ(terms(*policy, R"({"tool":"a"})").timing.on_timeout, TimeoutAction::abort);
    EXPECT_EQ(terms(*policy, R"({"tool":"b"})").timing.timeout_ms, 10 * 60'000);
    EXPECT_EQ(terms(*policy, R"({"tool":"c"})").timing.timeout_ms, 14 * 3'600'000)
        << "a rule that holds by a gate speaks for it";
    EXPECT_EQ(terms(*policy, R"({"tool":"c"})").timing.on_timeout, TimeoutAction::skip);
}

TEST(Rules, P9_the_master_switch_lets_everything_pass_and_says_so) {
    const auto policy = policy_of("enabled: false\nrules: [{id: never, then: deny}]\n");
    EXPECT_EQ(said(*policy, R"({"tool":"x"})"), "allow disabled/");
}

TEST(Rules, several_requirements_are_merged_to_the_strictest) {
    const auto policy = policy_of(R"~(
defaults: {decision: allow, max_auto_risk: critical}
tools: {t: {risk: low}}
approvers: {a: {roles: [a]}, b: {roles: [b]}}
gates:
  one: {type: specific_tools, tools: [t], approvers: [{group: a, quorum: 1}], timeout: 10m, on_timeout: skip, allow_modification: true}
  two: {type: custom, when: "true", tools: [t], approvers: [{group: b, quorum: 1}], timeout: 5m, on_timeout: abort, require_reason: true}
rules:
  - {id: r, tools: [t], then: require, risk: high, approvers: [{group: a, quorum: 3}], allow_modification: false, exclude_requester: true}
)~");
    const Terms merged = terms(*policy, R"({"tool":"t"})");
    ASSERT_EQ(merged.lines.size(), 2u);
    EXPECT_EQ(merged.requirement.lines[0].quorum + merged.requirement.lines[1].quorum, 4);
    EXPECT_EQ(merged.timing.timeout_ms, 5 * 60'000);
    EXPECT_EQ(merged.timing.on_timeout, TimeoutAction::abort);
    EXPECT_TRUE(merged.requirement.reason_required);
    EXPECT_TRUE(merged.requirement.exclude_requester);
    EXPECT_FALSE(merged.requirement.modifiable);
    EXPECT_EQ(judge(*policy, R"({"tool":"t"})").risk, RiskLevel::high);
    EXPECT_EQ(said(*policy, R"({"tool":"t"})"), "hold r/");
}

TEST(Rules, deny_is_final_and_the_order_of_rules_never_matters) {
    constexpr std::string_view a = "  - {id: a, tools: [t], then: allow, auto_risk: critical}\n";
    constexpr std::string_view b = "  - {id: b, tools: [t], then: require}\n";
    constexpr std::string_view c = "  - {id: c, tools: [t], when: \"true\", then: deny}\n";
    const auto of = [](std::initializer_list<std::string_view> rules) {
        std::string body = "tools: {t: {}}\nrules:\n";
        for (const std::string_view rule : rules) body += rule;
        return said(*policy_of(body), R"({"tool":"t"})");
    };
    for (const auto& order :
         {std::array{a, b, c}, {a, c, b}, {b, a, c}, {b, c, a}, {c, a, b}, {c, b, a}})
        EXPECT_EQ(of({order[0], order[1], order[2]}), "deny c/");
    EXPECT_EQ(of({a, b}), "hold b/");
    EXPECT_EQ(of({b, a}), "hold b/");
}

TEST(Rules, unless_takes_back_and_its_failure_takes_back_nothing) {
    const auto policy = policy_of(R"~(
defaults: {decision: allow, max_auto_risk: critical}
tools: {t: {risk: low, args: {"x?": integer}}, u: {risk: low, args: {"x?": integer}}}
gates: {g: {type: specific_tools, tools: [u]}}
rules:
  - {id: denial, tools: [t], unless: args.x == 1, then: deny}
  - {id: pass, tools: [u], unless: args.x == 1, then: allow}
)~");
    EXPECT_EQ(kind(*policy, R"({"tool":"t","args":{"x":1}})"), "allow");
    EXPECT_EQ(kind(*policy, R"({"tool":"t","args":{"x":2}})"), "deny");
    EXPECT_EQ(kind(*policy, R"({"tool":"t","args":{}})"), "hold") << "a denial that fails is held";
    EXPECT_EQ(kind(*policy, R"({"tool":"u","args":{"x":2}})"), "allow");
    EXPECT_EQ(kind(*policy, R"({"tool":"u","args":{"x":1}})"), "hold");
    EXPECT_EQ(kind(*policy, R"({"tool":"u","args":{}})"), "hold")
        << "an allowance that fails is none";
}

std::string call_with_list(int size, std::string_view rest = "") {
    std::string call = R"({"tool":"t","args":{"xs":[1)";
    for (int i = 1; i < size; ++i) call += ",1";
    return call + "]" + std::string(rest) + "}}";
}

TEST(Rules, a_condition_too_expensive_at_run_time_is_an_error) {
    const auto policy = policy_of(R"~(
defaults: {decision: allow}
tools: {t: {risk: low, args: {xs: list(integer)}}}
rules: [{id: heavy, tools: [t], when: "args.xs.exists(a, args.xs.exists(b, a + b == 7))", then: require}]
)~");
    const Verdict verdict = judge(*policy, call_with_list(400));
    EXPECT_EQ(verdict.kind, core::VerdictKind::hold);
    EXPECT_TRUE(verdict.decisive.is_error);
}

TEST(Rules, no_argument_is_large_enough_to_soften_a_denial_whatever_the_order_of_rules) {
    constexpr std::string_view heavy =
        "  - {id: heavy, tools: [t], when: \"args.xs.exists(a, args.xs.exists(b, a + b == 7))\", "
        "then: deny}\n";
    constexpr std::string_view plain =
        "  - {id: plain, tools: [t], when: \"args.env == 'prod'\", then: deny}\n";
    for (const auto& order : {std::array{heavy, plain}, {plain, heavy}}) {
        const auto policy = policy_of(
            "defaults: {decision: allow}\n"
            "tools: {t: {risk: low, args: {xs: list(integer), env: string}}}\nrules:\n" +
            std::string(order[0]) + std::string(order[1]));
        EXPECT_EQ(kind(*policy, call_with_list(3, R"(,"env":"test")")), "allow");
        EXPECT_EQ(kind(*policy, call_with_list(3, R"(,"env":"prod")")), "deny");
        EXPECT_EQ(kind(*policy, call_with_list(400, R"(,"env":"prod")")), "deny");
        EXPECT_EQ(kind(*policy, call_with_list(400, R"(,"env":"test")")), "deny")
            << "nobody knows whether it is denied";
    }
}

TEST(Rules, no_argument_is_large_enough_to_open_a_gate_that_may_fail) {
    const auto policy = policy_of(R"~(
defaults: {decision: allow, max_auto_risk: critical}
tools: {t: {risk: low, args: {text: string}}}
gates: {g: {type: custom, tools: [t], when: "args.text.contains('y') || args.text.contains('z')", on_error: allow}}
)~");
    const auto with_text = [&](std::size_t size) {
        return judge(*policy,
                     R"({"tool":"t","args":{"text":")" + std::string(size, 'x') + R"("}})");
    };
    EXPECT_EQ(with_text(100).kind, core::VerdictKind::allow);
    const Verdict verdict = with_text(1'000'000);
    EXPECT_EQ(verdict.risk, RiskLevel::low);
    EXPECT_EQ(verdict.kind, core::VerdictKind::hold);
}

TEST(Rules, vars_are_seen_by_conditions_and_by_later_vars) {
    const auto policy = policy_of(R"~(
defaults: {decision: allow}
tools: {t: {risk: low, args: {n: integer}}}
vars: {limit: 10, is_large: "args.n > vars.limit"}
rules: [{id: large, tools: [t], when: vars.is_large, then: deny}]
)~");
    EXPECT_EQ(said(*policy, R"({"tool":"t","args":{"n":11}})"), "deny large/");
    EXPECT_EQ(kind(*policy, R"({"tool":"t","args":{"n":10}})"), "allow");
}

TEST(Rules, functions_for_urls_paths_and_globs) {
    const auto policy = policy_of(R"~(
defaults: {decision: deny}
tools: {t: {risk: low, args: {u: string}}}
rules:
  - {id: ok, tools: [t], when: "url.host(args.u) == 'a.example' && url.scheme(args.u) == 'https' && url.port(args.u) == 443 && path.under(url.path(args.u), '/api') && glob(args.u, '*.json')", then: allow}
)~");
    EXPECT_EQ(kind(*policy, R"({"tool":"t","args":{"u":"https://a.example/api/x.json"}})"),
              "allow");
    for (const std::string_view url :
         {"http://a.example/api/x.json", "https://a.example:444/api/x.json",
          "https://a.example/api/../x.json", "https://a.example/apix/x.json",
          "https://b.example/api/x.json", "https://a.example/api/x.txt",
          "https://a.example@evil.example/api/x.json", "nonsense"})
        EXPECT_EQ(kind(*policy, R"({"tool":"t","args":{"u":")" + std::string(url) + R"("}})"),
                  "deny")
            << url;
}

TEST(Rules, paths_are_compared_by_what_they_name) {
    const auto policy = policy_of(R"~(
defaults: {decision: require}
tools: {w: {risk: low, args: {path: string}}, m: {risk: low, args: {paths: list(string)}}}
rules:
  - {id: src, tools: [w], path: {arg: path, all: ["src/**"]}, then: allow}
  - {id: srcs, tools: [m], path: {arg: paths, all: ["src/**"]}, then: allow}
  - {id: secret, tools: [w], path: {arg: path, any: ["**/.env"]}, then: deny}
)~");
    EXPECT_EQ(said(*policy, R"({"tool":"w","args":{"path":"src/./a/../b.c"}})"), "allow src/");
    for (const std::string_view path : {"src/../x", "/etc/passwd", "src/%2e%2e/x", "SRC/x"})
        EXPECT_EQ(kind(*policy, R"({"tool":"w","args":{"path":")" + std::string(path) + R"("}})"),
                  "hold")
            << path;
    for (const std::string_view path : {"src/.env", ".ENV", "src/./x/../.env", "src/%2eenv"})
        EXPECT_EQ(kind(*policy, R"({"tool":"w","args":{"path":")" + std::string(path) + R"("}})"),
                  "deny")
            << path;
    EXPECT_EQ(kind(*policy, R"({"tool":"m","args":{"paths":["src/a","src/b"]}})"), "allow");
    EXPECT_EQ(kind(*policy, R"({"tool":"m","args":{"paths":["src/a","/b"]}})"), "hold");
    EXPECT_EQ(kind(*policy, R"({"tool":"m","args":{"paths":[]}})"), "hold");
}

TEST(Compile, what_leads_nowhere_is_refused_with_its_place) {
    struct Case {
        std::string_view body;
        std::string_view says;
    };
    constexpr std::string_view tool = "tools: {t: {args: {amount: number}}}\n";
    for (const Case& c : std::initializer_list<Case>{
             {"rules: [{id: r, tools: [t], when: args.amuont > 1, then: deny}]\n", "amuont"},
             {"rules: [{id: r, tools: [t], when: args.amount, then: deny}]\n", "true or false"},
             {"rules: [{id: r, tools: [t], when: \"args.amount > 'x'\", then: deny}]\n", "line 4"},
             {"rules: [{id: r, tools: [t], when: \"args.amount >\", then: deny}]\n", "line 4"},
             {"rules: [{id: r, tools: [t], then: require, gate: refnd}]\ngates: {refund: {type: "
              "tool_execution}}\n",
              "`refund`"},
             {"gates: {g: {type: tool_execution, approvers: [finace]}}\napprovers: {finance: "
              "{roles: [f]}}\n",
              "`finance`"},
             {"gates: {g: {type: tool_execution, on_timeout: escalate}}\n", "to whom"},
             {"gates: {g: {type: tool_execution, escalate: {after: 1m, to: [f]}}}\napprovers: {f: "
              "{roles: [a, b]}}\n",
              "one role or one person"},
             {"gates: {g: {type: tool_execution, on_timeout: approve}}\n", "risk: low"},
             {"rules: [{id: r, tools: [t], path: {arg: p, any: [x]}, then: deny}]\n",
              "no argument `p`"},
             {"rules: [{id: r, tools: [t], message: \"{{args.sum}}\", then: require}]\n", "`sum`"},
             {"rules: [{id: r, tools: [t], message: \"{{secrets}}\", then: require}]\n", "secrets"},
             {"counters: {c: {on: t, key: args.amount, window: 1h}}\n", "text"},
             {"trust: {after: 5, tools: [t], scope: [agent.id]}\n", "never trusted by its name"},
             {"vars: {a: vars.b, b: 1}\n", "line 4"},
             {"rules: [{id: r, tools: [t], when: \"[1,2].all(a, [1].all(b, [2].all(c, a == b)))\", "
              "then: deny}]\n",
              "line 4"}})
        EXPECT_THAT(refusal_of(std::string(tool) + std::string(c.body)), HasSubstr(c.says))
            << c.body;
}

TEST(Compile, a_failing_test_refuses_the_file_and_says_what_came) {
    const std::string refusal =
        refusal_of("tests: [{name: mine, call: {tool: t}, expect: {decision: allow, rule: x}}]\n");
    EXPECT_THAT(refusal, HasSubstr("line 3, column 9: test `mine` fails"));
    EXPECT_THAT(refusal, HasSubstr("expected decision `allow`, came `require`"));
    LoadOptions force;
    force.may_fail_tests = true;
    EXPECT_TRUE(
        try_policy("tests: [{name: m, call: {tool: t}, expect: {decision: allow}}]\n", force));
}

TEST(Compile, a_test_that_cannot_be_read_fails) {
    EXPECT_THAT(refusal_of("tests: [{name: m, call: {tool: t, arsg: {}}, expect: {decision: "
                           "require}}]\n"),
                HasSubstr("arsg"));
    EXPECT_THAT(
        refusal_of("tests: [{name: m, call: {tool: t}, counters: {c: 1}, expect: {decision: "
                   "require}}]\n"),
        HasSubstr("no counter `c`"));
}

TEST(Compile, the_version_is_the_hash_of_the_text_and_of_its_parents) {
    const auto a = policy_of("extends: strict\n");
    const auto b = policy_of("extends: strict\n");
    const auto c = policy_of("extends: minimal\n");
    EXPECT_EQ(a->version, b->version);
    EXPECT_NE(a->version, c->version);
    EXPECT_EQ(a->version.size(), 7u + 64u);
}

TEST(Lint, tells_what_is_legal_but_probably_not_meant) {
    const auto warnings = [](std::string_view body) {
        std::string out;
        for (const Warning& warning : policy_of(body)->warnings) out += warning.message + "\n";
        return out;
    };
    EXPECT_EQ(warnings("extends: standard\ntools: {t: {read_only: true}}\n"), "");
    EXPECT_THAT(warnings("rules: [{id: r, tools: [nobody], then: deny}]\n"), HasSubstr("nobody"));
    EXPECT_THAT(warnings("rules: [{id: r, tools: [\"x_*\"], then: deny}]\n"), HasSubstr("x_*"));
    EXPECT_THAT(warnings("tools: {t: {destructive: true, risk: low}}\nrules: [{id: r, tools: [t], "
                         "then: allow}]\n"),
                HasSubstr("destructive"));
    EXPECT_THAT(warnings("tools: {t: {risk: high}}\nrules: [{id: r, tools: [t], then: allow}]\n"),
                HasSubstr("auto_risk"));
    EXPECT_THAT(warnings("tools: {t: {}}\nrules: [{id: r, tools: [t], then: allow}, {id: q, tools: "
                         "[t], then: deny}]\n"),
                HasSubstr("never matters"));
    EXPECT_THAT(warnings("tools: {t: {args: {u: string}}}\nrules: [{id: r, tools: [t], when: "
                         "args.u.matches('a.b'), then: allow}]\n"),
                HasSubstr("anchor"));
    EXPECT_THAT(warnings("approvers: {a: {roles: [x]}}\n"), HasSubstr("never asked"));
    EXPECT_THAT(warnings("patterns: {always_require: [{re: \"curl.*| sh\"}]}\n"),
                HasSubstr("means or"));
    EXPECT_THAT(warnings("defaults: {unknown_tools: allow}\n"), HasSubstr("may pass"));
    EXPECT_THAT(warnings("gates: {g: {type: tool_execution, risk: low, on_timeout: approve}}\n"),
                HasSubstr("silence approves"));
    EXPECT_THAT(warnings("tools: {t: {risk: high}}\nnever_require: [t]\n"),
                HasSubstr("held all the same"));
}

}  // namespace
}  // namespace holdpoint::policy
