#include <gmock/gmock.h>

#include "policy/test_policies.h"

/// What a hostile agent has in its tool box. None of it may pass, and all of it is answered within
/// the limits.
namespace holdpoint::policy {
namespace {

using namespace test;

constexpr std::string_view guarded_shop = R"~(
extends: standard
tools:
  refund: {destructive: true, risk: high, args: {order: string, amount: number, currency: string, "count?": integer, "tags?": list(string)}}
  read: {read_only: true, risk: low, args: {path: string}}
  fetch: {open_world: true, risk: medium, args: {url: string, "body?": dyn}}
  sh: {risk: low, args: {command: string}, shell: {arg: command}}
  free: {read_only: true, risk: low}
gates: {shell: {type: specific_tools, tools: [sh]}}
rules:
  - {id: small, tools: [refund], when: args.amount > 0 && args.amount <= 50 && args.currency == 'EUR', then: allow, auto_risk: high}
  - {id: tree, tools: [read], path: {arg: path, all: ["src/**"]}, then: allow}
  - {id: secret, tools: [read], path: {arg: path, any: ["**/.env", "~/.ssh/**"]}, then: deny}
  - {id: rest, tools: [read], then: require, unless: "path.under(args.path, 'src')"
}
  - {id: inside, tools: [fetch], when: "url.host(args.url) == 'api.example.com' && url.scheme(args.url) == 'https'", then: allow, auto_risk: medium}
  - {id: look, tools: [sh], shell: {every: [[git, [status, log]], [ls]]}, then: allow}
  - {id: odd-text, tools: [free], when: "has(args.text) && args.text.matches('^(a+)+$')", then: deny}
)~";

class HostileTest : public testing::Test {
  protected:
    std::shared_ptr<const Policy> policy_ = policy_of(guarded_shop);

    void none_passes(std::string_view tool, std::string_view arg,
                     const std::vector<std::string>& values, std::string_view rest = "") {
        for (const std::string& value : values) {
            std::string call =
                R"({"tool":")" + std::string(tool) + R"(","args":{")" + std::string(arg) + "\":";
            json::append_quoted(call, value);
            call += std::string(rest) + "}}";
            EXPECT_NE(kind(*policy_, call), "allow") << call;
        }
    }
};

std::string refund_call(std::string_view amount, std::string_view more = "") {
    return R"({"tool":"refund","args":{"order":"1","currency":"EUR","amount":)" +
           std::string(amount) + std::string(more) + "}}";
}

