#include <gmock/gmock.h>

#include "policy/cel/test_programs.h"

namespace holdpoint::cel {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class CelLimits : public CelTest {
  protected:
    static std::string repeated(std::string_view text, int count) {
        std::string all;
        for (int i = 0; i < count; ++i) all += text;
        return all;
    }
    ErrorCode refusal(std::string_view source) {
        const Result<Program> program = compile(source, environment_, limits_);
        return program ? ErrorCode::internal : program.error().code;
    }
};

TEST_F(CelLimits, source_nodes_and_depth_are_bounded) {
    EXPECT_EQ(refusal("'" + repeated("x", 5000) + "'"), ErrorCode::too_large);
    EXPECT_EQ(refusal("[" + repeated("1,", 300) + "1]"), ErrorCode::too_large);
    EXPECT_EQ(refusal(repeated("(", 40) + "1" + repeated(")", 40)), ErrorCode::too_large);
    EXPECT_EQ(refusal(repeated("[", 40) + "1" + repeated("]", 40)), ErrorCode::too_large);
    EXPECT_EQ(refusal(repeated("true ? 1 : ", 40) + "1"), ErrorCode::too_large);
    limits_.nodes_max = 10'000;
    EXPECT_THAT(complaint(repeated("!", 1000) + "true"), HasSubstr("too many operators in a row"));
    EXPECT_THAT(complaint(repeated("1 + ", 1000) + "1"), HasSubstr("too many operators in a row"));
    EXPECT_EQ(complaint(repeated("[", 33) + "1" + repeated("]", 33)),
              "1:34: the expression is nested more than 32 deep");
}

TEST_F(CelLimits, what_the_specification_demands_fits_the_defaults) {
    EXPECT_EQ(run(repeated("(", 32) + "1" + repeated(")", 32)), "1");
    EXPECT_EQ(run(repeated("true && ", 32) + "true"), "true");
    EXPECT_EQ(run(repeated("false || ", 32) + "true"), "true");
    EXPECT_EQ(run(repeated("1 + ", 32) + "1"), "33");
    EXPECT_EQ(run(repeated("-", 32) + "19"), "19");
    EXPECT_EQ(run(repeated("false ? 1 : ", 24) + "2"), "2");
    EXPECT_EQ(run("[" + repeated("1, ", 32) + "1].size()"), "33");
}

TEST_F(CelLimits, loops_nest_two_deep) {
    EXPECT_EQ(complaint("[1].all(a, [2].all(b, a < b))"), "accepted");
    EXPECT_EQ(complaint("[1].all(a, [2].all(b, [3].all(c, a < b)))"),
              "1:27: loops are nested more than 2 deep");
    EXPECT_EQ(complaint("[1].map(a, a).map(b, b).map(c, c).size() == 1"), "accepted");
}

TEST_F(CelLimits, the_cost_is_estimated_from_declared_sizes) {
    const auto cost = [&](std::string_view source) { return compiled(source).static_cost(); };
    EXPECT_LT(cost("args.amount > 500.0 && args.currency == 'EUR'"), 20U);
    EXPECT_GT(cost("args.tags.all(t, t == 'a')"), 1000U);
    EXPECT_LT(cost("['a', 'b'].all(t, t == 'a')"), 100U);
    EXPECT_GT(cost("args.tags.all(t, args.tags.all(u, t == u))"), 1'000'000U);
    EXPECT_LT(cost("args.currency in ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i']"), 10U);
    environment_.declare_variable("few", Type::list(Type::string(16), 4));
    EXPECT_LT(cost("few.all(t, t.contains('a'))"), 50U);
    limits_.cost_max = 100'000;
    EXPECT_THAT(complaint("args.tags.all(t, args.tags.all(u, t == u))"),
                HasSubstr("more than the 100000 allowed"));
}

TEST_F(CelLimits, a_budget_that_runs_out_is_an_error_nothing_absorbs) {
    std::string json = R"({"tags": [)";
    for (int i = 0; i < 500; ++i) json += "\"t\",";
    bind_args(json + "\"t\"]}");
    steps_ = 1000;
    const std::string_view expected = "error: the evaluation takes too many steps";
    EXPECT_EQ(run("args.tags.all(t, t == 't')"), expected);
    EXPECT_EQ(run("args.tags.all(t, t == 't') || true"), expected);
    EXPECT_EQ(run("true || args.tags.all(t, t == 't')"), "true");
    EXPECT_EQ(run("args.tags.exists(t, args.tags.all(u, u == t)) || limit == 500"), expected);
    EXPECT_EQ(run("false ? args.tags.all(t, t == 't') : true"), "true");
    EXPECT_EQ(run("args.tags.map(t, args.tags.map(u, t + u)).size() > 0"), expected);
    EXPECT_EQ(run("has({'a': args.tags.all(t, t == 't')}.a)"), expected);
}

TEST_F(CelLimits, evaluations_share_a_budget) {
    const Program program = compiled("limit > 1 && limit > 2 && limit > 3");
    Budget budget{15};
    EXPECT_TRUE(evaluate(program, {slots_}, arena_, budget).is_true());
    EXPECT_FALSE(budget.is_exceeded());
    const Value second = evaluate(program, {slots_}, arena_, budget);
    EXPECT_EQ(second.fault(), Fault::budget_exceeded);
    EXPECT_TRUE(budget.is_exceeded());
    EXPECT_EQ(evaluate(program, {slots_}, arena_, budget).fault(), Fault::budget_exceeded);
}

TEST_F(CelLimits, long_text_costs_steps) {
    const std::string text(60'000, 'x');
    bind("name", Value::string(text));
    steps_ = 1000;
    EXPECT_THAT(run("name.contains('y')"), HasSubstr("too many steps"));
    EXPECT_THAT(run("name + name == ''"), HasSubstr("too many steps"));
    EXPECT_THAT(run("name.replace('x', 'yyyyyyyyyy').size() > 0"), HasSubstr("too many steps"));
    EXPECT_THAT(run("name.split('').size() > 0"), HasSubstr("too many steps"));
    EXPECT_THAT(run("name.matches('y')"), HasSubstr("too many steps"));
}

TEST_F(CelLimits, patterns_are_constant_small_and_meet_no_huge_text) {
    EXPECT_THAT(complaint("name.matches(args.currency)"),
                StartsWith("1:14: the pattern of `matches` must be a string literal"));
    EXPECT_THAT(complaint("name.matches('(')"), StartsWith("1:14: not a regular expression"));
    EXPECT_THAT(complaint("name.matches('((a{1,30}){1,30}){1,30}')"), StartsWith("1:14: "));
    EXPECT_THAT(complaint("name.matches('[a-z]{500}[0-9]{500}')"), HasSubstr("too large"));
    const std::string text(70'000, 'x');
    bind("name", Value::string(text));
    EXPECT_THAT(run("name.matches('y')"), HasSubstr("too long for a regular expression"));
    environment_.switches().variable_patterns = true;
    bind("name", Value::string("EUR"));
    EXPECT_EQ(run("name.matches(args.currency)"), "true");
}

TEST_F(CelLimits, patterns_are_tried_last) {
    // With the comparison first the pattern is never searched, whatever the order in the source.
    const std::string text(70'000, 'x');
    bind("name", Value::string(text));
    steps_ = 10;
    EXPECT_EQ(run("name.matches('y') && limit == 1"), "false");
    EXPECT_EQ(run("name.matches('y') || limit == 500"), "true");
}

}  // namespace
}  // namespace holdpoint::cel
