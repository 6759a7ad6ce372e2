#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "policy/cel/emitter.h"
#include "policy/cel/library.h"
#include "policy/cel/moment.h"

namespace holdpoint::cel {
namespace {

struct OperatorOp {
    std::string_view function;
    Op op;
};
constexpr std::array<OperatorOp, 17> operator_ops = {{{"_==_", Op::equal},
                                                      {"_!=_", Op::not_equal},
                                                      {"_<_", Op::less},
                                                      {"_<=_", Op::less_equal},
                                                      {"_>_", Op::greater},
                                                      {"_>=_", Op::greater_equal},
                                                      {"_+_", Op::add},
                                                      {"_-_", Op::subtract},
                                                      {"_*_", Op::multiply},
                                                      {"_/_", Op::divide},
                                                      {"_%_", Op::modulo},
                                                      {"@in", Op::in},
                                                      {"-_", Op::negate},
                                                      {"!_", Op::logical_not},
                                                      {"_?_:_", Op::conditional},
                                                      {"_[_]", Op::index},
                                                      {"_[?_]", Op::optional_index}}};

const OperatorOp* find_operator(std::string_view function) {
    const auto found = std::ranges::find(operator_ops, function, &OperatorOp::function);
    return found == operator_ops.end() ? nullptr : &*found;
}

/// Whether a whole number is one that doubles find as well, so that a set may hold it.
bool may_be_in_set(const Value& value) {
    switch (value.kind()) {
        case Kind::string:
        case Kind::bytes:
        case Kind::boolean:
            return true;
        case Kind::integer:
            return std::abs(value.as_integer()) <= (std::int64_t{1} << 53);
        case Kind::unsigned_integer:
            return value.as_unsigned() <= (std::uint64_t{1} << 53);
        default:
            return false;
    }
}

}  // namespace

Emitter::Part Emitter::emit_call(ExprId id) {
    const Expr& expr = ast_[id];
    if (expr.name == "_&&_" || expr.name == "_||_") return emit_logical(id);
    if (constant_key(expr)) {
        Program::Read read;
        const bool is_read = !is_inside_path_ && describe_read(id, read);
        const std::uint16_t path = is_read ? note_read(std::move(read)) : 0;
        const Part part = emit_operator(id, Op::index);
        if (!complaint_) code_.paths[part.node] = path;
        return part;
    }
    if (const OperatorOp* found = find_operator(expr.name)) {
        return emit_operator(id, found->op);
    }
    return emit_function(id);
}

Emitter::Part Emitter::emit_operator(ExprId id, Op op) {
    const Expr& expr = ast_[id];
    const Mark before = mark();
    std::array<Part, 3> parts;
    std::vector<std::uint32_t> operands;
    for (std::size_t i = 0; i < expr.arguments.size(); ++i) {
        const bool was_inside = is_inside_path_;
        // In `a[b.c]` the index is a path of its own.
        is_inside_path_ = (op == Op::index && i == 0) && (was_inside || constant_key(expr));
        parts[i] = emit(expr.arguments[i]);
        is_inside_path_ = was_inside;
        if (complaint_) return {};
        operands.push_back(parts[i].node);
    }
    Node node{.op = op, .a = parts[0].node, .b = parts[1].node, .c = parts[2].node};
    Part part;
    part.has_regex = parts[0].has_regex || parts[1].has_regex || parts[2].has_regex;
    part.size = result_size(id, op, parts);
    part.cost = operator_cost(op, operands_of(expr, parts));
    if (op == Op::in && to_set(node)) part.cost = add_cost(parts[0].cost, 1);
    part.node = add(id, node);
    return fold(id, before, part, operands);
}

std::vector<Operand> Emitter::operands_of(const Expr& expr,
                                          const std::array<Part, 3>& parts) const {
    std::vector<Operand> operands;
    for (std::size_t i = 0; i < expr.arguments.size(); ++i) {
        operands.push_back({checked_.notes[expr.arguments[i]].type, parts[i].cost, parts[i].size});
    }
    return operands;
}

std::uint64_t Emitter::result_size(ExprId id, Op op, const std::array<Part, 3>& parts) const {
    if (op == Op::add) return add_cost(parts[0].size, parts[1].size);
    if (op == Op::conditional) return std::max(parts[1].size, parts[2].size);
    return size_of(checked_.notes[id].type);
}

bool Emitter::to_set(Node& node) {
    if (!is_constant(node.b) || constant_of(node.b).kind() != Kind::list) return false;
    const Value list = constant_of(node.b);
    const std::size_t size = list.size();
    auto* entries = code_.arena.make_array<MapEntry>(size);
    for (std::size_t i = 0; i < size; ++i) {
        const Value element = list.element(i, code_.arena);
        if (!may_be_in_set(element)) return false;
        new (&entries[i]) MapEntry{element, Value::boolean(true)};
    }
    code_.sets.push_back(make_table({entries, size}, code_.arena));
    node.op = Op::in_set;
    node.b = static_cast<std::uint32_t>(code_.sets.size() - 1);
    return true;
}

Emitter::Part Emitter::emit_logical(ExprId id) {
    const Expr& expr = ast_[id];
    const Mark before = mark();
    std::vector<Part> parts;
    std::vector<std::uint32_t> operands;
    Part part;
    for (const ExprId argument : expr.arguments) {
        parts.push_back(emit(argument));
        if (complaint_) return {};
        part.cost = add_cost(part.cost, parts.back().cost);
        part.has_regex = part.has_regex || parts.back().has_regex;
    }
    // The operands commute; searching text is what takes time.
    for (const bool is_last : {false, true}) {
        for (const Part& operand : parts) {
            if (operand.has_regex == is_last) operands.push_back(operand.node);
        }
    }
    const std::uint32_t first = add_children(operands, {});
    part.node = add(id, {.op = expr.name == "_&&_" ? Op::conjunction : Op::disjunction,
                         .count = static_cast<std::uint16_t>(operands.size()),
                         .a = first});
    return fold(id, before, part, operands);
}

std::uint32_t Emitter::add_children(const std::vector<std::uint32_t>& nodes,
                                    const std::vector<bool>& optional) {
    const auto first = static_cast<std::uint32_t>(code_.children.size());
    code_.children.insert(code_.children.end(), nodes.begin(), nodes.end());
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        code_.optional_children.push_back(!optional.empty() && optional[i]);
    }
    return first;
}

