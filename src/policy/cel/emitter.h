#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/cel/compiler.h"
#include "policy/cel/cost.h"

namespace holdpoint::cel {

/// Lays out one expression after the other. The parts are in compiler.cpp (leaves, fields, lists,
/// loops, folding) and compiler_calls.cpp (operators and functions).
class Emitter {
  public:
    Emitter(const Ast& ast, const Checked& checked, const Environment::Switches& switches,
            const Limits& limits, Code& code)
        : ast_(ast), checked_(checked), switches_(switches), limits_(limits), code_(code) {}

    std::optional<Complaint> run();

  private:
    /// What emitting an expression gave.
    struct Part {
        std::uint32_t node = 0;
        std::uint64_t cost = 1;
        std::uint64_t size = 1;  ///< elements or bytes at most
        bool has_regex = false;
    };

    /// Where things stood, to take back what folding replaces.
    struct Mark {
        std::size_t nodes;
        std::size_t children;
    };
    Mark mark() const { return {code_.nodes.size(), code_.children.size()}; }

    Part fail(std::uint32_t offset, std::string message) {
        if (!complaint_) complaint_ = Complaint{offset, std::move(message)};
        return {};
    }

    std::uint32_t add(ExprId id, Node node);
    std::uint32_t add_constant(Value value) {
        code_.constants.push_back(value);
        return static_cast<std::uint32_t>(code_.constants.size() - 1);
    }

    std::uint32_t name_constant(std::string_view name) {
        return add_constant(Value::string(code_.arena.copy(name)));
    }

    bool is_constant(std::uint32_t node) const { return code_.nodes[node].op == Op::constant; }
    const Value& constant_of(std::uint32_t node) const {
        return code_.constants[code_.nodes[node].a];
    }

    std::uint64_t size_of(const Type& type) const { return estimated_size(type, limits_); }

    std::uint64_t size_of_value(const Value& value) const;
    Part emit(ExprId id);

    // --- leaves

    Part emit_constant(ExprId id, Value value) {
        return {add(id, {.op = Op::constant, .a = add_constant(value)}), 1, size_of_value(value)};
    }

    Part emit_literal(ExprId id);
    Part emit_failure(ExprId id);
    Part emit_slot(ExprId id);

    // --- fields

    /// The variable and fields that an expression names, if it is nothing else.
    bool describe_read(ExprId id, Program::Read& read) const;
    std::string variable_path(ExprId id) const;

    /// The key of `x["key"]`.
    const Expr* constant_key(const Expr& expr) const;

    /// The number of a read, one more than its place in the list.
    std::uint16_t note_read(Program::Read read);

    /// Selecting is one step; the path is noted once, for the longest chain.
    Part emit_select(ExprId id);
    Part emit_field(ExprId id, ExprId target, std::string_view name, bool is_read);

    // --- calls

    Part emit_call(ExprId id);
    Part emit_operator(ExprId id, Op op);
    std::vector<Operand> operands_of(const Expr& expr, const std::array<Part, 3>& parts) const;
    std::uint64_t result_size(ExprId id, Op op, const std::array<Part, 3>& parts) const;

    /// Turns `x in [constants]` into a look-up.
    bool to_set(Node& node);
    Part emit_logical(ExprId id);
    std::uint32_t add_children(const std::vector<std::uint32_t>& nodes,
                               const std::vector<bool>& optional);
    Part emit_function(ExprId id);
    std::uint32_t add_function(ExprId id);
    Part emit_matches(ExprId id, Part part, const std::vector<std::uint32_t>& operands,
                      bool& is_done);

    /// Zones are loaded now, so that an agent's text never names what is looked up and kept.
    bool check_zone(ExprId id, const std::vector<std::uint32_t>& operands);

    // --- lists, maps, loops, bindings

    Part emit_aggregate(ExprId id);
    static Op loop_op(Loop loop);
    Part emit_loop(ExprId id);
    Part emit_bind(ExprId id);

    // --- folding

    void take_back(const Mark& to);

    /// Replaces an operation on constants by its result; one that fails is left to fail when it is
    /// evaluated.
    Part fold(ExprId id, const Mark& before, Part part, const std::vector<std::uint32_t>& operands);

    const Ast& ast_;
    const Checked& checked_;
    const Environment::Switches& switches_;
    const Limits& limits_;
    Code& code_;
    bool is_inside_path_ = false;
    std::optional<Complaint> complaint_;
};

}  // namespace holdpoint::cel
