#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "policy/cel/code.h"
#include "policy/cel/evaluate.h"

namespace holdpoint::cel {

/// One evaluation of a program. `Traced` tells a Trace what is read; the plain one carries nothing
/// of that.
template <bool Traced>
class Evaluator {
  public:
    Evaluator(const Code& code, std::span<const Value> slots, Value* locals, Arena& arena,
              std::int64_t steps, Trace* trace)
        : code_(code),
          nodes_(code.nodes.data()),
          slots_(slots),
          locals_(locals),
          arena_(arena),
          steps_(steps),
          trace_(trace) {}

    Value evaluate(std::uint32_t node);

    std::int64_t steps() const { return steps_; }

  private:
    Value fail(std::uint32_t node, Fault fault, std::string_view message) const;
    Value no_overload(std::uint32_t node, const Value& a) const;
    Value no_overload(std::uint32_t node, const Value& a, const Value& b) const;
    Value no_such_key(std::uint32_t node, const Value& key) const;
    Value exhausted() const;
    void charge(std::size_t steps) { steps_ -= static_cast<std::int64_t>(steps); }
    void record(std::uint32_t node, const Value& value);

    // Reading.
    Value read_slot(std::uint32_t node);
    Value slot_field(std::uint32_t node);
    Value select(std::uint32_t node, const Value& target, const Node& at);
    Value select_optional(std::uint32_t node, const Value& target, const Value& name);
    Value has_field(std::uint32_t node, const Value& target, std::string_view name);
    Value index(std::uint32_t node, const Value& target, const Value& key);
    Value index_optional(std::uint32_t node, const Value& target, const Value& key);
    /// Absent if the list or map has nothing there; an error if the key cannot be one.
    Value look_up(std::uint32_t node, const Value& target, const Value& key);

    // Operators.
    Value conjunction(std::uint32_t node);
    Value disjunction(std::uint32_t node);
    Value conditional(std::uint32_t node);
    Value negate(std::uint32_t node);
    Value equality(std::uint32_t node);
    Value comparison(std::uint32_t node);
    Value membership(std::uint32_t node);
    Value arithmetic(std::uint32_t node);
    Value integer_arithmetic(std::uint32_t node, std::int64_t a, std::int64_t b);
    Value unsigned_arithmetic(std::uint32_t node, std::uint64_t a, std::uint64_t b);
    Value real_arithmetic(std::uint32_t node, double a, double b);
    Value time_arithmetic(std::uint32_t node, const Value& a, const Value& b);
    Value concatenate(std::uint32_t node, const Value& a, const Value& b);

    // Calls and construction.
    Value call(std::uint32_t node);
    Value matches(std::uint32_t node);
    Value make_list(std::uint32_t node);
    Value make_map(std::uint32_t node);

    // Loops.
    Value loop(std::uint32_t node);
    Value loop_logical(std::uint32_t node, const Value& range);
    Value loop_exists_one(std::uint32_t node, const Value& range);
    Value loop_list(std::uint32_t node, const Value& range);
    Value loop_map(std::uint32_t node, const Value& range);
    void set_locals(const Node& at, const Value& range, std::size_t index);
    /// Whether the loop's condition holds; the error if it is one.
    Value condition(std::uint32_t node, std::uint32_t condition);
    Value opt_map(std::uint32_t node);

    const Code& code_;
    const Node* nodes_;
    std::span<const Value> slots_;
    Value* locals_;
    Arena& arena_;
    std::int64_t steps_;
    Trace* trace_;
};

extern template class Evaluator<false>;
extern template class Evaluator<true>;

}  // namespace holdpoint::cel
