#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/cel/checker.h"
#include "policy/cel/infer.h"

namespace holdpoint::cel {

/// Walks the tree once. The parts of the walk are in checker.cpp (names, fields, lists, loops) and
/// checker_calls.cpp (functions and operators).
class Checker {
  public:
    Checker(const Ast& ast, const Environment& environment, const Limits& limits, Checked& checked)
        : ast_(ast),
          environment_(environment),
          limits_(limits),
          checked_(checked),
          is_checking_(environment.switches().check) {}

    std::optional<Complaint> run();

  private:
    struct Local {
        std::string name;
        Type type;
    };
    void fail(std::uint32_t offset, std::string message,
              ErrorCode code = ErrorCode::invalid_argument);

    /// A mistake that unchecked programs meet when they are evaluated.
    Type mistake(ExprId id, Fault fault, std::string message);
    Type visit(ExprId id);
    Type visit_kind(ExprId id);
    static Type literal_type(const Value& value);

    // --- names

    int find_local(std::string_view name) const;

    /// `a.b.c` as written, if the expression is nothing but names and no loop variable shadows the
    /// first; empty otherwise.
    std::string qualified_name(ExprId id, bool& is_absolute) const;

    /// The names to try in the environment's container, innermost first.
    std::vector<std::string> candidates(const std::string& name, bool is_absolute) const;
    bool resolve_variable(ExprId id, const std::string& name, bool is_absolute, Type& type);
    Type visit_name(ExprId id);

    // --- fields

    Type visit_select(ExprId id);

    /// Whether target and field together are a declared variable; for `has` as well.
    bool resolve_whole_chain(ExprId id);
    Type field_type(ExprId id, const Type& target, const std::string& name);

    // --- calls

    Type visit_call(ExprId id);
    Type visit_logical(ExprId id);

    /// Whether the call is of a function with a dotted name, like `math.abs(x)`; `name` becomes the
    /// full name.
    bool resolve_namespace(ExprId id, std::string& name);

    /// Comparisons across numeric types where the environment allows them, and fields of objects by
    /// a constant index: neither fits an overload.
    bool special_case(ExprId id, const std::vector<Type>& types, Type& known);
    static bool fits_count(const Overload& overload, std::size_t count) {
        if (overload.is_variadic) return count >= overload.parameters.size();
        return overload.parameters.size() == count;
    }

    Type resolve_call(ExprId id, const std::string& name, bool is_method,
                      const std::vector<Type>& types);
    bool fits(const Overload& overload, const std::vector<Type>& types, Type& returned);
    std::string no_overload_message(ExprId id, const std::string& name, bool is_method,
                                    const std::vector<Type>& types, bool is_unknown) const;

    // --- lists and maps

    Type element_type(const Expr& expr, ExprId element, bool is_optional);
    Type visit_list(const Expr& expr);
    static bool may_be_key(const Type& type);
    Type visit_map(const Expr& expr);

    // --- loops and bindings

    void push_local(const std::string& name, Type type);

    struct Range {
        Type key;    ///< what two variables see first
        Type value;  ///< what two variables see second
        Type single;
    };
    bool range_of(ExprId id, const Type& type, Range& range);
    Type visit_loop(ExprId id);
    void check_boolean(ExprId id, const std::string& macro);
    Type loop_result(const Expr& expr, const Type& over, const Range& range, const Type& body);
    Type visit_bind(ExprId id);
    Type visit_opt_map(ExprId id);

    const Ast& ast_;
    const Environment& environment_;
    const Limits& limits_;
    Checked& checked_;
    const bool is_checking_;
    Inference inference_;
    std::vector<Local> locals_;
    int loop_depth_ = 0;
    std::optional<Complaint> complaint_;
};

}  // namespace holdpoint::cel
