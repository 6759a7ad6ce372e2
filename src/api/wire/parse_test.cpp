// What comes in: every field of every body, right and wrong.

#include "api/wire/decide.h"
#include "api/wire/query.h"
#include "api/wire/submit.h"
#include "core/test_requests.h"

namespace holdpoint::wire {
namespace {

using core::DecisionKind;
using core::Kind;
using core::test::parsed;

/// A correct proposal with one member set to something else.
json::value proposal_with(std::string_view name, json::value value) {
    json::value body = parsed(R"({"action":{"tool":"refund","arguments":{"amount":5}}})");
    body.as_object()[name] = std::move(value);
    return body;
}

Error failure(const json::value& body) {
    const Result<core::Proposal> proposal = parse_proposal(body, "");
    if (proposal) return {ErrorCode::internal, "it was accepted", "-"};
    return proposal.error();
}

Error decision_failure(std::string_view text) {
    const Result<Decision> decision = parse_decision(parsed(text));
    if (decision) return {ErrorCode::internal, "it was accepted", "-"};
    return decision.error();
}

TEST(ParseProposal, Q1_the_smallest_one_has_its_defaults) {
    const Result<core::Proposal> proposal =
        parse_proposal(parsed(R"({"action":{"tool":"ping"}})"), "");
    ASSERT_TRUE(proposal);
    EXPECT_EQ(proposal->kind, Kind::action);
    EXPECT_EQ(proposal->tool, "ping");
    EXPECT_TRUE(proposal->session.empty());
    EXPECT_FALSE(proposal->risk);
    EXPECT_FALSE(proposal->timeout_ms);
    EXPECT_FALSE(proposal->requirement);
    EXPECT_TRUE(proposal->context.is_null());
}

TEST(ParseProposal, Q1_Q6_Q7_Q8_every_field_arrives) {
    const Result<core::Proposal> proposal =
        parse_proposal(parsed(R"({"kind":"action","session":"s","thread":"t","task":"k","user":"u",
                   "action":{"tool":"refund"},
                   "risk":{"level":"high","factors":["f"],"consequences":["c"],
                           "reversibility":"partially","confidence":0.5},
                   "context":{"user_prompt":"p","anything":1},"suggested":[1],"metadata":{"m":1},
                   "timeout_s":1.5,"on_timeout":"skip","remind_every_s":1.25,"reminders_max":0,
                   "escalate_after_s":2,"escalate_to":"group:bosses","retries_max":100,
                   "requirement":{"lines":[{"group":"g","quorum":2},{"people":["a","b"]}],
                                  "reason_required":true,"modifiable":false,
                                  "exclude_requester":true}})"),
                       "");
    ASSERT_TRUE(proposal) << proposal.error().field << " " << proposal.error().message;
    EXPECT_EQ(proposal->session, "s");
    EXPECT_EQ(proposal->thread, "t");
    EXPECT_EQ(proposal->task, "k");
    EXPECT_EQ(proposal->user, "u");
    EXPECT_EQ(proposal->risk, core::RiskLevel::high);
    EXPECT_EQ(proposal->context.text, R"({"anything":1,"user_prompt":"p"})");
    EXPECT_EQ(proposal->suggested.text, "[1]");
    EXPECT_EQ(proposal->metadata.text, R"({"m":1})");
    EXPECT_EQ(proposal->timeout_ms, 1500);
    EXPECT_EQ(proposal->on_timeout, core::TimeoutAction::skip);
    EXPECT_EQ(proposal->remind_every_ms, 1250);
    EXPECT_EQ(proposal->reminders_max, 0);
    EXPECT_EQ(proposal->escalate_after_ms, 2000);
    EXPECT_EQ(proposal->escalate_to, "group:bosses");
    EXPECT_EQ(proposal->retries_max, 100);
    ASSERT_TRUE(proposal->requirement);
    EXPECT_EQ(proposal->requirement->lines.size(), 2u);
    EXPECT_EQ(proposal->requirement->lines[0].quorum, 2);
    EXPECT_TRUE(proposal->requirement->reason_required);
    EXPECT_FALSE(proposal->requirement->modifiable);
    EXPECT_TRUE(proposal->requirement->exclude_requester);
}

TEST(ParseProposal, a_field_of_the_wrong_type_is_named) {
    const json::value wrong[]{json::value(json::array{1}), json::value(7), json::value("text"),
                              json::value(true), json::value(json::object{{"no", 1}})};
    // For each field: which of the values above are of a type it takes.
    struct Row {
        const char* field;
        std::vector<std::size_t> good;
    };
    const Row table[]{
        {"kind", {}},
        {"session", {2}},
        {"thread", {2}},
        {"task", {2}},
        {"user", {2}},
        {"action", {}},
        {"risk", {}},
        {"context", {4}},
        {"suggested", {0, 1, 2, 3, 4}},
        {"metadata", {4}},
        {"timeout_s", {1}},
        {"on_timeout", {}},
        {"remind_every_s", {1}},
        {"reminders_max", {1}},
        {"escalate_after_s", {1}},
        {"escalate_to", {2}},
        {"retries_max", {1}},
        {"requirement", {}},
    };
    for (const Row& row : table)
        for (std::size_t i = 0; i < std::size(wrong); ++i) {
            const bool is_good = std::count(row.good.begin(), row.good.end(), i) > 0;
            const Error error = failure(proposal_with(row.field, wrong[i]));
            if (is_good) {
                EXPECT_EQ(error.field, "-") << row.field << ": " << error.message;
                continue;
            }
            EXPECT_EQ(error.code, ErrorCode::invalid_argument) << row.field << " " << i;
            EXPECT_TRUE(error.field.starts_with(row.field)) << row.field << " " << error.field;
        }
}

TEST(ParseProposal, null_reads_as_absent) {
    for (const char* field :
         {"kind", "session", "thread", "task", "user", "risk", "context", "suggested", "metadata",
          "timeout_s", "on_timeout", "remind_every_s", "reminders_max", "escalate_after_s",
          "escalate_to", "retries_max", "requirement"})
        EXPECT_EQ(failure(proposal_with(field, nullptr)).field, "-") << field;
}

TEST(ParseProposal, what_is_out_of_bounds_is_named) {
    struct Row {
        const char* field;
        json::value value;
        const char* named;
    };
    const boost::json::string long_label(201, 'x');
    const Row table[]{
        {"kind", "wish", "kind"},
        {"session", long_label, "session"},
        {"session", "", "session"},
        {"session", "a\nb", "session"},
        {"thread", long_label, "thread"},
        {"task", long_label, "task"},
        {"user", long_label, "user"},
        {"escalate_to", long_label, "escalate_to"},
        {"risk", "extreme", "risk"},
        {"risk", json::object{{"level", "extreme"}}, "risk.level"},
        {"risk", json::object{{"factors", "x"}}, "risk.factors"},
        {"risk", json::object{{"consequences", json::array{1}}}, "risk.consequences[0]"},
        {"risk", json::object{{"reversibility", "maybe"}}, "risk.reversibility"},
        {"risk", json::object{{"confidence", 1.5}}, "risk.confidence"},
        {"risk", json::object{{"colour", "red"}}, "risk.colour"},
        {"suggested", boost::json::string(4096, 'x'), "suggested"},
        {"timeout_s", 0, "timeout_s"},
        {"timeout_s", 0.5, "timeout_s"},
        {"timeout_s", 2592001, "timeout_s"},
        {"on_timeout", "wait", "on_timeout"},
        {"remind_every_s", 0, "remind_every_s"},
        {"remind_every_s", 0.999, "remind_every_s"},
        {"reminders_max", -1, "reminders_max"},
        {"reminders_max", 1.5, "reminders_max"},
        {"escalate_after_s", -1, "escalate_after_s"},
        {"retries_max", 101, "retries_max"},
        {"requirement", json::object{{"lines", 1}}, "requirement.lines"},
        {"requirement", json::object{{"lines", json::array{1}}}, "requirement.lines[0]"},
        {"requirement", json::object{{"lines", json::array{json::object{{"quorum", 0}}}}},
         "requirement.lines[0].quorum"},
        {"requirement", json::object{{"lines", json::array{json::object{{"group", 1}}}}},
         "requirement.lines[0].group"},
        {"requirement",
         json::object{
             {"lines", json::array{json::object{{"group", "g"}, {"people", json::array{"p"}}}}}},
         "requirement.lines[0].people"},
        {"requirement",
         json::object{
             {"lines", json::array{json::object{{"people", json::array{"p"}}, {"quorum", 2}}}}},
         "requirement.lines[0].quorum"},
        {"requirement", json::object{{"reject_threshold", 2}}, "requirement.reject_threshold"},
        {"requirement", json::object{{"reason_required", 1}}, "requirement.reason_required"},
        {"requirement", json::object{{"modifiable", 1}}, "requirement.modifiable"},
        {"requirement", json::object{{"exclude_requester", 1}}, "requirement.exclude_requester"},
        {"approved", true, "approved"},
        {"digest", "sha256:00", "digest"},
        {"plan", json::object{}, "plan"},
    };
    for (const Row& row : table) {
        const Error error = failure(proposal_with(row.field, row.value));
        EXPECT_EQ(error.code, ErrorCode::invalid_argument) << row.named;
        EXPECT_EQ(error.field, row.named) << error.message;
    }
}

TEST(ParseProposal, T1_an_agent_cannot_ask_for_a_release_by_silence) {
    for (const char* action : {"approve", "default"}) {
        const Error error = failure(proposal_with("on_timeout", action));
        EXPECT_EQ(error.code, ErrorCode::refused) << action;
        EXPECT_EQ(error.field, "on_timeout");
    }
    for (const char* action : {"reject", "retry", "escalate", "abort", "skip"})
        EXPECT_EQ(failure(proposal_with("on_timeout", action)).field, "-") << action;
}

TEST(ParseProposal, the_object_must_be_the_kinds_own) {
    for (const Kind kind : core::test::all_kinds) {
        json::object body;
        body["kind"] = std::string(to_string(kind));
        EXPECT_EQ(failure(body).field, to_string(kind)) << "missing";
        body[to_string(kind)] = parsed(core::test::plain_subject(kind));
        EXPECT_EQ(failure(body).field, "-") << to_string(kind);
    }
    EXPECT_EQ(failure(json::array{}).message, "must be an object, not an array");
}

TEST(ParseBatch, Q9_defaults_reach_every_request_that_says_nothing) {
    const Result<std::vector<core::Proposal>> batch = parse_batch(parsed(
        R"({"session":"s","thread":"t","task":"k","user":"u","requests":[
            {"action":{"tool":"a"}},{"action":{"tool":"b"},"session":"own"}]})"));
    ASSERT_TRUE(batch);
    EXPECT_EQ((*batch)[0].session, "s");
    EXPECT_EQ((*batch)[0].thread, "t");
    EXPECT_EQ((*batch)[0].task, "k");
    EXPECT_EQ((*batch)[0].user, "u");
    EXPECT_EQ((*batch)[1].session, "own");
}

