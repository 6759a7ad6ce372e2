// What goes out: the request resource, events and errors.

#include "api/wire/errors.h"
#include "api/wire/request.h"
#include "core/expire.h"
#include "core/follow_up.h"
#include "core/test_requests.h"

namespace holdpoint::wire {
namespace {

using namespace core::test;
using core::DecisionKind;
using core::Kind;
using core::Request;

std::vector<std::string> names_in(const json::value& object) {
    std::vector<std::string> names;
    for (const auto& member : object.as_object()) names.emplace_back(member.key());
    return names;
}

using Names = std::vector<std::string>;

json::value rendered(const Request& request) { return parsed(to_json(request)); }

TEST(Render, W1_the_fields_of_a_request_stand_in_the_order_of_the_contract) {
    for (const Kind kind : all_kinds) {
        const std::string subject(to_string(kind));
        EXPECT_EQ(names_in(rendered(pending(kind))),
                  (Names{"id",         "kind",        "state",
                         "outcome",    "session",     "thread",
                         "task",       "user",        "agent",
                         "owner",      "batch",       subject,
                         "proposed",   "headline",    "risk",
                         "verdict",    "requirement", "votes",
                         "digest",     "created_at",  "expires_at",
                         "settled_at", "on_timeout",  "timed_out",
                         "reminders",  "escalation",  "retries",
                         "context",    "suggested",   "metadata",
                         "decision",   "release",     "message_for_agent",
                         "report",     "url"}));
    }
}

TEST(Render, W1_the_parts_have_their_fields_too) {
    core::Report report;
    report.is_success = true;
    const Request approved = decided(pending(), DecisionKind::approve, person("ann")).request;
    const Request request = core::report(approved, report, agent(), start)->request;
    const json::value body = rendered(request);
    EXPECT_EQ(names_in(body.at("risk")), (Names{"level", "factors", "consequences", "reversibility",
                                                "confidence", "claimed"}));
    EXPECT_EQ(names_in(body.at("verdict")), (Names{"kind", "rule", "gate", "because", "policy"}));
    EXPECT_EQ(names_in(body.at("requirement")),
              (Names{"lines", "reject_threshold", "reason_required", "modifiable",
                     "exclude_requester", "confirm"}));
    EXPECT_EQ(names_in(body.at("requirement").at("lines").at(0)),
              (Names{"group", "people", "quorum", "have"}));
    EXPECT_EQ(names_in(body.at("votes").at(0)), (Names{"decision", "by", "at"}));
    EXPECT_EQ(names_in(body.at("reminders")), (Names{"every_s", "max", "sent"}));
    EXPECT_EQ(names_in(body.at("escalation")), (Names{"after_s", "to", "done"}));
    EXPECT_EQ(names_in(body.at("retries")), (Names{"max", "done"}));
    EXPECT_EQ(names_in(body.at("decision")), (Names{"kind", "by", "via", "at", "note", "reason",
                                                    "guidance", "target", "arguments", "answer"}));
    EXPECT_EQ(names_in(body.at("release")), (Names{"arguments", "digest", "receipt"}));
    EXPECT_EQ(names_in(body.at("report")), (Names{"success", "result", "error", "at"}));
}

TEST(Render, what_is_absent_is_null) {
    const json::value body = rendered(pending());
    for (const char* name : {"outcome", "session", "thread", "task", "user", "batch", "proposed",
                             "settled_at", "timed_out", "context", "suggested", "metadata",
                             "decision", "release", "message_for_agent", "report"})
        EXPECT_TRUE(body.at(name).is_null()) << name;
    EXPECT_EQ(body.at("risk").at("factors"), json::array{});
    EXPECT_TRUE(body.at("reminders").at("every_s").is_null());
    EXPECT_EQ(body.at("url").as_string(), "/r/" + std::string(body.at("id").as_string()));
}

TEST(Render, risk_parts_given_as_null_are_as_good_as_absent) {
    Request request = pending();
    request.risk_detail.text =
        R"({"confidence":null,"consequences":null,"factors":null,"reversibility":null})";
    const json::value body = rendered(request);
    EXPECT_EQ(body.at("risk").at("factors"), json::array{});
    EXPECT_EQ(body.at("risk").at("consequences"), json::array{});
    EXPECT_TRUE(body.at("risk").at("confidence").is_null());
}

TEST(Render, the_release_is_there_exactly_when_it_may_run) {
    EXPECT_TRUE(rendered(pending()).at("release").is_null());
    EXPECT_TRUE(rendered(decided(pending(), DecisionKind::reject, person("ann")).request)
                    .at("release")
                    .is_null());
    const json::value modified =
        rendered(decided(pending(), DecisionKind::modify, person("ann")).request);
    EXPECT_EQ(modified.at("release").at("arguments").at("amount"), 4);
    EXPECT_EQ(modified.at("action").at("arguments").at("amount"), 4)
        << "the subject shows the change";
    EXPECT_EQ(modified.at("proposed").at("amount"), 5);
    EXPECT_EQ(modified.at("release").at("digest"), modified.at("digest"));
    for (const Kind kind : {Kind::plan, Kind::confirmation, Kind::response}) {
        const json::value body =
            rendered(decided(pending(kind), DecisionKind::approve, person("ann")).request);
        EXPECT_TRUE(body.at("release").at(to_string(kind)).is_object()) << to_string(kind);
    }
    EXPECT_TRUE(rendered(decided(pending(Kind::input), DecisionKind::answer, person("ann")).request)
                    .at("release")
                    .is_null());
}

TEST(Render, T5_a_timeout_is_called_by_its_name) {
    const Request expired = core::tick(pending(), start + 5 * minute)->request;
    const json::value body = rendered(expired);
    EXPECT_EQ(body.at("outcome").as_string(), "expired");
    EXPECT_EQ(body.at("timed_out").at("action").as_string(), "reject");
    EXPECT_TRUE(body.at("decision").is_null());
}

TEST(Render, user_text_is_always_valid_json) {
    Request request = pending();
    request.session = "a\"b\\c\n\x01";
    request.agent = "\xff\xfe";
    const json::value body = rendered(request);
    EXPECT_EQ(body.at("session").as_string(), "a\"b\\c\n\x01");
}

TEST(Sse, H7_an_event_has_id_name_and_one_line_of_data) {
    const Request request = pending();
    store::Change change;
    change.event.seq = 42;
    change.event.event = {core::EventKind::requested, request.id, start, "bot", "key", "", {}};
    change.request = std::make_shared<const Request>(request);
    const std::string text = to_sse(change);
    EXPECT_TRUE(text.starts_with("id: 42\nevent: approval-required\ndata: {")) << text;
    EXPECT_TRUE(text.ends_with("}\n\n"));
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 4);
    const json::value data =
        parsed(text.substr(text.find('{'), text.rfind('}') - text.find('{') + 1));
    EXPECT_EQ(names_in(data), (Names{"seq", "type", "at", "actor", "via", "address", "detail",
                                     "approvalId", "toolName", "input", "message", "request"}));
    EXPECT_EQ(data.at("type").as_string(), "approval-required");
    EXPECT_EQ(data.at("input").at("amount"), 5);
}

TEST(Sse, H7_S3_the_stream_tells_as_much_of_an_event_as_the_timeline) {
    const Request request = pending();
    store::Change change;
    change.event.seq = 43;
    change.event.event = {
        core::EventKind::settled, request.id, start, "ann", "browser", "192.0.2.7",
        {R"({"reason":"no"})"}};
    change.request = std::make_shared<const Request>(request);
    const std::string text = to_sse(change);
    const json::value told =
        parsed(text.substr(text.find('{'), text.rfind('}') - text.find('{') + 1));
    const json::value entry = parsed(events_json({change.event})).at("events").at(0);
    for (const auto& [name, value] : entry.as_object()) EXPECT_EQ(told.at(name), value) << name;
    EXPECT_EQ(told.at("via").as_string(), "browser");
    EXPECT_EQ(told.at("address").as_string(), "192.0.2.7");
    EXPECT_EQ(told.at("detail").at("reason").as_string(), "no");
}

TEST(Sse, H7_every_event_has_its_name) {
    using core::EventKind;
    const std::pair<EventKind, const char*> table[]{
        {EventKind::requested, "approval-required"}, {EventKind::voted, "decision-recorded"},
        {EventKind::settled, "request-settled"},     {EventKind::reminded, "request-reminded"},
        {EventKind::escalated, "request-escalated"}, {EventKind::retried, "request-retried"},
        {EventKind::extended, "request-extended"},   {EventKind::reported, "tool-result"},
        {EventKind::held, "decision-held"},          {EventKind::undone, "decision-undone"},
    };
    for (const auto& [kind, name] : table) EXPECT_EQ(public_name(kind), name);
}

TEST(Words, every_word_reads_back) {
    const auto check = []<class Word>(Word last) {
        for (int i = 0; i <= static_cast<int>(last); ++i) {
            const Word word = static_cast<Word>(i);
            EXPECT_EQ(core::parse_word<Word>(to_string(word)), word) << to_string(word);
        }
        EXPECT_FALSE(core::parse_word<Word>(""));
        EXPECT_FALSE(core::parse_word<Word>("Action"));
    };
    check(Kind::response);
    check(core::State::settled);
    check(core::Outcome::cancelled);
    check(core::RiskLevel::critical);
    check(DecisionKind::answer);
    check(core::TimeoutAction::use_default);
    check(core::VerdictKind::deny);
    check(core::EventKind::undone);
    EXPECT_EQ(to_string(core::TimeoutAction::use_default), "default");
}

struct Coded {
    ErrorCode code;
    const char* word;
    int status;
};
const Coded codes[]{
    {ErrorCode::invalid_argument, "invalid_argument", 400},
    {ErrorCode::unauthenticated, "unauthenticated", 401},
    {ErrorCode::permission_denied, "permission_denied", 403},
    {ErrorCode::not_found, "not_found", 404},
    {ErrorCode::method_not_allowed, "method_not_allowed", 405},
    {ErrorCode::conflict, "conflict", 409},
    {ErrorCode::expired, "expired", 410},
    {ErrorCode::too_large, "too_large", 413},
    {ErrorCode::unsupported_media_type, "unsupported_media_type", 415},
    {ErrorCode::refused, "refused", 422},
    {ErrorCode::rate_limited, "rate_limited", 429},
    {ErrorCode::internal, "internal", 500},
    {ErrorCode::unavailable, "unavailable", 503},
};

TEST(Errors, W1_every_code_has_its_word_and_status) {
    EXPECT_EQ(std::size(codes), static_cast<std::size_t>(ErrorCode::internal) + 1);
    for (const Coded& row : codes) {
        EXPECT_EQ(to_string(row.code), row.word);
        EXPECT_EQ(http_status(row.code), row.status) << row.word;
    }
}

TEST(Errors, have_one_form) {
    EXPECT_EQ(error_json({ErrorCode::not_found, "no \"such\" thing"}),
              R"({"error":{"code":"not_found","message":"no \"such\" thing"}})");
    EXPECT_EQ(
        error_json({ErrorCode::invalid_argument, "is missing", "action.tool"}),
        R"({"error":{"code":"invalid_argument","message":"is missing","field":"action.tool"}})");
    EXPECT_EQ(engine_error(408, "invalid_argument", "too slow"),
              R"({"error":{"code":"invalid_argument","message":"too slow"}})");
}

