#include "core/decide.h"

#include "core/digest.h"
#include "core/test_requests.h"

namespace holdpoint::core {
namespace {

using namespace test;

const Actor ann = person("ann", {"finance"});
const Actor ben = person("ben", {"finance"});
const Actor cleo = person("cleo", {"legal"});
const Actor dora = person("dora", {"finance", "legal"});

bool fits(DecisionKind decision, Kind kind) {
    switch (decision) {
        case DecisionKind::approve:
            return kind != Kind::input;
        case DecisionKind::modify:
            return kind == Kind::action || kind == Kind::plan || kind == Kind::response;
        case DecisionKind::answer:
            return kind == Kind::input;
        case DecisionKind::reject:
        case DecisionKind::defer:
        case DecisionKind::escalate:
        case DecisionKind::abort:
            return true;
    }
    return false;
}

TEST(Decide, D1_to_D7_every_decision_fits_its_kinds_and_is_refused_for_the_others) {
    for (const Kind kind : all_kinds)
        for (const DecisionKind decision : all_decisions) {
            const Request before = pending(kind);
            const Result<Step> step = decide(before, command(decision, kind), ann, start + 1000);
            const std::string label =
                std::string(to_string(decision)) + " of " + std::string(to_string(kind));
            if (!fits(decision, kind)) {
                ASSERT_FALSE(step) << label;
                EXPECT_EQ(step.error().code, ErrorCode::refused) << label;
                EXPECT_EQ(step.error().field, "decision") << label;
                continue;
            }
            ASSERT_TRUE(step) << label << ": " << step.error().message;
            EXPECT_EQ(step->request.version, before.version + 1) << label;
            EXPECT_EQ(step->events.size(), 1u) << label;
        }
}

TEST(Decide, D1_approve_releases_what_was_proposed_with_the_note) {
    DecisionCommand approve = command(DecisionKind::approve);
    approve.note = "checked with ben";
    const Request before = pending();
    const Step step = decided(before, approve, ann);
    EXPECT_EQ(step.request.outcome, Outcome::approved);
    EXPECT_TRUE(step.request.is_released);
    EXPECT_EQ(step.request.subject, before.subject);
    EXPECT_TRUE(step.request.proposed.is_null());
    EXPECT_EQ(step.request.settled_at, start + 1000);
    ASSERT_TRUE(step.request.decision);
    EXPECT_EQ(step.request.decision->kind, DecisionKind::approve);
    EXPECT_EQ(step.request.decision->by, "ann");
    EXPECT_EQ(step.request.decision->by_id, ann.id);
    EXPECT_EQ(step.request.decision->via, "key");
    EXPECT_EQ(step.request.decision->address, "192.0.2.7");
    EXPECT_EQ(step.request.decision->at, start + 1000);
    EXPECT_EQ(step.request.decision->note, "checked with ben");
    EXPECT_EQ(step.request.decision->digest, before.digest);
    EXPECT_NE(step.request.message_for_agent.find("checked with ben"), std::string::npos);
    EXPECT_EQ(step.request.requirement.lines[0].have, 1);
}

TEST(Decide, D2_reject_ends_it_and_the_reason_reaches_the_model) {
    DecisionCommand reject = command(DecisionKind::reject);
    reject.reason = "the order is not paid";
    const Step step = decided(pending(), reject, ann);
    EXPECT_EQ(step.request.outcome, Outcome::rejected);
    EXPECT_FALSE(step.request.is_released);
    EXPECT_NE(step.request.message_for_agent.find("the order is not paid"), std::string::npos);
    EXPECT_EQ(step.events[0].kind, EventKind::settled);
    EXPECT_NE(step.events[0].detail.text.find("the order is not paid"), std::string::npos);
}

TEST(Decide, D2_a_reason_is_required_where_the_gate_says_so) {
    Request request = pending();
    request.requirement.reason_required = true;
    for (const DecisionKind kind : {DecisionKind::reject, DecisionKind::abort}) {
        DecisionCommand silent = command(kind);
        silent.reason.clear();
        const Error error = refusal(request, silent, ann);
        EXPECT_EQ(error.code, ErrorCode::refused);
        EXPECT_EQ(error.field, "reason");
        EXPECT_TRUE(decide(request, command(kind), ann, start)) << "with a reason it passes";
    }
    DecisionCommand approve = command(DecisionKind::approve);
    EXPECT_TRUE(decide(request, approve, ann, start)) << "an approval needs no reason";
}

TEST(Decide, D3_modify_runs_the_changed_arguments_and_keeps_the_original) {
    const Request before = pending();
    const Step step = decided(before, DecisionKind::modify, ann);
    EXPECT_EQ(step.request.outcome, Outcome::modified);
    EXPECT_TRUE(step.request.is_released);
    EXPECT_EQ(changeable_part(Kind::action, step.request.subject), R"({"amount":4,"order":"A-1"})");
    EXPECT_EQ(step.request.proposed.text, R"({"amount":5,"order":"A-1"})");
    EXPECT_NE(step.request.digest, before.digest);
    EXPECT_EQ(step.request.digest, digest_of(step.request));
    EXPECT_EQ(step.request.decision->kind, DecisionKind::modify);
    EXPECT_EQ(step.request.decision->digest, step.request.digest);
    EXPECT_EQ(step.request.decision->replacement.text, R"({"amount":4,"order":"A-1"})");
    EXPECT_EQ(step.request.headline, R"(refund(amount: 4, order: "A-1"))");
    EXPECT_EQ(step.request.tool, "refund") << "the tool cannot be changed";
}

TEST(Decide, D3_S3_the_record_keeps_what_each_person_put_in_place) {
    const Request before = pending({anybody(2)});
    const Step first = decided(before, DecisionKind::modify, ann);
    DecisionCommand other = command(DecisionKind::modify);
    other.digest = first.request.digest;
    other.replacement.text = R"({"amount":3,"order":"A-1"})";
    const Step second = decided(first.request, other, ben);
    EXPECT_EQ(first.events[0].detail.text,
              R"({"arguments":{"amount":4,"order":"A-1"},"decision":"modify","digest":")" +
                  first.request.digest + R"("})");
    EXPECT_EQ(parsed(second.events[0].detail.text).at("arguments").at("amount"), 3);
    EXPECT_EQ(first.events[0].kind, EventKind::voted);
}

