#include <gmock/gmock.h>

#include "policy/cel/test_programs.h"

namespace holdpoint::cel {
namespace {

using testing::StartsWith;

class CelEvaluate : public CelTest {
  protected:
    bool fails(std::string_view source) { return run(source).starts_with("error: "); }
};

TEST_F(CelEvaluate, and_and_or_absorb_errors_on_both_sides) {
    EXPECT_EQ(run("1 / 0 > 3 && false"), "false");
    EXPECT_EQ(run("false && 1 / 0 > 3"), "false");
    EXPECT_EQ(run("1 / 0 > 3 || true"), "true");
    EXPECT_EQ(run("true || 1 / 0 > 3"), "true");
    EXPECT_TRUE(fails("1 / 0 > 3 && true"));
    EXPECT_TRUE(fails("true && 1 / 0 > 3"));
    EXPECT_TRUE(fails("1 / 0 > 3 || false"));
    EXPECT_EQ(run("dyn('horses') && false"), "false");
    EXPECT_TRUE(fails("dyn('horses') && true"));
    EXPECT_EQ(run("any.x == 1 || limit == 500 || any.y == 2"), "true");
}

TEST_F(CelEvaluate, the_conditional_does_not_absorb) {
    EXPECT_TRUE(fails("1 / 0 > 3 ? true : true"));
    EXPECT_EQ(run("true ? 1 : 1 / 0"), "1");
}

TEST_F(CelEvaluate, all_and_exists_absorb_but_other_macros_do_not) {
    EXPECT_EQ(run("[1, 2, 3].all(e, 6 / (2 - e) == 6)"), "false");
    EXPECT_TRUE(fails("[1, 2, 3].exists(e, e / 0 == 17)"));
    EXPECT_EQ(run("[0, 1].exists(e, 1 / e == 1)"), "true");
    EXPECT_TRUE(fails("[0, 1].exists_one(e, 1 / e == 1)"));
    EXPECT_TRUE(fails("[0, 1].map(e, 1 / e)"));
    EXPECT_TRUE(fails("[0, 1].filter(e, 1 / e == 1)"));
}

TEST_F(CelEvaluate, macros_over_a_map_see_its_keys) {
    EXPECT_EQ(run("{'a': 1, 'b': 2}.map(k, k)"), "[\"a\", \"b\"]");
    EXPECT_EQ(run("{'a': 1, 'b': 2}.exists(k, v, k == 'b' && v == 2)"), "true");
    EXPECT_EQ(run("[7, 8].transformList(i, v, i + v)"), "[7, 9]");
    EXPECT_EQ(run("[7, 8].transformMapEntry(i, v, {v: i})"), "{7: 0, 8: 1}");
    EXPECT_TRUE(fails("[7, 8].transformMapEntry(i, v, {1: v})"));
    EXPECT_EQ(run("[1, 2, 3].map(x, x > 1, x * x)"), "[4, 9]");
    EXPECT_EQ(run("[1].exists(x, [2].exists(x, x == 2) && x == 1)"), "true");
}

TEST_F(CelEvaluate, has_asks_for_presence_and_null_is_present) {
    bind_args(R"({"extra": {"nothing": null}, "amount": 1})");
    EXPECT_EQ(run("has(args.amount)"), "true");
    EXPECT_EQ(run("has(args.currency)"), "false");
    EXPECT_EQ(run("has(args.extra.nothing)"), "true");
    EXPECT_EQ(run("has(args.extra.other)"), "false");
    EXPECT_TRUE(fails("has(args.extra.other.deeper)"));
    EXPECT_TRUE(fails("has(any.x)"));
}

TEST_F(CelEvaluate, equality_compares_numbers_by_value_and_kinds_by_difference) {
    EXPECT_EQ(run("dyn(1) == 1.0 && dyn(1u) == 1 && dyn(1) != 2u"), "true");
    EXPECT_EQ(run("dyn('1') == dyn(1)"), "false");
    EXPECT_EQ(run("null == dyn(0)"), "false");
    EXPECT_EQ(run("dyn([1.0, 2u, 3]) == dyn([1, 2, 3u])"), "true");
    EXPECT_EQ(run("dyn({1: 1.0, 2u: 3u}) == dyn({1u: 1, 2: 3.0})"), "true");
    EXPECT_EQ(run("0.0 / 0.0 == 0.0 / 0.0"), "false");
    EXPECT_EQ(run("0.0 / 0.0 != 0.0 / 0.0"), "true");
    EXPECT_EQ(run("0.0 / 0.0 < 1.0 || 0.0 / 0.0 >= 1.0"), "false");
}

TEST_F(CelEvaluate, integers_meet_doubles_as_doubles_and_each_other_exactly) {
    EXPECT_EQ(run("dyn(9223372036854775807) < 9223372036854775808.0"), "false");
    EXPECT_EQ(run("dyn(9223372036854775807) >= 9223372036854775808.0"), "true");
    EXPECT_EQ(run("dyn(-1) < 0u"), "true");
    EXPECT_EQ(run("dyn(9223372036854775807) < 9223372036854775808u"), "true");
    EXPECT_EQ(run("dyn(18446744073709551615u) > -1"), "true");
}

TEST_F(CelEvaluate, arithmetic_that_does_not_fit_is_an_error) {
    for (const std::string_view source :
         {"9223372036854775807 + 1", "-9223372036854775808 - 1", "-(-9223372036854775808)",
          "-9223372036854775808 * -1", "-9223372036854775808 / -1", "-9223372036854775808 % -1",
          "0u - 1u", "1 / 0", "1 % 0", "1u / 0u", "1u % 0u", "18446744073709551615u + 1u",
          "timestamp('9999-12-31T23:59:59Z') + duration('1s')",
          "timestamp('0001-01-01T00:00:00Z') - duration('1ns')",
          "duration('2562047h') + duration('2562047h')",
          "timestamp('9999-01-01T00:00:00Z') - timestamp('0001-01-01T00:00:00Z')",
          "math.abs(-9223372036854775808)"}) {
        EXPECT_TRUE(fails(source)) << source << " is " << run(source);
    }
    EXPECT_EQ(run("1.0 / 0.0"), "Infinity");
    EXPECT_EQ(run("-7 / 2 * 10 + -7 % 2"), "-31");
}

TEST_F(CelEvaluate, conversions_refuse_what_they_cannot_keep) {
    for (const std::string_view source : {"int(9223372036854775807.0)",
                                          "int(-9223372036854775808.0)",
                                          "int(0.0 / 0.0)",
                                          "uint(-1)",
                                          "uint(18446744073709551616.0)",
                                          "int(18446744073709551615u)",
                                          "int('1.5')",
                                          "int('')",
                                          "int(' 1')",
                                          "uint('-1')",
                                          "double('1e999')",
                                          "double('0x10')",
                                          "double('')",
                                          "bool('TrUe')",
                                          "bool('yes')",
                                          "string(b'\\xff')",
                                          "timestamp('2026-02-30T00:00:00Z')",
                                          "timestamp('2026-01-01')",
                                          "timestamp(253402300800)",
                                          "duration('1')",
                                          "duration('s')",
                                          "duration('1d')"}) {
        EXPECT_TRUE(fails(source)) << source << " is " << run(source);
    }
    EXPECT_EQ(run("int(-7.9)"), "-7");
    EXPECT_EQ(run("string(9876u) + string(-0.5) + string(1e21)"), "\"9876-0.51e+21\"");
    EXPECT_EQ(run("bool('T') && !bool('0')"), "true");
}

TEST_F(CelEvaluate, strings_count_code_points) {
    EXPECT_EQ(run("size('πέντε') == 5 && size(b'πέντε') == 10"), "true");
    EXPECT_EQ(run("name.size()"), "3");
    EXPECT_EQ(run("'ta©o'.substring(2, 3) + 'ta©o'.charAt(3)"), "\"©o\"");
    EXPECT_EQ(run(R"('\xff' == 'ÿ' && size(b'\xff') == 1)"), "true");
}

TEST_F(CelEvaluate, a_regular_expression_searches_anywhere) {
    EXPECT_EQ(run("'banana'.matches('na')"), "true");
    EXPECT_EQ(run("'banana'.matches('^na')"), "false");
    EXPECT_EQ(run("matches(name, 'Zo.$')"), "true");
}

TEST_F(CelEvaluate, keys_and_indexes_may_be_numbers_of_another_kind) {
    EXPECT_EQ(run("[7, 8, 9][dyn(0.0)]"), "7");
    EXPECT_TRUE(fails("[7, 8, 9][dyn(0.1)]"));
    EXPECT_TRUE(fails("[7, 8, 9][3]"));
    EXPECT_TRUE(fails("[7, 8, 9][-1]"));
    EXPECT_EQ(run("{1: 'a'}[dyn(1u)]"), "\"a\"");
    EXPECT_EQ(run("dyn(1.0) in {1: 'a'}"), "true");
    EXPECT_TRUE(fails("{'a': 1, 'a': 2}"));
    EXPECT_TRUE(fails("{0: 1, 0u: 2}"));
    EXPECT_TRUE(fails("{dyn(1.5): 1}"));
}

TEST_F(CelEvaluate, a_large_map_finds_its_keys) {
    std::string source = "{";
    for (int i = 0; i < 100; ++i) source += std::to_string(i) + ": 'v" + std::to_string(i) + "', ";
    limits_.nodes_max = 1000;
    EXPECT_EQ(run(source + "}[dyn(57u)]"), "\"v57\"");
    EXPECT_TRUE(fails(source + "}[100]"));
    EXPECT_TRUE(fails(source + "57u: 'again'}"));
}

TEST_F(CelEvaluate, membership_in_constants_follows_the_same_equality) {
    EXPECT_EQ(run("args.currency in ['USD', 'EUR', 'GBP']"), "true");
    EXPECT_EQ(run("'eur' in ['USD', 'EUR', 'GBP']"), "false");
    EXPECT_EQ(run("any in ['USD', 'EUR']"), "false");
    bind("any", Value::real(12));
    EXPECT_EQ(run("any in [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]"), "true");
    bind("any", Value::unsigned_integer(3));
    EXPECT_EQ(run("any in [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]"), "true");
    EXPECT_EQ(run("limit in [1, 500.0]"), "true");
}

TEST_F(CelEvaluate, optionals_stay_empty_down_the_chain) {
    EXPECT_EQ(run("{}.?a.b.c.hasValue()"), "false");
    EXPECT_EQ(run("args.?currency.orValue('none')"), "\"EUR\"");
    bind_args("{}");
    EXPECT_EQ(run("args.?currency.orValue('none')"), "\"none\"");
    EXPECT_EQ(run("[?optional.none(), ?optional.of(2)]"), "[2]");
    EXPECT_EQ(run("{?'a': optional.none(), 'b': 1}"), "{\"b\": 1}");
    EXPECT_EQ(run("optional.of(3).optMap(x, x + 1).value()"), "4");
    EXPECT_EQ(run("[1, 2].first().value() + [1, 2].last().value()"), "3");
    EXPECT_EQ(run("optional.unwrap([optional.of(1), optional.none()])"), "[1]");
    EXPECT_TRUE(fails("optional.none().value()"));
    EXPECT_EQ(run("[1][?5].orValue(9)"), "9");
}

TEST_F(CelEvaluate, a_binding_keeps_an_error_until_it_is_read) {
    EXPECT_EQ(run("cel.bind(x, 1 / 0, true || x > 1)"), "true");
    EXPECT_TRUE(fails("cel.bind(x, 1 / 0, x > 1)"));
    EXPECT_EQ(run("cel.bind(x, limit * 2, [1, 2].map(y, x + y))"), "[1001, 1002]");
}

TEST_F(CelEvaluate, dotted_variables_win_by_the_longest_prefix_and_may_be_unbound) {
    environment_.declare_variable("args.amount", Type::real());
    slots_.resize(environment_.variables().size());
    bind("args.amount", Value::real(7));
    EXPECT_EQ(run("args.amount"), "7.0");
    EXPECT_EQ(run("has(args.amount)"), "true");
    bind("args.amount", Value());
    EXPECT_EQ(run("has(args.amount)"), "false");
    EXPECT_THAT(run("args.amount > 1.0"), StartsWith("error: "));
    EXPECT_EQ(run("args.currency"), "\"EUR\"");
}

TEST_F(CelEvaluate, an_error_knows_its_place) {
    const Program program = compiled("limit > 5 &&\n  limit / (limit - 500) > 1");
    Budget budget;
    const Value error = evaluate(program, {slots_}, arena_, budget);
    ASSERT_TRUE(error.is_error());
    EXPECT_EQ(error.fault(), Fault::divide_by_zero);
    EXPECT_EQ(program.position(error).line, 2);
    EXPECT_EQ(program.position(error).column, 9);
}

}  // namespace
}  // namespace holdpoint::cel