TEST(Errors, D8_conflict_and_expiry_carry_the_request_and_others_do_not) {
    const Request request = pending();
    for (const Coded& row : codes) {
        const http::Response response = to_response({row.code, "m"}, &request);
        EXPECT_EQ(response.status, row.status);
        const bool shows = row.code == ErrorCode::conflict || row.code == ErrorCode::expired;
        EXPECT_EQ(parsed(response.body).at("error").as_object().contains("request"), shows)
            << row.word;
    }
}

TEST(Errors, carry_the_headers_that_belong_to_them) {
    const auto header = [](const Error& error, std::string_view name) -> std::string {
        for (const auto& [key, value] : to_response(error).headers)
            if (key == name) return value;
        return "-";
    };
    EXPECT_EQ(header({ErrorCode::unauthenticated, "m"}, "WWW-Authenticate"), "Bearer");
    EXPECT_EQ(header({ErrorCode::rate_limited, "m", "", 7}, "Retry-After"), "7");
    EXPECT_EQ(header({ErrorCode::rate_limited, "m"}, "Retry-After"), "1");
    EXPECT_EQ(header({ErrorCode::unavailable, "m"}, "Retry-After"), "1");
    EXPECT_EQ(header({ErrorCode::conflict, "m"}, "Retry-After"), "-");
}

}  // namespace
}  // namespace holdpoint::wire
