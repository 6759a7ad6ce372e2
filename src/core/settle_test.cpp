#include "core/settle.h"

#include <set>

#include "core/expire.h"
#include "core/follow_up.h"
#include "core/test_requests.h"

namespace holdpoint::core {
namespace {

using namespace test;

std::string expired_message(TimeoutAction action) {
    Verdict hold = verdict();
    hold.risk = RiskLevel::low;
    hold.timing.on_timeout = action;
    return tick(opened(proposal(), hold).request, start + 5 * minute)->request.message_for_agent;
}

TEST(MessageForAgent, T5_timeout_rejection_and_denial_are_different_sentences) {
    const std::string timed_out = expired_message(TimeoutAction::reject);
    const std::string rejected =
        decided(pending(), DecisionKind::reject, person("ann")).request.message_for_agent;
    const std::string denied =
        opened(proposal(), verdict(VerdictKind::deny)).request.message_for_agent;
    EXPECT_EQ(timed_out,
              "Timed out: no person answered the call to `refund` in time. It was not run; this is "
              "not a rejection.");
    EXPECT_EQ(
        rejected,
        "Operator ann rejected the call to `refund`: too much. It was not run; do not propose "
        "it again.");
    EXPECT_EQ(denied, "Policy denies the call to `refund`: because of the test. It was not run.");
}

TEST(MessageForAgent, T5_who_has_voted_has_not_kept_silent) {
    const auto message = [](TimeoutAction action, DecisionKind kind) {
        Verdict hold = verdict();
        hold.risk = RiskLevel::low;
        hold.timing.on_timeout = action;
        hold.requirement.lines = {anybody(2)};
        hold.requirement.reject_threshold = 2;
        const Request half = decided(opened(proposal(), hold).request, kind, person("ann")).request;
        return tick(half, start + 5 * minute)->request.message_for_agent;
    };
    EXPECT_EQ(message(TimeoutAction::reject, DecisionKind::approve),
              "Timed out: 1 of the 2 needed approvals of the call to `refund` came in time. It was "
              "not run; this is not a rejection.");
    EXPECT_EQ(message(TimeoutAction::skip, DecisionKind::approve),
              "Timed out: 1 of the 2 needed approvals of the call to `refund` came in time. Skip "
              "it and go on without it.");
    EXPECT_EQ(message(TimeoutAction::abort, DecisionKind::approve),
              "Timed out: 1 of the 2 needed approvals of the call to `refund` came in time. It was "
              "not run. Stop this run.");
    EXPECT_EQ(message(TimeoutAction::approve, DecisionKind::approve),
              "Timed out: 1 of the 2 needed approvals of the call to `refund` came in time; policy "
              "lets it pass at this risk. Run exactly what is in `release`.");
    EXPECT_EQ(message(TimeoutAction::abort, DecisionKind::reject),
              "Timed out: operator ann rejected the call to `refund`: too much, and not enough "
              "others decided in time. It was not run. Stop this run.");
}

TEST(MessageForAgent, A5_every_way_to_end_has_a_sentence_of_its_own) {
    std::set<std::string> sentences{
        opened(proposal(), verdict(VerdictKind::allow)).request.message_for_agent,
        opened(proposal(), verdict(VerdictKind::deny)).request.message_for_agent,
        expired_message(TimeoutAction::reject),
        expired_message(TimeoutAction::approve),
        expired_message(TimeoutAction::abort),
        expired_message(TimeoutAction::skip),
        cancel(pending(), "", agent(), start)->request.message_for_agent,
        decided(pending(Kind::input), DecisionKind::answer, person("ann"))
            .request.message_for_agent,
    };
    for (const DecisionKind kind : {DecisionKind::approve, DecisionKind::modify,
                                    DecisionKind::reject, DecisionKind::defer, DecisionKind::abort})
        sentences.insert(decided(pending(), kind, person("ann")).request.message_for_agent);
    EXPECT_EQ(sentences.size(), 13u);
    EXPECT_FALSE(sentences.contains(""));
}

TEST(MessageForAgent, A5_only_a_release_tells_the_model_to_run_something) {
    const auto tells_to_run = [](const Request& request) {
        return request.message_for_agent.find("Run ") != std::string::npos;
    };
    EXPECT_TRUE(tells_to_run(decided(pending(), DecisionKind::approve, person("ann")).request));
    EXPECT_TRUE(tells_to_run(decided(pending(), DecisionKind::modify, person("ann")).request));
    EXPECT_TRUE(tells_to_run(opened(proposal(), verdict(VerdictKind::allow)).request));
    for (const DecisionKind kind : {DecisionKind::reject, DecisionKind::defer, DecisionKind::abort})
        EXPECT_FALSE(tells_to_run(decided(pending(), kind, person("ann")).request));
    EXPECT_FALSE(tells_to_run(opened(proposal(), verdict(VerdictKind::deny)).request));
}

TEST(MessageForAgent, each_kind_is_called_by_its_name) {
    for (const auto& [kind, words] : {std::pair{Kind::action, "the call to `refund`"},
                                      {Kind::plan, "the plan"},
                                      {Kind::input, "the question"},
                                      {Kind::confirmation, "the confirmation"},
                                      {Kind::response, "the final response"}})
        EXPECT_NE(decided(pending(kind), DecisionKind::reject, person("ann"))
                      .request.message_for_agent.find(words),
                  std::string::npos);
}

TEST(Settle, happens_once) {
    Step step;
    step.request = decided(pending(), DecisionKind::approve, person("ann")).request;
    EXPECT_DEATH(settle(step, Outcome::rejected, timer_actor(), start), "");
}

TEST(Settle, the_next_look_is_the_earliest_of_reminder_escalation_and_deadline) {
    Request request = pending();
    EXPECT_EQ(next_wake(request), request.expires_at);
    request.timing.escalate_after_ms = 3 * minute;
    EXPECT_EQ(next_wake(request), start + 3 * minute);
    request.timing.remind_every_ms = 2 * minute;
    EXPECT_EQ(next_wake(request), start + 2 * minute);
    request.timing.reminders_sent = 1;
    EXPECT_EQ(next_wake(request), start + 3 * minute);
    request.timing.is_escalated = true;
    EXPECT_EQ(next_wake(request), start + 4 * minute);
    request.timing.reminders_sent = 3;
    EXPECT_EQ(next_wake(request), request.expires_at);
}

TEST(Cancel, withdraws_a_pending_request_once) {
    const Result<Step> step = cancel(pending(), "no longer needed", agent(), start + 10);
    ASSERT_TRUE(step);
    EXPECT_EQ(step->request.outcome, Outcome::cancelled);
    EXPECT_EQ(step->request.version, 2);
    EXPECT_FALSE(step->request.is_released);
    EXPECT_EQ(step->events[0].detail.text, R"({"reason":"no longer needed"})");
    const Result<Step> again = cancel(step->request, "", agent(), start + 20);
    ASSERT_FALSE(again);
    EXPECT_EQ(again.error().code, ErrorCode::conflict);
}

TEST(Extend, gives_more_time_to_a_pending_request) {
    const Request before = pending();
    const Result<Step> step = extend(before, 10 * minute, person("ann"), start + 10);
    ASSERT_TRUE(step);
    EXPECT_EQ(step->request.expires_at, before.expires_at + 10 * minute);
    EXPECT_EQ(step->request.next_at, step->request.expires_at);
    EXPECT_EQ(step->request.digest, before.digest) << "it is still the same question";
    EXPECT_EQ(step->request.version, 2);
    EXPECT_EQ(step->events[0].kind, EventKind::extended);
}

TEST(Extend, is_refused_for_strangers_agents_the_excluded_and_the_settled) {
    const Request finance = pending({group("finance")});
    EXPECT_EQ(extend(finance, minute, person("cleo"), start).error().code,
              ErrorCode::permission_denied);
    EXPECT_EQ(extend(pending(), minute, agent(), start).error().code, ErrorCode::permission_denied);
    Request separated = pending();
    separated.requirement.exclude_requester = true;
    EXPECT_EQ(extend(separated, minute, person("olga"), start).error().code,
              ErrorCode::permission_denied)
        << "who may not decide may not keep it open either";
    const Request settled = decided(pending(), DecisionKind::approve, person("ann")).request;
    EXPECT_EQ(extend(settled, minute, person("ann"), start).error().code, ErrorCode::conflict);
}

TEST(Extend, ends_at_ninety_days_in_all) {
    Request request = pending();
    const std::int64_t rest = lifetime_ms_max - (request.expires_at - request.created_at);
    EXPECT_TRUE(extend(request, rest, person("ann"), start));
    const Result<Step> beyond = extend(request, rest + 1, person("ann"), start);
    ASSERT_FALSE(beyond);
    EXPECT_EQ(beyond.error().code, ErrorCode::refused);
    EXPECT_EQ(beyond.error().field, "seconds");
}

TEST(Report, is_taken_once_and_only_after_the_end) {
    Report report_text;
    report_text.is_success = true;
    report_text.result.text = R"({"id":7})";
    EXPECT_EQ(report(pending(), report_text, agent(), start).error().code, ErrorCode::refused);
    const Request settled = decided(pending(), DecisionKind::approve, person("ann")).request;
    const Result<Step> step = report(settled, report_text, agent(), start + 5000);
    ASSERT_TRUE(step);
    EXPECT_EQ(step->request.report->at, start + 5000);
    EXPECT_EQ(step->request.report->result.text, R"({"id":7})");
    EXPECT_EQ(step->request.outcome, Outcome::approved);
    EXPECT_EQ(step->request.version, settled.version + 1);
    EXPECT_EQ(step->events[0].kind, EventKind::reported);

    const Result<Step> same = report(step->request, report_text, agent(), start + 9000);
    ASSERT_TRUE(same);
    EXPECT_TRUE(same->events.empty()) << "the same again changes nothing";
    EXPECT_EQ(same->request.version, step->request.version);
    EXPECT_EQ(same->request.report->at, start + 5000);

    Report other = report_text;
    other.is_success = false;
    EXPECT_EQ(report(step->request, other, agent(), start).error().code, ErrorCode::conflict);
    other = report_text;
    other.result.text = R"({"id":8})";
    EXPECT_EQ(report(step->request, other, agent(), start).error().code, ErrorCode::conflict);
}

}  // namespace
}  // namespace holdpoint::core
