#include "core/expire.h"

#include "core/test_requests.h"

namespace holdpoint::core {
namespace {

using namespace test;

/// A pending request with these timing rules.
template <class Change>
Request timed(Change change, RiskLevel risk = RiskLevel::low) {
    Verdict hold = verdict();
    hold.risk = risk;
    change(hold.timing);
    return opened(proposal(), hold).request;
}

Request ending_in(TimeoutAction action, RiskLevel risk = RiskLevel::low) {
    return timed(
        [&](Timing& timing) {
            timing.on_timeout = action;
            timing.escalate_to = "group:bosses";
        },
        risk);
}

const Timestamp deadline = start + 5 * minute;

TEST(Tick, does_nothing_before_the_deadline) {
    EXPECT_FALSE(tick(pending(), start));
    EXPECT_FALSE(tick(pending(), deadline + -1));
    EXPECT_TRUE(tick(pending(), deadline)) << "the deadline itself is too late";
}

TEST(Tick, does_nothing_to_what_is_settled) {
    const Request settled = decided(pending(), DecisionKind::approve, person("ann")).request;
    EXPECT_FALSE(tick(settled, deadline + 1000 * minute));
}

TEST(Tick, T1_reject_expires_without_calling_it_a_rejection) {
    const std::optional<Step> step = tick(ending_in(TimeoutAction::reject), deadline);
    ASSERT_TRUE(step);
    EXPECT_EQ(step->request.outcome, Outcome::expired);
    EXPECT_EQ(step->request.timeout_taken, TimeoutAction::reject);
    EXPECT_FALSE(step->request.is_released);
    EXPECT_FALSE(step->request.decision) << "nobody decided";
    EXPECT_EQ(step->request.version, 2);
    ASSERT_EQ(step->events.size(), 1u);
    EXPECT_EQ(step->events[0].kind, EventKind::settled);
    EXPECT_EQ(step->events[0].via, "timer");
    EXPECT_EQ(step->events[0].detail.text, R"({"timeout":"reject"})");
}

TEST(Tick, T1_approve_releases_up_to_the_risk_allowed_and_is_recorded_as_expiry) {
    const std::optional<Step> step = tick(ending_in(TimeoutAction::approve), deadline);
    ASSERT_TRUE(step);
    EXPECT_EQ(step->request.outcome, Outcome::expired) << "never as a person's approval";
    EXPECT_EQ(step->request.timeout_taken, TimeoutAction::approve);
    EXPECT_TRUE(step->request.is_released);
}

TEST(Tick, T1_approve_never_releases_above_the_risk_allowed) {
    for (int level = 1; level < 4; ++level) {
        Request request = ending_in(TimeoutAction::approve);
        // As if the level had been raised after it was opened.
        request.timing.on_timeout = TimeoutAction::approve;
        request.risk = static_cast<RiskLevel>(level);
        const std::optional<Step> step = tick(request, deadline);
        ASSERT_TRUE(step);
        EXPECT_EQ(step->request.outcome, Outcome::expired);
        EXPECT_FALSE(step->request.is_released);
        EXPECT_EQ(step->request.timeout_taken, TimeoutAction::reject);
    }
}

TEST(Tick, T1_silence_releases_nothing_over_somebodys_no) {
    for (const TimeoutAction action : {TimeoutAction::approve, TimeoutAction::use_default}) {
        Request request = ending_in(action);
        request.timing.default_decision.text = R"({"decision":"approve"})";
        ASSERT_TRUE(tick(request, deadline)->request.is_released) << "as long as nobody objects";
        request.requirement.reject_threshold = 2;
        request = decided(request, DecisionKind::reject, person("ann")).request;
        ASSERT_EQ(request.state, State::pending);
        const std::optional<Step> step = tick(request, deadline);
        EXPECT_EQ(step->request.outcome, Outcome::expired);
        EXPECT_NE(step->request.timeout_taken, TimeoutAction::approve);
        EXPECT_FALSE(step->request.is_released);
        EXPECT_EQ(step->request.message_for_agent,
                  "Timed out: operator ann rejected the call to `refund`: too much, and not enough "
                  "others decided in time. It was not run.");
    }
}

TEST(Tick, T1_abort_tells_the_agent_to_stop) {
    const std::optional<Step> step = tick(ending_in(TimeoutAction::abort), deadline);
    ASSERT_TRUE(step);
    EXPECT_EQ(step->request.outcome, Outcome::expired);
    EXPECT_EQ(step->request.timeout_taken, TimeoutAction::abort);
    EXPECT_NE(step->request.message_for_agent.find("Stop this run"), std::string::npos);
}

TEST(Tick, T1_skip_goes_on_without_it) {
    const std::optional<Step> step = tick(ending_in(TimeoutAction::skip), deadline);
    ASSERT_TRUE(step);
    EXPECT_EQ(step->request.outcome, Outcome::skipped);
    EXPECT_EQ(step->request.timeout_taken, TimeoutAction::skip);
    EXPECT_FALSE(step->request.is_released);
}

TEST(Tick, T1_retry_asks_again_as_often_as_allowed_and_then_expires) {
    Request request = timed([](Timing& timing) {
        timing.on_timeout = TimeoutAction::retry;
        timing.retries_max = 2;
    });
    for (int round = 1; round <= 2; ++round) {
        const std::optional<Step> step = tick(request, request.expires_at);
        ASSERT_TRUE(step);
        EXPECT_EQ(step->request.state, State::pending);
        EXPECT_EQ(step->request.timing.retries_done, round);
        EXPECT_EQ(step->request.expires_at, request.expires_at + 5 * minute);
        EXPECT_EQ(step->request.next_at, step->request.expires_at);
        EXPECT_EQ(step->events[0].kind, EventKind::retried);
        EXPECT_EQ(step->effects[0].about, EventKind::retried);
        EXPECT_EQ(step->request.digest, request.digest) << "it is still the same question";
        request = step->request;
    }
    const std::optional<Step> last = tick(request, request.expires_at);
    ASSERT_TRUE(last);
    EXPECT_EQ(last->request.outcome, Outcome::expired);
    EXPECT_EQ(last->request.timeout_taken, TimeoutAction::reject);
}

TEST(Tick, T1_a_new_round_begins_when_it_is_noticed_not_when_it_was_due) {
    const Request request = timed([](Timing& timing) { timing.on_timeout = TimeoutAction::retry; });
    const std::optional<Step> step = tick(request, deadline + 600 * minute);
    ASSERT_TRUE(step);
    EXPECT_EQ(step->request.expires_at, deadline + 605 * minute)
        << "after a standstill people get the whole time";
}

TEST(Tick, T1_escalate_asks_others_once_and_then_expires) {
    const std::optional<Step> step = tick(ending_in(TimeoutAction::escalate), deadline);
    ASSERT_TRUE(step);
    EXPECT_EQ(step->request.state, State::pending);
    EXPECT_TRUE(step->request.timing.is_escalated);
    EXPECT_EQ(step->request.requirement.lines[0].group, "bosses");
    EXPECT_EQ(step->request.expires_at, deadline + 5 * minute);
    EXPECT_EQ(step->events[0].kind, EventKind::escalated);
    const std::optional<Step> last = tick(step->request, step->request.expires_at);
    ASSERT_TRUE(last);
    EXPECT_EQ(last->request.outcome, Outcome::expired);
}

TEST(Tick, T1_the_default_decision_is_what_the_gate_says) {
    struct Row {
        const char* decision;
        RiskLevel risk;
        Outcome outcome;
        TimeoutAction taken;
        bool is_released;
    };
    const Row table[]{
        {R"({"decision":"approve"})", RiskLevel::low, Outcome::expired, TimeoutAction::approve,
         true},
        {R"({"decision":"approve"})", RiskLevel::medium, Outcome::expired,
         TimeoutAction::use_default, false},
        {R"({"decision":"skip"})", RiskLevel::high, Outcome::skipped, TimeoutAction::skip, false},
        {R"({"decision":"abort"})", RiskLevel::high, Outcome::expired, TimeoutAction::abort, false},
        {R"({"decision":"reject"})", RiskLevel::low, Outcome::expired, TimeoutAction::use_default,
         false},
        {R"({"decision":"nonsense"})", RiskLevel::low, Outcome::expired, TimeoutAction::use_default,
         false},
        {"{}", RiskLevel::low, Outcome::expired, TimeoutAction::use_default, false},
        {"", RiskLevel::low, Outcome::expired, TimeoutAction::use_default, false},
    };
    for (const Row& row : table) {
        const Request request = timed(
            [&](Timing& timing) {
                timing.on_timeout = TimeoutAction::use_default;
                timing.default_decision.text = row.decision;
            },
            row.risk);
        const std::optional<Step> step = tick(request, deadline);
        ASSERT_TRUE(step) << row.decision;
        EXPECT_EQ(step->request.outcome, row.outcome) << row.decision;
        EXPECT_EQ(step->request.timeout_taken, row.taken) << row.decision;
        EXPECT_EQ(step->request.is_released, row.is_released) << row.decision;
    }
}

TEST(Tick, T1_silence_never_answers_a_question) {
    Verdict hold = verdict();
    hold.risk = RiskLevel::low;
    hold.timing.on_timeout = TimeoutAction::approve;
    const std::optional<Step> step = tick(opened(proposal(Kind::input), hold).request, deadline);
    ASSERT_TRUE(step);
    EXPECT_EQ(step->request.outcome, Outcome::expired);
    EXPECT_FALSE(step->request.is_released);
}

TEST(Tick, T2_reminds_at_the_interval_up_to_the_maximum) {
    Request request = timed([](Timing& timing) {
        timing.remind_every_ms = minute;
        timing.reminders_max = 2;
    });
    EXPECT_EQ(request.next_at, start + minute);
    EXPECT_FALSE(tick(request, start + minute + -1));
    for (int count = 1; count <= 2; ++count) {
        const std::optional<Step> step = tick(request, start + count * minute);
        ASSERT_TRUE(step);
        EXPECT_EQ(step->events[0].kind, EventKind::reminded);
        EXPECT_EQ(step->effects[0].about, EventKind::reminded);
        EXPECT_EQ(step->request.timing.reminders_sent, count);
        EXPECT_EQ(step->request.version, request.version + 1);
        request = step->request;
    }
    EXPECT_EQ(request.next_at, deadline) << "no further reminder";
    EXPECT_FALSE(tick(request, start + 3 * minute));
}

TEST(Tick, T2_after_a_long_standstill_one_reminder_is_enough) {
    const Request request = timed([](Timing& timing) {
        timing.timeout_ms = 1000 * minute;
        timing.remind_every_ms = minute;
        timing.reminders_max = 50;
    });
    const Timestamp late = start + 20 * minute + 30'000;
    const std::optional<Step> step = tick(request, late);
    ASSERT_TRUE(step);
    EXPECT_EQ(step->events.size(), 1u);
    EXPECT_EQ(step->request.timing.reminders_sent, 20)
        << "those that were missed are not sent late";
    EXPECT_FALSE(tick(step->request, late));
    EXPECT_EQ(step->request.next_at, start + 21 * minute);
}

TEST(Tick, T2_after_a_long_standstill_the_deadline_comes_before_reminders) {
    const Request request = timed([](Timing& timing) { timing.remind_every_ms = minute; });
    const std::optional<Step> step = tick(request, deadline + 60 * minute);
    ASSERT_TRUE(step);
    EXPECT_EQ(step->request.outcome, Outcome::expired);
    EXPECT_EQ(step->events.size(), 1u);
}

TEST(Tick, T3_escalates_after_its_own_time_to_its_own_target) {
    const Request request = timed([](Timing& timing) {
        timing.escalate_after_ms = 2 * minute;
        timing.escalate_to = "zoe";
    });
    EXPECT_EQ(request.next_at, start + 2 * minute);
    const std::optional<Step> step = tick(request, start + 2 * minute);
    ASSERT_TRUE(step);
    EXPECT_EQ(step->events[0].kind, EventKind::escalated);
    EXPECT_EQ(step->request.requirement.lines, (std::vector<RequirementLine>{people({"zoe"})}));
    EXPECT_EQ(step->request.expires_at, deadline) << "the deadline stays";
    EXPECT_EQ(step->request.next_at, deadline);
    EXPECT_FALSE(tick(step->request, start + 3 * minute)) << "once is enough";
}

TEST(Tick, A_clock_that_was_accepted_moves_reminders_and_escalation_along) {
    for (const std::int64_t shifted_ms : {60 * minute, -60 * minute}) {
        Request request = timed([](Timing& timing) {
            timing.remind_every_ms = minute;
            timing.escalate_after_ms = 2 * minute;
            timing.escalate_to = "zoe";
        });
        request.timing.shifted_ms = shifted_ms;
        request.expires_at = request.expires_at + shifted_ms;
        request.next_at = request.next_at + shifted_ms;
        const Timestamp asked = start + shifted_ms;
        EXPECT_FALSE(tick(request, asked + minute + -1));
        const std::optional<Step> reminded = tick(request, asked + minute);
        ASSERT_TRUE(reminded);
        EXPECT_EQ(reminded->request.timing.reminders_sent, 1);
        EXPECT_FALSE(reminded->request.timing.is_escalated);
        EXPECT_EQ(reminded->request.next_at, asked + 2 * minute);
        const std::optional<Step> escalated = tick(reminded->request, asked + 2 * minute);
        ASSERT_TRUE(escalated);
        EXPECT_TRUE(escalated->request.timing.is_escalated);
    }
}

TEST(Tick, T3_escalation_keeps_the_number_of_people) {
    Verdict hold = verdict();
    hold.requirement.lines = {group("finance", 2)};
    hold.timing.escalate_after_ms = minute;
    hold.timing.escalate_to = "group:bosses";
    Request request = opened(proposal(), hold).request;
    request = decided(request, DecisionKind::approve, person("ann", {"finance"})).request;
    const std::optional<Step> step = tick(request, start + minute);
    ASSERT_TRUE(step);
    EXPECT_EQ(step->request.requirement.lines[0].quorum + step->request.requirement.lines[1].quorum,
              2);
    EXPECT_EQ(step->request.requirement.lines[1].group, "bosses");
}

TEST(Tick, T3_a_person_cannot_replace_two_who_are_missing) {
    Verdict hold = verdict();
    hold.requirement.lines = {group("finance", 2)};
    hold.timing.escalate_after_ms = minute;
    hold.timing.escalate_to = "zoe";
    hold.timing.on_timeout = TimeoutAction::escalate;
    const Request request = opened(proposal(), hold).request;
    const std::optional<Step> step = tick(request, start + minute);
    ASSERT_TRUE(step);
    EXPECT_EQ(step->request.requirement.lines, hold.requirement.lines) << "finance is still asked";
    EXPECT_EQ(step->request.state, State::pending);
    EXPECT_FALSE(tick(step->request, start + 2 * minute)) << "it is not tried again and again";
    const std::optional<Step> last = tick(step->request, deadline);
    ASSERT_TRUE(last);
    EXPECT_EQ(last->request.outcome, Outcome::expired);
    EXPECT_FALSE(last->request.is_released);
}

TEST(Tick, T3_an_escalation_that_fails_does_not_lower_what_it_takes) {
    Verdict hold = verdict();
    hold.requirement.lines = {group("finance", 3)};
    hold.timing.escalate_after_ms = minute;
    hold.timing.escalate_to = "zoe";
    Request request = opened(proposal(), hold).request;
    request = decided(request, DecisionKind::approve, person("ann", {"finance"})).request;
    const std::optional<Step> step = tick(request, start + minute);
    ASSERT_EQ(step->events.size(), 1U);
    EXPECT_EQ(step->events[0].kind, EventKind::reminded);
    EXPECT_NE(step->events[0].detail.text.find("not_escalated"), std::string::npos);
    request = step->request;
    EXPECT_EQ(request.requirement.lines[0].quorum, 3);
    request = decided(request, DecisionKind::approve, person("ben", {"finance"})).request;
    EXPECT_EQ(request.state, State::pending) << "two of three have approved";
}

TEST(Tick, T3_a_reminder_and_an_escalation_due_together_happen_together) {
    const Request request = timed([](Timing& timing) {
        timing.escalate_after_ms = minute;
        timing.escalate_to = "zoe";
        timing.remind_every_ms = minute;
    });
    const std::optional<Step> step = tick(request, start + minute);
    ASSERT_TRUE(step);
    ASSERT_EQ(step->events.size(), 2u);
    EXPECT_EQ(step->request.version, request.version + 1);
    EXPECT_FALSE(tick(step->request, start + minute));
}

}  // namespace
}  // namespace holdpoint::core