Emitter::Part Emitter::emit_function(ExprId id) {
    const Expr& expr = ast_[id];
    const Note& note = checked_.notes[id];
    const Mark before = mark();
    std::vector<ExprId> given;
    if (expr.target != no_expr && !note.is_namespaced) given.push_back(expr.target);
    given.insert(given.end(), expr.arguments.begin(), expr.arguments.end());
    std::vector<std::uint32_t> operands;
    Part part;
    part.size = size_of(note.type);
    std::uint64_t largest = 0;
    for (const ExprId argument : given) {
        const bool was_inside = std::exchange(is_inside_path_, false);
        const Part operand = emit(argument);
        is_inside_path_ = was_inside;
        if (complaint_) return {};
        operands.push_back(operand.node);
        part.cost = add_cost(part.cost, operand.cost);
        part.has_regex = part.has_regex || operand.has_regex;
        largest = std::max(largest, operand.size);
    }
    std::uint64_t own = 1;
    for (const auto& overload : note.overloads) {
        own =
            std::max<std::uint64_t>(own, overload->cost + (overload->is_linear ? largest / 32 : 0));
    }
    part.cost = add_cost(part.cost, own);
    if (expr.name == "matches" && operands.size() == 2) {
        bool is_done = false;
        const Part search = emit_matches(id, part, operands, is_done);
        if (is_done || complaint_) return complaint_ ? Part() : fold(id, before, search, operands);
    }
    if (!check_zone(id, operands)) return {};
    const std::uint32_t first = add_children(operands, {});
    part.node = add(id, {.op = Op::call,
                         .count = static_cast<std::uint16_t>(operands.size()),
                         .a = first,
                         .b = add_function(id)});
    return fold(id, before, part, operands);
}

std::uint32_t Emitter::add_function(ExprId id) {
    FunctionCode function;
    function.name = ast_[id].name;
    for (const auto& overload : checked_.notes[id].overloads) {
        std::vector<std::uint32_t> kinds;
        for (const Type& parameter : overload->parameters) kinds.push_back(kinds_of(parameter));
        if (kinds.empty()) kinds.push_back(0);
        function.candidates.push_back({overload, std::move(kinds)});
    }
    code_.functions.push_back(std::move(function));
    return static_cast<std::uint32_t>(code_.functions.size() - 1);
}

Emitter::Part Emitter::emit_matches(ExprId id, Part part,
                                    const std::vector<std::uint32_t>& operands, bool& is_done) {
    part.has_regex = true;
    const ExprId pattern_id = ast_[id].arguments.back();
    const bool is_text =
        is_constant(operands[1]) && constant_of(operands[1]).kind() == Kind::string;
    if (!is_text) {
        if (switches_.variable_patterns) return part;
        return fail(ast_[pattern_id].span.begin,
                    "the pattern of `matches` must be a string literal");
    }
    const std::string_view pattern = constant_of(operands[1]).as_text();
    std::string fault;
    std::unique_ptr<re2::RE2> regex = compile_pattern(pattern, limits_, fault);
    if (!regex) {
        // Where patterns may vary, a bad one is an error of the evaluation as in CEL.
        if (switches_.variable_patterns) return part;
        return fail(ast_[pattern_id].span.begin, std::move(fault));
    }
    code_.regexes.push_back(std::move(regex));
    is_done = true;
    part.node = add(id, {.op = Op::matches,
                         .a = operands[0],
                         .b = static_cast<std::uint32_t>(code_.regexes.size() - 1)});
    return part;
}

bool Emitter::check_zone(ExprId id, const std::vector<std::uint32_t>& operands) {
    const Expr& expr = ast_[id];
    if (switches_.variable_patterns || !expr.name.starts_with("get") || operands.size() != 2) {
        return true;
    }
    const auto& overloads = library_overloads(expr.name);
    for (const auto& overload : checked_.notes[id].overloads) {
        if (std::ranges::find(overloads, overload) == overloads.end()) return true;
    }
    const std::uint32_t offset = ast_[expr.arguments.back()].span.begin;
    if (!is_constant(operands[1])) {
        fail(offset, "the time zone must be a string literal");
    } else if (const Value& zone = constant_of(operands[1]);
               zone.kind() == Kind::string && !civil(Moment{}, zone.as_text())) {
        fail(offset, fmt::format("there is no time zone `{}`", zone.as_text()));
    }
    return !complaint_;
}

}  // namespace holdpoint::cel