TEST(Decide, D3_S3_a_changed_plan_or_response_is_recorded_by_its_name) {
    const Step plan = decided(pending(Kind::plan), DecisionKind::modify, ann);
    EXPECT_EQ(json::canonical(parsed(plan.events[0].detail.text).at("plan")),
              changeable_part(Kind::plan, plan.request.subject));
    const Step response = decided(pending(Kind::response), DecisionKind::modify, ann);
    EXPECT_EQ(parsed(response.events[0].detail.text).at("response").at("text").as_string(),
              "Nearly done.");
    DecisionCommand kept = command(DecisionKind::approve);
    kept.approved_steps = {1, 3};
    const Step fewer = decided(pending(Kind::plan), kept, ann);
    EXPECT_EQ(parsed(fewer.events[0].detail.text).at("plan").at("steps").as_array().size(), 2u)
        << "leaving out steps is a change, too";
    const Step plain = decided(pending(Kind::plan), DecisionKind::approve, ann);
    EXPECT_FALSE(parsed(plain.events[0].detail.text).as_object().contains("plan"));
}

TEST(Decide, D3_modify_is_refused_where_the_gate_forbids_it) {
    Request request = pending();
    request.requirement.modifiable = false;
    EXPECT_EQ(refusal(request, command(DecisionKind::modify), ann).code, ErrorCode::refused);
}

TEST(Decide, D3_modify_with_what_is_there_already_is_an_approval) {
    DecisionCommand same = command(DecisionKind::modify);
    same.replacement.text = R"({"amount":5,"order":"A-1"})";
    const Step step = decided(pending(), same, ann);
    EXPECT_EQ(step.request.outcome, Outcome::approved);
    EXPECT_EQ(step.request.decision->kind, DecisionKind::approve);
    EXPECT_TRUE(step.request.proposed.is_null());
}

