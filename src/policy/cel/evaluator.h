#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "policy/cel/code.h"
#include "policy/cel/evaluate.h"

/// Errors and rare operations must not widen the stack frame of the common ones.
#define HOLDPOINT_OUT_OF_LINE [[gnu::noinline]]

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
          constants_(code.constants.data()),
          slots_(slots.data()),
          slot_count_(static_cast<std::uint32_t>(slots.size())),
          locals_(locals),
          arena_(arena),
          steps_(steps),
          trace_(trace) {}

    Value evaluate(std::uint32_t node);

    std::int64_t steps() const { return steps_; }

  private:
    /// evaluate() without the call where the node is a leaf.
    [[gnu::always_inline]] Value operand(std::uint32_t node) {
        const Node& at = nodes_[node];
        if (at.op == Op::constant) {
            --steps_;
            return constants_[at.a];
        }
        if constexpr (!Traced) {
            if (at.op == Op::slot && !slot(at.a).is_absent()) {
                --steps_;
                return slots_[at.a].at_node(static_cast<std::uint16_t>(node));
            }
        }
        if (at.op == Op::slot_field) {
            --steps_;
            return slot_field(node);
        }
        return evaluate(node);
    }

    /// evaluate() with the commonest conjuncts called straight away.
    Value conjunct(std::uint32_t node) {
        const Op op = nodes_[node].op;
        if (op >= Op::less && op <= Op::greater_equal) {
            --steps_;
            return comparison(node);
        }
        if (op == Op::equal || op == Op::not_equal) {
            --steps_;
            return equality(node);
        }
        return evaluate(node);
    }

    Value slot(std::uint32_t number) const {
        return number < slot_count_ ? slots_[number] : Value();
    }

    HOLDPOINT_OUT_OF_LINE Value fail(std::uint32_t node, Fault fault,
                                     std::string_view message) const;
    HOLDPOINT_OUT_OF_LINE Value no_overload(std::uint32_t node, const Value& a) const;
    HOLDPOINT_OUT_OF_LINE Value no_overload(std::uint32_t node, const Value& a,
                                            const Value& b) const;
    HOLDPOINT_OUT_OF_LINE Value no_such_key(std::uint32_t node, const Value& key) const;
    HOLDPOINT_OUT_OF_LINE Value exhausted() const;
    void charge(std::size_t steps) { steps_ -= static_cast<std::int64_t>(steps); }
    void record(std::uint32_t node, const Value& value);

    // Reading.
    HOLDPOINT_OUT_OF_LINE Value read_slot(std::uint32_t node);
    HOLDPOINT_OUT_OF_LINE Value slot_field(std::uint32_t node);
    HOLDPOINT_OUT_OF_LINE Value read_field(std::uint32_t node);
    HOLDPOINT_OUT_OF_LINE Value ask_field(std::uint32_t node);
    HOLDPOINT_OUT_OF_LINE Value read_index(std::uint32_t node);
    Value select(std::uint32_t node, const Value& target, const Node& at);
    Value select_optional(std::uint32_t node, const Value& target, const Value& name);
    Value has_field(std::uint32_t node, const Value& target, std::string_view name);
    Value index(std::uint32_t node, const Value& target, const Value& key);
    Value index_optional(std::uint32_t node, const Value& target, const Value& key);
    /// Absent if the list or map has nothing there; an error if the key cannot be one.
    Value look_up(std::uint32_t node, const Value& target, const Value& key);

    // Operators.
    HOLDPOINT_OUT_OF_LINE Value conjunction(std::uint32_t node);
    HOLDPOINT_OUT_OF_LINE Value disjunction(std::uint32_t node);
    HOLDPOINT_OUT_OF_LINE Value conditional(std::uint32_t node);
    HOLDPOINT_OUT_OF_LINE Value logical_not(std::uint32_t node);
    HOLDPOINT_OUT_OF_LINE Value negate(std::uint32_t node);
    HOLDPOINT_OUT_OF_LINE Value equality(std::uint32_t node);
    HOLDPOINT_OUT_OF_LINE Value comparison(std::uint32_t node);
    HOLDPOINT_OUT_OF_LINE Value membership(std::uint32_t node);
    HOLDPOINT_OUT_OF_LINE Value set_membership(std::uint32_t node);
    HOLDPOINT_OUT_OF_LINE Value arithmetic(std::uint32_t node);
    Value integer_arithmetic(std::uint32_t node, std::int64_t a, std::int64_t b);
    Value unsigned_arithmetic(std::uint32_t node, std::uint64_t a, std::uint64_t b);
    Value real_arithmetic(std::uint32_t node, double a, double b);
    Value time_arithmetic(std::uint32_t node, const Value& a, const Value& b);
    Value concatenate(std::uint32_t node, const Value& a, const Value& b);

    // Calls and construction.
    HOLDPOINT_OUT_OF_LINE Value call(std::uint32_t node);
    HOLDPOINT_OUT_OF_LINE Value matches(std::uint32_t node);
    HOLDPOINT_OUT_OF_LINE Value make_list(std::uint32_t node);
    HOLDPOINT_OUT_OF_LINE Value make_map(std::uint32_t node);

    // Loops.
    HOLDPOINT_OUT_OF_LINE Value loop(std::uint32_t node);
    Value loop_logical(std::uint32_t node, const Value& range);
    Value loop_exists_one(std::uint32_t node, const Value& range);
    Value loop_list(std::uint32_t node, const Value& range);
    Value loop_map(std::uint32_t node, const Value& range);
    void set_locals(const Node& at, const Value& range, std::size_t index);
    /// Whether the loop's condition holds; the error if it is one.
    Value condition(std::uint32_t node, std::uint32_t condition);
    HOLDPOINT_OUT_OF_LINE Value bind(std::uint32_t node);
    HOLDPOINT_OUT_OF_LINE Value opt_map(std::uint32_t node);

    const Code& code_;
    const Node* nodes_;
    const Value* constants_;
    const Value* slots_;
    std::uint32_t slot_count_;
    Value* locals_;
    Arena& arena_;
    std::int64_t steps_;
    Trace* trace_;
};

extern template class Evaluator<false>;
extern template class Evaluator<true>;

}  // namespace holdpoint::cel
