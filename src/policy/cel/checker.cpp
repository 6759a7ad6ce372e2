#include "policy/cel/checker.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "policy/cel/checker_walk.h"
#include "policy/cel/library.h"
#include "policy/cel/operator_names.h"

namespace holdpoint::cel {
namespace {

using TypeKind = Type::Kind;

}  // namespace

std::optional<Complaint> Checker::run() {
    checked_.notes.resize(ast_.exprs.size());
    visit(ast_.root);
    if (complaint_) return std::move(complaint_);
    for (Note& note : checked_.notes) note.type = inference_.settle(note.type);
    return std::nullopt;
}

void Checker::fail(std::uint32_t offset, std::string message, ErrorCode code) {
    if (!complaint_) complaint_ = Complaint{offset, std::move(message), code};
}

Type Checker::mistake(ExprId id, Fault fault, std::string message) {
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

Type Checker::visit(ExprId id) {
    if (complaint_) return {};
    Type type = visit_kind(id);
    if (!is_checking_) type = {};
    checked_.notes[id].type = type;
    return type;
}

Type Checker::visit_kind(ExprId id) {
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

Type Checker::literal_type(const Value& value) {
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

int Checker::find_local(std::string_view name) const {
    for (std::size_t i = locals_.size(); i-- > 0;) {
        if (locals_[i].name == name) return static_cast<int>(i);
    }
    return -1;
}

std::string Checker::qualified_name(ExprId id, bool& is_absolute) const {
    std::string name;
    while (ast_[id].kind == Expr::Kind::select) {
        if (ast_[id].is_optional || ast_[id].is_test || ast_[id].is_bracketed) return {};
        // A quoted field with a point in it is one field, not two names.
        if (ast_[id].name.contains('.')) return {};
        name.insert(0, name.empty() ? ast_[id].name : fmt::format("{}.", ast_[id].name));
        id = ast_[id].target;
    }
    const Expr& root = ast_[id];
    if (root.kind != Expr::Kind::name || root.is_bracketed) return {};
    is_absolute = root.is_absolute;
    if (!root.is_absolute && find_local(root.name) >= 0) return {};
    return name.empty() ? root.name : fmt::format("{}.{}", root.name, name);
}

std::vector<std::string> Checker::candidates(const std::string& name, bool is_absolute) const {
    std::vector<std::string> all;
    std::string container = is_absolute ? "" : environment_.container();
    while (!container.empty()) {
        all.push_back(fmt::format("{}.{}", container, name));
        const std::size_t point = container.rfind('.');
        container.resize(point == container.npos ? 0 : point);
    }
    all.push_back(name);
    return all;
}

bool Checker::resolve_variable(ExprId id, const std::string& name, bool is_absolute, Type& type) {
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

Type Checker::visit_name(ExprId id) {
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

Type Checker::visit_select(ExprId id) {
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

bool Checker::resolve_whole_chain(ExprId id) {
    const Expr& expr = ast_[id];
    bool is_absolute = false;
    const std::string before = qualified_name(expr.target, is_absolute);
    if (before.empty() || expr.name.contains('.')) return false;
    Type type;
    if (!resolve_variable(id, before + "." + expr.name, is_absolute, type)) return false;
    checked_.notes[id].type = type;
    return true;
}

Type Checker::field_type(ExprId id, const Type& target, const std::string& name) {
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
                fmt::format("`{}` has no field `{}`; it has {}", target.name(), name,
                            known.empty() ? "none" : fmt::format("{}", fmt::join(known, ", "))));
        }
        default:
            return mistake(id, Fault::no_such_overload,
                           fmt::format("a value of type {} has no fields",
                                       inference_.settle(target).to_string()));
    }
}

Type Checker::element_type(const Expr& expr, ExprId element, bool is_optional) {
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

Type Checker::visit_list(const Expr& expr) {
    Type element = inference_.fresh();
    for (std::size_t i = 0; i < expr.arguments.size() && !complaint_; ++i) {
        const Type type = element_type(expr, expr.arguments[i], expr.optional_arguments[i]);
        element = i == 0 ? type : inference_.join(element, type);
    }
    return Type::list(element, expr.arguments.size());
}

bool Checker::may_be_key(const Type& type) {
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

Type Checker::visit_map(const Expr& expr) {
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

void Checker::push_local(const std::string& name, Type type) {
    locals_.push_back({name, std::move(type)});
    checked_.local_count =
        std::max(checked_.local_count, static_cast<std::uint32_t>(locals_.size()));
}

bool Checker::range_of(ExprId id, const Type& type, Range& range) {
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

Type Checker::visit_loop(ExprId id) {
    const Expr& expr = ast_[id];
    const Type over = inference_.resolve(visit(expr.arguments[0]));
    Range range;
    if (complaint_ || !range_of(id, over, range)) return {};
    if (++loop_depth_ > limits_.macro_nesting_max) {
        fail(expr.at, fmt::format("loops are nested more than {} deep", limits_.macro_nesting_max),
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

void Checker::check_boolean(ExprId id, const std::string& macro) {
    const Type type = visit(id);
    if (complaint_ || !is_checking_ || inference_.assign(type, Type::boolean())) return;
    fail(ast_[id].span.begin, fmt::format("`{}` needs a boolean here, this is {}", macro,
                                          inference_.settle(type).to_string()));
}

Type Checker::loop_result(const Expr& expr, const Type& over, const Range& range,
                          const Type& body) {
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

Type Checker::visit_bind(ExprId id) {
    const Expr& expr = ast_[id];
    const Type bound = visit(expr.arguments[0]);
    checked_.notes[id].local = static_cast<std::uint32_t>(locals_.size());
    push_local(expr.variable, bound);
    const Type body = visit(expr.arguments[1]);
    locals_.pop_back();
    return body;
}

Type Checker::visit_opt_map(ExprId id) {
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

std::optional<Complaint> check(const Ast& ast, const Environment& environment, const Limits& limits,
                               Checked& checked) {
    return Checker(ast, environment, limits, checked).run();
}

}  // namespace holdpoint::cel
