#include "policy/cel/checker.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "policy/cel/infer.h"
#include "policy/cel/library.h"
#include "policy/cel/operator_names.h"

namespace holdpoint::cel {
namespace {

using TypeKind = Type::Kind;

class Checker {
  public:
    Checker(const Ast& ast, const Environment& environment, const Limits& limits, Checked& checked)
        : ast_(ast),
          environment_(environment),
          limits_(limits),
          checked_(checked),
          is_checking_(environment.switches().check) {}

    std::optional<Complaint> run() {
        checked_.notes.resize(ast_.exprs.size());
        visit(ast_.root);
        if (complaint_) return std::move(complaint_);
        for (Note& note : checked_.notes) note.type = inference_.settle(note.type);
        return std::nullopt;
    }

  private:
    struct Local {
        std::string name;
        Type type;
    };

    void fail(std::uint32_t offset, std::string message,
              ErrorCode code = ErrorCode::invalid_argument) {
        if (!complaint_) complaint_ = Complaint{offset, std::move(message), code};
    }

    /// A mistake that unchecked programs meet when they are evaluated.
    Type mistake(ExprId id, Fault fault, std::string message) {
        if (is_checking_) {
            fail(ast_[id].at, std::move(message));
            return {};
        }
        Note& note = checked_.notes[id];
        note.meaning = Note::Meaning::failure;
        note.fault = fault;
        note.text = std::move(message);
        return {};
    }

    Type visit(ExprId id) {
        if (complaint_) return {};
        Type type = visit_kind(id);
        if (!is_checking_) type = {};
        checked_.notes[id].type = type;
        return type;
    }

    Type visit_kind(ExprId id) {
        const Expr& expr = ast_[id];
        switch (expr.kind) {
            case Expr::Kind::literal:
                return literal_type(expr.literal);
            case Expr::Kind::name:
                return visit_name(id);
            case Expr::Kind::select:
                return visit_select(id);
            case Expr::Kind::call:
                return visit_call(id);
            case Expr::Kind::list:
                return visit_list(expr);
            case Expr::Kind::map:
                return visit_map(expr);
            case Expr::Kind::loop:
                return visit_loop(id);
            case Expr::Kind::bind:
                return visit_bind(id);
            case Expr::Kind::opt_map:
            case Expr::Kind::opt_flat_map:
                return visit_opt_map(id);
        }
        return {};
    }

    static Type literal_type(const Value& value) {
        switch (value.kind()) {
            case Kind::null:
                return Type::null();
            case Kind::boolean:
                return Type::boolean();
            case Kind::integer:
                return Type::integer();
            case Kind::unsigned_integer:
                return Type::unsigned_integer();
            case Kind::real:
                return Type::real();
            case Kind::string:
                return Type::string();
            default:
                return Type::bytes();
        }
    }

    // --- names

    int find_local(std::string_view name) const {
        for (std::size_t i = locals_.size(); i-- > 0;) {
            if (locals_[i].name == name) return static_cast<int>(i);
        }
        return -1;
    }

    /// `a.b.c` as written, if the expression is nothing but names and no loop variable shadows the
    /// first; empty otherwise.
    std::string qualified_name(ExprId id, bool& is_absolute) const {
        std::string name;
        while (ast_[id].kind == Expr::Kind::select) {
            if (ast_[id].is_optional || ast_[id].is_test || ast_[id].is_bracketed) return {};
            name = name.empty() ? ast_[id].name : ast_[id].name + "." + name;
            id = ast_[id].target;
        }
        const Expr& root = ast_[id];
        if (root.kind != Expr::Kind::name || root.is_bracketed) return {};
        is_absolute = root.is_absolute;
        if (!root.is_absolute && find_local(root.name) >= 0) return {};
        return name.empty() ? root.name : root.name + "." + name;
    }

    /// The names to try in the environment's container, innermost first.
    std::vector<std::string> candidates(const std::string& name, bool is_absolute) const {
        std::vector<std::string> all;
        std::string container = is_absolute ? "" : environment_.container();
        while (!container.empty()) {
            all.push_back(container + "." + name);
            const std::size_t point = container.rfind('.');
            container.resize(point == container.npos ? 0 : point);
        }
        all.push_back(name);
        return all;
    }