TEST(ParseBatch, errors_name_the_request) {
    const auto field = [](const std::string& text) {
        const auto batch = parse_batch(parsed(text));
        return batch ? std::string("-") : batch.error().field;
    };
    EXPECT_EQ(field("{}"), "requests");
    EXPECT_EQ(field(R"({"requests":[]})"), "requests");
    EXPECT_EQ(field(R"({"requests":{}})"), "requests");
    EXPECT_EQ(field(R"({"requests":[{"action":{"tool":"a"}},{"action":{}}]})"),
              "requests[1].action.tool");
    EXPECT_EQ(field(R"({"requests":[{"action":{"tool":"a"}}],"wait":1})"), "wait");
    std::string many;
    for (int i = 0; i < 101; ++i) many += std::string(i ? "," : "") + R"({"action":{"tool":"a"}})";
    EXPECT_EQ(field(R"({"requests":[)" + many + "]}"), "requests");
}

TEST(ParseDecision, D1_to_D7_each_is_read) {
    struct Row {
        const char* text;
        DecisionKind kind;
    };
    const Row table[]{
        {R"({"decision":"approve","note":"n","digest":"sha256:1"})", DecisionKind::approve},
        {R"({"decision":"approve","approved_steps":[1,3]})", DecisionKind::approve},
        {R"({"decision":"reject","reason":"r"})", DecisionKind::reject},
        {R"({"decision":"modify","arguments":{"a":1}})", DecisionKind::modify},
        {R"({"decision":"modify","plan":{"title":"t"}})", DecisionKind::modify},
        {R"({"decision":"modify","response":{"text":"t"}})", DecisionKind::modify},
        {R"({"decision":"defer","guidance":"g"})", DecisionKind::defer},
        {R"({"decision":"escalate","to":"group:x"})", DecisionKind::escalate},
        {R"({"decision":"abort"})", DecisionKind::abort},
        {R"({"decision":"answer","answer":null})", DecisionKind::answer},
        {R"({"decision":"answer","answer":[1]})", DecisionKind::answer},
    };
    for (const Row& row : table) {
        const Result<Decision> decision = parse_decision(parsed(row.text));
        ASSERT_TRUE(decision) << row.text << decision.error().message;
        EXPECT_EQ(decision->command.kind, row.kind) << row.text;
    }
    const auto modify = parse_decision(parsed(R"({"decision":"modify","plan":{"title":"t"}})"));
    EXPECT_EQ(modify->command.replacement.text, R"({"title":"t"})");
    EXPECT_EQ(modify->command.replacement_kind, Kind::plan);
    EXPECT_EQ(parse_decision(parsed(R"({"decision":"answer","answer":null})"))->command.answer.text,
              "null");
}