TEST(Decide, D3_what_was_changed_back_is_what_was_proposed) {
    const Request before = pending({anybody(2)});
    const Request changed = decided(before, DecisionKind::modify, ann).request;
    ASSERT_FALSE(changed.proposed.is_null());
    DecisionCommand back = command(DecisionKind::modify);
    back.digest = changed.digest;
    back.replacement.text = R"({"amount":5,"order":"A-1"})";
    const Request again = decided(changed, back, ben).request;
    EXPECT_TRUE(again.proposed.is_null());
    EXPECT_EQ(again.digest, before.digest);
    const Request settled = decided(again, DecisionKind::approve, ann).request;
    EXPECT_EQ(settled.outcome, Outcome::approved);
    EXPECT_EQ(settled.subject, before.subject);
}

TEST(Decide, D3_a_replacement_is_validated) {
    const std::pair<Kind, const char*> table[]{
        {Kind::action, "[1]"},
        {Kind::action, "\"text\""},
        {Kind::plan, R"({"title":"x"})"},
        {Kind::plan, R"({"steps":[],"title":"x"})"},
        {Kind::response, R"({"text":1})"},
        {Kind::response, R"({"body":"x"})"},
    };
    for (const auto& [kind, text] : table) {
        DecisionCommand modify = command(DecisionKind::modify, kind);
        modify.replacement.text = text;
        const Error error = refusal(pending(kind), modify, ann);
        EXPECT_EQ(error.code, ErrorCode::invalid_argument) << text;
        EXPECT_FALSE(error.field.empty()) << text;
    }
}

TEST(Decide, D3_the_object_of_another_kind_does_not_become_arguments) {
    DecisionCommand modify = command(DecisionKind::modify, Kind::plan);
    modify.replacement_kind = Kind::plan;
    const Error error = refusal(pending(Kind::action), modify, ann);
    EXPECT_EQ(error.code, ErrorCode::refused);
    EXPECT_EQ(error.field, "plan");
    modify = command(DecisionKind::modify, Kind::action);
    modify.replacement_kind = Kind::action;
    EXPECT_EQ(refusal(pending(Kind::response), modify, ann).field, "arguments");
    EXPECT_TRUE(decide(pending(Kind::action), modify, ann, start));
}

TEST(Decide, D4_defer_needs_guidance_and_carries_it_to_the_model) {
    DecisionCommand defer = command(DecisionKind::defer);
    defer.guidance = "use the voucher instead";
    const Step step = decided(pending(), defer, ann);
    EXPECT_EQ(step.request.outcome, Outcome::deferred);
    EXPECT_FALSE(step.request.is_released);
    EXPECT_NE(step.request.message_for_agent.find("use the voucher instead"), std::string::npos);
    defer.guidance.clear();
    EXPECT_EQ(refusal(pending(), defer, ann).field, "guidance");
}

TEST(Decide, D5_escalate_hands_it_to_others_and_leaves_them_the_whole_time) {
    const Request before = pending({group("finance")});
    const Step step = decided(before, DecisionKind::escalate, ann, start + 4 * minute);
    EXPECT_EQ(step.request.state, State::pending);
    EXPECT_EQ(step.request.requirement.lines, (std::vector<RequirementLine>{group("bosses")}));
    EXPECT_EQ(step.request.expires_at, start + 9 * minute);
    EXPECT_EQ(step.request.next_at, start + 9 * minute);
    EXPECT_TRUE(step.request.timing.is_escalated);
    EXPECT_EQ(step.events[0].kind, EventKind::escalated);
    EXPECT_EQ(step.effects[0].about, EventKind::escalated);
    EXPECT_EQ(refusal(step.request, command(DecisionKind::approve), ben).code,
              ErrorCode::permission_denied)
        << "finance is not asked any more";
    EXPECT_TRUE(decided(step.request, DecisionKind::approve, person("zoe", {"bosses"}))
                    .request.is_released);
}