    bool resolve_variable(ExprId id, const std::string& name, bool is_absolute, Type& type) {
        Note& note = checked_.notes[id];
        for (const std::string& candidate : candidates(name, is_absolute)) {
            Slot slot = 0;
            if (const Environment::Variable* found = environment_.variable(candidate, &slot)) {
                note.meaning = Note::Meaning::slot;
                note.slot = slot;
                type = found->type;
                return true;
            }
            const Value constant = type_constant(candidate);
            if (constant.is_absent()) continue;
            note.meaning = Note::Meaning::type_constant;
            note.constant = constant;
            type = Type::type(type_named(candidate));
            return true;
        }
        return false;
    }

    Type visit_name(ExprId id) {
        const Expr& expr = ast_[id];
        if (const int local = expr.is_absolute ? -1 : find_local(expr.name); local >= 0) {
            Note& note = checked_.notes[id];
            note.meaning = Note::Meaning::local;
            note.local = static_cast<std::uint32_t>(local);
            return locals_[local].type;
        }
        Type type;
        if (resolve_variable(id, expr.name, expr.is_absolute, type)) return type;
        return mistake(id, Fault::no_such_variable,
                       fmt::format("there is no variable `{}`", expr.name));
    }

    // --- fields

    Type visit_select(ExprId id) {
        const Expr& expr = ast_[id];
        if (!expr.is_optional && resolve_whole_chain(id)) {
            return expr.is_test ? Type::boolean() : checked_.notes[id].type;
        }
        const Type target = visit(expr.target);
        if (complaint_) return {};
        Type field = field_type(id, inference_.resolve(target), expr.name);
        if (expr.is_test) return Type::boolean();
        if (expr.is_optional && field.kind() != TypeKind::optional) return Type::optional(field);
        return field;
    }

    /// Whether target and field together are a declared variable; for `has` as well.
    bool resolve_whole_chain(ExprId id) {
        const Expr& expr = ast_[id];
        bool is_absolute = false;
        const std::string before = qualified_name(expr.target, is_absolute);
        if (before.empty()) return false;
        Type type;
        if (!resolve_variable(id, before + "." + expr.name, is_absolute, type)) return false;
        checked_.notes[id].type = type;
        return true;
    }

    Type field_type(ExprId id, const Type& target, const std::string& name) {
        switch (target.kind()) {
            case TypeKind::dynamic:
            case TypeKind::parameter:
                return {};
            case TypeKind::map:
                return target.value();
            case TypeKind::optional: {
                Type field = field_type(id, inference_.resolve(target.element()), name);
                return field.kind() == TypeKind::optional ? field : Type::optional(field);
            }
            case TypeKind::object: {
                if (const Type* field = target.field(name)) return *field;
                std::vector<std::string> known;
                for (const Type::Field& field : target.fields()) {
                    if (known.size() < 12) known.push_back(field.name);
                }
                return mistake(
                    id, Fault::no_such_key,
                    fmt::format(
                        "`{}` has no field `{}`; it has {}", target.name(), name,
                        known.empty() ? "none" : fmt::format("{}", fmt::join(known, ", "))));
            }
            default:
                return mistake(id, Fault::no_such_overload,
                               fmt::format("a value of type {} has no fields",
                                           inference_.settle(target).to_string()));
        }
    }

    // --- calls

