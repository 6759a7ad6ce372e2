#include <gmock/gmock.h>

#include "policy/cel/test_programs.h"

namespace holdpoint::cel {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class CelParse : public CelTest {};

TEST_F(CelParse, an_error_names_line_column_and_reason) {
    const std::pair<std::string_view, std::string_view> cases[] = {
        {"", "1:1: expected an expression, found its end"},
        {"1 +", "1:4: expected an expression, found its end"},
        {"1 + * 2", "1:5: expected an expression, found `*`"},
        {"(1 + 2", "1:7: expected `)` to close the bracket, found end of the expression"},
        {"[1, 2", "1:6: expected `]` to close the list, found end of the expression"},
        {"{1: 2", "1:6: expected `}` to close the map"},
        {"{1, 2}", "1:3: expected `:` between key and value, found `,`"},
        {"limit ? 1", "1:10: expected `:` of the conditional"},
        {"size(1", "1:7: expected `)` after the arguments"},
        {"args.amount >\n  = 5", "2:3: unexpected `=`, equality is written `==`"},
        {"limit = 5", "1:7: unexpected `=`, equality is written `==`"},
        {"true & false", "1:6: unexpected `&`, and is written `&&`"},
        {"true | false", "1:6: unexpected `|`, or is written `||`"},
        {"1 2", "1:3: unexpected `2`, expected an operator or the end"},
        {"args.", "1:6: expected a field or function name after the point"},
        {"args.1", "1:5: unexpected `.1`"},
        {"#", "1:1: unexpected character `#`"},
        {"name == 'Zoë' # 1", "1:15: unexpected character `#`"},
        {"if", "1:1: `if` is a reserved word"},
        {"`a-b`", "1:1: a quoted name can only be a field, after a point"},
        {"args.`a", "1:8: the quoted name is not closed"},
        {"args.`a(b`", "1:8: a quoted name has only letters"},
        {"Message{a: 1}", "1:8: message literals are not supported"},
        {"!-limit", "1:2: expected an expression, found `-`"},
    };
    for (const auto& [source, expected] : cases) {
        EXPECT_THAT(complaint(source), StartsWith(std::string(expected))) << source;
    }
}

TEST_F(CelParse, literals_are_refused_where_they_are_wrong) {
    const std::pair<std::string_view, std::string_view> cases[] = {
        {"'abc", "1:1: the string is not closed, expected ' at its end"},
        {"'''abc''", "1:1: the string is not closed, expected ''' at its end"},
        {"'a\nb'", "1:3: a line ends inside of a string"},
        {R"('a\qb')", R"(1:3: unknown escape after `\`)"},
        {R"('\x4')", "1:5: expected 2 hexadecimal digits in the escape"},
        {R"('\38')", "1:4: expected 3 octal digits in the escape"},
        {R"('\ud800')", "1:2: the escape is not a Unicode character"},
        {R"('\U00110000')", "1:2: the escape is not a Unicode character"},
        {R"(b'\u0041')", "1:3: `\\u` and `\\U` are for strings, not for bytes"},
        {"9223372036854775808", "1:1: the number does not fit an int"},
        {"-9223372036854775809", "1:1: the number does not fit an int"},
        {"18446744073709551616u", "1:1: the number does not fit an uint"},
        {"1e999", "1:1: the number does not fit a double"},
        {"0x", "1:3: expected a hexadecimal digit after `0x`"},
        {"12abc", "1:3: a letter cannot follow a number directly"},
    };
    for (const auto& [source, expected] : cases) {
        EXPECT_THAT(complaint(source), StartsWith(std::string(expected))) << source;
    }
    EXPECT_THAT(complaint("name == '\xff'"), StartsWith("1:10: the text is not UTF-8"));
}

TEST_F(CelParse, macros_want_names_and_fields) {
    EXPECT_THAT(complaint("[1].all(x.y, true)"),
                StartsWith("1:9: `all` needs a plain variable name here"));
    EXPECT_THAT(complaint("[1].map(1, true)"),
                StartsWith("1:9: `map` needs a plain variable name here"));
    EXPECT_THAT(complaint("has(limit)"), StartsWith("1:5: `has` needs a field"));
    EXPECT_THAT(complaint("[1].all(x, x, true)"), HasSubstr("different names"));
    EXPECT_THAT(complaint("cel.bind(1, 2, 3)"), StartsWith("1:10: `bind` needs a plain variable"));
}

TEST_F(CelParse, macros_can_be_switched_off) {
    environment_.switches().macros = false;
    EXPECT_THAT(complaint("has(args.amount)"), HasSubstr("there is no function `has`"));
}

TEST_F(CelParse, operators_bind_as_in_the_specification) {
    EXPECT_EQ(run("1 + 2 * 3 - 4 / 2"), "5");
    EXPECT_EQ(run("true || false && false"), "true");
    EXPECT_EQ(run("!false && !!true"), "true");
    EXPECT_EQ(run("1 < 2 == true"), "true");
    EXPECT_EQ(run("false ? 1 : true ? 2 : 3"), "2");
    EXPECT_EQ(run("-2 * -3"), "6");
    EXPECT_EQ(run("7 - -3"), "10");
    EXPECT_EQ(run("2 in [1, 2] ? 'y' : 'n'"), "\"y\"");
}

TEST_F(CelParse, comments_and_trailing_commas_are_allowed) {
    EXPECT_EQ(run("1 // one\n + 2 // two"), "3");
    EXPECT_EQ(run("size([1, 2,]) + size({'a': 1,})"), "3");
}

TEST_F(CelParse, a_quoted_field_is_one_field) {
    environment_.declare_variable("m", Type::map(Type::string(), Type::integer()));
    environment_.declare_variable("m.a.b", Type::integer());
    slots_.resize(environment_.variables().size());
    const MapEntry entries[] = {{Value::string("a.b"), Value::integer(1)},
                                {Value::string("c-d"), Value::integer(2)}};
    bind("m", Value::map(entries, arena_));
    bind("m.a.b", Value::integer(3));
    EXPECT_EQ(run("m.`a.b`"), "1");
    EXPECT_EQ(run("m.a.b"), "3");
    EXPECT_EQ(run("m.`c-d` == m['c-d'] && has(m.`a.b`)"), "true");
}

TEST_F(CelParse, a_bracket_makes_what_follows_a_field) {
    environment_.declare_variable("a.b", Type::integer());
    environment_.declare_variable("a", Type::map(Type::string(), Type::string()));
    slots_.resize(environment_.variables().size());
    const MapEntry entries[] = {{Value::string("b"), Value::string("field")}};
    bind("a.b", Value::integer(1));
    bind("a", Value::map(entries, arena_));
    EXPECT_EQ(run("a.b"), "1");
    EXPECT_EQ(run("(a).b"), "\"field\"");
}

}  // namespace
}  // namespace holdpoint::cel
