// Arbitrary text through parser, checker, compiler and evaluator. The plain and the tracing run
// must agree, and nothing may take longer than its budget.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json/parse.hpp>

#include "policy/cel/environment.h"
#include "policy/cel/evaluate.h"
#include "policy/cel/program.h"

namespace {

using namespace holdpoint::cel;

struct World {
    World() {
        environment.switches().cross_type_numeric_comparison = true;
        environment.declare_variable("args",
                                     Type::object("args", {{"amount", Type::real()},
                                                           {"count", Type::integer()},
                                                           {"currency", Type::string()},
                                                           {"items", Type::list(Type::string())},
                                                           {"extra", Type::dynamic()}}));
        environment.declare_variable("now", Type::timestamp());
        environment.declare_variable("x", Type::dynamic());
        environment.declare_variable("a.b", Type::map(Type::string(), Type::integer()));
        slots.push_back(Value::json(json, environment.variables()[0].type, arena));
        slots.push_back(Value::timestamp({1'700'000'000, 5}));
        slots.push_back(Value::json(json, environment.variables()[2].type, arena));
    }

    const boost::json::value json = boost::json::parse(
        R"({"amount": 900.5, "count": 3, "currency": "EUR", "items": ["a", "é", "", "long text"],
            "extra": {"n": 5, "list": [1, null, {"k": [true]}], "wrong": "5"}})");
    Environment environment;
    Arena arena;
    std::vector<Value> slots;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static World world;
    if (size == 0) return 0;
    // The first byte turns the switches.
    world.environment.switches().check = (data[0] & 1) == 0;
    world.environment.switches().macros = (data[0] & 2) == 0;
    world.environment.switches().block_macros = (data[0] & 4) != 0;
    world.environment.switches().variable_patterns = (data[0] & 8) != 0;
    const std::string_view source(reinterpret_cast<const char*>(data) + 1, size - 1);
    const auto program = compile(source, world.environment);
    if (!program) {
        if (program.error().message.empty()) std::abort();
        return 0;
    }
    Arena arena;
    Budget budget{2000};
    const Value plain = evaluate(*program, {world.slots}, arena, budget);
    Budget traced_budget{2000};
    Trace trace;
    const Value traced = evaluate(*program, {world.slots}, arena, traced_budget, trace);
    if (to_text(plain) != to_text(traced)) std::abort();
    if (plain.is_absent()) std::abort();
    if (plain.is_false() && trace.first_false.empty()) std::abort();
    (void)program->position(plain);
    (void)to_json(plain);
    return 0;
}
