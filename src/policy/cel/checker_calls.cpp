#include "policy/cel/checker_walk.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "policy/cel/library.h"
#include "policy/cel/operator_names.h"

namespace holdpoint::cel {
namespace {

using TypeKind = Type::Kind;

}  // namespace

Type Checker::visit_call(ExprId id) {
    const Expr& expr = ast_[id];
    if (expr.name == "_&&_" || expr.name == "_||_") return visit_logical(id);
    std::string name = expr.name;
    const bool is_method = !resolve_namespace(id, name);
    std::vector<ExprId> operands;
    if (is_method && expr.target != no_expr) operands.push_back(expr.target);
    operands.insert(operands.end(), expr.arguments.begin(), expr.arguments.end());
    std::vector<Type> types;
    for (const ExprId operand : operands) types.push_back(visit(operand));
    if (complaint_) return {};
    if (Type known; is_checking_ && special_case(id, types, known)) return known;
    return resolve_call(id, name, is_method && expr.target != no_expr, types);
}

Type Checker::visit_logical(ExprId id) {
    const Expr& expr = ast_[id];
    for (const ExprId operand : expr.arguments) {
        const Type type = visit(operand);
        if (complaint_) return {};
        if (is_checking_ && !inference_.assign(type, Type::boolean())) {
            fail(ast_[operand].span.begin,
                 fmt::format("`{}` joins booleans, this is {}", operator_symbol(expr.name),
                             inference_.settle(type).to_string()));
        }
    }
    return Type::boolean();
}

bool Checker::resolve_namespace(ExprId id, std::string& name) {
    const Expr& expr = ast_[id];
    bool is_absolute = false;
    std::string full = name;
    if (expr.target != no_expr) {
        const std::string before = qualified_name(expr.target, is_absolute);
        if (before.empty()) return false;
        full = before + "." + name;
    }
    for (const std::string& candidate : candidates(full, is_absolute)) {
        for (const auto& overload : environment_.overloads(candidate)) {
            if (overload->is_method) continue;
            name = candidate;
            checked_.notes[id].is_namespaced = expr.target != no_expr;
            return true;
        }
    }
    return false;
}

bool Checker::special_case(ExprId id, const std::vector<Type>& types, Type& known) {
    const Expr& expr = ast_[id];
    if (types.size() != 2) return false;
    const Type left = inference_.resolve(types[0]);
    const Type right = inference_.resolve(types[1]);
    if (expr.name == "_[_]" && left.kind() == TypeKind::object) {
        const Expr& index = ast_[expr.arguments[1]];
        if (index.kind != Expr::Kind::literal || index.literal.kind() != Kind::string) {
            fail(index.span.begin,
                 fmt::format("a field of `{}` is chosen by a string literal", left.name()));
            return true;
        }
        known = field_type(id, left, std::string(index.literal.as_text()));
        return true;
    }
    if (!environment_.switches().cross_type_numeric_comparison) return false;
    known = Type::boolean();
    if (is_comparison(expr.name)) return left.is_numeric() && right.is_numeric();
    return expr.name == "@in" && left.is_numeric() && right.kind() == TypeKind::list &&
           inference_.resolve(right.element()).is_numeric();
}

Type Checker::resolve_call(ExprId id, const std::string& name, bool is_method,
                           const std::vector<Type>& types) {
    Note& note = checked_.notes[id];
    const auto overloads = environment_.overloads(name);
    bool has_result = false;
    Type result;
    for (const auto& overload : overloads) {
        if (overload->is_method != is_method || !fits_count(*overload, types.size())) continue;
        if (is_checking_) {
            Type returned;
            if (!fits(*overload, types, returned)) continue;
            if (has_result && !(inference_.resolve(result) == inference_.resolve(returned))) {
                returned = {};
            }
            result = returned;
            has_result = true;
        }
        note.overloads.push_back(overload);
    }
    if (!note.overloads.empty()) return result;
    return mistake(id, overloads.empty() ? Fault::no_such_function : Fault::no_such_overload,
                   no_overload_message(id, name, is_method, types, overloads.empty()));
}

bool Checker::fits(const Overload& overload, const std::vector<Type>& types, Type& returned) {
    std::vector<Type> signature = overload.parameters;
    while (signature.size() < types.size()) signature.push_back(signature.back());
    signature.push_back(overload.result);
    signature = inference_.freshen(signature);
    returned = signature.back();
    signature.pop_back();
    return inference_.assign_all(types, signature);
}

std::string Checker::no_overload_message(ExprId id, const std::string& name, bool is_method,
                                         const std::vector<Type>& types, bool is_unknown) const {
    std::vector<std::string> names;
    for (const Type& type : types) names.push_back(inference_.settle(type).to_string());
    const std::string_view symbol = operator_symbol(name);
    if (!symbol.empty()) {
        std::string message =
            fmt::format("`{}` is not defined for {}", symbol, fmt::join(names, " and "));
        if (types.size() == 2 && inference_.settle(types[0]).is_numeric() &&
            inference_.settle(types[1]).is_numeric()) {
            message += fmt::format("; convert one side, as in {}(…)", names[0]);
        }
        return message;
    }
    if (is_unknown) {
        return fmt::format("there is no {} `{}`", is_method ? "method" : "function", ast_[id].name);
    }
    const std::string receiver = is_method ? names.front() + "." : "";
    if (is_method) names.erase(names.begin());
    return fmt::format("`{}` cannot be called as {}{}({})", name, receiver, ast_[id].name,
                       fmt::join(names, ", "));
}

}  // namespace holdpoint::cel
