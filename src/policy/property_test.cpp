#include <algorithm>
#include <cmath>
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

/// The arguments of a call, read here by hand: what the conditions below are answered from.
struct Given {
    std::optional<double> n;  ///< nothing: missing, or a text
    std::optional<std::string> s, o;
};

Match3 sure(bool is_true) { return is_true ? Match3::yes : Match3::no; }
Match3 above(const Given& given, double limit) {
    return given.n ? sure(*given.n > limit) : Match3::error;
}
Match3 negated(Match3 answer) {
    if (answer == Match3::error) return answer;
    return sure(answer == Match3::no);
}
template <class Question>
Match3 about(const std::optional<std::string>& text, Question question) {
    return text ? sure(question(*text)) : Match3::error;
}

/// A condition and, written down a second time in another language, what it must say. Some fail for
/// some calls: a missing argument, a division by zero, a text that is no URL.
struct Question {
    std::string_view text;
    Match3 (*answer)(const Given&, const Situation&, bool is_destructive);
};

constexpr Question questions[] = {
    {"args.n > 3.0", [](const Given& given, const Situation&, bool) { return above(given, 3); }},
    {"args.n <= 3.0",
     [](const Given& given, const Situation&, bool) { return negated(above(given, 3)); }},
    {"args.s == 'x'",
     [](const Given& given, const Situation&, bool) {
         return about(given.s, [](const std::string& s) { return s == "x"; });
     }},
    {"args.s.size() > 2",
     [](const Given& given, const Situation&, bool) {
         return about(given.s, [](const std::string& s) { return s.size() > 2; });
     }},
    {"has(args.o)",
     [](const Given& given, const Situation&, bool) { return sure(given.o.has_value()); }},
    {"args.o == 'yy'",
     [](const Given& given, const Situation&, bool) {
         return about(given.o, [](const std::string& o) { return o == "yy"; });
     }},
    {"1 / int(args.n) > 0",
     [](const Given& given, const Situation&, bool) {
         if (!given.n || std::trunc(*given.n) == 0) return Match3::error;
         return sure(std::trunc(*given.n) == 1);
     }},
    {"user.id == 'ann'",
     [](const Given&, const Situation& read, bool) { return sure(read.call.user == "ann"); }},
    {"'r' in user.roles",
     [](const Given&, const Situation& read, bool) { return sure(!read.call.user_roles.empty()); }},
    {"agent.depth > 0",
     [](const Given&, const Situation& read, bool) { return sure(read.call.agent_depth > 0); }},
    {"counters.k >= 2",
     [](const Given&, const Situation& read, bool) {
         return read.state.counters[0] ? sure(*read.state.counters[0] >= 2) : Match3::error;
     }},
    {"vars.v", [](const Given& given, const Situation&, bool) { return above(given, 2); }},
    {"url.host(args.s) == 'h'",
     [](const Given& given, const Situation&, bool) {
         return given.s == "https://h/p" ? Match3::yes : Match3::error;
     }},
    {"confidence < 0.5",
     [](const Given&, const Situation& read, bool) {
         return read.call.confidence ? sure(*read.call.confidence < 0.5) : Match3::error;
     }},
    {"tool.destructive", [](const Given&, const Situation&, bool is) { return sure(is); }},
    {"args.s.startsWith('x') || args.n > 5.0",
     [](const Given& given, const Situation&, bool) {
         const Match3 left = about(given.s, [](const std::string& s) { return s == "x"; });
         const Match3 right = above(given, 5);
         if (left == Match3::yes || right == Match3::yes) return Match3::yes;
         return left == Match3::error || right == Match3::error ? Match3::error : Match3::no;
     }},
    {"!(args.s in ['x', 'yy'])",
     [](const Given& given, const Situation&, bool) {
         return about(given.s, [](const std::string& s) { return s != "x" && s != "yy"; });
     }},
    {"true", [](const Given&, const Situation&, bool) { return Match3::yes; }},
    {"false", [](const Given&, const Situation&, bool) { return Match3::no; }},
};

constexpr std::string_view levels[] = {"low", "medium", "high", "critical"};

struct RandomRule {
    std::string id;
    Effect then = Effect::allow;
    std::string_view tool;  ///< empty: a bare star
    const Question* when = nullptr;
    const Question* unless = nullptr;
    std::string text;
};