TEST(ParseDecision, every_error_names_its_field) {
    const std::string long_words(4001, 'x');
    const std::pair<std::string, const char*> table[]{
        {"[]", ""},
        {"{}", "decision"},
        {R"({"decision":null})", "decision"},
        {R"({"decision":1})", "decision"},
        {R"({"decision":"maybe"})", "decision"},
        {R"({"decision":"approve","digest":1})", "digest"},
        {R"({"decision":"approve","digest":""})", "digest"},
        {R"({"decision":"approve","note":[]})", "note"},
        {R"({"decision":"approve","note":")" + long_words + R"("})", "note"},
        {R"({"decision":"reject","reason":{}})", "reason"},
        {R"({"decision":"reject","reason":")" + long_words + R"("})", "reason"},
        {R"({"decision":"defer","guidance":1})", "guidance"},
        {R"({"decision":"defer","guidance":")" + long_words + R"("})", "guidance"},
        {R"({"decision":"escalate","to":1})", "to"},
        {R"({"decision":"escalate","to":"a\nb"})", "to"},
        {R"({"decision":"approve","to":"ann"})", "to"},
        {R"({"decision":"modify"})", "arguments"},
        {R"({"decision":"modify","arguments":[]})", "arguments"},
        {R"({"decision":"modify","plan":"x"})", "plan"},
        {R"({"decision":"modify","response":1})", "response"},
        {R"({"decision":"modify","arguments":{},"plan":{}})", "plan"},
        {R"({"decision":"approve","arguments":{}})", "arguments"},
        {R"({"decision":"approve","approved_steps":1})", "approved_steps"},
        {R"({"decision":"approve","approved_steps":[0]})", "approved_steps"},
        {R"({"decision":"approve","approved_steps":["1"]})", "approved_steps"},
        {R"({"decision":"approve","approved_steps":[1.5]})", "approved_steps"},
        {R"({"decision":"reject","approved_steps":[1]})", "approved_steps"},
        {R"({"decision":"answer"})", "answer"},
        {R"({"decision":"approve","answer":1})", "answer"},
        {R"({"decision":"approve","approved":true})", "approved"},
        {R"({"decision":"approve","by":"ann"})", "by"},
    };
    for (const auto& [text, field] : table) {
        const Error error = decision_failure(text);
        EXPECT_EQ(error.field, field) << text.substr(0, 80) << ": " << error.message;
        EXPECT_EQ(error.code, ErrorCode::invalid_argument) << text.substr(0, 80);
    }
}