TEST(Decide, D5_escalate_keeps_the_number_of_people) {
    Request request = pending({group("finance", 3)});
    request = decided(request, DecisionKind::approve, ann).request;
    request = decided(request, DecisionKind::escalate, ben).request;
    EXPECT_EQ(request.requirement.lines[0].group, "finance");
    EXPECT_EQ(request.requirement.lines[0].quorum, 1) << "ann's place stays filled";
    EXPECT_EQ(request.requirement.lines[1].group, "bosses");
    EXPECT_EQ(request.requirement.lines[1].quorum, 2) << "two are still missing";
    request = decided(request, DecisionKind::approve, person("zoe", {"bosses"})).request;
    EXPECT_EQ(request.state, State::pending);
    request = decided(request, DecisionKind::approve, person("yan", {"bosses"})).request;
    EXPECT_TRUE(request.is_released);
    EXPECT_EQ(request.votes.size(), 3u);
}

TEST(Decide, D5_one_person_cannot_take_the_place_of_two) {
    DecisionCommand escalate = command(DecisionKind::escalate);
    escalate.target = "zoe";
    const Error error = refusal(pending({group("finance", 2)}), escalate, ann);
    EXPECT_EQ(error.code, ErrorCode::refused);
    EXPECT_EQ(error.field, "to");
    EXPECT_TRUE(decide(pending({group("finance", 1)}), escalate, ann, start));
}

TEST(Decide, D5_a_vote_that_found_no_place_counts_among_those_who_are_asked_now) {
    Request request = pending({group("finance"), group("legal")});
    request = decided(request, DecisionKind::approve, person("ann", {"finance"})).request;
    request = decided(request, DecisionKind::approve, person("ben", {"finance", "ops"})).request;
    ASSERT_EQ(request.state, State::pending);
    DecisionCommand escalate = command(DecisionKind::escalate);
    escalate.target = "group:ops";
    const Step step = decided(request, escalate, person("lea", {"legal"}));
    EXPECT_EQ(step.request.outcome, Outcome::approved);
    EXPECT_EQ(step.request.decision->by, "ben");
    ASSERT_EQ(step.events.size(), 2U);
    EXPECT_EQ(step.events[0].kind, EventKind::escalated);
    EXPECT_EQ(step.events[1].kind, EventKind::settled);
}

TEST(Decide, D5_nobody_gives_away_the_places_of_others) {
    Request request = pending({group("finance"), group("legal")});
    DecisionCommand escalate = command(DecisionKind::escalate);
    escalate.target = "zoe";
    const Request passed_on = decided(request, escalate, ann).request;
    EXPECT_EQ(passed_on.requirement.lines,
              (std::vector<RequirementLine>{group("legal"), people({"zoe"})}));

    request = decided(request, DecisionKind::approve, ann).request;
    const Error error = refusal(request, escalate, ann);
    EXPECT_EQ(error.code, ErrorCode::refused) << "only legal is missing, and ann is not of legal";
    EXPECT_EQ(error.field, "to");
    EXPECT_TRUE(decide(request, escalate, person("lea", {"legal"}), start));
}

TEST(Decide, D5_X1_nobody_hands_it_to_whoever_may_not_decide_their_own_request) {
    Request request = pending({group("finance")});
    request.requirement.exclude_requester = true;
    request.owner = "olga";
    request.user = "uwe";
    DecisionCommand escalate = command(DecisionKind::escalate);
    for (const char* target : {"olga", "uwe"}) {
        escalate.target = target;
        const Error error = refusal(request, escalate, ann);
        EXPECT_EQ(error.code, ErrorCode::refused);
        EXPECT_EQ(error.field, "to");
    }
    escalate.target = "zoe";
    EXPECT_TRUE(decide(request, escalate, ann, start));
}

TEST(Decide, D5_escalate_needs_a_target) {
    DecisionCommand escalate = command(DecisionKind::escalate);
    escalate.target.clear();
    EXPECT_EQ(refusal(pending(), escalate, ann).field, "to");
}

TEST(Decide, D6_abort_stops_the_run_at_once_whatever_the_quorum) {
    const Step step = decided(pending({group("finance", 2)}), DecisionKind::abort, ann);
    EXPECT_EQ(step.request.outcome, Outcome::aborted);
    EXPECT_FALSE(step.request.is_released);
}

