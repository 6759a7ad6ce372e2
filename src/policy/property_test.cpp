#include <set>

#include "policy/explain.h"
#include "policy/judge.h"
#include "policy/test_policies.h"

/// Random policies and random calls: what must hold whatever people write and agents send.
namespace holdpoint::policy {
namespace {

using namespace test;

class Random {
  public:
    explicit Random(std::uint64_t seed) : state_(seed * 2 + 1) {}
    std::size_t below(std::size_t limit) {
        state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
        return static_cast<std::size_t>((state_ >> 33) % limit);
    }
    bool coin() { return below(2) == 0; }
    template <class List>
    auto pick(const List& list) {
        return list[below(std::size(list))];
    }

  private:
    std::uint64_t state_;
};

constexpr std::string_view tool_names[] = {"a", "b", "c", "d"};
// Some fail for some calls: a missing argument, a division by zero, a text that is no URL.
constexpr std::string_view conditions[] = {"args.n > 3.0",
                                           "args.n <= 3.0",
                                           "args.s == 'x'",
                                           "args.s.size() > 2",
                                           "has(args.o)",
                                           "args.o == 'y'",
                                           "1 / int(args.n) > 0",
                                           "user.id == 'ann'",
                                           "'r' in user.roles",
                                           "agent.depth > 0",
                                           "counters.k >= 2",
                                           "vars.v",
                                           "url.host(args.s) == 'h'",
                                           "confidence < 0.5",
                                           "tool.destructive",
                                           "args.s.startsWith('x') || args.n > 5.0",
                                           "!(args.s in ['x', 'yy'])",
                                           "true",
                                           "false"};
constexpr std::string_view levels[] = {"low", "medium", "high", "critical"};

std::string random_rule(Random& random, int number) {
    static constexpr std::string_view effects[] = {"allow", "require", "deny"};
    const std::string_view effect = random.pick(effects);
    std::string rule = "  - {id: r" + std::to_string(number);
    rule += random.below(4) == 0 ? ", tools: [\"*\"]"
                                 : ", tools: [" + std::string(random.pick(tool_names)) + "]";
    if (random.below(5) != 0) rule += ", when: \"" + std::string(random.pick(conditions)) + "\"";
    if (random.below(3) == 0) rule += ", unless: \"" + std::string(random.pick(conditions)) + "\"";
    rule += ", then: " + std::string(effect);
    if (effect == "allow" && random.coin())
        rule += ", auto_risk: " + std::string(random.pick(levels));
    if (effect == "require" && random.coin()) rule += ", risk: " + std::string(random.pick(levels));
    return rule + "}\n";
}

struct RandomPolicy {
    std::string head;
    std::vector<std::string> rules;

