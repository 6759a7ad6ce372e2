#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "policy/cel/arena.h"
#include "policy/cel/source.h"
#include "policy/cel/value.h"

namespace holdpoint::cel {

using ExprId = std::uint32_t;
inline constexpr ExprId no_expr = 0xffffffff;

/// The loops that macros stand for. Each is evaluated by its own few lines instead of CEL's general
/// fold, which is both quicker and where error absorption is decided.
enum class Loop : std::uint8_t {
    all,
    exists,
    exists_one,
    map,  ///< `map`, `filter`, `transformList`: a list; with an optional condition
    filter,
    transform_map,
    transform_map_entry,
};

/// A piece of the parsed program. Macros are already expanded.
struct Expr {
    enum class Kind : std::uint8_t {
        literal,
        name,
        select,  ///< `target.name`, `target.?name`, has(target.name)
        call,    ///< operators too, under names like `_+_`
        list,
        map,           ///< arguments are key, value, key, value …
        loop,          ///< arguments: range, body; condition third if there is one
        bind,          ///< arguments: what `variable` is bound to, body
        opt_map,       ///< the same for what an optional holds; the result is an optional
        opt_flat_map,  ///< the same; the body is an optional already
    };

    Kind kind = Kind::literal;
    Loop loop = Loop::all;
    bool is_absolute = false;   ///< a name written `.x`
    bool is_optional = false;   ///< `.?`
    bool is_bracketed = false;  ///< `(a.b)`: what follows is a field, never part of the name
    bool is_test = false;       ///< has(…)
    Span span = {};             ///< all of it, brackets around it included
    std::uint32_t at = 0;       ///< where to point in messages: the operator, the field's name
    std::string name = {};      ///< of names, fields and functions
    ExprId target = no_expr;    ///< of selects and method calls
    std::vector<ExprId> arguments = {};
    std::vector<bool> optional_arguments = {};  ///< of lists and maps: elements written `?x`
    std::uint32_t height = 1;                   ///< of the tree below, itself included
    std::string variable = {};
    std::string second_variable = {};
    Value literal = {};
};

struct Ast {
    std::vector<Expr> exprs;
    ExprId root = no_expr;
    Arena arena;  ///< the text of literals

    const Expr& operator[](ExprId id) const { return exprs[id]; }
    Expr& operator[](ExprId id) { return exprs[id]; }
};

}  // namespace holdpoint::cel
