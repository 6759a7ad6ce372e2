#include "policy/explain.h"

#include <gmock/gmock.h>

#include "policy/backtest.h"
#include "policy/diff.h"
#include "policy/suggest.h"
#include "policy/test_policies.h"

namespace holdpoint::policy {
namespace {

using namespace test;
using core::Outcome;
using core::VerdictKind;
using testing::HasSubstr;
using testing::Not;

constexpr std::string_view shop = R"~(
extends: standard
tools:
  refund: {destructive: true, risk: high, args: {amount: number, currency: string}}
  sh: {risk: low, args: {command: string}, shell: {arg: command}}
approvers: {finance: {roles: [finance]}}
gates: {refund: {type: specific_tools, tools: [refund], approvers: [finance]}}
rules:
  - {id: large, tools: [refund], when: args.amount > 500, then: require, gate: refund, risk: critical, because: finance rule 12}
  - {id: small, tools: [refund], when: "args.currency == 'EUR' && args.amount <= 50", then: allow, auto_risk: high}
  - {id: odd, tools: [refund], when: "args.currency == 'XXX'", then: deny}
)~";

json::object explained(const Policy& policy, std::string_view call) {
    const Situation read = situation(policy, call);
    Workspace workspace;
    return explain(policy, read.call, read.state, workspace);
}

constexpr std::string_view large = R"({"tool":"refund","args":{"amount":900.5,"currency":"EUR"}})";

TEST(Explain, P6_says_which_rule_fired_on_which_field_and_why) {
    const auto policy = policy_of(shop);
    const json::object record = explained(*policy, large);
    EXPECT_EQ(record.at("kind"), "hold");
    EXPECT_EQ(record.at("rule"), "large");
    EXPECT_EQ(record.at("gate"), "refund");
    EXPECT_EQ(record.at("risk"), "critical");
    EXPECT_EQ(record.at("because"), "finance rule 12");
    EXPECT_EQ(record.at("policy"), json::value(policy->version));
    EXPECT_EQ(json::canonical(record.at("approvals")), R"([["finance",1]])");
    EXPECT_EQ(record.at("values").as_object().at("args.amount"), 900.5);
    const std::string matched = json::canonical(record.at("matched"));
    EXPECT_THAT(matched, HasSubstr(R"("id":"large","kind":"rule","line":11)"));
    EXPECT_THAT(matched, HasSubstr(R"("id":"destructive")")) << "what else asked for a person";
    EXPECT_THAT(json::canonical(record.at("near")),
                HasSubstr(R"("first_false":"args.currency == 'XXX'")"));
    EXPECT_THAT(explain_text(record), HasSubstr("because finance rule 12"));
}

TEST(Explain, P6_names_the_first_part_of_a_near_miss_that_was_false) {
    const auto policy = policy_of(shop);
    const json::object record =
        explained(*policy, R"({"tool":"refund","args":{"amount":60,"currency":"EUR"}})");
    EXPECT_EQ(record.at("rule"), "refund");
    EXPECT_THAT(json::canonical(record.at("near")),
                HasSubstr(R"("first_false":"args.amount <= 50","id":"small")"));
}

TEST(Explain, P6_tells_where_a_command_stops_being_readable) {
    const json::object record =
        explained(*policy_of(shop), R"({"tool":"sh","args":{"command":"ls $X"}})");
    const json::object& shell = record.at("shell").as_object();
    EXPECT_EQ(shell.at("opaque"), true);
    EXPECT_EQ(shell.at("position"), 3);
    EXPECT_FALSE(shell.at("reason").as_string().empty());
}

TEST(Explain, P6_every_verdict_explains_itself) {
    const auto policy = policy_of(shop);
    for (const std::string_view call :
         {large, std::string_view(R"({"tool":"refund","args":{"amount":1,"currency":"EUR"}})"),
          std::string_view(R"({"tool":"refund","args":{"amount":"1","currency":"EUR"}})"),
          std::string_view(R"({"tool":"refund","args":{"amount":1,"currency":"XXX"}})"),
          std::string_view(R"({"tool":"nobody"})"),
          std::string_view(R"({"event":"input","input":{}})"),
          std::string_view(R"({"event":"final_response","response":{"text":"x"}})")}) {
        const json::object record = explained(*policy, call);
        EXPECT_FALSE(record.at("because").as_string().empty()) << call;
        EXPECT_FALSE(record.at("rule").as_string().empty()) << call;
        EXPECT_EQ(record.at("kind"), json::value(kind(*policy, call))) << call;
    }
}

TEST(Diff, names_what_means_something_else_and_ignores_places) {
    const auto before = policy_of(shop);
    const auto same = policy_of("\n\n" + std::string(shop));
    EXPECT_TRUE(diff(before->file, same->file).empty());
    std::string text(shop);
    text.replace(text.find("args.amount > 500"), 17, "args.amount > 900");
    text += "  - {id: extra, tools: [refund], then: deny}\nnever_require: [sh]\n";
    const std::vector<Change> changes = diff(before->file, policy_of(text)->file);
    ASSERT_EQ(changes.size(), 3u);
    const std::string shown = diff_text(changes);
    EXPECT_THAT(shown, HasSubstr("~ rule `large`"));
    EXPECT_THAT(shown, HasSubstr("+ rule `extra`  stricter"));
    EXPECT_THAT(shown, HasSubstr("+ never_require `sh`  looser"));
}

TEST(Diff, does_not_call_it_stricter_to_ask_about_what_was_denied_by_default) {
    const std::string denying = "defaults: {decision: deny}\ntools: {wipe: {}}\n";
    const auto shown = [](const std::string& text, std::string_view more) {
        return diff_text(diff(policy_of(text)->file, policy_of(text + std::string(more))->file));
    };
    for (const std::string_view more :
         {"always_require: [wipe]\n", "gates: {g: {type: specific_tools, tools: [wipe]}}\n",
          "rules: [{id: r, tools: [wipe], then: require}]\n"}) {
        EXPECT_THAT(shown(denying, more), Not(HasSubstr("stricter"))) << more;
        EXPECT_THAT(shown("tools: {wipe: {}}\n", more), HasSubstr("stricter")) << more;
    }
    EXPECT_THAT(shown(denying, "rules: [{id: r, tools: [wipe], then: deny}]\n"),
                HasSubstr("stricter"));
}

PastCall past(const Policy& policy, std::string id, double amount, Outcome outcome,
              std::string currency = "EUR", std::string by = "ann") {
    std::string number;
    json::append_number(number, amount);
    PastCall out;
    out.id = std::move(id);
    out.call = situation(policy, R"({"tool":"refund","args":{"amount":)" + number +
                                     R"(,"currency":")" + currency + R"("}})")
                   .call;
    out.verdict = outcome == Outcome::allowed ? VerdictKind::allow : VerdictKind::hold;
    out.outcome = outcome;
    out.waited_ms = 120'000;
    out.by = std::move(by);
    return out;
}

TEST(Backtest, counts_prompts_and_minutes_and_names_what_people_refused_and_would_pass_now) {
    const auto policy = policy_of(shop);
    std::string wider(shop);
    wider.replace(wider.find("args.amount <= 50"), 17, "args.amount <= 80");
    const auto next = policy_of(wider);
    const std::vector<PastCall> calls{
        past(*policy, "1", 60, Outcome::approved), past(*policy, "2", 70, Outcome::rejected),
        past(*policy, "3", 75, Outcome::modified), past(*policy, "4", 20, Outcome::allowed),
        past(*policy, "5", 600, Outcome::approved)};
    const Backtest result = backtest(*next, calls);
    EXPECT_EQ(result.calls, 5u);
    EXPECT_EQ(result.prompts_before, 4u);
    EXPECT_EQ(result.prompts_after, 1u);
    EXPECT_EQ(result.prompts_saved, 3u);
    EXPECT_EQ(result.minutes_saved, 6);
    ASSERT_EQ(result.dangerous.size(), 2u);
    EXPECT_EQ(result.dangerous[0].id, "2");
    EXPECT_EQ(result.dangerous[0].rule, "small");
    EXPECT_EQ(result.dangerous[1].id, "3");
    EXPECT_EQ(unacknowledged(result, std::vector<std::string>{"2"}).size(), 1u);
    EXPECT_TRUE(unacknowledged(result, std::vector<std::string>{"2", "3"}).empty());
    EXPECT_THAT(backtest_text(result), HasSubstr("! 2 refund: people said `rejected`"));
    EXPECT_EQ(to_json(result).at("dangerous").as_array().size(), 2u);
    EXPECT_TRUE(backtest(*policy, calls).changed.empty()) << "the same policy changes nothing";
}

TEST(Backtest, replays_counters_from_what_was_released) {
    const auto policy = policy_of(R"~(
extends: minimal
tools: {refund: {read_only: true, risk: low, args: {amount: number, currency: string}}}
counters: {n: {on: refund, window: 1h}}
rules: [{id: third, tools: [refund], when: counters.n >= 2, then: require}]
)~");
    std::vector<PastCall> calls;
    for (int i = 0; i < 4; ++i)
        calls.push_back(past(*policy, std::to_string(i), 1, Outcome::allowed));
    const Backtest result = backtest(*policy, calls);
    EXPECT_EQ(result.prompts_added, 2u);
}

TEST(Suggest, P8_the_narrowest_rule_that_covers_what_was_approved_and_nothing_refused) {
    const auto policy = policy_of(shop);
    std::vector<PastCall> calls;
    for (int i = 0; i < 6; ++i)
        calls.push_back(past(*policy, "a" + std::to_string(i), 60 + i, Outcome::approved, "EUR",
                             i % 2 ? "ann" : "bob"));
    calls.push_back(past(*policy, "r1", 300, Outcome::rejected));
    const std::vector<Suggestion> suggestions = suggest(*policy, calls);
    ASSERT_EQ(suggestions.size(), 1u);
    const Suggestion& one = suggestions[0];
    EXPECT_EQ(one.approvals, 6u);
    EXPECT_EQ(one.result.prompts_saved, 6u);
    EXPECT_TRUE(one.result.dangerous.empty());
    EXPECT_THAT(one.rule.when.text, HasSubstr(R"(args["amount"] >= 60 && args["amount"] <= 65)"));
    EXPECT_THAT(one.rule.when.text, HasSubstr(R"(args["currency"] in ["EUR"])"));
    EXPECT_THAT(one.rule.when.text, HasSubstr(R"(agent.id in ["a1"])"));
    const auto with = policy_of(std::string(shop) + "  " + [&] {
        std::string indented = one.yaml;
        for (std::size_t at = indented.find('\n'); at + 1 < indented.size();
             at = indented.find('\n', at + 3))
            indented.insert(at + 1, "  ");
        return indented;
    }());
    EXPECT_EQ(kind(*with, R"({"tool":"refund","args":{"amount":62,"currency":"EUR"}})"), "allow")
        << "what it prints can stand in the file";
}

TEST(Suggest, P8_a_refusal_in_between_narrows_the_rule_or_ends_it) {
    const auto policy = policy_of(shop);
    std::vector<PastCall> calls;
    for (int i = 0; i < 6; ++i)
        calls.push_back(past(*policy, "a" + std::to_string(i), 60 + i, Outcome::approved));
    calls.push_back(past(*policy, "b", 400, Outcome::approved));
    calls.push_back(past(*policy, "r", 100, Outcome::rejected));
    const std::vector<Suggestion> narrowed = suggest(*policy, calls);
    ASSERT_EQ(narrowed.size(), 1u);
    EXPECT_THAT(narrowed[0].rule.when.text, HasSubstr("<= 65"));
    calls.push_back(past(*policy, "r2", 61, Outcome::modified));
    EXPECT_TRUE(suggest(*policy, calls).empty());
}

TEST(Suggest, P8_too_few_approvals_and_critical_risk_suggest_nothing) {
    const auto policy = policy_of(shop);
    std::vector<PastCall> calls;
    for (int i = 0; i < 4; ++i)
        calls.push_back(past(*policy, "a" + std::to_string(i), 60, Outcome::approved));
    EXPECT_TRUE(suggest(*policy, calls).empty());
    const auto critical =
        policy_of("tools: {refund: {risk: critical, args: {amount: number, currency: string}}}\n");
    for (int i = 0; i < 9; ++i)
        calls.push_back(past(*critical, "c" + std::to_string(i), 60, Outcome::approved));
    EXPECT_TRUE(suggest(*critical, calls).empty());
}

TEST(Suggest, P8_shell_commands_are_suggested_word_by_word) {
    const auto policy = policy_of(
        "extends: standard\ndefaults: {decision: require}\ntools: {sh: {risk: low, args: {command: "
        "string}, shell: {arg: command}}}\n");
    std::vector<PastCall> calls;
    for (int i = 0; i < 5; ++i) {
        PastCall one;
        one.id = std::to_string(i);
        one.call =
            situation(*policy, R"({"tool":"sh","args":{"command":"git status --short"}})").call;
        one.outcome = Outcome::approved;
        calls.push_back(one);
        one.call = situation(*policy, R"({"tool":"sh","args":{"command":"rm $X"}})").call;
        calls.push_back(one);
    }
    const std::vector<Suggestion> suggestions = suggest(*policy, calls);
    ASSERT_EQ(suggestions.size(), 1u);
    EXPECT_THAT(suggestions[0].yaml,
                HasSubstr(R"(shell: {every: [["git", "status", "--short"]]})"));
    EXPECT_EQ(suggestions[0].result.prompts_saved, 5u);
}

}  // namespace
}  // namespace holdpoint::policy