    std::string text() const {
        std::string out = head;
        if (!rules.empty()) out += "rules:\n";
        for (const std::string& rule : rules) out += rule;
        return out;
    }
};

RandomPolicy random_policy(Random& random) {
    static constexpr std::string_view decisions[] = {"allow", "require", "deny"};
    RandomPolicy out;
    out.head = "defaults: {decision: " + std::string(random.pick(decisions)) +
               ", max_auto_risk: " + std::string(random.pick(levels)) + "}\n";
    out.head += "vars: {v: \"args.n > 2.0\"}\ncounters: {k: {on: [a, b], window: 1h}}\ntools:\n";
    for (const std::string_view name : {"a", "b", "c"}) {
        out.head += "  " + std::string(name) + ": {args: {n: number, s: string, \"o?\": string}";
        if (random.coin()) out.head += ", risk: " + std::string(random.pick(levels));
        if (random.below(3) == 0) out.head += ", destructive: true";
        out.head += "}\n";
    }
    out.head += "gates:\n  g0: {type: destructive_actions}\n";
    if (random.coin())
        out.head += "  g1: {type: custom, tools: [a, b], when: \"" +
                    std::string(random.pick(conditions)) + "\"}\n";
    if (random.coin()) out.head += "  g2: {type: threshold_based, confidence_below: 0.5}\n";
    if (random.below(3) == 0) out.head += "never_require: [b]\n";
    if (random.below(3) == 0) out.head += "always_require: [c]\n";
    const int rules = static_cast<int>(random.below(8));
    for (int i = 0; i < rules; ++i) out.rules.push_back(random_rule(random, i));
    return out;
}

Situation random_situation(Random& random, const Policy& policy) {
    static constexpr std::string_view texts[] = {"x", "yy", "zzz", "https://h/p", ""};
    static constexpr double numbers[] = {0, 1, 3, 4, -2, 1e6, 2.5};
    Situation out;
    Call& call = out.call;
    call.now = noon;
    call.tool = random.pick(tool_names);
    call.agent = "a1";
    call.agent_depth = static_cast<int>(random.below(2));
    call.user = random.coin() ? "ann" : "bob";
    if (random.coin()) call.user_roles = {"r"};
    if (random.below(10) != 0) call.args["n"] = random.pick(numbers);
    if (random.below(10) != 0) call.args["s"] = random.pick(texts);
    if (random.coin()) call.args["o"] = random.pick(texts);
    if (random.below(20) == 0) call.args["n"] = "3";
    if (random.coin()) call.confidence = random.coin() ? 0.2 : 0.9;
    if (random.below(5) == 0) call.claims.risk = static_cast<RiskLevel>(random.below(4));
    if (random.below(8) == 0) call.claims.is_destructive = true;
    out.state.counters.assign(policy.file.counters.size(), std::nullopt);
    if (random.below(4) != 0) out.state.counters[0] = static_cast<double>(random.below(4));
    return out;
}

/// What each rule would say alone, asked of the condition itself and not of the engine's merging.
struct Facts {
    bool is_denied = false;
    bool is_required = false;  ///< by a rule, or by a rule that failed
};

Facts facts_of(const Policy& policy, const Recorder& recorder) {
    Facts facts;
    for (const Finding& finding : recorder.findings) {
        if (finding.cause != Cause::rule || finding.effect == Effect::allow) continue;
        const Effect then = policy.file.rules[static_cast<std::size_t>(finding.index)].then;
        if (then == Effect::deny && !finding.is_error) facts.is_denied = true;
        if (then == Effect::require || finding.is_error) facts.is_required = true;
    }
    return facts;
}

bool has_matching_rule(const Policy& policy, const Verdict& verdict, const Recorder& recorder) {
    if (verdict.decisive.cause != Cause::rule) return true;
    for (const Recorder::Look& look : recorder.looks) {
        if (look.cause != Cause::rule || look.index != verdict.decisive.index) continue;
        const bool is_refuted =
            look.part == "unless" ? look.answer == Match3::yes : look.answer == Match3::no;
        if (is_refuted) return false;
        if (look.answer == Match3::error &&
            policy.file.rules[static_cast<std::size_t>(look.index)].then == Effect::allow)
            return false;
    }
    return true;
}

TEST(Properties, deny_and_require_win_errors_never_allow_order_never_matters) {
    constexpr int policies = 1000;
    constexpr int calls = 1000;
    Random random(20261116);
    std::size_t verdicts[3] = {0, 0, 0};
    Workspace workspace;
    for (int i = 0; i < policies; ++i) {
        const RandomPolicy source = random_policy(random);
        RandomPolicy turned = source;
        for (std::size_t j = turned.rules.size(); j > 1; --j)
            std::swap(turned.rules[j - 1], turned.rules[random.below(j)]);
        const auto policy = policy_of(source.text());
        const auto other = policy_of(turned.text());
        for (int j = 0; j < calls; ++j) {
            const Situation read = random_situation(random, *policy);
            const Verdict verdict = evaluate(*policy, read.call, read.state, workspace);
            ++verdicts[static_cast<std::size_t>(verdict.kind)];
            const Verdict again = evaluate(*other, read.call, read.state, workspace);
            if (again.kind != verdict.kind || again.risk != verdict.risk)
                FAIL() << "the order of rules mattered\n" << source.text() << turned.text();
            // The rest asks the tracing run, which costs more: one call in ten.
            if (j % 10 != 0) continue;
            Recorder recorder;
            const Verdict traced = evaluate(*policy, read.call, read.state, workspace, recorder);
            if (traced.kind != verdict.kind || traced.risk != verdict.risk ||
                rule_name(*policy, traced) != rule_name(*policy, verdict))
                FAIL() << "the tracing run says something else\n" << source.text();
            const Facts facts = facts_of(*policy, recorder);
            if (facts.is_denied && verdict.kind != core::VerdictKind::deny)
                FAIL() << "a denial was softened\n" << source.text();
            if (facts.is_required && verdict.kind == core::VerdictKind::allow)
                FAIL() << "a requirement was passed\n" << source.text();
            if (!has_matching_rule(*policy, verdict, recorder))
                FAIL() << "the reported rule did not match\n" << source.text();
            if (verdict.kind == core::VerdictKind::allow &&
                verdict.decisive.cause == Cause::default_decision &&
                !policy->auto_risk_max.covers(verdict.risk))
                FAIL() << "above the cap\n" << source.text();
        }
    }
    for (const std::size_t count : verdicts)
        EXPECT_GT(count, 10'000u) << "the calls must reach every verdict";
}

}  // namespace
}  // namespace holdpoint::policy