RandomRule random_rule(Random& random, std::size_t number) {
    static constexpr std::string_view words[] = {"allow", "require", "deny"};
    static constexpr Effect effects[] = {Effect::allow, Effect::require, Effect::deny};
    RandomRule rule;
    const std::size_t effect = random.below(3);
    rule.id = "r" + std::to_string(number);
    rule.then = effects[effect];
    rule.text = "  - {id: " + rule.id;
    if (random.below(4) != 0) rule.tool = random.pick(tool_names);
    rule.text += ", tools: [" + (rule.tool.empty() ? "\"*\"" : std::string(rule.tool)) + "]";
    if (random.below(5) != 0) rule.when = &questions[random.below(std::size(questions))];
    if (random.below(3) == 0) rule.unless = &questions[random.below(std::size(questions))];
    if (rule.when) rule.text += ", when: \"" + std::string(rule.when->text) + "\"";
    if (rule.unless) rule.text += ", unless: \"" + std::string(rule.unless->text) + "\"";
    rule.text += ", then: " + std::string(words[effect]);
    if (rule.then == Effect::allow && random.coin())
        rule.text += ", auto_risk: " + std::string(random.pick(levels));
    if (rule.then == Effect::require && random.coin())
        rule.text += ", risk: " + std::string(random.pick(levels));
    rule.text += "}\n";
    return rule;
}

struct RandomPolicy {
    std::string head;
    std::vector<RandomRule> rules;
    const Question* gate = nullptr;  ///< of the custom gate for `a` and `b`
    bool has_threshold = false;
    bool has_pattern = false;
    bool is_c_required = false;
    std::set<std::string_view> destructive;

    std::string text() const {
        std::string out = head;
        if (!rules.empty()) out += "rules:\n";
        for (const RandomRule& rule : rules) out += rule.text;
        return out;
    }
    const RandomRule& rule(std::string_view id) const {
        return *std::ranges::find_if(rules, [&](const RandomRule& one) { return one.id == id; });
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
        if (random.below(3) == 0) {
            out.head += ", destructive: true";
            out.destructive.insert(name);
        }
        out.head += "}\n";
    }
    out.head += "gates:\n  g0: {type: destructive_actions}\n";
    if (random.coin()) {
        out.gate = &questions[random.below(std::size(questions))];
        out.head +=
            "  g1: {type: custom, tools: [a, b], when: \"" + std::string(out.gate->text) + "\"}\n";
    }
    out.has_threshold = random.coin();
    if (out.has_threshold) out.head += "  g2: {type: threshold_based, confidence_below: 0.5}\n";
    if (random.below(3) == 0) out.head += "never_require: [b]\n";
    out.is_c_required = random.below(3) == 0;
    if (out.is_c_required) out.head += "always_require: [c]\n";
    out.has_pattern = random.below(3) == 0;
    if (out.has_pattern) out.head += "patterns: {always_require: [{word: yy}]}\n";
    const std::size_t rules = random.below(8);
    for (std::size_t i = 0; i < rules; ++i) out.rules.push_back(random_rule(random, i));
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
    if (random.below(20) == 0) call.args["n"] = "three";
    if (random.coin()) call.confidence = random.coin() ? 0.2 : 0.9;
    if (random.below(5) == 0) call.claims.risk = static_cast<RiskLevel>(random.below(4));
    if (random.below(8) == 0) call.claims.is_destructive = true;
    out.state.counters.assign(policy.file.counters.size(), std::nullopt);
    if (random.below(4) != 0) out.state.counters[0] = static_cast<double>(random.below(4));
    return out;
}

/// Judges by the answers written down above, not by the engine: what a verdict may and may not say.
class Judged {
  public:
    Judged(const RandomPolicy& policy, const Situation& read) : policy_(policy), read_(read) {
        const json::object& args = read.call.args;
        if (const json::value* n = args.if_contains("n"); n && n->is_double())
            given_.n = n->get_double();
        for (auto [name, text] : {std::pair{"s", &given_.s}, std::pair{"o", &given_.o}}) {
            if (const json::value* found = args.if_contains(name))
                *text = std::string(found->get_string());
        }
        is_destructive_ =
            read.call.claims.is_destructive || policy.destructive.contains(read.call.tool);
    }

    bool is_well_formed() const { return read_.call.tool == "d" || (given_.n && given_.s); }

    Match3 matches(const RandomRule& rule) const {
        if (!rule.tool.empty() && rule.tool != read_.call.tool) return Match3::no;
        if (rule.tool.empty() && rule.then == Effect::allow && read_.call.tool == "d")
            return Match3::no;  // a bare star lets no tool pass that nobody describes
        const Match3 when = rule.when ? ask(*rule.when) : Match3::yes;
        const Match3 unless = rule.unless ? negated(ask(*rule.unless)) : Match3::yes;
        if (when == Match3::no || unless == Match3::no) return Match3::no;
        return when == Match3::error || unless == Match3::error ? Match3::error : Match3::yes;
    }

