#include <gmock/gmock.h>

#include "policy/cel/test_programs.h"

namespace holdpoint::cel {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class CelCheck : public CelTest {
  protected:
    std::string type_of(std::string_view source) {
        return compiled(source).result_type().to_string();
    }
};

TEST_F(CelCheck, an_unknown_name_or_field_is_refused_with_its_place) {
    EXPECT_EQ(complaint("true && amount > 5"), "1:9: there is no variable `amount`");
    EXPECT_THAT(complaint("args.amout > 5.0"),
                StartsWith("1:6: `args of process_refund` has no field `amout`; it has amount,"));
    EXPECT_THAT(complaint("has(args.amout)"), HasSubstr("no field `amout`"));
    EXPECT_THAT(complaint("args['amout'] > 5.0"), HasSubstr("no field `amout`"));
    EXPECT_THAT(complaint("args.items[0].cost > 1.0"), HasSubstr("`item` has no field `cost`"));
    EXPECT_THAT(complaint("args.items.all(i, i.cost > 1.0)"), HasSubstr("no field `cost`"));
    EXPECT_EQ(complaint("limit.amount"), "1:7: a value of type int has no fields");
    EXPECT_EQ(complaint("refund(1)"), "1:1: there is no function `refund`");
    EXPECT_EQ(complaint("name.refund()"), "1:6: there is no method `refund`");
}

TEST_F(CelCheck, operators_and_functions_are_checked_against_their_overloads) {
    EXPECT_EQ(complaint("1 + 1.0"),
              "1:3: `+` is not defined for int and double; convert one side, as in int(…)");
    EXPECT_EQ(complaint("name + 1"), "1:6: `+` is not defined for string and int");
    EXPECT_EQ(complaint("!limit"), "1:1: `!` is not defined for int");
    EXPECT_EQ(complaint("-name"), "1:1: `-` is not defined for string");
    EXPECT_EQ(complaint("limit && true"), "1:1: `&&` joins booleans, this is int");
    EXPECT_EQ(complaint("name.startsWith(1)"),
              "1:6: `startsWith` cannot be called as string.startsWith(int)");
    EXPECT_EQ(complaint("limit ? 1 : 2"), "1:7: `? :` is not defined for int and int and int");
    EXPECT_THAT(complaint("name == 5"), HasSubstr("`==` is not defined for string and int"));
    EXPECT_THAT(complaint("5 in ['a']"), HasSubstr("`in` is not defined"));
    EXPECT_THAT(complaint("args.tags.all(t, t)"), HasSubstr("`all` needs a boolean here"));
    EXPECT_THAT(complaint("limit.all(t, true)"), HasSubstr("`all` goes over lists and maps"));
    EXPECT_THAT(complaint("args.all(t, true)"), HasSubstr("`all` goes over lists and maps"));
    EXPECT_THAT(complaint("{1.5: 2}"), HasSubstr("a map key cannot be of type double"));
    EXPECT_THAT(complaint("[?1]"), HasSubstr("needs an optional value"));
}

TEST_F(CelCheck, equality_is_homogeneous_unless_numbers_may_mix) {
    EXPECT_EQ(complaint("args.amount > 500"), "accepted");
    EXPECT_EQ(complaint("args.amount == 500"), "accepted");
    EXPECT_EQ(complaint("args.amount in [1, 2, 3]"), "accepted");
    environment_.switches().cross_type_numeric_comparison = false;
    EXPECT_THAT(complaint("args.amount > 500"), HasSubstr("`>` is not defined for double and int"));
    EXPECT_THAT(complaint("1 == 1.0"), HasSubstr("`==` is not defined for int and double"));
    EXPECT_THAT(complaint("1 in [1.0]"), HasSubstr("`in` is not defined"));
    EXPECT_EQ(complaint("dyn(1) == 1.0"), "accepted");
}

TEST_F(CelCheck, types_are_inferred_through_lists_maps_and_calls) {
    EXPECT_EQ(type_of("args.items.map(i, i.price)"), "list(double)");
    EXPECT_EQ(type_of("[1, 2u]"), "list(dyn)");
    EXPECT_EQ(type_of("[[1], []]"), "list(list(int))");
    EXPECT_EQ(type_of("{'a': [1]}"), "map(string,list(int))");
    EXPECT_EQ(type_of("[]"), "list(dyn)");
    EXPECT_EQ(type_of("args.?currency"), "optional_type(string)");
    EXPECT_EQ(type_of("args.?currency.orValue('')"), "string");
    EXPECT_EQ(type_of("optional.none()"), "optional_type(dyn)");
    EXPECT_EQ(type_of("true ? null : now"), "timestamp");
    EXPECT_EQ(type_of("now - now"), "duration");
    EXPECT_EQ(type_of("args.tags.transformMap(i, t, size(t))"), "map(int,int)");
    EXPECT_EQ(type_of("args['order-id']"), "string");
    EXPECT_EQ(type_of("args.`order-id`"), "string");
    EXPECT_EQ(type_of("args.extra.n"), "dyn");
    EXPECT_EQ(type_of("math.greatest(1, 2)"), "int");
    EXPECT_EQ(type_of("math.greatest(1, 2.0)"), "dyn");
    EXPECT_EQ(type_of("type(1)"), "type(int)");
    EXPECT_EQ(type_of("cel.bind(x, 1.5, x * x)"), "double");
}

TEST_F(CelCheck, a_program_that_is_not_checked_fails_when_it_is_evaluated) {
    environment_.switches().check = false;
    EXPECT_THAT(run("nobody"), HasSubstr("error: there is no variable `nobody`"));
    EXPECT_EQ(run("nobody || true"), "true");
    EXPECT_THAT(run("1 + 1.0"), HasSubstr("not defined for int and double"));
    EXPECT_EQ(run("unknown(1) && false"), "false");
}

TEST_F(CelCheck, functions_of_the_host_are_checked_and_called) {
    environment_.declare_function(
        "path.under",
        {.parameters = {Type::string(), Type::string()},
         .result = Type::boolean(),
         .implementation = [](Call&, std::span<const Value> arguments) {
             return Value::boolean(arguments[0].as_text().starts_with(arguments[1].as_text()));
         }});
    environment_.declare_function(
        "shout",
        {.parameters = {Type::string()},
         .result = Type::string(),
         .is_method = true,
         .implementation = [](Call& call, std::span<const Value> arguments) {
             return Value::string(call.arena().copy(std::string(arguments[0].as_text()) + "!"));
         }});
    EXPECT_EQ(run("path.under('/srv/a', '/srv')"), "true");
    EXPECT_EQ(run("name.shout().shout()"), "\"Zoë!!\"");
    EXPECT_THAT(complaint("path.under(1, '/srv')"),
                HasSubstr("cannot be called as under(int, string)"));
    EXPECT_THAT(complaint("path.over('/', '/')"), HasSubstr("there is no variable `path`"));
    EXPECT_THAT(run("path.under(any, '/srv')"), HasSubstr("no such overload of under"));
    // A loop variable hides the namespace.
    EXPECT_THAT(complaint("[{'x': 1}].all(path, path.under('/', '/'))"), HasSubstr("`under`"));
}

TEST_F(CelCheck, containers_are_tried_from_the_inside) {
    environment_.set_container("com.example");
    environment_.declare_variable("com.example.limit", Type::integer());
    slots_.resize(environment_.variables().size());
    bind("com.example.limit", Value::integer(7));
    EXPECT_EQ(run("limit"), "7");
    EXPECT_EQ(run(".limit"), "500");
    EXPECT_EQ(run("[1].all(limit, limit == 1)"), "true");
}

TEST_F(CelCheck, a_program_tells_every_slot_it_may_look_at) {
    for (const char* source :
         {"args.amount > 1.0", "has(args.currency)", "args.?currency.hasValue()",
          "args['amount'] == 1.0", "args.items.all(i, i.price > 1.0)"})
        EXPECT_THAT(compiled(source).slots(), testing::Contains(args_)) << source;
    EXPECT_THAT(compiled("args.currency == name").slots(), testing::SizeIs(2));
    EXPECT_THAT(compiled("1 + 1 == 2").slots(), testing::IsEmpty());
}

TEST_F(CelCheck, a_program_tells_what_it_reads) {
    const Program program = compiled(
        "args.amount > 500.0 && args['order-id'] != '' && has(args.currency) && "
        "args.items.all(i, i.price > confidence) && args.amount < 900.0");
    std::vector<std::string> paths;
    for (const Program::Read& read : program.reads()) paths.push_back(read.path);
    EXPECT_THAT(paths, testing::ElementsAre("args.amount", "args[\"order-id\"]", "args.currency",
                                            "args.items", "confidence"));
    EXPECT_EQ(program.reads()[0].slot, args_);
    EXPECT_THAT(program.reads()[1].fields, testing::ElementsAre("order-id"));
    EXPECT_EQ(program.reads()[1].position.column, 24);
    EXPECT_FALSE(program.has_regex());
    EXPECT_TRUE(compiled("name.matches('^a')").has_regex());
}

}  // namespace
}  // namespace holdpoint::cel
