#include "base/json_fields.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

namespace holdpoint::json {
namespace {

value parsed(std::string_view text) {
    Result<value> result = parse(text);
    if (!result) throw std::runtime_error(result.error().message);
    return std::move(*result);
}

/// What finish() says after `read` has read from the object.
template <class Read>
Error failure(std::string_view text, Read read, std::string path = "") {
    const value body = parsed(text);
    Fields fields(body, std::move(path));
    read(fields);
    const Result<void> result = fields.finish();
    if (result) return {ErrorCode::internal, "nothing was wrong", "-"};
    return result.error();
}

TEST(Fields, read_what_is_there) {
    const value body = parsed(
        R"({"text":"a\nb","number":1.5,"integer":7,"yes":true,"texts":["x","y"],"any":{"k":null},"word":"red"})");
    Fields fields(body, "body");
    EXPECT_EQ(fields.required_text("text"), "a\nb");
    EXPECT_EQ(fields.number("number", {0, 2}), 1.5);
    EXPECT_EQ(fields.integer("integer", 7, 7), 7);
    EXPECT_EQ(fields.boolean("yes"), true);
    EXPECT_EQ(fields.texts("texts", 2), (std::vector<std::string>{"x", "y"}));
    ASSERT_NE(fields.any("any"), nullptr);
    EXPECT_TRUE(fields.any("any")->is_object());
    EXPECT_EQ(fields.word("word", {"red", "blue"}), "red");
    EXPECT_TRUE(fields.finish());
}

TEST(Fields, absent_and_null_read_as_nothing) {
    for (const char* text : {"{}", R"({"a":null})"}) {
        const value body = parsed(text);
        Fields fields(body, "");
        EXPECT_FALSE(fields.text("a"));
        EXPECT_FALSE(fields.number("a", {0, 1}));
        EXPECT_FALSE(fields.integer("a", 0, 1));
        EXPECT_FALSE(fields.boolean("a"));
        EXPECT_FALSE(fields.texts("a", 3));
        EXPECT_FALSE(fields.word("a", {"x"}));
        EXPECT_TRUE(fields.finish()) << text;
    }
}

TEST(Fields, null_is_a_value_to_whoever_asks_for_any) {
    const value body = parsed(R"({"a":null})");
    Fields fields(body, "");
    ASSERT_NE(fields.any("a"), nullptr);
    EXPECT_TRUE(fields.any("a")->is_null());
    EXPECT_EQ(fields.any("b"), nullptr);
}

TEST(Fields, every_error_names_its_field) {
    struct Row {
        const char* text;
        void (*read)(Fields&);
        const char* field;
        const char* message;
    };
    const Row table[]{
        {R"({})", [](Fields& f) { f.required_text("a"); }, "p.a", "is missing"},
        {R"({"a":null})", [](Fields& f) { f.required_text("a"); }, "p.a", "is missing"},
        {R"({"a":1})", [](Fields& f) { f.required_text("a"); }, "p.a",
         "must be a string, not a number"},
        {R"({"a":[]})", [](Fields& f) { f.text("a"); }, "p.a", "must be a string, not an array"},
        {R"({"a":""})", [](Fields& f) { f.text("a", {.min = 1}); }, "p.a", "must not be empty"},
        {R"({"a":"x"})", [](Fields& f) { f.text("a", {.min = 2}); }, "p.a",
         "is shorter than 2 bytes"},
        {R"({"a":"xyz"})", [](Fields& f) { f.text("a", {.max = 2}); }, "p.a",
         "has 3 bytes, at most 2 are allowed"},
        {R"({"a":"x\ny"})", [](Fields& f) { f.text("a", {.is_one_line = true}); }, "p.a",
         "must not contain control characters"},
        {R"({"a":"x\u007f"})", [](Fields& f) { f.text("a", {.is_one_line = true}); }, "p.a",
         "must not contain control characters"},
        {R"({"a":"1"})", [](Fields& f) { f.number("a", {0, 1}); }, "p.a",
         "must be a number, not a string"},
        {R"({"a":2})", [](Fields& f) { f.number("a", {0, 1}); }, "p.a", "must lie between 0 and 1"},
        {R"({"a":-0.5})", [](Fields& f) { f.number("a", {0, 1}); }, "p.a",
         "must lie between 0 and 1"},
        {R"({"a":1.5})", [](Fields& f) { f.integer("a", 0, 9); }, "p.a", "must be a whole number"},
        {R"({"a":10})", [](Fields& f) { f.integer("a", 0, 9); }, "p.a", "must lie between 0 and 9"},
        {R"({"a":true})", [](Fields& f) { f.integer("a", 0, 9); }, "p.a",
         "must be a number, not a boolean"},
        {R"({"a":0})", [](Fields& f) { f.boolean("a"); }, "p.a",
         "must be true or false, not a number"},
        {R"({"a":"x"})", [](Fields& f) { f.texts("a", 3); }, "p.a",
         "must be an array of strings, not a string"},
        {R"({"a":["x","y"]})", [](Fields& f) { f.texts("a", 1); }, "p.a",
         "has 2 entries, at most 1 are allowed"},
        {R"({"a":["x",{}]})", [](Fields& f) { f.texts("a", 3); }, "p.a[1]",
         "must be a string, not an object"},
        {R"({"a":["x",""]})", [](Fields& f) { f.texts("a", 3, {.min = 1}); }, "p.a[1]",
         "must not be empty"},
        {R"({"a":"green"})", [](Fields& f) { f.word("a", {"red", "blue"}); }, "p.a",
         "`green` is none of red, blue"},
        {R"({})", [](Fields& f) { f.required("a"); }, "p.a", "is missing"},
        {R"({"a":1,"b":2})", [](Fields& f) { f.any("a"); }, "p.b", "is not a field known here"},
        {R"([])", [](Fields&) {}, "p", "must be an object, not an array"},
        {R"("x")", [](Fields& f) { f.required_text("a"); }, "p", "must be an object, not a string"},
        {R"(null)", [](Fields&) {}, "p", "must be an object, not null"},
    };
    for (const Row& row : table) {
        const Error error = failure(row.text, row.read, "p");
        EXPECT_EQ(error.code, ErrorCode::invalid_argument) << row.text;
        EXPECT_EQ(error.field, row.field) << row.text;
        EXPECT_EQ(error.message, row.message) << row.text;
    }
}

TEST(Fields, at_the_top_a_field_is_named_without_a_path) {
    EXPECT_EQ(failure("{}", [](Fields& f) { f.required_text("a"); }).field, "a");
}

TEST(Fields, the_first_error_wins) {
    const Error error = failure(R"({"b":1,"unknown":2})", [](Fields& fields) {
        fields.required_text("a");
        fields.text("b");
        fields.refuse("c", "also wrong", ErrorCode::refused);
        EXPECT_TRUE(fields.has_failed());
    });
    EXPECT_EQ(error.field, "a");
    EXPECT_EQ(error.message, "is missing");
}

TEST(Fields, an_error_comes_before_an_unknown_field) {
    EXPECT_EQ(failure(R"({"zzz":1,"a":1})", [](Fields& f) { f.text("a"); }).field, "a");
}

TEST(Fields, a_caller_can_refuse_with_a_code_of_its_own) {
    const Error error =
        failure("{}", [](Fields& f) { f.refuse("a", "not now", ErrorCode::refused); }, "p");
    EXPECT_EQ(error.code, ErrorCode::refused);
    EXPECT_EQ(error.field, "p.a");
}

TEST(Fields, an_unknown_name_is_shown_harmlessly_and_cut) {
    const Error error = failure("{\"a\\u202eb\":1}", [](Fields&) {});
    EXPECT_EQ(error.field, "a<U+202E>b");
    const Error longer =
        failure(std::string("{\"") + std::string(3000, 'x') + "\":1}", [](Fields&) {});
    EXPECT_LT(longer.field.size(), 100u);
}

TEST(Fields, of_many_members_an_unknown_one_is_found) {
    std::string text = "{\"known\":1";
    for (int i = 0; i < 100; ++i) text += fmt::format(",\"x{}\":1", i);
    const Error error =
        failure(text + ",\"also\":2}", [](Fields& f) { f.any("known"), f.any("also"); });
    EXPECT_EQ(error.field, "x0");
}

TEST(Fields, limits_themselves_are_allowed) {
    const value body = parsed(R"({"t":"xy","n":5,"i":-3})");
    Fields fields(body, "");
    EXPECT_TRUE(fields.text("t", {.min = 2, .max = 2}));
    EXPECT_TRUE(fields.number("n", {5, 5}));
    EXPECT_TRUE(fields.integer("i", -3, -3));
    EXPECT_TRUE(fields.finish());
}

}  // namespace
}  // namespace holdpoint::json