    /// What is wrong with the verdict, or nothing.
    std::string_view wrong_in(const Policy& policy, const Verdict& verdict) const {
        if (!is_well_formed())
            return verdict.kind == core::VerdictKind::deny ? "" : "wrong arguments were not denied";
        bool is_denied = false;
        bool is_required = false;
        for (const RandomRule& rule : policy_.rules) {
            const Match3 answer = matches(rule);
            if (rule.then == Effect::allow || answer == Match3::no) continue;
            (rule.then == Effect::deny && answer == Match3::yes ? is_denied : is_required) = true;
        }
        if (is_denied) {
            if (verdict.kind != core::VerdictKind::deny) return "a denial was softened";
        } else if (verdict.kind == core::VerdictKind::deny &&
                   verdict.decisive.cause == Cause::rule) {
            return "no rule denies it";
        }
        if (verdict.kind == core::VerdictKind::allow) {
            if (is_required) return "a requirement or an error was passed";
            if (is_held_otherwise()) return "a hard requirement that is no rule was passed";
        }
        return wrong_in_words(policy, verdict);
    }

  private:
    Match3 ask(const Question& question) const {
        return question.answer(given_, read_, is_destructive_);
    }

    bool is_held_otherwise() const {
        const Call& call = read_.call;
        if (policy_.has_threshold && call.confidence && *call.confidence < 0.5) return true;
        if (policy_.is_c_required && call.tool == "c") return true;
        if (policy_.has_pattern && (given_.s == "yy" || given_.o == "yy")) return true;
        const bool is_gated = call.tool == "a" || call.tool == "b";
        return policy_.gate && is_gated && ask(*policy_.gate) == Match3::error;
    }

    /// The explanation: the rule it names must have matched, and for what it is said to have done.
    std::string_view wrong_in_words(const Policy& policy, const Verdict& verdict) const {
        if (verdict.decisive.cause != Cause::rule) return "";
        const RandomRule& rule = policy_.rule(rule_name(policy, verdict));
        const Match3 answer = matches(rule);
        if (answer == Match3::no) return "the reported rule did not match";
        switch (verdict.kind) {
            case core::VerdictKind::allow:
                if (rule.then != Effect::allow) return "a rule that does not allow is said to";
                return answer == Match3::yes ? "" : "a rule that failed allows";
            case core::VerdictKind::deny:
                return rule.then == Effect::deny ? "" : "a rule that does not deny is said to";
            case core::VerdictKind::hold:
                break;
        }
        if (rule.then == Effect::allow) return "a rule that allows is said to hold";
        return verdict.decisive.is_error == (answer == Match3::error) ? ""
                                                                      : "an error is told wrong";
    }

    const RandomPolicy& policy_;
    const Situation& read_;
    Given given_;
    bool is_destructive_ = false;
};

bool is_same(const Verdict& a, const Verdict& b) { return a.kind == b.kind && a.risk == b.risk; }

TEST(Properties,
     G12_P6_X6_deny_and_require_win_order_never_matters_errors_never_allow_and_reasons_are_true) {
#ifdef HOLDPOINT_SANITIZED
    // Sanitizers look for what a line does wrong, and take thirty times as long for it.
    constexpr int calls = 50;
#else
    constexpr int calls = 1000;
#endif
    constexpr int policies = 1000;
    constexpr std::size_t enough = policies * calls / 100;
    Random random(20261116);
    std::size_t verdicts[3] = {0, 0, 0};
    std::size_t by_rule[3] = {0, 0, 0};
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
            const Judged judged(source, read);
            const Verdict verdict = evaluate(*policy, read.call, read.state, workspace);
            const Verdict again = evaluate(*other, read.call, read.state, workspace);
            ++verdicts[static_cast<std::size_t>(verdict.kind)];
            if (verdict.decisive.cause == Cause::rule)
                ++by_rule[static_cast<std::size_t>(verdict.kind)];
            std::string_view wrong = judged.wrong_in(*policy, verdict);
            if (wrong.empty()) wrong = judged.wrong_in(*other, again);
            if (!is_same(verdict, again)) wrong = "the order of rules mattered";
            if (!wrong.empty())
                FAIL() << wrong << "\n"
                       << source.text() << read.call.tool << ' ' << json::canonical(read.call.args);
        }
    }
    for (const std::size_t count : verdicts)
        EXPECT_GT(count, enough) << "the calls must reach every verdict";
    for (const std::size_t count : by_rule) EXPECT_GT(count, enough) << "and reach it by rules";
}

TEST(Properties, P6_the_tracing_run_says_what_the_plain_one_says) {
    Random random(7);
    Workspace workspace;
    for (int i = 0; i < 100; ++i) {
        const RandomPolicy source = random_policy(random);
        const auto policy = policy_of(source.text());
        for (int j = 0; j < 200; ++j) {
            const Situation read = random_situation(random, *policy);
            const Verdict verdict = evaluate(*policy, read.call, read.state, workspace);
            Recorder recorder;
            const Verdict traced = evaluate(*policy, read.call, read.state, workspace, recorder);
            if (!is_same(traced, verdict) ||
                rule_name(*policy, traced) != rule_name(*policy, verdict))
                FAIL() << source.text() << read.call.tool << ' ' << json::canonical(read.call.args);
        }
    }
}

}  // namespace
}  // namespace holdpoint::policy