TEST(Decide, D6_a_sibling_ends_with_the_same_decision_and_names_the_cause) {
    const Request cause = decided(pending(), DecisionKind::abort, ann).request;
    const Request sibling = pending();
    const Step step = abort_with(sibling, *cause.decision, cause.id, ann, start + 1000);
    EXPECT_EQ(step.request.outcome, Outcome::aborted);
    EXPECT_EQ(step.request.version, sibling.version + 1);
    EXPECT_EQ(step.request.decision->by, "ann");
    EXPECT_NE(step.events[0].detail.text.find(cause.id.text()), std::string::npos);
}

TEST(Decide, D7_an_answer_settles_a_question_and_is_never_a_release) {
    const Step step = decided(pending(Kind::input), DecisionKind::answer, ann);
    EXPECT_EQ(step.request.outcome, Outcome::answered);
    EXPECT_FALSE(step.request.is_released);
    EXPECT_EQ(step.request.decision->answer.text, "7");
    EXPECT_NE(step.request.message_for_agent.find("7"), std::string::npos);
}

TEST(Decide, D7_an_answer_is_checked) {
    DecisionCommand answer = command(DecisionKind::answer);
    answer.answer.text = "11";
    const Error error = refusal(pending(Kind::input), answer, ann);
    EXPECT_EQ(error.code, ErrorCode::refused);
    EXPECT_EQ(error.field, "answer");
}

TEST(Decide, D7_a_file_of_the_largest_size_is_an_answer) {
    const Request request =
        opened(proposal(Kind::input, R"({"question":"Send it","type":"file"})"), verdict()).request;
    DecisionCommand answer = command(DecisionKind::answer);
    answer.answer.text =
        R"({"content_base64":")" + std::string(128 * 1024 / 3 * 4, 'A') + R"(","name":"scan.pdf"})";
    const Result<Step> step = decide(request, answer, ann, start);
    ASSERT_TRUE(step) << step.error().message;
    EXPECT_EQ(step->request.outcome, Outcome::answered);
}

TEST(Decide, D8_a_second_decision_gets_the_one_that_stands) {
    const Request settled = decided(pending(), DecisionKind::approve, ann).request;
    for (const DecisionKind kind : all_decisions) {
        const Error error = refusal(settled, command(kind), ben);
        EXPECT_EQ(error.code, ErrorCode::conflict) << to_string(kind);
        EXPECT_EQ(error.message, "already approved by ann") << to_string(kind);
    }
}

TEST(Decide, D10_a_quorum_needs_that_many_people) {
    Request request = pending({group("finance", 2)});
    Step step = decided(request, DecisionKind::approve, ann);
    EXPECT_EQ(step.request.state, State::pending);
    EXPECT_EQ(step.request.requirement.lines[0].have, 1);
    EXPECT_EQ(step.events[0].kind, EventKind::voted);
    EXPECT_EQ(step.effects[0].about, EventKind::voted);
    EXPECT_FALSE(step.request.decision);
    step = decided(step.request, DecisionKind::approve, ben);
    EXPECT_EQ(step.request.outcome, Outcome::approved);
    EXPECT_EQ(step.request.decision->by, "ben");
}

TEST(Decide, D10_the_same_person_twice_is_a_conflict_and_does_not_count) {
    const Request request =
        decided(pending({group("finance", 2)}), DecisionKind::approve, ann).request;
    const Error error = refusal(request, command(DecisionKind::approve), ann);
    EXPECT_EQ(error.code, ErrorCode::conflict);
    EXPECT_EQ(request.requirement.lines[0].have, 1);
}

TEST(Decide, D10_two_lines_need_two_people_even_if_one_is_in_both) {
    Request request = pending({group("finance"), group("legal")});
    request = decided(request, DecisionKind::approve, dora).request;
    EXPECT_EQ(request.state, State::pending) << "dora is in both groups but is one person";
    EXPECT_TRUE(decided(request, DecisionKind::approve, ann).request.is_released);
    EXPECT_TRUE(decided(request, DecisionKind::approve, cleo).request.is_released);
}