TEST_F(HostileTest, the_honest_calls_pass) {
    EXPECT_EQ(said(*policy_, refund_call("50")), "allow small/");
    EXPECT_EQ(said(*policy_, R"({"tool":"read","args":{"path":"src/a.c"}})"), "allow tree/");
    EXPECT_EQ(said(*policy_, R"({"tool":"fetch","args":{"url":"https://api.example.com/x"}})"),
              "allow inside/");
    EXPECT_EQ(said(*policy_, R"({"tool":"sh","args":{"command":"git status && ls"}})"),
              "allow look/");
}

TEST_F(HostileTest, wrong_types_and_missing_arguments_are_denied_as_schema) {
    for (const std::string& call :
         {refund_call(R"("50")"), refund_call("null"), refund_call("true"), refund_call("[50]"),
          refund_call("{}"),
          std::string(R"({"tool":"refund","args":{"order":"1","currency":"EUR"}})"),
          std::string(R"({"tool":"refund"})"), refund_call("50", R"(,"extra":1)"),
          refund_call("50", R"(,"count":1.5)"), refund_call("50", R"(,"count":"1")"),
          refund_call("50", R"(,"tags":["a",1])"), refund_call("50", R"(,"tags":"a")"),
          std::string(R"({"tool":"refund","args":{"order":1,"currency":"EUR","amount":50}})")}) {
        const Verdict verdict = judge(*policy_, call);
        EXPECT_EQ(verdict.kind, core::VerdictKind::deny) << call;
        EXPECT_EQ(verdict.decisive.cause, Cause::schema) << call;
        EXPECT_TRUE(verdict.fault && verdict.fault->path.starts_with("args")) << call;
    }
}

TEST_F(HostileTest, odd_numbers_do_not_pass) {
    for (const std::string_view amount : {"-5", "-0.01", "0", "50.000000001", "51", "1e300",
                                          "-1e300", "1e-300", "9007199254740991"})
        if (amount != "1e-300") EXPECT_EQ(kind(*policy_, refund_call(amount)), "hold") << amount;
    Situation read = situation(*policy_, refund_call("1"));
    for (const double amount :
         {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(),
          -std::numeric_limits<double>::infinity()}) {
        read.call.args["amount"] = amount;
        EXPECT_NE(evaluate(*policy_, read.call, read.state).kind, core::VerdictKind::allow)
            << amount;
    }
}

TEST_F(HostileTest, claims_of_the_agent_never_help_it) {
    for (const std::string_view claims :
         {R"({"risk":"low"})", R"({"destructive":false})", R"({"open_world":false})",
          R"({"reversible":true,"risk":"low"})"}) {
        const std::string call =
            R"({"tool":"refund","args":{"order":"1","currency":"EUR","amount":51},"context":{"claims":)" +
            std::string(claims) + R"(,"confidence":1,"cost":{"estimate":0}}})";
        const Verdict verdict = judge(*policy_, call);
        EXPECT_EQ(verdict.kind, core::VerdictKind::hold) << claims;
        EXPECT_EQ(verdict.risk, RiskLevel::high) << claims;
    }
}

TEST_F(HostileTest, any_claim_leaves_the_verdict_as_it_is_or_makes_it_stricter) {
    for (const std::string_view tool : {"free", "refund", "nobody"}) {
        const std::string args =
            tool == "refund" ? R"({"order":"1","currency":"EUR","amount":5})" : "{}";
        const auto with = [&](std::string_view claims) {
            return judge(*policy_, R"({"tool":")" + std::string(tool) + R"(","args":)" + args +
                                       R"(,"context":{"claims":)" + std::string(claims) + "}}");
        };
        const Verdict plain = with("{}");
        for (const std::string_view claims :
             {R"({"risk":"low"})", R"({"risk":"critical"})", R"({"destructive":true})",
              R"({"open_world":true})", R"({"reversible":false})", R"({"reversible":true})"}) {
            EXPECT_GE(with(claims).kind, plain.kind) << tool << claims;
            EXPECT_GE(with(claims).risk, plain.risk) << tool << claims;
        }
    }
}

// What an agent says of itself, and whatever is odd about its call, brings nothing before people
// that policy denies by default.
TEST_F(HostileTest, what_is_denied_by_default_stays_denied_whatever_the_agent_claims_or_hides) {
    const auto policy = policy_of(R"~(
extends: standard
defaults: {decision: deny}
tools:
  look: {read_only: true, risk: low}
  wipe: {risk: low}
  pay: {risk: low}
  sh: {risk: low, args: {command: string}, shell: {arg: command}}
  note: {risk: low}
patterns: {always_require: [{word: DROP}]}
gates:
  unsure: {type: threshold_based, confidence_below: 0.5}
  money: {type: budget_based, cost_above: 5.0, window: call}
  ships: {type: specific_tools, tools: ["ship_*"], open_world: true}
rules:
  - {id: looking, tools: [look], then: allow}
  - {id: git, tools: [sh], shell: {every: [[git, status]]}, then: allow}
  - {id: root, tools: [sh], shell: {any: [[sudo]]}, then: require}
  - {id: asked, tools: [pay], then: require}
  - {id: large, tools: [note], when: args.amount > 5.0, then: require}
)~");
    for (const std::string_view context :
         {R"({})", R"({"claims":{"destructive":true}})", R"({"claims":{"open_world":true}})",
          R"({"claims":{"risk":"critical"}})", R"({"confidence":0.1})",
          R"({"cost":{"estimate":100}})", R"({"claims":{"destructive":true},"confidence":0})"}) {
        const auto with = [&](std::string_view tool) {
            return kind(*policy, R"({"tool":")" + std::string(tool) + R"(","args":{},"context":)" +
                                     std::string(context) + "}");
        };
        for (const std::string_view tool : {"wipe", "nobody", "wіpe", "note"})
            EXPECT_EQ(with(tool), "deny") << tool << context;
        EXPECT_EQ(with("pay"), "hold") << context;
    }
    EXPECT_EQ(kind(*policy, R"({"tool":"wipe","args":{"sql":"DROP it"}})"), "deny");
    EXPECT_EQ(kind(*policy, R"({"tool":"sh","args":{"command":"rm -rf /"}})"), "deny");
    EXPECT_EQ(kind(*policy, R"({"tool":"sh","args":{"command":"sudo ls"}})"), "hold")
        << "a rule that names the tool asks people, as it says";
    EXPECT_EQ(kind(*policy, R"~({"tool":"sh","args":{"command":"rm -rf / $(true)"}})~"), "deny");
    EXPECT_EQ(kind(*policy, R"({"tool":"look"})"), "allow");
    EXPECT_EQ(kind(*policy, R"({"tool":"look","context":{"confidence":0.1}})"), "hold")
        << "what would pass is still held";
    EXPECT_EQ(kind(*policy, R"({"tool":"sh","args":{"command":"git status"}})"), "allow");
}

TEST_F(HostileTest, names_that_look_like_others_are_held) {
    const auto open = policy_of(std::string(guarded_shop) + "never_require: [\"*\"]\n");
    for (const std::string_view name :
         {"Read", "rеad", "ｒｅａｄ", "read\u200b", "re\u0301ad", "READ", "reаd", "free ", " free",
          "fr\tee", "free\u202e", "fr\u00e9e"}) {
        json::object call;
        call["tool"] = name;
        call["args"] = json::object{{"path", "src/a.c"}};
        Result<Situation> read = read_situation(call, noon);
        if (!read) continue;
        for (const auto& policy : {policy_, open}) {
            ASSERT_TRUE(settle(*read, *policy));
            const Verdict verdict = evaluate(*policy, read->call, read->state);
            EXPECT_EQ(verdict.kind, core::VerdictKind::hold) << name;
            EXPECT_TRUE(verdict.findings.front().is_hard || verdict.findings.size() > 1) << name;
        }
    }
    EXPECT_EQ(said(*policy_, R"({"tool":"rеad","args":{"path":"src/a.c"}})"), "hold look_alike/");
}

TEST_F(HostileTest, a_bare_star_lets_no_unknown_tool_pass) {
    const auto policy = policy_of(
        "extends: minimal\nrules: [{id: all, tools: [\"*\"], then: allow, auto_risk: critical}, "
        "{id: "
        "every, then: allow, auto_risk: critical}]\n");
    EXPECT_EQ(kind(*policy, R"({"tool":"frobnicate"})"), "hold");
}

TEST_F(HostileTest, duplicate_keys_do_not_even_parse) {
    EXPECT_FALSE(json::parse(refund_call("1", R"(,"amount":100000)")));
    EXPECT_FALSE(json::parse(R"({"tool":"fetch","args":{"body":{"a":1,"\u0061":2}}})"));
}

TEST_F(HostileTest, path_tricks) {
    none_passes(
        "read", "path",
        {"src/../../etc/passwd", "/etc/passwd", "src/../.env", "~/.ssh/id_rsa", "src\\..\\x",
         "src/%2e%2e/%2e%2e/etc/passwd", "file:///etc/passwd", "src//../../x", "", "src/\u202e/x",
         "C:\\x", "~root/x", "src/a\nb", "..", ".", "src/../src/../../x"});
}

TEST_F(HostileTest, url_tricks) {
    none_passes("fetch", "url",
                {"https://api.example.com@evil.example/",
                 "https://evil.example/?api.example.com",
                 "http://api.example.com/",
                 "https://api.example.com.evil.example/",
                 "https://evil.example#@api.example.com",
                 "https://evil.example\\@api.example.com/",
                 "https://[::1]/",
                 "https://[::ffff:10.0.0.1]/",
                 "https://аpi.example.com/",
                 "https://api.example.com%2eevil.example/",
                 "https://xn--pi-7kc.example.com/",
                 "https:api.example.com",
                 "https:///api.example.com",
                 "//api.example.com/",
                 "https://a@b@api.example.com/",
                 "https://0x7f.1/",
                 "javascript:alert(1)",
                 "https://api.example.com\t.evil.example/",
                 " https://api.example.com/",
                 "HTTPS://EVIL.EXAMPLE/",
                 "https://api.example.com:x/"});
}

TEST_F(HostileTest, shell_tricks) {
    none_passes("sh", "command",
                {"git status; reboot",
                 "git status\nreboot",
                 "git status & reboot",
                 "git status | sh",
                 "git log $(reboot)",
                 "git log `reboot`",
                 "git status > ~/.bashrc",
                 "PATH=/tmp git status",
                 "git -c core.fsmonitor=x status",
                 "g\\it status",
                 "$'git' status",
                 "git log --output=x",
                 "./git status",
                 "/tmp/git status",
                 "git status #",
                 "git\u00a0status",
                 "git status \u202e",
                 "sudo git status",
                 "env git status",
                 "ls\r\nreboot",
                 "git status &&",
                 "{ls,-l}",
                 "ls *",
                 "ls ~",
                 "!git",
                 "if ls; then ls; fi",
                 "ls<(x)",
                 "",
                 " ",
                 std::string(5000, 'x')});
}

TEST_F(HostileTest, one_mebibyte_of_arguments_and_ten_thousand_elements_stay_within_the_limits) {
    std::string tags = R"(,"tags":[)";
    for (int i = 0; i < 10'000; ++i) tags += i ? R"(,"x")" : R"("x")";
    const Verdict many = judge(*policy_, refund_call("50", tags + "]"));
    EXPECT_NE(many.kind, core::VerdictKind::deny) << "well-formed";
    EXPECT_LE(many.steps, 10'000);
    const std::string text(1 << 20, 'a');
    const Verdict long_text =
        judge(*policy_, R"({"tool":"free","args":{"text":")" + text + R"("}})");
    EXPECT_NE(long_text.kind, core::VerdictKind::allow)
        << "too long for a regular expression is an error, and an error never allows";
    EXPECT_LE(long_text.steps, 10'000);
    none_passes("sh", "command", {text});
    none_passes("read", "path", {text});
    none_passes("fetch", "url", {"https://api.example.com/" + text});
}

TEST_F(HostileTest, a_loop_over_ten_thousand_elements_ends_with_the_budget_and_denies) {
    const auto policy = policy_of(R"~(
extends: minimal
tools: {t: {read_only: true, risk: low, args: {list: list(string)}}}
rules:
  - {id: any, tools: [t], when: "args.list.exists(a, a == 'y')", then: deny}
)~");
    std::string list;
    for (int i = 0; i < 10'000; ++i) list += (i ? R"(,"x)" : R"("x)") + std::to_string(i) + '"';
    const Verdict verdict = judge(*policy, R"({"tool":"t","args":{"list":[)" + list + "]}}");
    EXPECT_EQ(verdict.kind, core::VerdictKind::deny);
    EXPECT_TRUE(verdict.decisive.is_error);
}

// RE2 reads each character once, whatever the expression: this ends, or the test does not.
TEST_F(HostileTest, a_regular_expression_bomb_stays_linear) {
    EXPECT_EQ(
        kind(*policy_, R"({"tool":"free","args":{"text":")" + std::string(30'000, 'a') + R"(b"}})"),
        "allow");
}

TEST_F(HostileTest, deep_nesting_is_walked_without_harm) {
    std::string body = "1";
    for (int i = 0; i < 25; ++i) body = R"({"a":)" + body + "}";
    EXPECT_EQ(kind(*policy_, R"({"tool":"fetch","args":{"url":"https://evil.example/","body":)" +
                                 body + "}}"),
              "hold");
}

}  // namespace
}  // namespace holdpoint::policy