    Type visit_call(ExprId id) {
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

    Type visit_logical(ExprId id) {
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

    /// Whether the call is of a function with a dotted name, like `math.abs(x)`; `name` becomes the
    /// full name.
    bool resolve_namespace(ExprId id, std::string& name) {
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

    /// Comparisons across numeric types where the environment allows them, and fields of objects by
    /// a constant index: neither fits an overload.
    bool special_case(ExprId id, const std::vector<Type>& types, Type& known) {
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

    static bool fits_count(const Overload& overload, std::size_t count) {
        if (overload.is_variadic) return count >= overload.parameters.size();
        return overload.parameters.size() == count;
    }

    Type resolve_call(ExprId id, const std::string& name, bool is_method,
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

    bool fits(const Overload& overload, const std::vector<Type>& types, Type& returned) {
        std::vector<Type> signature = overload.parameters;
        while (signature.size() < types.size()) signature.push_back(signature.back());
        signature.push_back(overload.result);
        signature = inference_.freshen(signature);
        returned = signature.back();
        signature.pop_back();
        return inference_.assign_all(types, signature);
    }

    std::string no_overload_message(ExprId id, const std::string& name, bool is_method,
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
            return fmt::format("there is no {} `{}`", is_method ? "method" : "function",
                               ast_[id].name);
        }
        const std::string receiver = is_method ? names.front() + "." : "";
        if (is_method) names.erase(names.begin());
        return fmt::format("`{}` cannot be called as {}{}({})", name, receiver, ast_[id].name,
                           fmt::join(names, ", "));
    }

    // --- lists and maps

    Type element_type(const Expr& expr, ExprId element, bool is_optional) {
        Type type = visit(element);
        if (complaint_ || !is_optional || !is_checking_) return type;
        const Type inner = inference_.fresh();
        if (!inference_.assign(type, Type::optional(inner))) {
            fail(ast_[element].span.begin,
                 fmt::format("`?` in a {} needs an optional value, this is {}",
                             expr.kind == Expr::Kind::list ? "list" : "map",
                             inference_.settle(type).to_string()));
        }
        return inference_.resolve(inner);
    }

    Type visit_list(const Expr& expr) {
        Type element = inference_.fresh();
        for (std::size_t i = 0; i < expr.arguments.size() && !complaint_; ++i) {
            const Type type = element_type(expr, expr.arguments[i], expr.optional_arguments[i]);
            element = i == 0 ? type : inference_.join(element, type);
        }
        return Type::list(element, expr.arguments.size());
    }

    static bool may_be_key(const Type& type) {
        switch (type.kind()) {
            case TypeKind::dynamic:
            case TypeKind::parameter:
            case TypeKind::boolean:
            case TypeKind::integer:
            case TypeKind::unsigned_integer:
            case TypeKind::string:
                return true;
            default:
                return false;
        }
    }

    Type visit_map(const Expr& expr) {
        Type key = inference_.fresh();
        Type value = inference_.fresh();
        for (std::size_t i = 0; i < expr.arguments.size() && !complaint_; i += 2) {
            const Type key_type = visit(expr.arguments[i]);
            const Type value_type =
                element_type(expr, expr.arguments[i + 1], expr.optional_arguments[i / 2]);
            if (complaint_) break;
            if (is_checking_ && !may_be_key(inference_.resolve(key_type))) {
                fail(ast_[expr.arguments[i]].span.begin,
                     fmt::format("a map key cannot be of type {}",
                                 inference_.settle(key_type).to_string()));
            }
            key = i == 0 ? key_type : inference_.join(key, key_type);
            value = i == 0 ? value_type : inference_.join(value, value_type);
        }
        return Type::map(key, value, expr.arguments.size() / 2);
    }

    // --- loops and bindings

    void push_local(const std::string& name, Type type) {
        locals_.push_back({name, std::move(type)});
        checked_.local_count =
            std::max(checked_.local_count, static_cast<std::uint32_t>(locals_.size()));
    }

    struct Range {
        Type key;    ///< what two variables see first
        Type value;  ///< what two variables see second
        Type single;
    };

    bool range_of(ExprId id, const Type& type, Range& range) {
        switch (type.kind()) {
            case TypeKind::dynamic:
            case TypeKind::parameter:
                return true;
            case TypeKind::list:
                range = {Type::integer(), type.element(), type.element()};
                return true;
            case TypeKind::map:
                range = {type.key(), type.value(), type.key()};
                return true;
            default:
                mistake(id, Fault::no_such_overload,
                        fmt::format("`{}` goes over lists and maps, this is {}", ast_[id].name,
                                    inference_.settle(type).to_string()));
                return false;
        }
    }

    Type visit_loop(ExprId id) {
        const Expr& expr = ast_[id];
        const Type over = inference_.resolve(visit(expr.arguments[0]));
        Range range;
        if (complaint_ || !range_of(id, over, range)) return {};
        if (++loop_depth_ > limits_.macro_nesting_max) {
            fail(expr.at,
                 fmt::format("loops are nested more than {} deep", limits_.macro_nesting_max),
                 ErrorCode::too_large);
            return {};
        }
        const std::size_t before = locals_.size();
        checked_.notes[id].local = static_cast<std::uint32_t>(before);
        if (expr.second_variable.empty()) {
            push_local(expr.variable, range.single);
        } else {
            push_local(expr.variable, range.key);
            push_local(expr.second_variable, range.value);
        }
        if (expr.arguments.size() > 2) check_boolean(expr.arguments[2], expr.name);
        const bool wants_boolean = expr.loop == Loop::all || expr.loop == Loop::exists ||
                                   expr.loop == Loop::exists_one || expr.loop == Loop::filter;
        Type body;
        if (wants_boolean) {
            check_boolean(expr.arguments[1], expr.name);
        } else if (!complaint_) {
            body = visit(expr.arguments[1]);
        }
        locals_.resize(before);
        --loop_depth_;
        return complaint_ ? Type() : loop_result(expr, over, range, body);
    }

    void check_boolean(ExprId id, const std::string& macro) {
        const Type type = visit(id);
        if (complaint_ || !is_checking_ || inference_.assign(type, Type::boolean())) return;
        fail(ast_[id].span.begin, fmt::format("`{}` needs a boolean here, this is {}", macro,
                                              inference_.settle(type).to_string()));
    }

    Type loop_result(const Expr& expr, const Type& over, const Range& range, const Type& body) {
        switch (expr.loop) {
            case Loop::all:
            case Loop::exists:
            case Loop::exists_one:
                return Type::boolean();
            case Loop::filter:
                return Type::list(range.single, over.size_max());
            case Loop::map:
                return Type::list(body, over.size_max());
            case Loop::transform_map:
                return Type::map(range.key, body, over.size_max());
            case Loop::transform_map_entry:
                break;
        }
        const Type entry = Type::map(inference_.fresh(), inference_.fresh());
        if (is_checking_ && !inference_.assign(body, entry)) {
            fail(ast_[expr.arguments[1]].span.begin,
                 fmt::format("`transformMapEntry` needs a map with one entry, this is {}",
                             inference_.settle(body).to_string()));
        }
        return inference_.resolve(body).is_dynamic() ? Type::map({}, {}) : body;
    }

    Type visit_bind(ExprId id) {
        const Expr& expr = ast_[id];
        const Type bound = visit(expr.arguments[0]);
        checked_.notes[id].local = static_cast<std::uint32_t>(locals_.size());
        push_local(expr.variable, bound);
        const Type body = visit(expr.arguments[1]);
        locals_.pop_back();
        return body;
    }

    Type visit_opt_map(ExprId id) {
        const Expr& expr = ast_[id];
        const Type target = visit(expr.arguments[0]);
        if (complaint_) return {};
        const Type held = inference_.fresh();
        if (is_checking_ && !inference_.assign(target, Type::optional(held))) {
            fail(expr.at, fmt::format("`{}` is for optional values, this is {}", expr.name,
                                      inference_.settle(target).to_string()));
            return {};
        }
        checked_.notes[id].local = static_cast<std::uint32_t>(locals_.size());
        push_local(expr.variable, inference_.resolve(held));
        const Type body = visit(expr.arguments[1]);
        locals_.pop_back();
        if (complaint_) return {};
        if (expr.kind == Expr::Kind::opt_map) return Type::optional(body);
        if (is_checking_ && !inference_.assign(body, Type::optional(inference_.fresh()))) {
            fail(ast_[expr.arguments[1]].span.begin,
                 fmt::format("`optFlatMap` needs an optional here, this is {}",
                             inference_.settle(body).to_string()));
        }
        return body;
    }

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

}  // namespace

std::optional<Complaint> check(const Ast& ast, const Environment& environment, const Limits& limits,
                               Checked& checked) {
    return Checker(ast, environment, limits, checked).run();
}

}  // namespace holdpoint::cel
