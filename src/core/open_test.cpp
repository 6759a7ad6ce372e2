#include "core/open.h"

#include "core/digest.h"
#include "core/test_requests.h"

namespace holdpoint::core {
namespace {

using namespace test;

TEST(Open, a_held_request_waits_for_people_whatever_its_kind) {
    for (const Kind kind : all_kinds) {
        const Step step = opened(proposal(kind), verdict(VerdictKind::hold));
        const Request& request = step.request;
        EXPECT_EQ(request.state, State::pending) << to_string(kind);
        EXPECT_FALSE(request.outcome);
        EXPECT_FALSE(request.is_released);
        EXPECT_EQ(request.kind, kind);
        EXPECT_EQ(request.version, 1);
        EXPECT_EQ(request.digest, digest_of(request));
        EXPECT_EQ(request.expires_at, start + 5 * minute);
        EXPECT_EQ(request.next_at, request.expires_at);
        EXPECT_TRUE(request.message_for_agent.empty());
        ASSERT_EQ(step.events.size(), 1u);
        EXPECT_EQ(step.events[0].kind, EventKind::requested);
        EXPECT_EQ(step.events[0].actor, "bot");
        ASSERT_EQ(step.effects.size(), 1u);
        EXPECT_EQ(step.effects[0].about, EventKind::requested);
    }
}

TEST(Open, an_allowed_request_is_released_at_once_except_a_question) {
    for (const Kind kind : all_kinds) {
        const Step step = opened(proposal(kind), verdict(VerdictKind::allow));
        if (kind == Kind::input) {
            EXPECT_EQ(step.request.state, State::pending) << "only a person has the answer";
            continue;
        }
        EXPECT_EQ(step.request.outcome, Outcome::allowed) << to_string(kind);
        EXPECT_TRUE(step.request.is_released);
        EXPECT_EQ(step.request.settled_at, start);
        EXPECT_FALSE(step.request.decision) << "nobody decided";
        ASSERT_EQ(step.events.size(), 1u);
        EXPECT_EQ(step.events[0].kind, EventKind::settled);
    }
}

TEST(Open, a_denied_request_is_settled_and_never_released) {
    for (const Kind kind : all_kinds) {
        const Step step = opened(proposal(kind), verdict(VerdictKind::deny));
        EXPECT_EQ(step.request.outcome, Outcome::denied) << to_string(kind);
        EXPECT_FALSE(step.request.is_released);
        EXPECT_NE(step.request.message_for_agent.find("because of the test"), std::string::npos);
    }
}

TEST(Open, P6_keeps_what_policy_said) {
    const Request request = pending();
    EXPECT_EQ(request.verdict.kind, VerdictKind::hold);
    EXPECT_EQ(request.verdict.rule, "rule-1");
    EXPECT_EQ(request.verdict.gate, "gate-1");
    EXPECT_EQ(request.verdict.because, "because of the test");
}

TEST(Open, Q7_an_agents_word_about_risk_only_raises_it) {
    for (int said = 0; said < 4; ++said)
        for (int policy = 0; policy < 4; ++policy) {
            Proposal asked = proposal();
            asked.risk = static_cast<RiskLevel>(said);
            Verdict hold = verdict();
            hold.risk = static_cast<RiskLevel>(policy);
            EXPECT_EQ(opened(asked, hold).request.risk,
                      static_cast<RiskLevel>(std::max(said, policy)));
        }
    Verdict hold = verdict();
    hold.risk = RiskLevel::high;
    EXPECT_EQ(opened(proposal(), hold).request.risk, RiskLevel::high);
}

TEST(Open, the_identity_comes_from_the_credential) {
    Opening by = opening();
    by.agent.name = "billing-bot";
    by.batch = BatchId::fresh(start);
    Proposal asked = proposal();
    asked.user = "ann";
    asked.session = "s";
    asked.thread = "t";
    asked.task = "k";
    const Result<Step> step = open(asked, verdict(), by);
    ASSERT_TRUE(step);
    EXPECT_EQ(step->request.agent, "billing-bot");
    EXPECT_EQ(step->request.agent_id, by.agent.id);
    EXPECT_EQ(step->request.owner, "olga");
    EXPECT_EQ(step->request.user, "ann");
    EXPECT_EQ(step->request.session, "s");
    EXPECT_EQ(step->request.thread, "t");
    EXPECT_EQ(step->request.task, "k");
    EXPECT_EQ(step->request.batch, by.batch);
    EXPECT_EQ(step->request.id, by.id);
}

TEST(Open, T1_silence_cannot_release_what_is_above_the_risk_allowed) {
    for (int level = 0; level < 4; ++level) {
        Verdict hold = verdict();
        hold.risk = static_cast<RiskLevel>(level);
        hold.timing.on_timeout = TimeoutAction::approve;
        const Request request = opened(proposal(), hold).request;
        EXPECT_EQ(request.timing.on_timeout,
                  level == 0 ? TimeoutAction::approve : TimeoutAction::reject)
            << "people must see at once what silence will do";
    }
}

TEST(Open, T1_an_agents_risk_claim_takes_the_release_by_silence_away) {
    Verdict hold = verdict();
    hold.risk = RiskLevel::low;
    hold.timing.on_timeout = TimeoutAction::approve;
    Proposal asked = proposal();
    asked.risk = RiskLevel::medium;
    EXPECT_EQ(opened(asked, hold).request.timing.on_timeout, TimeoutAction::reject);
}

TEST(Open, T1_X1_silence_releases_nothing_where_the_agent_says_who_decides) {
    for (const TimeoutAction action : {TimeoutAction::approve, TimeoutAction::use_default}) {
        Verdict hold = verdict();
        hold.risk = RiskLevel::low;
        hold.timing.on_timeout = action;
        hold.timing.default_decision.text = R"({"decision":"approve"})";
        const auto on_timeout = [&](const Proposal& asked) {
            return opened(asked, hold).request.timing.on_timeout;
        };
        EXPECT_EQ(on_timeout(proposal()), action);

        Proposal named = proposal();
        named.requirement = Requirement{};
        named.requirement->lines[0].people = {"nobody-at-all"};
        EXPECT_EQ(on_timeout(named), TimeoutAction::reject) << "nobody else could say no";
        Proposal escalating = proposal();
        escalating.escalate_to = "on-holiday";
        escalating.escalate_after_ms = 1;
        EXPECT_EQ(on_timeout(escalating), TimeoutAction::reject);

        Proposal locking_out = proposal();
        locking_out.requirement = Requirement{};
        locking_out.requirement->lines.clear();
        EXPECT_EQ(on_timeout(locking_out), action);
        locking_out.requirement->exclude_requester = true;
        EXPECT_EQ(on_timeout(locking_out), TimeoutAction::reject) << "who owns it could say no";

        hold.requirement.exclude_requester = true;
        EXPECT_EQ(on_timeout(locking_out), action) << "policy keeps them out anyway";
        Proposal excluding = proposal();
        EXPECT_EQ(on_timeout(excluding), action);
        excluding.user = "the-only-approver";
        EXPECT_EQ(on_timeout(excluding), TimeoutAction::reject);
    }
}

TEST(Open, T1_an_agent_cannot_shorten_the_silence_that_releases) {
    for (const TimeoutAction action : {TimeoutAction::approve, TimeoutAction::use_default}) {
        Verdict hold = verdict();
        hold.risk = RiskLevel::low;
        hold.timing.on_timeout = action;
        hold.timing.default_decision.text = R"({"decision":"approve"})";
        hold.timing.timeout_ms = 10 * minute;
        Proposal asked = proposal();
        asked.timeout_ms = 1000;
        EXPECT_EQ(opened(asked, hold).request.expires_at, start + 10 * minute);
        asked.timeout_ms = 20 * minute;
        EXPECT_EQ(opened(asked, hold).request.expires_at, start + 20 * minute);
        // Who does not want the release may end it as early as it likes.
        asked.timeout_ms = 1000;
        asked.on_timeout = TimeoutAction::reject;
        EXPECT_EQ(opened(asked, hold).request.expires_at, start + 1000);
    }
}

TEST(Open, T1_an_agent_cannot_go_on_where_policy_wants_silence_to_stop_the_run) {
    Proposal asked = proposal();
    asked.on_timeout = TimeoutAction::skip;
    Verdict hold = verdict();
    hold.timing.on_timeout = TimeoutAction::abort;
    EXPECT_EQ(opened(asked, hold).request.timing.on_timeout, TimeoutAction::abort);
    hold.timing.on_timeout = TimeoutAction::use_default;
    hold.timing.default_decision.text = R"({"decision":"abort"})";
    EXPECT_EQ(opened(asked, hold).request.timing.on_timeout, TimeoutAction::use_default);
    hold.timing.default_decision.text = R"({"decision":"reject"})";
    EXPECT_EQ(opened(asked, hold).request.timing.on_timeout, TimeoutAction::skip);
    asked.on_timeout = TimeoutAction::abort;
    EXPECT_EQ(opened(asked, verdict()).request.timing.on_timeout, TimeoutAction::abort);
}

TEST(Open, D9_what_is_critical_needs_the_code_whoever_says_that_it_is) {
    for (const Kind kind : all_kinds) {
        Proposal asked = proposal(kind);
        EXPECT_FALSE(opened(asked, verdict()).request.requirement.confirm_required);
        asked.risk = RiskLevel::critical;
        EXPECT_EQ(opened(asked, verdict()).request.requirement.confirm_required,
                  kind != Kind::input)
            << "a question is answered, not approved";
    }
}

TEST(Open, D10_a_question_asks_for_one_answer_and_says_so) {
    Verdict hold = verdict();
    hold.requirement.lines = {group("finance", 2), anybody(3)};
    const Request question = opened(proposal(Kind::input), hold).request;
    EXPECT_EQ(question.requirement.lines,
              (std::vector<RequirementLine>{group("finance"), anybody()}));
    EXPECT_EQ(opened(proposal(), hold).request.requirement.lines, hold.requirement.lines);
}

TEST(Open, X1_whom_to_keep_out_must_be_known) {
    Opening ownerless = opening();
    ownerless.owner.clear();
    Verdict hold = verdict();
    hold.requirement.exclude_requester = true;
    Proposal asked = proposal();
    asked.user = "olga";
    Result<Step> step = open(asked, hold, ownerless);
    ASSERT_FALSE(step) << "the agent's word about its user is not enough for policy";
    EXPECT_EQ(step.error().code, ErrorCode::refused);
    EXPECT_EQ(step.error().field, "owner");
    EXPECT_TRUE(open(asked, hold, opening()));

    asked.requirement = Requirement{};
    asked.requirement->exclude_requester = true;
    EXPECT_TRUE(open(asked, verdict(), ownerless)) << "who asks for more may name whom";
    asked.user.clear();
    step = open(asked, verdict(), ownerless);
    ASSERT_FALSE(step);
    EXPECT_EQ(step.error().code, ErrorCode::refused);
    EXPECT_EQ(step.error().field, "requirement.exclude_requester");

    for (const VerdictKind kind : {VerdictKind::allow, VerdictKind::deny}) {
        Verdict settled = verdict(kind);
        settled.requirement.exclude_requester = true;
        EXPECT_TRUE(open(proposal(), settled, ownerless)) << "nobody decides it anyway";
    }
}

TEST(Open, the_agent_sets_its_own_times) {
    Proposal asked = proposal();
    asked.timeout_ms = 90'000;
    asked.on_timeout = TimeoutAction::retry;
    asked.remind_every_ms = 10'000;
    asked.reminders_max = 2;
    asked.escalate_after_ms = 30'000;
    asked.escalate_to = "group:bosses";
    asked.retries_max = 4;
    const Request request = opened(asked, verdict()).request;
    EXPECT_EQ(request.expires_at, start + 90'000);
    EXPECT_EQ(request.timing.on_timeout, TimeoutAction::retry);
    EXPECT_EQ(request.timing.remind_every_ms, 10'000);
    EXPECT_EQ(request.timing.reminders_max, 2);
    EXPECT_EQ(request.timing.escalate_after_ms, 30'000);
    EXPECT_EQ(request.timing.escalate_to, "group:bosses");
    EXPECT_EQ(request.timing.retries_max, 4);
    EXPECT_EQ(request.next_at, start + 10'000) << "the first reminder comes first";
}

TEST(Open, T3_escalation_needs_somebody_to_escalate_to) {
    Proposal asked = proposal();
    asked.escalate_after_ms = 1000;
    Result<Step> step = open(asked, verdict(), opening());
    ASSERT_FALSE(step);
    EXPECT_EQ(step.error().code, ErrorCode::refused);
    EXPECT_EQ(step.error().field, "escalate_to");

    asked = proposal();
    asked.on_timeout = TimeoutAction::escalate;
    step = open(asked, verdict(), opening());
    ASSERT_FALSE(step);
    EXPECT_EQ(step.error().code, ErrorCode::refused);
    asked.escalate_to = "ann";
    EXPECT_TRUE(open(asked, verdict(), opening()));
}

TEST(Open, X1_an_agent_cannot_choose_who_takes_over_from_the_people_policy_names) {
    Verdict hold = verdict();
    hold.requirement.lines = {group("finance")};
    Proposal asked = proposal();
    asked.escalate_after_ms = 1;
    asked.escalate_to = "group:friends";
    const Result<Step> step = open(asked, hold, opening());
    ASSERT_FALSE(step);
    EXPECT_EQ(step.error().code, ErrorCode::refused);
    EXPECT_EQ(step.error().field, "escalate_to");
    // Asking for the target that policy names anyway, or only for the time, is no choice.
    hold.timing.escalate_to = "group:friends";
    EXPECT_TRUE(open(asked, hold, opening()));
    asked.escalate_to.clear();
    EXPECT_TRUE(open(asked, hold, opening()));
}

TEST(Open, X1_an_agent_cannot_hurry_past_the_people_policy_names) {
    Verdict hold = verdict();
    hold.requirement.lines = {group("finance")};
    hold.timing.timeout_ms = 10 * minute;
    hold.timing.escalate_after_ms = 5 * minute;
    hold.timing.escalate_to = "group:oncall";
    Proposal asked = proposal();
    asked.escalate_after_ms = 1;
    EXPECT_EQ(opened(asked, hold).request.timing.escalate_after_ms, 5 * minute);
    asked.escalate_after_ms = 6 * minute;
    EXPECT_EQ(opened(asked, hold).request.timing.escalate_after_ms, 6 * minute);

    // Where policy escalates only at the deadline, that is the earliest moment.
    hold.timing.escalate_after_ms = 0;
    hold.timing.on_timeout = TimeoutAction::escalate;
    asked.escalate_after_ms = 1;
    asked.timeout_ms = 1000;
    const Request request = opened(asked, hold).request;
    EXPECT_EQ(request.timing.escalate_after_ms, 10 * minute);
    EXPECT_EQ(request.expires_at, start + 10 * minute);

    hold.timing.on_timeout = TimeoutAction::reject;
    asked.on_timeout = TimeoutAction::escalate;
    EXPECT_EQ(opened(asked, hold).request.expires_at, start + 10 * minute);
    asked.on_timeout = TimeoutAction::reject;
    EXPECT_EQ(opened(asked, hold).request.expires_at, start + 1000)
        << "giving up early asks nobody else";
}

TEST(Open, an_agent_can_only_tighten_the_requirement) {
    Verdict hold = verdict();
    hold.requirement.lines = {group("finance", 2)};
    hold.requirement.reject_threshold = 2;
    hold.requirement.reason_required = true;
    hold.requirement.modifiable = false;
    hold.requirement.exclude_requester = true;
    Proposal asked = proposal();
    asked.requirement = Requirement{};  // one person, no reason, modifiable, not excluded
    asked.requirement->lines = {group("legal")};
    asked.requirement->reject_threshold = 9;
    const Requirement requirement = opened(asked, hold).request.requirement;
    EXPECT_EQ(requirement.lines,
              (std::vector<RequirementLine>{group("finance", 2), group("legal")}));
    EXPECT_EQ(requirement.reject_threshold, 2);
    EXPECT_TRUE(requirement.reason_required);
    EXPECT_FALSE(requirement.modifiable);
    EXPECT_TRUE(requirement.exclude_requester);
}

TEST(Open, an_agent_can_ask_for_more) {
    Proposal asked = proposal();
    asked.requirement = Requirement{};
    asked.requirement->lines = {group("finance", 2)};
    asked.requirement->reason_required = true;
    asked.requirement->modifiable = false;
    asked.requirement->exclude_requester = true;
    const Requirement requirement = opened(asked, verdict()).request.requirement;
    EXPECT_EQ(requirement.lines, (std::vector<RequirementLine>{group("finance", 2)}))
        << "any one person is contained in two of finance";
    EXPECT_TRUE(requirement.reason_required);
    EXPECT_FALSE(requirement.modifiable);
    EXPECT_TRUE(requirement.exclude_requester);
}

TEST(Open, asking_for_no_lines_leaves_those_of_policy) {
    Verdict hold = verdict();
    hold.requirement.lines = {group("finance")};
    Proposal asked = proposal();
    asked.requirement = Requirement{};
    asked.requirement->lines.clear();
    EXPECT_EQ(opened(asked, hold).request.requirement.lines, hold.requirement.lines);
}

}  // namespace
}  // namespace holdpoint::core