TEST(ParseDecisions, Q9_a_bad_one_spoils_only_itself) {
    const Result<std::vector<BulkDecision>> decisions = parse_decisions(parsed(
        R"({"decisions":[{"id":"req_1","decision":"approve"},{"id":"req_2","decision":"nonsense"},
                         {"id":"req_3","decision":"reject"}]})"));
    ASSERT_TRUE(decisions);
    ASSERT_EQ(decisions->size(), 3u);
    EXPECT_TRUE((*decisions)[0].decision);
    ASSERT_FALSE((*decisions)[1].decision);
    EXPECT_EQ((*decisions)[1].decision.error().field, "decisions[1].decision");
    EXPECT_EQ((*decisions)[2].decision->command.kind, DecisionKind::reject);
    EXPECT_EQ((*decisions)[2].id, "req_3");
}

TEST(ParseDecisions, without_an_id_there_is_nothing_to_answer_about) {
    const auto field = [](std::string_view text) {
        const auto decisions = parse_decisions(parsed(text));
        return decisions ? std::string("-") : decisions.error().field;
    };
    EXPECT_EQ(field(R"({"decisions":[{"decision":"approve"}]})"), "decisions[0].id");
    EXPECT_EQ(field(R"({"decisions":[]})"), "decisions");
    EXPECT_EQ(field("{}"), "decisions");
    EXPECT_EQ(field(R"({"decisions":[7]})"), "decisions[0]");
}

