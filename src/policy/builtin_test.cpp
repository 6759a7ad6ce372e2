#include "policy/builtin.h"

#include "core/open.h"
#include "core/test_requests.h"

namespace holdpoint::policy {
namespace {

using core::Kind;
using core::VerdictKind;
using namespace core::test;

core::Proposal call_to(const std::string& tool) {
    return proposal(Kind::action, R"({"tool":")" + tool + R"("})");
}

VerdictKind verdict_on(const Builtin& policy, const core::Proposal& proposal) {
    return evaluate(policy, proposal).record.kind;
}

TEST(Policy, without_any_rule_every_tool_is_held) {
    const core::Verdict verdict = evaluate({}, call_to("rm"));
    EXPECT_EQ(verdict.record.kind, VerdictKind::hold);
    EXPECT_EQ(verdict.record.rule, "default");
    EXPECT_FALSE(verdict.record.because.empty());
}

TEST(Policy, P1_tools_on_the_lists_pass_or_wait) {
    Builtin policy;
    policy.require = {"pay"};
    policy.allow = {"read"};
    EXPECT_EQ(verdict_on(policy, call_to("pay")), VerdictKind::hold);
    EXPECT_EQ(verdict_on(policy, call_to("read")), VerdictKind::allow);
    EXPECT_EQ(verdict_on(policy, call_to("else")), VerdictKind::hold);
}

TEST(Policy, P1_the_requiring_list_wins) {
    Builtin policy;
    policy.require = {"pay"};
    policy.allow = {"pay"};
    policy.otherwise = VerdictKind::allow;
    const core::Verdict verdict = evaluate(policy, call_to("pay"));
    EXPECT_EQ(verdict.record.kind, VerdictKind::hold);
    EXPECT_EQ(verdict.record.rule, "always_require");
    EXPECT_NE(verdict.record.because.find("`pay`"), std::string::npos);
}

TEST(Policy, P1_names_are_compared_whole) {
    Builtin policy;
    policy.allow = {"read"};
    for (const char* tool : {"reader", "rea", "Read", "read ", " read"})
        EXPECT_EQ(verdict_on(policy, call_to(tool)), VerdictKind::hold) << tool;
}

TEST(Policy, the_rest_is_judged_by_the_default_verdict) {
    Builtin policy;
    for (const VerdictKind otherwise : {VerdictKind::allow, VerdictKind::hold, VerdictKind::deny}) {
        policy.otherwise = otherwise;
        EXPECT_EQ(verdict_on(policy, call_to("else")), otherwise);
    }
}

TEST(Policy, what_an_agent_puts_to_people_reaches_people) {
    Builtin policy;
    for (const VerdictKind otherwise : {VerdictKind::allow, VerdictKind::hold, VerdictKind::deny}) {
        policy.otherwise = otherwise;
        for (const Kind kind : {Kind::plan, Kind::input, Kind::confirmation, Kind::response})
            EXPECT_EQ(verdict_on(policy, proposal(kind)), VerdictKind::hold);
    }
}

TEST(Policy, an_empty_name_on_a_list_matches_nothing) {
    Builtin policy;
    policy.allow = {""};
    EXPECT_EQ(verdict_on(policy, proposal(Kind::plan)), VerdictKind::hold);
}

TEST(Policy, P9_the_master_switch_lets_everything_pass_and_says_so) {
    Builtin policy;
    policy.is_disabled = true;
    policy.require = {"pay"};
    policy.otherwise = VerdictKind::deny;
    const core::Verdict verdict = evaluate(policy, call_to("pay"));
    EXPECT_EQ(verdict.record.kind, VerdictKind::allow);
    EXPECT_EQ(verdict.record.rule, "disabled");
    // It is still recorded: the step carries the request and its event.
    const Result<core::Step> step = core::open(call_to("pay"), verdict, opening());
    ASSERT_TRUE(step);
    EXPECT_EQ(step->request.outcome, core::Outcome::allowed);
    EXPECT_EQ(step->events.size(), 1u);
}

TEST(Policy, P9_a_question_is_never_released_by_policy) {
    Builtin policy;
    policy.is_disabled = true;
    const core::Proposal question = proposal(Kind::input);
    const Result<core::Step> step = core::open(question, evaluate(policy, question), opening());
    ASSERT_TRUE(step);
    EXPECT_EQ(step->request.state, core::State::pending);
    EXPECT_FALSE(step->request.is_released);
}

TEST(Policy, P5_risk_requirement_and_times_come_from_the_policy) {
    Builtin policy;
    policy.risk = core::RiskLevel::high;
    policy.requirement.lines = {group("finance", 2)};
    policy.timing.timeout_ms = 1234;
    const core::Verdict verdict = evaluate(policy, call_to("x"));
    EXPECT_EQ(verdict.risk, core::RiskLevel::high);
    EXPECT_EQ(verdict.requirement, policy.requirement);
    EXPECT_EQ(verdict.timing.timeout_ms, 1234);
}

}  // namespace
}  // namespace holdpoint::policy
