#include "core/subject.h"

#include "core/secret.h"
#include "core/test_requests.h"

namespace holdpoint::core {
namespace {

using namespace test;

Error failure(Kind kind, std::string_view text) {
    const Result<Subject> subject = check_subject(kind, parsed(text), to_string(kind));
    if (subject) return {ErrorCode::internal, "it was accepted", "-"};
    return subject.error();
}

std::string canonical(Kind kind, std::string_view text) {
    const Result<Subject> subject = check_subject(kind, parsed(text), to_string(kind));
    return subject ? subject->text.text : subject.error().field + " " + subject.error().message;
}

TEST(Subject, Q1_an_action_is_completed_with_its_defaults_in_canonical_order) {
    EXPECT_EQ(canonical(Kind::action, R"({"tool":"ping"})"),
              R"({"arguments":{},"tool":"ping","type":"tool_call"})");
    EXPECT_EQ(canonical(Kind::action, R"({"tool":"ping","arguments":null,"reversible":null})"),
              R"({"arguments":{},"tool":"ping","type":"tool_call"})");
    EXPECT_EQ(
        canonical(Kind::action,
                  R"({"type":"http","tool":"t","reversible":false,"expected_outcome":"o",)"
                  R"("estimated_cost":12.50,"description":"d","arguments":{"b":1,"a":[2,{}]}})"),
        R"({"arguments":{"a":[2,{}],"b":1},"description":"d","estimated_cost":12.5,)"
        R"("expected_outcome":"o","reversible":false,"tool":"t","type":"http"})");
}

TEST(Subject, the_canonical_text_of_an_action_is_what_the_canonical_writer_writes) {
    const std::string text = canonical(
        Kind::action,
        R"({"tool":"tü\"\\x","description":"a\nbé","arguments":{"é":1,"\u0001":"\u2028"},"reversible":true})");
    EXPECT_EQ(json::canonical(parsed(text)), text);
}

TEST(Subject, every_error_names_its_field) {
    struct Row {
        Kind kind;
        const char* text;
        const char* field;
    };
    const std::string long_name(201, 'x');
    const std::string long_tool = R"({"tool":")" + long_name + R"("})";
    const Row table[]{
        {Kind::action, "[]", "action"},
        {Kind::action, "{}", "action.tool"},
        {Kind::action, R"({"tool":""})", "action.tool"},
        {Kind::action, R"({"tool":7})", "action.tool"},
        {Kind::action, R"({"tool":"a\nb"})", "action.tool"},
        {Kind::action, long_tool.c_str(), "action.tool"},
        {Kind::action, R"({"tool":"t","arguments":[]})", "action.arguments"},
        {Kind::action, R"({"tool":"t","arguments":"x"})", "action.arguments"},
        {Kind::action, R"({"tool":"t","type":1})", "action.type"},
        {Kind::action, R"({"tool":"t","description":1})", "action.description"},
        {Kind::action, R"({"tool":"t","expected_outcome":{}})", "action.expected_outcome"},
        {Kind::action, R"({"tool":"t","reversible":"yes"})", "action.reversible"},
        {Kind::action, R"({"tool":"t","estimated_cost":-1})", "action.estimated_cost"},
        {Kind::action, R"({"tool":"t","estimated_cost":"1"})", "action.estimated_cost"},
        {Kind::action, R"({"tool":"t","args":{}})", "action.args"},
        {Kind::plan, R"({"steps":[{"action":"a"}]})", "plan.title"},
        {Kind::plan, R"({"title":"t"})", "plan.steps"},
        {Kind::plan, R"({"title":"t","steps":[]})", "plan.steps"},
        {Kind::plan, R"({"title":"t","steps":{}})", "plan.steps"},
        {Kind::plan, R"({"title":"t","steps":["a"]})", "plan.steps[0]"},
        {Kind::plan, R"({"title":"t","steps":[{"action":"a"},{}]})", "plan.steps[1].action"},
        {Kind::plan, R"({"title":"t","steps":[{"action":"a","order":2},{"action":"b","order":2}]})",
         "plan.steps[1].order"},
        {Kind::plan, R"({"title":"t","steps":[{"action":"a","order":0}]})", "plan.steps[0].order"},
        {Kind::plan, R"({"title":"t","steps":[{"action":"a","optional":1}]})",
         "plan.steps[0].optional"},
        {Kind::plan, R"({"title":"t","steps":[{"action":"a","cost":1}]})", "plan.steps[0].cost"},
        {Kind::plan, R"({"title":"t","steps":[{"action":"a"}],"modifiable":"no"})",
         "plan.modifiable"},
        {Kind::plan, R"({"title":"t","steps":[{"action":"a"}],"estimated_duration_s":-1})",
         "plan.estimated_duration_s"},
        {Kind::input, R"({"type":"text"})", "input.question"},
        {Kind::input, R"({"question":"q","type":"colour"})", "input.type"},
        {Kind::input, R"({"question":"q","required":1})", "input.required"},
        {Kind::input, R"({"question":"q","min":1})", "input.min"},
        {Kind::input, R"({"question":"q","max":1})", "input.max"},
        {Kind::input, R"({"question":"q","type":"number","min":2,"max":1})", "input.min"},
        {Kind::input, R"({"question":"q","type":"number","max_length":5})", "input.max_length"},
        {Kind::input, R"({"question":"q","max_length":0})", "input.max_length"},
        {Kind::input, R"({"question":"q","type":"choice"})", "input.options"},
        {Kind::input, R"({"question":"q","type":"multi_choice","options":[]})", "input.options"},
        {Kind::input, R"({"question":"q","type":"choice","options":["a","a"]})", "input.options"},
        {Kind::input, R"({"question":"q","type":"choice","options":["a",1]})", "input.options[1]"},
        {Kind::input, R"({"question":"q","options":["a"]})", "input.options"},
        {Kind::input, R"({"question":"q","type":"number","default":"x"})", "input.default"},
        {Kind::input, R"({"question":"q","type":"number","max":3,"default":4})", "input.default"},
        {Kind::input, R"({"question":"q","type":"choice","options":["a"],"default":"b"})",
         "input.default"},
        {Kind::input, R"({"question":"q","hint":"h"})", "input.hint"},
        {Kind::confirmation, "{}", "confirmation.message"},
        {Kind::confirmation, R"({"message":"m","details":1})", "confirmation.details"},
        {Kind::confirmation, R"({"message":"m","confirm_label":""})", "confirmation.confirm_label"},
        {Kind::confirmation, R"({"message":"m","cancel_label":3})", "confirmation.cancel_label"},
        {Kind::confirmation, R"({"message":"m","colour":"red"})", "confirmation.colour"},
        {Kind::response, "{}", "response.text"},
        {Kind::response, R"({"text":""})", "response.text"},
        {Kind::response, R"({"text":"t","format":"html"})", "response.format"},
        {Kind::response, R"({"text":"t","style":"x"})", "response.style"},
    };
    for (const Row& row : table) {
        const Error error = failure(row.kind, row.text);
        EXPECT_EQ(error.field, row.field) << row.text << ": " << error.message;
        EXPECT_TRUE(error.code == ErrorCode::invalid_argument || error.code == ErrorCode::refused)
            << row.text;
    }
}

TEST(Subject, Q2_steps_are_numbered_and_what_an_agent_claims_is_approved_is_ignored) {
    EXPECT_EQ(
        canonical(Kind::plan, R"({"title":"t","steps":[{"action":"a","approved":true},)"
                              R"({"action":"b","order":5},{"action":"c"}]})"),
        R"({"modifiable":true,"steps":[{"action":"a","optional":false,"order":1},)"
        R"({"action":"b","optional":false,"order":5},{"action":"c","optional":false,"order":6}],)"
        R"("title":"t"})");
}

TEST(Subject, Q2_a_plan_has_at_most_two_hundred_steps) {
    std::string steps;
    for (int i = 0; i < 201; ++i) steps += std::string(i > 0 ? "," : "") + R"({"action":"a"})";
    EXPECT_EQ(failure(Kind::plan, R"({"title":"t","steps":[)" + steps + "]}").field, "plan.steps");
}

TEST(Subject, Q4_a_confirmation_names_its_buttons) {
    EXPECT_EQ(canonical(Kind::confirmation, R"({"message":"m"})"),
              R"({"cancel_label":"Cancel","confirm_label":"Confirm","message":"m"})");
    EXPECT_EQ(
        canonical(Kind::confirmation,
                  R"({"message":"m","details":"d","confirm_label":"Go","cancel_label":"No"})"),
        R"({"cancel_label":"No","confirm_label":"Go","details":"d","message":"m"})");
}

TEST(Subject, the_headline_is_ours_short_and_shows_what_hides) {
    const auto line = [](Kind kind, std::string_view text) {
        return check_subject(kind, parsed(text), "x")->headline;
    };
    EXPECT_EQ(line(Kind::action, R"({"tool":"ping"})"), "ping()");
    EXPECT_EQ(
        line(
            Kind::action,
            R"({"tool":"pay","arguments":{"a":1,"b":"x","c":{"d":1},"e":[1,2],"f":[],"g":{},"h":null}})"),
        R"(pay(a: 1, b: "x", c: {…}, e: [2 items], f: [], g: {}, h: null))");
    EXPECT_EQ(line(Kind::action, "{\"tool\":\"a\\u202eb\"}"), "a<U+202E>b()");
    EXPECT_EQ(line(Kind::plan, R"({"title":"T","steps":[{"action":"a"}]})"), "Plan: T (1 step)");
    EXPECT_EQ(line(Kind::input, R"({"question":"Why?"})"), "Question: Why?");
    EXPECT_EQ(line(Kind::confirmation, R"({"message":"Sure?"})"), "Confirm: Sure?");
    EXPECT_EQ(line(Kind::response, R"({"text":"two\nlines"})"), "Final answer: two<U+000A>lines");
    std::string wide = R"({"tool":"t","arguments":{)";
    for (int i = 0; i < 100; ++i) wide += "\"key" + std::to_string(i) + "\":\"value\",";
    wide.back() = '}';
    EXPECT_LE(line(Kind::action, wide + "}").size(), 240u);
}

TEST(Subject, the_headline_hides_what_has_a_secret_name) {
    const auto line = [](std::string_view text) {
        return check_subject(Kind::action, parsed(text), "x")->headline;
    };
    EXPECT_EQ(line(R"({"tool":"login","arguments":{"password":"hunter2","user":"ann"}})"),
              R"(login(password: •••, user: "ann"))");
    for (const char* name :
         {"passwd", "Passphrase", "client_secret", "accessToken", "api_key", "api-key", "apiKey",
          "PRIVATE_KEY", "credentials", "Authorization", "session-cookie"})
        for (const char* value : {"\"hunter2\"", "1234", "{\"a\":\"hunter2\"}", "[\"hunter2\"]"})
            EXPECT_EQ(
                line(std::string(R"({"tool":"t","arguments":{")") + name + "\":" + value + "}}"),
                std::string("t(") + name + ": •••)");
    const Result<Subject> changed =
        modify_subject(Kind::action, {R"({"arguments":{"password":"a"},"tool":"login"})"},
                       {R"({"password":"hunter2"})"});
    ASSERT_TRUE(changed);
    EXPECT_EQ(changed->headline, "login(password: •••)");
    EXPECT_EQ(action_headline("pay", parsed(R"({"amount":1,"iban":"DE1"})").as_object(), {"iban"}),
              "pay(amount: 1, iban: •••)");
}

TEST(Secrets, are_hidden_at_any_depth) {
    EXPECT_EQ(json::canonical(
                  without_secrets(parsed(R"({"a":[{"token":7}],"b":{"secret":{"c":1},"d":"e"}})"))),
              R"({"a":[{"token":"•••"}],"b":{"d":"e","secret":"•••"}})");
}

struct AnswerRow {
    const char* input;
    const char* answer;
    bool is_good;
};

TEST(Answer, Q3_each_type_takes_its_values_and_refuses_others) {
    const AnswerRow table[]{
        {R"({"question":"q"})", R"("hello")", true},
        {R"({"question":"q"})", R"("")", false},
        {R"({"question":"q","required":false})", R"("")", true},
        {R"({"question":"q"})", "7", false},
        {R"({"question":"q"})", "null", false},
        {R"({"question":"q","required":false})", "null", true},
        {R"({"question":"q","max_length":3})", R"("abc")", true},
        {R"({"question":"q","max_length":3})", R"("abcd")", false},
        {R"({"question":"q","type":"number"})", "0", true},
        {R"({"question":"q","type":"number"})", "-1.5", true},
        {R"({"question":"q","type":"number"})", R"("1")", false},
        {R"({"question":"q","type":"number"})", "true", false},
        {R"({"question":"q","type":"number","min":1,"max":3})", "1", true},
        {R"({"question":"q","type":"number","min":1,"max":3})", "3", true},
        {R"({"question":"q","type":"number","min":1,"max":3})", "0.999", false},
        {R"({"question":"q","type":"number","min":1,"max":3})", "3.001", false},
        {R"({"question":"q","type":"choice","options":["a","b"]})", R"("b")", true},
        {R"({"question":"q","type":"choice","options":["a","b"]})", R"("c")", false},
        {R"({"question":"q","type":"choice","options":["a","b"]})", R"(["a"])", false},
        {R"({"question":"q","type":"choice","options":["1"]})", "1", false},
        {R"({"question":"q","type":"choice","options":["a\"b\\"]})", R"("a\"b\\")", true},
        {R"({"question":"q","type":"multi_choice","options":["a","b"]})", R"(["b","a"])", true},
        {R"({"question":"q","type":"multi_choice","options":["a","b"]})", R"(["a","a"])", false},
        {R"({"question":"q","type":"multi_choice","options":["a","b"]})", R"(["c"])", false},
        {R"({"question":"q","type":"multi_choice","options":["a","b"]})", R"("a")", false},
        {R"({"question":"q","type":"multi_choice","options":["a","b"]})", "[]", false},
        {R"({"question":"q","type":"multi_choice","options":["a"],"required":false})", "[]", true},
        {R"({"question":"q","type":"date"})", R"("2026-11-15")", true},
        {R"({"question":"q","type":"date"})", R"("2024-02-29")", true},
        {R"({"question":"q","type":"date"})", R"("1958-07-04")", true},
        {R"({"question":"q","type":"date"})", R"("2026-02-29")", false},
        {R"({"question":"q","type":"date"})", R"("2026-13-01")", false},
        {R"({"question":"q","type":"date"})", R"("2026-11-15T00:00:00Z")", false},
        {R"({"question":"q","type":"date"})", R"("15.11.2026")", false},
        {R"({"question":"q","type":"date"})", R"("2026/11/15")", false},
        {R"({"question":"q","type":"date"})", "20261115", false},
        {R"({"question":"q","type":"file"})", R"({"name":"a.txt","content_base64":"aGk="})", true},
        {R"({"question":"q","type":"file"})",
         R"({"name":"a.txt","content_base64":"aGVsbG8h","media_type":"text/plain"})", true},
        {R"({"question":"q","type":"file"})", R"({"name":"a.txt"})", false},
        {R"({"question":"q","type":"file"})", R"({"content_base64":"aGk="})", false},
        {R"({"question":"q","type":"file"})", R"({"name":"a","content_base64":"aGk"})", false},
        {R"({"question":"q","type":"file"})", R"({"name":"a","content_base64":"a-k="})", false},
        {R"({"question":"q","type":"file"})", R"({"name":"a","content_base64":"a=k="})", false},
        {R"({"question":"q","type":"file"})", R"({"name":"a","content_base64":"a==="})", false},
        {R"({"question":"q","type":"file"})", R"({"name":"a","content_base64":"aGk=","x":1})",
         false},
        {R"({"question":"q","type":"file"})", R"("aGk=")", false},
    };
    for (const AnswerRow& row : table) {
        const JsonText input = check_subject(Kind::input, parsed(row.input), "input")->text;
        const Result<JsonText> answer = check_answer(input, parsed(row.answer));
        EXPECT_EQ(answer.has_value(), row.is_good)
            << row.input << " answered " << row.answer << ": "
            << (answer ? std::string("accepted") : answer.error().message);
        if (answer) {
            EXPECT_EQ(answer->text, json::canonical(parsed(row.answer)));
        } else {
            EXPECT_EQ(answer.error().code, ErrorCode::refused) << row.answer;
            EXPECT_TRUE(answer.error().field.starts_with("answer")) << answer.error().field;
        }
    }
}

TEST(Answer, Q3_a_file_beyond_the_limit_is_refused) {
    const JsonText input =
        check_subject(Kind::input, parsed(R"({"question":"q","type":"file"})"), "i")->text;
    json::object file;
    file["name"] = "big";
    file["content_base64"] = std::string((128 * 1024 / 3 + 2) * 4, 'A');
    EXPECT_FALSE(check_answer(input, file));
    file["content_base64"] = std::string(128 * 1024 / 3 * 4, 'A');
    EXPECT_TRUE(check_answer(input, file));
}

TEST(Subject, what_people_may_change_are_the_arguments_or_the_whole) {
    EXPECT_EQ(changeable_part(Kind::action, proposal().subject), R"({"amount":5,"order":"A-1"})");
    for (const Kind kind : {Kind::plan, Kind::input, Kind::confirmation, Kind::response})
        EXPECT_EQ(changeable_part(kind, proposal(kind).subject), proposal(kind).subject.text);
}

}  // namespace
}  // namespace holdpoint::core