TEST(ParseDecision, P7_a_grant_comes_with_an_approval_and_names_its_limits) {
    const Result<Decision> decision = parse_decision(parsed(
        R"({"decision":"approve","grant":{"for_s":3600,"uses":5,"sum":250.5,"session":true}})"));
    ASSERT_TRUE(decision) << decision.error().message;
    ASSERT_TRUE(decision->grant);
    EXPECT_EQ(decision->grant->ttl_ms, 3'600'000);
    EXPECT_EQ(decision->grant->uses, 5);
    EXPECT_EQ(decision->grant->sum, 250.5);
    EXPECT_TRUE(decision->grant->is_for_session);
    EXPECT_EQ(decision_failure(R"({"decision":"reject","grant":{}})").field, "grant");
    EXPECT_EQ(decision_failure(R"({"decision":"approve","grant":{"uses":0}})").field, "grant.uses");
    EXPECT_EQ(decision_failure(R"({"decision":"approve","grant":{"risk":"high"}})").field,
              "grant.risk");
}

TEST(ParseFollowUp, reports_cancellations_and_extensions) {
    const auto report_field = [](std::string_view text) {
        const auto report = parse_report(parsed(text));
        return report ? std::string("-") : report.error().field;
    };
    EXPECT_EQ(report_field(R"({"success":true,"result":{"a":1}})"), "-");
    EXPECT_EQ(report_field(R"({"success":false,"error":"e"})"), "-");
    EXPECT_EQ(report_field("{}"), "success");
    EXPECT_EQ(report_field(R"({"success":"yes"})"), "success");
    EXPECT_EQ(report_field(R"({"success":true,"error":"e"})"), "error");
    EXPECT_EQ(report_field(R"({"success":true,"cost":1.5,"tokens":900})"), "-");
    EXPECT_EQ(report_field(R"({"success":true,"cost":-1})"), "cost");
    EXPECT_EQ(report_field(R"({"success":true,"price":1})"), "price");
    EXPECT_EQ(*parse_cancel(parsed(R"({"reason":"r"})")), "r");
    EXPECT_EQ(*parse_cancel(parsed("{}")), "");
    EXPECT_EQ(parse_cancel(parsed(R"({"reason":1})")).error().field, "reason");
    EXPECT_EQ(*parse_extend(parsed(R"({"seconds":90})")), 90'000);
    for (const char* text :
         {"{}", R"({"seconds":0})", R"({"seconds":2592001})", R"({"seconds":"9"})"})
        EXPECT_EQ(parse_extend(parsed(text)).error().field, "seconds") << text;
}

using Parameters = std::vector<std::pair<std::string, std::string>>;

std::string list_field(const Parameters& parameters) {
    const Result<store::ListQuery> query = parse_list(parameters);
    return query ? "-" : query.error().field;
}

TEST(ParseQuery, S2_every_filter_is_read) {
    const BatchId batch = BatchId::fresh(core::test::start);
    const Result<store::ListQuery> query = parse_list({{"state", "settled"},
                                                       {"outcome", "expired"},
                                                       {"session", "s"},
                                                       {"thread", "t"},
                                                       {"task", "k"},
                                                       {"user", "u"},
                                                       {"agent", "a"},
                                                       {"tool", "o"},
                                                       {"risk", "critical"},
                                                       {"kind", "plan"},
                                                       {"batch", batch.text()},
                                                       {"since", "2026-01-01T00:00:00Z"},
                                                       {"until", "2026-01-02T00:00:00Z"},
                                                       {"cursor", cursor_of(255)},
                                                       {"limit", "7"}});
    ASSERT_TRUE(query) << query.error().field;
    EXPECT_EQ(query->filter.state, core::State::settled);
    EXPECT_EQ(query->filter.outcome, core::Outcome::expired);
    EXPECT_EQ(query->filter.session, "s");
    EXPECT_EQ(query->filter.thread, "t");
    EXPECT_EQ(query->filter.task, "k");
    EXPECT_EQ(query->filter.user, "u");
    EXPECT_EQ(query->filter.agent, "a");
    EXPECT_EQ(query->filter.tool, "o");
    EXPECT_EQ(query->filter.risk, core::RiskLevel::critical);
    EXPECT_EQ(query->filter.kind, Kind::plan);
    EXPECT_EQ(query->filter.batch, batch);
    EXPECT_EQ(*query->filter.until - *query->filter.since, 86'400'000);
    EXPECT_EQ(query->before_row, 255);
    EXPECT_EQ(query->limit, 7);
    EXPECT_EQ(parse_list({})->limit, 50);
}

TEST(ParseQuery, S2_what_is_wrong_unknown_or_repeated_is_named) {
    const std::pair<Parameters, const char*> table[]{
        {{{"state", "open"}}, "state"},
        {{{"outcome", "won"}}, "outcome"},
        {{{"risk", "huge"}}, "risk"},
        {{{"kind", "wish"}}, "kind"},
        {{{"batch", "req_1"}}, "batch"},
        {{{"since", "yesterday"}}, "since"},
        {{{"until", ""}}, "until"},
        {{{"session", ""}}, "session"},
        {{{"session", std::string(201, 'x')}}, "session"},
        {{{"limit", "0"}}, "limit"},
        {{{"limit", "101"}}, "limit"},
        {{{"limit", "5x"}}, "limit"},
        {{{"limit", " 5"}}, "limit"},
        {{{"limit", "1e1"}}, "limit"},
        {{{"page", "1"}}, "page"},
        {{{"session", "a"}, {"session", "b"}}, "session"},
        {{{"cursor", "ff"}}, "cursor"},
        {{{"cursor", "c1-"}}, "cursor"},
        {{{"cursor", "c1-0"}}, "cursor"},
        {{{"cursor", "c1--5"}}, "cursor"},
        {{{"cursor", "c1-5g"}}, "cursor"},
        {{{"cursor", "c1-fffffffffffffffff"}}, "cursor"},
    };
    for (const auto& [parameters, field] : table)
        EXPECT_EQ(list_field(parameters), field) << parameters[0].second;
}

TEST(ParseQuery, S2_a_cursor_reads_back) {
    for (const std::int64_t row : {1LL, 15LL, 4096LL, 9'000'000'000'000LL})
        EXPECT_EQ(parse_list({{"cursor", cursor_of(row)}})->before_row, row);
}

TEST(ParseQuery, a_wait_is_bounded) {
    EXPECT_EQ(*parse_wait({}, 300'000), 0);
    EXPECT_EQ(*parse_wait({{"wait", "0"}}, 300'000), 0);
    EXPECT_EQ(*parse_wait({{"wait", "1.5"}}, 300'000), 1500);
    EXPECT_EQ(*parse_wait({{"wait", "300"}}, 300'000), 300'000);
    for (const char* text : {"301", "-1", "x", "", "nan", "inf", "1s"})
        EXPECT_EQ(parse_wait({{"wait", text}}, 300'000).error().field, "wait") << text;
    EXPECT_EQ(parse_wait({{"wait", "1"}, {"wait", "1"}}, 300'000).error().field, "wait");
    EXPECT_EQ(parse_wait({{"timeout", "1"}}, 300'000).error().field, "timeout");
    EXPECT_TRUE(expect_no_query({}));
    EXPECT_EQ(expect_no_query({{"x", "1"}}).error().field, "x");
}

TEST(ParseList, a_long_word_is_not_repeated_whole) {
    const Result<store::ListQuery> list = parse_list({{"outcome", std::string(200, '\x14')}});
    ASSERT_FALSE(list);
    EXPECT_EQ(list.error().field, "outcome");
    EXPECT_LT(list.error().message.size(), 600u);
}

}  // namespace
}  // namespace holdpoint::wire
