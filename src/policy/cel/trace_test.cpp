#include <gmock/gmock.h>

#include "policy/cel/test_programs.h"

namespace holdpoint::cel {
namespace {

class CelTrace : public CelTest {
  protected:
    Value trace(std::string_view source) {
        programs_.push_back(compiled(source));
        Budget budget;
        return evaluate(programs_.back(), {slots_}, arena_, budget, trace_);
    }
    std::vector<std::string> values() const {
        std::vector<std::string> all;
        for (const Trace::Reading& reading : trace_.values) {
            all.push_back(std::string(reading.path) + " = " + to_text(reading.value));
        }
        return all;
    }
    Trace trace_;
    std::vector<Program> programs_;
};

TEST_F(CelTrace, what_was_read_is_told_once_with_its_value) {
    EXPECT_TRUE(trace("args.amount > 500.0 && args.amount < 1000.0 && args['order-id'] == 'A-7' && "
                      "args.extra.deep.flag && confidence < 0.6")
                    .is_true());
    EXPECT_THAT(values(),
                testing::ElementsAre("args.amount = 900.5", "args[\"order-id\"] = \"A-7\"",
                                     "args.extra.deep.flag = true", "confidence = 0.5"));
    EXPECT_EQ(trace_.first_false, "");
}

TEST_F(CelTrace, the_first_false_conjunct_is_quoted) {
    EXPECT_TRUE(
        trace("limit == 500 && (args.currency == 'USD' || args.amount < 5.0) && limit > 900")
            .is_false());
    EXPECT_EQ(trace_.first_false, "(args.currency == 'USD' || args.amount < 5.0)");
    EXPECT_TRUE(trace("limit == 500 && (args.amount > 1.0 && args.amount <= 50.0)").is_false());
    EXPECT_EQ(trace_.first_false, "args.amount <= 50.0");
    EXPECT_TRUE(trace("args.amount <= 50.0").is_false());
    EXPECT_EQ(trace_.first_false, "args.amount <= 50.0");
    EXPECT_TRUE(trace("name.matches('q') && limit == 1").is_false());
    EXPECT_EQ(trace_.first_false, "name.matches('q')");
}

TEST_F(CelTrace, the_first_conjunct_that_fails_is_quoted) {
    bind_args("{}");
    EXPECT_TRUE(trace("limit == 500 && args.amount > 5.0").is_error());
    EXPECT_EQ(trace_.first_error, "args.amount > 5.0");
    EXPECT_EQ(trace_.first_false, "");
    EXPECT_THAT(values(), testing::Contains(testing::StartsWith("args.amount = no such key")));
    // An error beside a false one is absorbed; then the false one explains.
    EXPECT_TRUE(trace("args.amount > 5.0 && limit == 1").is_false());
    EXPECT_EQ(trace_.first_false, "limit == 1");
}

TEST_F(CelTrace, conjuncts_are_listed_in_the_order_of_the_source) {
    EXPECT_THAT(compiled("name.matches('q') && limit > 1 && (true || limit < 0)").conjuncts(),
                testing::ElementsAre("name.matches('q')", "limit > 1", "(true || limit < 0)"));
    EXPECT_THAT(compiled("limit > 1").conjuncts(), testing::ElementsAre("limit > 1"));
}

}  // namespace
}  // namespace holdpoint::cel
