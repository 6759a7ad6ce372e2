#include "policy/cel/compiler.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "policy/cel/emitter.h"
#include "policy/cel/evaluator.h"

namespace holdpoint::cel {
namespace {

bool is_identifier(std::string_view name) {
    return !name.empty() && !(name.front() >= '0' && name.front() <= '9') &&
           std::ranges::all_of(name, [](char c) {
               return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      c == '_';
           });
}

}  // namespace

std::optional<Complaint> Emitter::run() {
    code_.local_count = checked_.local_count;
    code_.expression_count = ast_.exprs.size();
    code_.result_type = checked_.notes[ast_.root].type;
    const Part root = emit(ast_.root);
    if (complaint_) return std::move(complaint_);
    code_.root = root.node;
    code_.cost = root.cost;
    if (code_.nodes.size() > Value::no_node) {
        return Complaint{0, "the expression has too many parts", ErrorCode::too_large};
    }
    if (limits_.cost_max != 0 && code_.cost > limits_.cost_max) {
        return Complaint{0,
                         fmt::format("the expression may take {} steps, more than the {} "
                                     "allowed; declare smaller lists or avoid nested loops",
                                     code_.cost, limits_.cost_max),
                         ErrorCode::too_large};
    }
    return std::nullopt;
}

std::uint32_t Emitter::add(ExprId id, Node node) {
    code_.nodes.push_back(node);
    code_.spans.push_back(ast_[id].span);
    code_.marks.push_back(ast_[id].at);
    code_.paths.push_back(0);
    return static_cast<std::uint32_t>(code_.nodes.size() - 1);
}

std::uint64_t Emitter::size_of_value(const Value& value) const {
    switch (value.kind()) {
        case Kind::string:
        case Kind::bytes:
            return value.as_text().size();
        case Kind::list:
        case Kind::map:
            return value.size();
        default:
            return 1;
    }
}

Emitter::Part Emitter::emit(ExprId id) {
    if (complaint_) return {};
    const Expr& expr = ast_[id];
    const Note& note = checked_.notes[id];
    switch (note.meaning) {
        case Note::Meaning::slot:
            return emit_slot(id);
        case Note::Meaning::local:
            return {add(id, {.op = Op::local, .a = note.local}), 1, size_of(note.type)};
        case Note::Meaning::type_constant:
            return emit_constant(id, note.constant);
        case Note::Meaning::failure:
            return emit_failure(id);
        case Note::Meaning::plain:
            break;
    }
    switch (expr.kind) {
        case Expr::Kind::literal:
            return emit_literal(id);
        case Expr::Kind::name:
            break;
        case Expr::Kind::select:
            return emit_select(id);
        case Expr::Kind::call:
            return emit_call(id);
        case Expr::Kind::list:
        case Expr::Kind::map:
            return emit_aggregate(id);
        case Expr::Kind::loop:
            return emit_loop(id);
        case Expr::Kind::bind:
        case Expr::Kind::opt_map:
        case Expr::Kind::opt_flat_map:
            return emit_bind(id);
    }
    return fail(expr.at, "the expression cannot be compiled");
}

Emitter::Part Emitter::emit_literal(ExprId id) {
    Value value = ast_[id].literal;
    if (value.kind() == Kind::string) value = Value::string(code_.arena.copy(value.as_text()));
    if (value.kind() == Kind::bytes) value = Value::bytes(code_.arena.copy(value.as_text()));
    return emit_constant(id, value);
}

Emitter::Part Emitter::emit_failure(ExprId id) {
    const Note& note = checked_.notes[id];
    const auto node = static_cast<std::uint16_t>(code_.nodes.size());
    const Value error = Value::error(note.fault, code_.arena.copy(note.text)).at_node(node);
    return {add(id, {.op = Op::failure, .a = add_constant(error)})};
}

Emitter::Part Emitter::emit_slot(ExprId id) {
    const Expr& expr = ast_[id];
    const Note& note = checked_.notes[id];
    Program::Read read;
    const bool is_read = !is_inside_path_ && describe_read(id, read);
    const Op op = expr.kind == Expr::Kind::select && expr.is_test ? Op::has_slot : Op::slot;
    const Part part{add(id, {.op = op, .a = note.slot}), 1, size_of(note.type)};
    if (is_read) code_.paths[part.node] = note_read(std::move(read));
    return part;
}

bool Emitter::describe_read(ExprId id, Program::Read& read) const {
    const Expr& expr = ast_[id];
    const Note& note = checked_.notes[id];
    if (note.meaning == Note::Meaning::slot) {
        read.slot = note.slot;
        read.path = variable_path(id);
        read.position = position_of(code_.source, expr.span.begin);
        return true;
    }
    if (note.meaning != Note::Meaning::plain) return false;
    std::string field;
    ExprId target = expr.target;
    if (expr.kind == Expr::Kind::select) {
        field = expr.name;
    } else if (const Expr* key = constant_key(expr)) {
        field = key->literal.as_text();
        target = expr.arguments[0];
    } else {
        return false;
    }
    if (expr.is_optional || !describe_read(target, read)) return false;
    read.fields.push_back(field);
    read.path += is_identifier(field) ? "." + field : "[\"" + field + "\"]";
    return true;
}

std::string Emitter::variable_path(ExprId id) const {
    const Expr& expr = ast_[id];
    if (expr.kind == Expr::Kind::name) return expr.name;
    return variable_path(expr.target) + "." + expr.name;
}

const Expr* Emitter::constant_key(const Expr& expr) const {
    if (expr.kind != Expr::Kind::call || expr.name != "_[_]") return nullptr;
    const Expr& key = ast_[expr.arguments[1]];
    const bool is_text = key.kind == Expr::Kind::literal && key.literal.kind() == Kind::string;
    return is_text ? &key : nullptr;
}

std::uint16_t Emitter::note_read(Program::Read read) {
    for (std::size_t i = 0; i < code_.reads.size(); ++i) {
        if (code_.reads[i].path == read.path) return static_cast<std::uint16_t>(i + 1);
    }
    code_.reads.push_back(std::move(read));
    return static_cast<std::uint16_t>(code_.reads.size());
}

Emitter::Part Emitter::emit_select(ExprId id) {
    const Expr& expr = ast_[id];
    Program::Read read;
    const bool is_read = !is_inside_path_ && describe_read(id, read);
    const std::uint16_t path = is_read ? note_read(std::move(read)) : 0;
    const Part part = emit_field(id, expr.target, expr.name, is_read);
    if (!complaint_ && !expr.is_test) code_.paths[part.node] = path;
    return part;
}

Emitter::Part Emitter::emit_field(ExprId id, ExprId target, std::string_view name, bool is_read) {
    const Expr& expr = ast_[id];
    const Note& note = checked_.notes[id];
    const Mark before = mark();
    const bool was_inside = is_inside_path_;
    is_inside_path_ = was_inside || is_read;
    const Part inner = emit(target);
    is_inside_path_ = was_inside;
    if (complaint_) return {};
    Node node{.op = Op::select, .a = inner.node, .b = name_constant(name)};
    if (expr.is_test) {
        node.op = Op::has_field;
    } else if (expr.is_optional) {
        node.op = Op::optional_select;
    } else if (checked_.notes[target].type.kind() == Type::Kind::object) {
        code_.types.push_back(note.type);
        node.c = static_cast<std::uint32_t>(code_.types.size());
    }
    const Node& from = code_.nodes[inner.node];
    if (node.op == Op::select && from.op == Op::slot && before.nodes == inner.node) {
        node.op = Op::slot_field;
        node.a = from.a;
        take_back(before);
    }
    const Part part{add(id, node), inner.cost + 1, size_of(note.type), inner.has_regex};
    return fold(id, before, part, {inner.node});
}

Emitter::Part Emitter::emit_aggregate(ExprId id) {
    const Expr& expr = ast_[id];
    const Mark before = mark();
    const bool is_list = expr.kind == Expr::Kind::list;
    std::vector<std::uint32_t> operands;
    std::vector<bool> optional;
    Part part;
    for (std::size_t i = 0; i < expr.arguments.size(); ++i) {
        const bool was_inside = std::exchange(is_inside_path_, false);
        const Part operand = emit(expr.arguments[i]);
        is_inside_path_ = was_inside;
        if (complaint_) return {};
        operands.push_back(operand.node);
        optional.push_back(expr.optional_arguments[is_list ? i : i / 2]);
        part.cost = add_cost(part.cost, operand.cost);
        part.has_regex = part.has_regex || operand.has_regex;
    }
    const std::uint32_t first = add_children(operands, optional);
    part.size = is_list ? operands.size() : operands.size() / 2;
    part.node = add(id, {.op = is_list ? Op::list : Op::map,
                         .count = static_cast<std::uint16_t>(operands.size()),
                         .a = first});
    return fold(id, before, part, operands);
}

Op Emitter::loop_op(Loop loop) {
    switch (loop) {
        case Loop::all:
            return Op::loop_all;
        case Loop::exists:
            return Op::loop_exists;
        case Loop::exists_one:
            return Op::loop_exists_one;
        case Loop::map:
            return Op::loop_map;
        case Loop::filter:
            return Op::loop_filter;
        case Loop::transform_map:
            return Op::loop_transform_map;
        case Loop::transform_map_entry:
            return Op::loop_transform_map_entry;
    }
    return Op::loop_all;
}

Emitter::Part Emitter::emit_loop(ExprId id) {
    const Expr& expr = ast_[id];
    const Note& note = checked_.notes[id];
    const bool was_inside = std::exchange(is_inside_path_, false);
    const Part range = emit(expr.arguments[0]);
    const Part body = emit(expr.arguments[1]);
    const Part condition = expr.arguments.size() > 2 ? emit(expr.arguments[2]) : Part{0, 0, 0};
    is_inside_path_ = was_inside;
    if (complaint_) return {};
    Node node{.op = loop_op(expr.loop), .a = range.node, .b = body.node};
    node.flag = expr.second_variable.empty() ? 0 : 1;
    node.count = static_cast<std::uint16_t>(note.local);
    if (expr.arguments.size() > 2) node.c = condition.node + 1;
    Part part;
    part.node = add(id, node);
    part.cost =
        add_cost(range.cost, multiply_cost(range.size, add_cost(body.cost, condition.cost)));
    part.size = note.type.kind() == Type::Kind::boolean ? 1 : range.size;
    part.has_regex = range.has_regex || body.has_regex || condition.has_regex;
    return part;
}

Emitter::Part Emitter::emit_bind(ExprId id) {
    const Expr& expr = ast_[id];
    const bool was_inside = std::exchange(is_inside_path_, false);
    const Part bound = emit(expr.arguments[0]);
    const Part body = emit(expr.arguments[1]);
    is_inside_path_ = was_inside;
    if (complaint_) return {};
    Node node{.op = Op::bind, .a = bound.node, .b = body.node};
    if (expr.kind == Expr::Kind::opt_map) node.op = Op::opt_map;
    if (expr.kind == Expr::Kind::opt_flat_map) node.op = Op::opt_flat_map;
    node.count = static_cast<std::uint16_t>(checked_.notes[id].local);
    return {add(id, node), add_cost(bound.cost, add_cost(body.cost, 1)), body.size,
            bound.has_regex || body.has_regex};
}

void Emitter::take_back(const Mark& to) {
    code_.nodes.resize(to.nodes);
    code_.spans.resize(to.nodes);
    code_.marks.resize(to.nodes);
    code_.paths.resize(to.nodes);
    code_.children.resize(to.children);
    code_.optional_children.resize(to.children);
}

Emitter::Part Emitter::fold(ExprId id, const Mark& before, Part part,
                            const std::vector<std::uint32_t>& operands) {
    if (code_.nodes[part.node].op == Op::slot_field) return part;
    for (const std::uint32_t operand : operands) {
        if (!is_constant(operand)) return part;
    }
    constexpr std::int64_t steps = 2000;
    Evaluator<false> evaluator(code_, {}, nullptr, code_.arena, steps, nullptr);
    const Value value = evaluator.evaluate(part.node);
    if (value.is_error() || evaluator.steps() < 0) return part;
    take_back(before);
    return emit_constant(id, value);
}

std::optional<Complaint> emit(const Ast& ast, const Checked& checked,
                              const Environment::Switches& switches, const Limits& limits,
                              Code& code) {
    return Emitter(ast, checked, switches, limits, code).run();
}

}  // namespace holdpoint::cel