TEST(Decide, D10_whoever_can_sit_elsewhere_makes_room) {
    // Dora is seated in the first line she fits; ann fits only there, so dora must move.
    Request request = pending({group("finance"), group("legal")});
    request = decided(request, DecisionKind::approve, dora).request;
    request = decided(request, DecisionKind::approve, ann).request;
    EXPECT_EQ(request.outcome, Outcome::approved);
    EXPECT_EQ(request.requirement.lines[0].have, 1);
    EXPECT_EQ(request.requirement.lines[1].have, 1);
}

TEST(Decide, D10_too_many_of_one_group_do_not_fill_another) {
    Request request = pending({group("finance"), group("legal")});
    request = decided(request, DecisionKind::approve, ann).request;
    request = decided(request, DecisionKind::approve, ben).request;
    EXPECT_EQ(request.state, State::pending);
    EXPECT_EQ(request.requirement.lines[1].have, 0);
}

TEST(Decide, D10_named_people_are_asked_by_name) {
    const Request request = pending({people({"ann", "cleo"}, 2)});
    EXPECT_EQ(refusal(request, command(DecisionKind::approve), ben).code,
              ErrorCode::permission_denied);
    Request half = decided(request, DecisionKind::approve, cleo).request;
    EXPECT_TRUE(decided(half, DecisionKind::approve, ann).request.is_released);
}

TEST(Decide, D10_any_reject_rejects_by_default_even_after_approvals) {
    Request request = decided(pending({group("finance", 2)}), DecisionKind::approve, ann).request;
    request = decided(request, DecisionKind::reject, ben).request;
    EXPECT_EQ(request.outcome, Outcome::rejected);
    EXPECT_EQ(request.decision->by, "ben");
}

TEST(Decide, D10_a_reject_threshold_counts_people) {
    Request request = pending({group("finance", 3)});
    request.requirement.reject_threshold = 2;
    request = decided(request, DecisionKind::reject, ann).request;
    EXPECT_EQ(request.state, State::pending);
    EXPECT_EQ(refusal(request, command(DecisionKind::reject), ann).code, ErrorCode::conflict)
        << "one person rejects once";
    request = decided(request, DecisionKind::reject, ben).request;
    EXPECT_EQ(request.outcome, Outcome::rejected);
}

TEST(Decide, D10_a_person_may_change_their_vote) {
    Request request = pending({group("finance", 2)});
    request.requirement.reject_threshold = 2;
    request = decided(request, DecisionKind::approve, ann).request;
    request = decided(request, DecisionKind::reject, ann).request;
    ASSERT_EQ(request.votes.size(), 1u);
    EXPECT_EQ(request.votes[0].decision.kind, DecisionKind::reject);
    EXPECT_EQ(request.requirement.lines[0].have, 0) << "the approval does not count any more";
    request = decided(request, DecisionKind::approve, ben).request;
    EXPECT_EQ(request.state, State::pending);
    request = decided(request, DecisionKind::approve, ann).request;
    EXPECT_EQ(request.outcome, Outcome::approved);
}

TEST(Decide, X2_a_modification_resets_the_approvals_given_to_the_old_action) {
    Request request = pending({group("finance", 2)});
    request = decided(request, DecisionKind::approve, ann).request;
    const std::string old = request.digest;
    request = decided(request, DecisionKind::modify, ben).request;
    EXPECT_EQ(request.state, State::pending) << "ann has not seen the change";
    ASSERT_EQ(request.votes.size(), 1u);
    EXPECT_EQ(request.votes[0].decision.by, "ben");
    EXPECT_NE(request.digest, old);
    DecisionCommand stale = command(DecisionKind::approve);
    stale.digest = old;
    EXPECT_EQ(refusal(request, stale, ann).code, ErrorCode::conflict);
    request = decided(request, DecisionKind::approve, ann).request;
    EXPECT_EQ(request.outcome, Outcome::modified) << "what people changed stays called modified";
    EXPECT_EQ(request.proposed.text, R"({"amount":5,"order":"A-1"})");
}

TEST(Decide, X2_the_first_original_is_kept_through_several_changes) {
    Request request = pending({group("finance", 3)});
    request = decided(request, DecisionKind::modify, ann).request;
    DecisionCommand again = command(DecisionKind::modify);
    again.replacement.text = R"({"amount":3,"order":"A-1"})";
    again.digest = request.digest;
    request = decided(request, again, ben).request;
    EXPECT_EQ(request.proposed.text, R"({"amount":5,"order":"A-1"})");
    EXPECT_EQ(request.votes.size(), 1u);
}

