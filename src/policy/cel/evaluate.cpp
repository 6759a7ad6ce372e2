#include "policy/cel/evaluate.h"

#include <algorithm>
#include <array>

#include "policy/cel/code.h"
#include "policy/cel/evaluator.h"

namespace holdpoint::cel {
namespace {

constexpr std::size_t inline_locals = 8;

Value too_many_steps() {
    return Value::error(Fault::budget_exceeded, "the evaluation takes too many steps");
}

template <bool Traced>
Value run(const Code& code, std::uint32_t node, const Activation& activation, Arena& arena,
          std::int64_t& steps, Trace* trace) {
    if (steps < 0) return too_many_steps();
    // A local is always set before the body that reads it, so none needs a first value.
    union Locals {
        Locals() {}
        std::array<Value, inline_locals> few;
    } room;
    Value* locals = code.local_count > inline_locals ? arena.make_array<Value>(code.local_count)
                                                     : room.few.data();
    Evaluator<Traced> evaluator(code, activation.slots, locals, arena, steps, trace);
    const Value result = evaluator.evaluate(node);
    steps = evaluator.steps();
    // Whatever the operators made of it: an evaluation that was cut short has no result.
    return steps < 0 ? too_many_steps() : result;
}

/// The first conjunct for which `wanted` holds, in the order of the source, down through brackets.
template <class Wanted>
std::string_view find_conjunct(const Code& code, const Activation& activation, Arena& arena,
                               std::int64_t steps, Wanted wanted) {
    std::uint32_t node = code.root;
    bool is_deeper = true;
    while (is_deeper && code.nodes[node].op == Op::conjunction) {
        const Node& at = code.nodes[node];
        std::vector<std::uint32_t> children(code.children.begin() + at.a,
                                            code.children.begin() + at.a + at.count);
        std::ranges::sort(children, {},
                          [&](std::uint32_t child) { return code.spans[child].begin; });
        is_deeper = false;
        for (const std::uint32_t child : children) {
            std::int64_t left = steps;
            if (!wanted(run<false>(code, child, activation, arena, left, nullptr))) continue;
            node = child;
            is_deeper = true;
            break;
        }
    }
    return node == code.root ? std::string_view(code.source) : code.spans[node].of(code.source);
}

}  // namespace

Value evaluate(const Program& program, const Activation& activation, Arena& arena, Budget& budget) {
    const Code& code = program.code();
    return run<false>(code, code.root, activation, arena, budget.steps, nullptr);
}

Value evaluate(const Program& program, const Activation& activation, Arena& arena, Budget& budget,
               Trace& trace) {
    const Code& code = program.code();
    const std::int64_t steps = budget.steps;
    trace = {};
    const Value result = run<true>(code, code.root, activation, arena, budget.steps, &trace);
    if (result.is_false()) {
        trace.first_false = find_conjunct(code, activation, arena, steps,
                                          [](const Value& value) { return value.is_false(); });
    } else if (result.kind() != Kind::boolean) {
        trace.first_error = find_conjunct(code, activation, arena, steps, [](const Value& value) {
            return value.kind() != Kind::boolean;
        });
    }
    return result;
}

}  // namespace holdpoint::cel
