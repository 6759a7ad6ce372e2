#include "policy/cel/macros.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include <fmt/format.h>

namespace holdpoint::cel {
namespace {

struct LoopMacro {
    std::string_view name;
    Loop loop;
    int variables;
    bool may_filter;  ///< takes a condition before the body
};
constexpr std::array<LoopMacro, 13> loop_macros = {{
    {"all", Loop::all, 1, false},
    {"all", Loop::all, 2, false},
    {"exists", Loop::exists, 1, false},
    {"exists", Loop::exists, 2, false},
    {"exists_one", Loop::exists_one, 1, false},
    {"exists_one", Loop::exists_one, 2, false},
    {"existsOne", Loop::exists_one, 1, false},
    {"existsOne", Loop::exists_one, 2, false},
    {"map", Loop::map, 1, true},
    {"filter", Loop::filter, 1, false},
    {"transformList", Loop::map, 2, true},
    {"transformMap", Loop::transform_map, 2, true},
    {"transformMapEntry", Loop::transform_map_entry, 2, true},
}};

const LoopMacro* find_loop(std::string_view name, std::size_t arguments) {
    for (const LoopMacro& macro : loop_macros) {
        if (macro.name != name) continue;
        const auto least = static_cast<std::size_t>(macro.variables) + 1;
        if (arguments == least || (macro.may_filter && arguments == least + 1)) return &macro;
    }
    return nullptr;
}

bool is_simple_name(const Expr& expr) { return expr.kind == Expr::Kind::name && !expr.is_absolute; }

Expansion not_a_variable(const Expr& call, const Expr& argument) {
    return {argument.span.begin, fmt::format("`{}` needs a plain variable name here", call.name)};
}

Expansion expand_loop(Expr& call, Ast& ast, const LoopMacro& macro) {
    const std::vector<ExprId> given = std::move(call.arguments);
    for (int i = 0; i < macro.variables; ++i) {
        if (!is_simple_name(ast[given[i]])) return not_a_variable(call, ast[given[i]]);
    }
    call.kind = Expr::Kind::loop;
    call.loop = macro.loop;
    call.variable = ast[given[0]].name;
    if (macro.variables == 2) call.second_variable = ast[given[1]].name;
    if (call.variable == call.second_variable) {
        return {ast[given[1]].span.begin, "the two variables need different names"};
    }
    call.arguments = {call.target, given.back()};
    const bool has_condition = given.size() == static_cast<std::size_t>(macro.variables) + 2;
    if (has_condition) call.arguments.push_back(given[given.size() - 2]);
    call.target = no_expr;
    return {};
}

Expansion expand_opt_map(Expr& call, Ast& ast) {
    if (!is_simple_name(ast[call.arguments[0]])) {
        return not_a_variable(call, ast[call.arguments[0]]);
    }
    call.kind = call.name == "optMap" ? Expr::Kind::opt_map : Expr::Kind::opt_flat_map;
    call.variable = ast[call.arguments[0]].name;
    call.arguments = {call.target, call.arguments[1]};
    call.target = no_expr;
    return {};
}

Expansion expand_has(Expr& call, Ast& ast) {
    const Expr& argument = ast[call.arguments[0]];
    if (argument.kind != Expr::Kind::select || argument.is_test) {
        return {argument.span.begin, "`has` needs a field, as in has(args.amount)"};
    }
    const Span span = call.span;
    call = argument;
    call.span = span;
    call.is_test = true;
    // has(a.?b) asks the same as has(a.b).
    call.is_optional = false;
    return {};
}

Expansion expand_bind(Expr& call, Ast& ast) {
    if (!is_simple_name(ast[call.arguments[0]])) {
        return not_a_variable(call, ast[call.arguments[0]]);
    }
    call.kind = Expr::Kind::bind;
    call.variable = ast[call.arguments[0]].name;
    call.arguments = {call.arguments[1], call.arguments[2]};
    call.target = no_expr;
    return {};
}

std::string index_name(std::int64_t index) { return fmt::format("@index{}", index); }

/// cel.block([a, b], c) binds @index0 to a, @index1 to b, and is c.
Expansion expand_block(Expr& call, Ast& ast) {
    const Expr list = ast[call.arguments[0]];
    if (list.kind != Expr::Kind::list) {
        return {list.span.begin, "cel.block needs a list of expressions"};
    }
    ExprId body = call.arguments[1];
    for (std::size_t i = list.arguments.size(); i-- > 0;) {
        Expr bind{.kind = Expr::Kind::bind};
        bind.span = call.span;
        bind.at = call.at;
        bind.variable = index_name(static_cast<std::int64_t>(i));
        bind.arguments = {list.arguments[i], body};
        if (i == 0) {
            call = std::move(bind);
            return {};
        }
        ast.exprs.push_back(std::move(bind));
        body = static_cast<ExprId>(ast.exprs.size() - 1);
    }
    call = ast[body];
    return {};
}

Expansion expand_generated_name(Expr& call, const Ast& ast) {
    std::string name = call.name == "index" ? "@index" : "@" + call.name;
    for (const ExprId id : call.arguments) {
        const Expr& argument = ast[id];
        if (argument.kind != Expr::Kind::literal || argument.literal.kind() != Kind::integer) {
            return {argument.span.begin, fmt::format("cel.{} needs integer literals", call.name)};
        }
        if (call.name != "index") name += ':';
        name += std::to_string(argument.literal.as_integer());
    }
    const Span span = call.span;
    const std::uint32_t at = call.at;
    call = Expr{.kind = Expr::Kind::name};
    call.span = span;
    call.at = at;
    call.name = std::move(name);
    return {};
}

Expansion expand_cel(Expr& call, Ast& ast, const Environment::Switches& switches) {
    const std::size_t count = call.arguments.size();
    if (call.name == "bind" && count == 3) return expand_bind(call, ast);
    if (!switches.block_macros) return {};
    if (call.name == "block" && count == 2) return expand_block(call, ast);
    if (call.name == "index" && count == 1) return expand_generated_name(call, ast);
    if ((call.name == "iterVar" || call.name == "accuVar") && count == 2) {
        return expand_generated_name(call, ast);
    }
    return {};
}

}  // namespace

Expansion expand_macro(Expr& call, Ast& ast, const Environment::Switches& switches) {
    const std::size_t count = call.arguments.size();
    if (call.target == no_expr) {
        return call.name == "has" && count == 1 ? expand_has(call, ast) : Expansion{};
    }
    const Expr& target = ast[call.target];
    if (is_simple_name(target) && target.name == "cel") return expand_cel(call, ast, switches);
    if (const LoopMacro* macro = find_loop(call.name, count)) return expand_loop(call, ast, *macro);
    if ((call.name == "optMap" || call.name == "optFlatMap") && count == 2) {
        return expand_opt_map(call, ast);
    }
    return {};
}

}  // namespace holdpoint::cel