TEST(Decide, X2_rejections_survive_a_modification) {
    Request request = pending({group("finance", 2)});
    request.requirement.reject_threshold = 2;
    request = decided(request, DecisionKind::reject, ann).request;
    request = decided(request, DecisionKind::modify, ben).request;
    EXPECT_EQ(request.votes.size(), 2u);
    request = decided(request, DecisionKind::reject, dora).request;
    EXPECT_EQ(request.outcome, Outcome::rejected);
}

TEST(Decide, X2_who_does_not_say_what_they_saw_approves_only_what_nobody_changed) {
    Request request = pending({anybody(3)});
    EXPECT_TRUE(decide(request, command(DecisionKind::approve), person("ben"), start));
    request = decided(request, command(DecisionKind::modify), person("ann")).request;
    for (const DecisionKind kind : {DecisionKind::approve, DecisionKind::modify}) {
        DecisionCommand blind = command(kind);
        const Error error = refusal(request, blind, person("ben"));
        EXPECT_EQ(error.code, ErrorCode::conflict);
        EXPECT_EQ(error.field, "digest");
        blind.digest = request.digest;
        EXPECT_TRUE(decide(request, blind, person("ben"), start)) << "who looked may";
    }
    for (const DecisionKind kind : {DecisionKind::reject, DecisionKind::defer, DecisionKind::abort})
        EXPECT_TRUE(decide(request, command(kind), person("ben"), start))
            << "what ends it needs no look";
}

TEST(Decide, T1_what_an_unanswered_sibling_ends_is_not_run_and_is_nobodys_decision) {
    const Request before = pending();
    const RequestId cause = RequestId::fresh(start);
    const Step step = abort_unanswered(before, cause, start + 1000);
    EXPECT_EQ(step.request.outcome, Outcome::expired);
    EXPECT_EQ(step.request.timeout_taken, TimeoutAction::abort);
    EXPECT_FALSE(step.request.is_released);
    EXPECT_FALSE(step.request.decision);
    EXPECT_EQ(step.request.version, before.version + 1);
    EXPECT_NE(step.request.message_for_agent.find("another request of this run"),
              std::string::npos);
    EXPECT_NE(step.request.message_for_agent.find("Stop this run"), std::string::npos);
    ASSERT_EQ(step.events.size(), 1u);
    EXPECT_EQ(step.events[0].via, "timer");
    EXPECT_NE(step.events[0].detail.text.find(cause.text()), std::string::npos);
}

TEST(Decide, X2_a_stale_page_gets_a_conflict) {
    DecisionCommand stale = command(DecisionKind::approve);
    stale.digest = "sha256:" + std::string(64, '0');
    const Error error = refusal(pending(), stale, ann);
    EXPECT_EQ(error.code, ErrorCode::conflict);
    EXPECT_EQ(error.field, "digest");
    const Request request = pending();
    stale.digest = request.digest;
    EXPECT_TRUE(decide(request, stale, ann, start));
}

TEST(Decide, X1_an_agent_never_decides) {
    Actor agent_in_group = agent();
    agent_in_group.groups = {"finance"};
    for (const Kind kind : all_kinds)
        for (const DecisionKind decision : all_decisions)
            EXPECT_EQ(
                refusal(pending({group("finance")}, kind), command(decision, kind), agent_in_group)
                    .code,
                ErrorCode::permission_denied);
    EXPECT_EQ(refusal(pending(), command(DecisionKind::approve), agent("other")).code,
              ErrorCode::permission_denied);
}

TEST(Decide, X1_who_asked_does_not_decide_where_separation_is_asked_for) {
    Request request = pending();
    request.user = "ulla";
    for (const char* name : {"olga", "ulla"}) {
        EXPECT_TRUE(decide(request, command(DecisionKind::approve), person(name), start));
    }
    request.requirement.exclude_requester = true;
    for (const char* name : {"olga", "ulla"})
        for (const DecisionKind kind : all_decisions)
            EXPECT_EQ(refusal(request, command(kind), person(name)).code,
                      ErrorCode::permission_denied)
                << name << " " << to_string(kind);
    EXPECT_TRUE(decide(request, command(DecisionKind::approve), ann, start));
}

