#include "policy/risk.h"

#include <gmock/gmock.h>

#include "core/open.h"
#include "core/test_requests.h"
#include "policy/builder.h"
#include "policy/template.h"
#include "policy/test_policies.h"

namespace holdpoint::policy {
namespace {

using namespace test;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

Assessment assessed(const Policy& policy, std::string_view call) {
    const Situation read = situation(policy, call);
    return assessment_of(policy, read.call, read.state, evaluate(policy, read.call, read.state));
}

constexpr std::string_view risky_tools = R"~(
defaults: {decision: allow, max_auto_risk: critical}
tools:
  read: {read_only: true}
  drop: {destructive: true, reversible: false, consequences: [the table is gone]}
  call: {open_world: true}
  pay: {args: {amount: number, "to?": string}}
  tag: {args: {ids: list(string), "env?": string, "text?": string}}
  rated: {risk: medium, destructive: true}
  sh: {args: {command: string}, shell: {arg: command}}
)~";

TEST(Risk, Q7_each_factor_raises_the_level_and_is_named) {
    const auto policy = policy_of(risky_tools);
    struct Case {
        std::string_view call;
        RiskLevel level;
        std::string_view factor;
    };
    std::string bulk = R"({"tool":"tag","args":{"ids":[)";
    for (int i = 0; i < 60; ++i) bulk += i ? R"(,"x")" : R"("x")";
    bulk += "]}}";
    for (const Case& c : std::initializer_list<Case>{
             {R"({"tool":"drop"})", RiskLevel::high, "changes or removes"},
             {R"({"tool":"drop"})", RiskLevel::high, "cannot be undone"},
             {R"({"tool":"call"})", RiskLevel::medium, "reaches outside"},
             {R"({"tool":"pay","args":{"amount":10000}})", RiskLevel::high, "large amount"},
             {R"({"tool":"pay","args":{"amount":-1}})", RiskLevel::high, "below zero"},
             {bulk, RiskLevel::high, "many things"},
             {R"({"tool":"tag","args":{"ids":[],"env":"eu-prod-2"}})", RiskLevel::high,
              "production"},
             {R"({"tool":"tag","args":{"ids":[],"text":"key ghp_aaaaaaaaaaaaaaaaaaaa"}})",
              RiskLevel::high, "secret"},
             {R"({"tool":"sh","args":{"command":"ls > x"}})", RiskLevel::medium, "plain words"},
             {R"({"tool":"nobody"})", RiskLevel::medium, "does not know"},
             {R"({"tool":"rated"})", RiskLevel::medium, "operator rates it medium"},
             {R"({"tool":"read","context":{"claims":{"risk":"high"}}})", RiskLevel::high,
              "agent itself"}}) {
        const Assessment assessment = assessed(*policy, c.call);
        EXPECT_EQ(assessment.level, c.level) << c.call;
        EXPECT_THAT(assessment.factors, Contains(HasSubstr(std::string(c.factor)))) << c.call;
    }
    const Assessment plain = assessed(*policy, R"({"tool":"read"})");
    EXPECT_EQ(plain.level, RiskLevel::low);
    EXPECT_THAT(plain.factors, IsEmpty());
}

TEST(Risk, Q7_what_a_secret_begins_with_is_seen_wherever_it_stands) {
    const auto policy = policy_of(risky_tools);
    const auto risk_of = [&](const std::string& text) {
        return judge(*policy, R"({"tool":"tag","args":{"ids":[],"text":")" + text + R"("}})").risk;
    };
    for (const std::string mark : {"-----BEGIN ", "AKIA", "ghp_", "github_pat_", "glpat-", "xoxb-",
                                   "xoxp-", "sk-ant-", "sk_live_", "AIza", "eyJhbGciOi"}) {
        // Too long for a name: `sk_live` would name a production system.
        const std::string filling(70, '-');
        for (const std::string& text : {mark + filling, filling + mark, "_KBxzJ-" + mark + filling})
            EXPECT_EQ(risk_of(text), RiskLevel::high) << text;
        const std::string without_end = mark.substr(0, mark.size() - 1);
        for (const std::string& text :
             {mark.substr(1) + std::string(70, ' '), without_end + std::string(70, '.')})
            EXPECT_EQ(risk_of(text), RiskLevel::low) << text;
    }
}

TEST(Risk, Q7_consequences_reversibility_and_confidence_are_stated) {
    const auto policy = policy_of(risky_tools);
    const Assessment drop = assessed(*policy, R"({"tool":"drop"})");
    EXPECT_EQ(drop.consequences.front(), "the table is gone");
    EXPECT_EQ(drop.reversibility, "irreversible");
    EXPECT_LT(assessed(*policy, R"({"tool":"nobody"})").confidence, drop.confidence);
    EXPECT_THAT(assessed(*policy, R"({"tool":"read","context":{"new_to_agent":true}})").factors,
                Contains(HasSubstr("not used this tool before")));
}

TEST(Risk, Q7_what_only_mentions_production_is_not_production) {
    const auto policy = policy_of(risky_tools);
    for (const std::string_view text :
         {"src/prod/main.c", "we love production", "product", "alive"})
        EXPECT_EQ(judge(*policy,
                        R"({"tool":"tag","args":{"ids":[],"env":")" + std::string(text) + R"("}})")
                      .risk,
                  RiskLevel::low)
            << text;
}

TEST(Risk, Q7_risk_rules_in_the_file_raise_it_with_their_own_words) {
    const auto policy = policy_of(R"~(
defaults: {decision: allow}
tools: {pay: {args: {amount: number}}}
risk: [{id: r, tools: [pay], when: args.amount > 10, level: critical, factor: much money, consequence: it is gone}]
)~");
    EXPECT_EQ(kind(*policy, R"({"tool":"pay","args":{"amount":5}})"), "allow");
    const Verdict verdict = judge(*policy, R"({"tool":"pay","args":{"amount":11}})");
    EXPECT_EQ(verdict.kind, core::VerdictKind::hold);
    EXPECT_EQ(verdict.risk, RiskLevel::critical);
    EXPECT_THAT(assessed(*policy, R"({"tool":"pay","args":{"amount":11}})").factors,
                Contains("much money"));
}

TEST(Risk, Q7_assessors_of_the_program_can_raise_and_never_lower) {
    const auto with = [](RiskLevel level) {
        return Builder("p", "minimal")
            .tool({.name = "t", .risk = RiskLevel::medium})
            .assessor([level](const Call&, Assessment& assessment) {
                assessment.level = level;
                assessment.factors.emplace_back("mine");
            })
            .build();
    };
    const auto up = with(RiskLevel::critical);
    const auto down = with(RiskLevel::low);
    EXPECT_EQ(judge(**up, R"({"tool":"t"})").risk, RiskLevel::critical);
    EXPECT_EQ(judge(**down, R"({"tool":"t"})").risk, RiskLevel::medium);
    EXPECT_THAT(assessed(**up, R"({"tool":"t"})").factors, Contains("mine"));
    const auto broken = Builder("p", "minimal")
                            .tool({.name = "t", .read_only = true})
                            .assessor([](const Call&, Assessment&) { throw 1; })
                            .build();
    EXPECT_EQ(kind(**broken, R"({"tool":"t"})"), "hold") << "one that fails counts as high";
}

TEST(Risk, Q7_it_reaches_the_request_and_the_agents_words_stay_apart) {
    const auto policy = policy_of("tools: {refund: {destructive: true}}\n");
    core::Proposal proposal = core::test::proposal();
    proposal.risk_detail.text = R"({"factors":["trust me"]})";
    const core::Verdict verdict = evaluate(*policy, proposal, {.agent = "bot", .now = noon});
    const Result<core::Step> step = core::open(proposal, verdict, core::test::opening());
    ASSERT_TRUE(step);
    const json::value detail = core::test::parsed(step->request.risk_detail.text);
    EXPECT_THAT(json::canonical(detail.at("factors")), HasSubstr("changes or removes"));
    EXPECT_EQ(json::canonical(detail.at("claimed")), R"({"factors":["trust me"]})");
    EXPECT_EQ(step->request.verdict.policy, policy->version);
}

TEST(Risk, D9_critical_needs_a_confirmation_code_besides_the_click) {
    const auto policy = policy_of("tools: {a: {risk: critical}, b: {risk: high}}\n");
    EXPECT_TRUE(terms(*policy, R"({"tool":"a"})").requirement.confirm_required);
    EXPECT_FALSE(terms(*policy, R"({"tool":"b"})").requirement.confirm_required);
}

TEST(Headline, Q10_the_template_asks_the_question_from_the_canonical_arguments) {
    const auto policy = policy_of(R"~(
tools:
  publish: {args: {slug: string, "tags?": list(string), "api_token?": string, "internal?": string}, redact: [internal], message: "Publish {{args.slug}} ({{args.tags}}) with {{args.api_token}} and {{args.internal}}?"}
)~");
    const auto line = [&](std::string_view call) {
        const Situation read = situation(*policy, call);
        return headline(*policy, read.call, evaluate(*policy, read.call, read.state));
    };
    EXPECT_EQ(
        line(
            R"({"tool":"publish","args":{"slug":"a","tags":["x","y"],"api_token":"t","internal":"id-7"}})"),
        "Publish a (2 items) with ••• and •••?");
    EXPECT_EQ(line(R"({"tool":"publish","args":{"slug":"a\u202Eb"}})"),
              "Publish a<U+202E>b ((none)) with ••• and •••?");
    const std::string cut =
        line(R"({"tool":"publish","args":{"slug":")" + std::string(500, 'x') + R"("}})");
    EXPECT_LT(cut.size(), 250u);
    EXPECT_THAT(cut, HasSubstr("…"));
}

TEST(Headline, Q10_secrets_are_hidden_inside_values_and_without_a_template) {
    const auto policy = policy_of(R"~(
tools:
  login: {args: {who: dyn}, message: "Log in as {{args.who}}?"}
  pay: {args: {iban: string, amount: number}, redact: [iban]}
)~");
    const auto line = [&](std::string_view call) {
        const Situation read = situation(*policy, call);
        return headline(*policy, read.call, evaluate(*policy, read.call, read.state));
    };
    EXPECT_EQ(
        line(
            R"({"tool":"login","args":{"who":{"name":"ann","keys":[{"api-key":4711}],"pw":{"password":"x"}}}})"),
        R"(Log in as {"keys":[{"api-key":"•••"}],"name":"ann","pw":{"password":"•••"}}?)");
    EXPECT_EQ(line(R"({"tool":"pay","args":{"iban":"DE1","amount":5}})"),
              "pay(iban: •••, amount: 5)");
}

TEST(Headline, Q10_the_rule_speaks_before_the_gate_and_the_gate_before_the_tool) {
    const auto policy = policy_of(R"~(
tools: {t: {message: from the tool}, u: {message: from the tool}, v: {message: from the tool}}
gates: {g: {type: specific_tools, tools: [t, u], message: from the gate}}
rules: [{id: r, tools: [t], then: require, message: from the rule}]
)~");
    const auto line = [&](std::string_view tool) {
        const Situation read = situation(*policy, R"({"tool":")" + std::string(tool) + R"("})");
        return headline(*policy, read.call, evaluate(*policy, read.call, read.state));
    };
    EXPECT_EQ(line("t"), "from the rule");
    EXPECT_EQ(line("u"), "from the gate");
    EXPECT_EQ(line("v"), "from the tool");
    EXPECT_EQ(line("w"), "");
}

}  // namespace
}  // namespace holdpoint::policy
