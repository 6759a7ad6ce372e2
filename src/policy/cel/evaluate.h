#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "policy/cel/arena.h"
#include "policy/cel/program.h"
#include "policy/cel/value.h"

namespace holdpoint::cel {

/// The values of the variables, by slot; slots beyond the end are absent.
struct Activation {
    std::span<const Value> slots;
};

/// Steps left for the evaluations that share it: a node or an element is one step, copying and
/// searching text costs more the longer it is. Used up, every further evaluation is an error, which
/// neither `||` nor a macro absorbs.
struct Budget {
    std::int64_t steps = 10'000;

    bool is_exceeded() const { return steps < 0; }
};

/// Evaluates without heap allocation, apart from blocks the arena has to add. The result is of the
/// program's result_type() or an error value; it may point into the arena, the program and what the
/// activation points to.
Value evaluate(const Program& program, const Activation& activation, Arena& arena, Budget& budget);

/// What an explanation shows of one evaluation.
struct Trace {
    struct Reading {
        std::string_view path;  ///< `args.amount`, as in the source
        Value value;
    };
    /// The variables and field paths that the evaluation really read, each once, in that order.
    std::vector<Reading> values;
    /// If the result is false: the first conjunct, in the order of the source and down through
    /// brackets, that is false; the whole source if there is no `&&` at the top. Else empty.
    std::string_view first_false;
    /// If the result is an error: the first conjunct that is one.
    std::string_view first_error;
};

/// The same evaluation, several times slower. Texts in the trace belong to the program, values live
/// as long as the result.
Value evaluate(const Program& program, const Activation& activation, Arena& arena, Budget& budget,
               Trace& trace);

}  // namespace holdpoint::cel