TEST(Decide, X1_outside_every_line_nobody_decides) {
    for (const DecisionKind kind : all_decisions)
        EXPECT_EQ(refusal(pending({group("finance")}), command(kind), cleo).code,
                  ErrorCode::permission_denied)
            << to_string(kind);
}

TEST(Decide, X1_who_may_not_decide_does_not_learn_how_it_ended) {
    const Request settled =
        decided(pending({group("finance")}), DecisionKind::approve, ann).request;
    EXPECT_EQ(refusal(settled, command(DecisionKind::approve), cleo).code,
              ErrorCode::permission_denied);
}

TEST(Decide, Q2_steps_cannot_be_left_out_where_nothing_may_be_modified) {
    Request request = pending(Kind::plan);
    request.requirement.modifiable = false;
    DecisionCommand partly = command(DecisionKind::approve, Kind::plan);
    partly.approved_steps = std::vector<int>{1};
    EXPECT_EQ(refusal(request, partly, ann).field, "approved_steps");
}

TEST(Decide, Q2_a_plan_is_approved_in_part_when_the_rest_is_optional) {
    DecisionCommand partly = command(DecisionKind::approve);
    partly.approved_steps = std::vector<int>{1, 3};
    const Request before = pending(Kind::plan);
    const Step step = decided(before, partly, ann);
    EXPECT_EQ(step.request.outcome, Outcome::modified);
    EXPECT_EQ(step.request.subject.text.find("rest"), std::string::npos);
    EXPECT_NE(step.request.proposed.text.find("rest"), std::string::npos);
    EXPECT_NE(step.request.digest, before.digest);
}

TEST(Decide, Q2_naming_every_step_is_a_plain_approval) {
    DecisionCommand all = command(DecisionKind::approve);
    all.approved_steps = std::vector<int>{1, 2, 3};
    EXPECT_EQ(decided(pending(Kind::plan), all, ann).request.outcome, Outcome::approved);
}

TEST(Decide, Q2_steps_that_cannot_be_left_out_or_do_not_exist_are_refused) {
    for (const std::vector<int>& steps :
         {std::vector<int>{1, 2}, {2}, {}, {1, 3, 4}, {1, 1, 3}, {1, 2, 3, 3}}) {
        DecisionCommand partly = command(DecisionKind::approve);
        partly.approved_steps = steps;
        const Error error = refusal(pending(Kind::plan), partly, ann);
        EXPECT_EQ(error.code, ErrorCode::refused) << testing::PrintToString(steps);
        EXPECT_EQ(error.field, "approved_steps");
    }
}

TEST(Decide, Q2_only_a_plan_has_steps) {
    DecisionCommand partly = command(DecisionKind::approve);
    partly.approved_steps = std::vector<int>{1};
    for (const Kind kind : {Kind::action, Kind::confirmation, Kind::response})
        EXPECT_EQ(refusal(pending(kind), partly, ann).field, "approved_steps") << to_string(kind);
}

TEST(Decide, Q2_a_plan_that_says_so_cannot_be_changed) {
    const Request fixed =
        opened(
            proposal(Kind::plan, R"({"title":"x","modifiable":false,"steps":[{"action":"pack"}]})"),
            verdict())
            .request;
    EXPECT_EQ(refusal(fixed, command(DecisionKind::modify, Kind::plan), ann).code,
              ErrorCode::refused);
}

TEST(Decide, a_refused_decision_leaves_the_request_as_it_was) {
    const Request before = pending({group("finance", 2)});
    const std::string digest = before.digest;
    DecisionCommand bad = command(DecisionKind::modify);
    bad.replacement.text = "[]";
    ASSERT_FALSE(decide(before, bad, ann, start));
    EXPECT_EQ(before.digest, digest);
    EXPECT_EQ(before.version, 1);
    EXPECT_TRUE(before.votes.empty());
}

}  // namespace
}  // namespace holdpoint::core
