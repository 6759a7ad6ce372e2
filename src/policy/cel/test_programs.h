#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>
#include <boost/json/parse.hpp>

#include "policy/cel/environment.h"
#include "policy/cel/evaluate.h"
#include "policy/cel/program.h"
#include "policy/cel/value.h"

/// What the tests of CEL share: an environment like a policy's, and one line to run an expression.
namespace holdpoint::cel {

class CelTest : public testing::Test {
  protected:
    CelTest() {
        environment_.switches().cross_type_numeric_comparison = true;
        args_ = environment_.declare_variable(
            "args",
            Type::object("args of process_refund",
                         {{"amount", Type::real()},
                          {"count", Type::integer()},
                          {"currency", Type::string()},
                          {"order-id", Type::string()},
                          {"items", Type::list(Type::object("item", {{"price", Type::real()},
                                                                     {"sku", Type::string()}}))},
                          {"tags", Type::list(Type::string())},
                          {"extra", Type::dynamic()},
                          {"at", Type::timestamp()}}));
        environment_.declare_variable("now", Type::timestamp());
        environment_.declare_variable("confidence", Type::real());
        environment_.declare_variable("limit", Type::integer());
        environment_.declare_variable("name", Type::string());
        environment_.declare_variable("any", Type::dynamic());
        slots_.resize(environment_.variables().size());
        bind_args(R"({"amount": 900.5, "count": 3, "currency": "EUR", "order-id": "A-7",
                      "items": [{"price": 10, "sku": "x"}, {"price": 2.5, "sku": "y"}],
                      "tags": ["new", "vip"], "extra": {"n": 5, "deep": {"flag": true}},
                      "at": "2026-11-15T21:03:46.5Z"})");
        bind("now", Value::timestamp({1'700'000'000, 0}));
        bind("confidence", Value::real(0.5));
        bind("limit", Value::integer(500));
        bind("name", Value::string("Zoë"));
        bind("any", Value::null());
    }

    void bind(std::string_view name, Value value) {
        Slot slot = 0;
        ASSERT_TRUE(environment_.variable(name, &slot));
        slots_[slot] = value;
    }

    void bind_args(std::string_view json) {
        json_ = boost::json::parse(json);
        slots_[args_] = Value::json(json_, environment_.variables()[args_].type, arena_);
    }

    Program compiled(std::string_view source) {
        Result<Program> program = compile(source, environment_, limits_);
        EXPECT_TRUE(program) << source << ": " << (program ? "" : program.error().message);
        return program ? *program : *compile("null", environment_);
    }

    /// The value as text, an error as `error: message`, a program that does not compile as
    /// `refused: message`.
    std::string run(std::string_view source) {
        const Result<Program> program = compile(source, environment_, limits_);
        if (!program) return "refused: " + program.error().message;
        Budget budget{steps_};
        const Value value = evaluate(*program, {slots_}, arena_, budget);
        return value.is_error() ? "error: " + to_text(value) : to_text(value);
    }

    std::string complaint(std::string_view source) {
        const Result<Program> program = compile(source, environment_, limits_);
        return program ? "accepted" : program.error().message;
    }

    Environment environment_;
    Limits limits_;
    Slot args_ = 0;
    boost::json::value json_;
    Arena arena_;
    std::vector<Value> slots_;
    std::int64_t steps_ = 10'000;
};

}  // namespace holdpoint::cel
