#include "policy/cel/compiler.h"

#include <algorithm>
#include <array>
#include <limits>

#include <fmt/format.h>

#include "policy/cel/cost.h"
#include "policy/cel/evaluator.h"
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

bool is_identifier(std::string_view name) {
    return !name.empty() && !(name.front() >= '0' && name.front() <= '9') &&
           std::ranges::all_of(name, [](char c) {
               return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      c == '_';
           });
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

class Emitter {
  public:
    Emitter(const Ast& ast, const Checked& checked, const Environment::Switches& switches,
            const Limits& limits, Code& code)
        : ast_(ast), checked_(checked), switches_(switches), limits_(limits), code_(code) {}

    std::optional<Complaint> run() {
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

    std::uint32_t add(ExprId id, Node node) {
        code_.nodes.push_back(node);
        code_.spans.push_back(ast_[id].span);
        code_.marks.push_back(ast_[id].at);
        code_.paths.push_back(0);
        return static_cast<std::uint32_t>(code_.nodes.size() - 1);
    }

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

    std::uint64_t size_of_value(const Value& value) const {
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

    Part emit(ExprId id) {
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

    // --- leaves

    Part emit_constant(ExprId id, Value value) {
        return {add(id, {.op = Op::constant, .a = add_constant(value)}), 1, size_of_value(value)};
    }

    Part emit_literal(ExprId id) {
        Value value = ast_[id].literal;
        if (value.kind() == Kind::string) value = Value::string(code_.arena.copy(value.as_text()));
        if (value.kind() == Kind::bytes) value = Value::bytes(code_.arena.copy(value.as_text()));
        return emit_constant(id, value);
    }

    Part emit_failure(ExprId id) {
        const Note& note = checked_.notes[id];
        const auto node = static_cast<std::uint16_t>(code_.nodes.size());
        const Value error = Value::error(note.fault, code_.arena.copy(note.text)).at_node(node);
        return {add(id, {.op = Op::failure, .a = add_constant(error)})};
    }

    Part emit_slot(ExprId id) {
        const Expr& expr = ast_[id];
        const Note& note = checked_.notes[id];
        Program::Read read;
        const bool is_read = !is_inside_path_ && describe_read(id, read);
        const Op op = expr.kind == Expr::Kind::select && expr.is_test ? Op::has_slot : Op::slot;
        const Part part{add(id, {.op = op, .a = note.slot}), 1, size_of(note.type)};
        if (is_read) code_.paths[part.node] = note_read(std::move(read));
        return part;
    }

    // --- fields

    /// The variable and fields that an expression names, if it is nothing else.
    bool describe_read(ExprId id, Program::Read& read) const {
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

    std::string variable_path(ExprId id) const {
        const Expr& expr = ast_[id];
        if (expr.kind == Expr::Kind::name) return expr.name;
        return variable_path(expr.target) + "." + expr.name;
    }

    /// The key of `x["key"]`.
    const Expr* constant_key(const Expr& expr) const {
        if (expr.kind != Expr::Kind::call || expr.name != "_[_]") return nullptr;
        const Expr& key = ast_[expr.arguments[1]];
        const bool is_text = key.kind == Expr::Kind::literal && key.literal.kind() == Kind::string;
        return is_text ? &key : nullptr;
    }

    /// The number of a read, one more than its place in the list.
    std::uint16_t note_read(Program::Read read) {
        for (std::size_t i = 0; i < code_.reads.size(); ++i) {
            if (code_.reads[i].path == read.path) return static_cast<std::uint16_t>(i + 1);
        }
        code_.reads.push_back(std::move(read));
        return static_cast<std::uint16_t>(code_.reads.size());
    }

    /// Selecting is one step; the path is noted once, for the longest chain.
    Part emit_select(ExprId id) {
        const Expr& expr = ast_[id];
        Program::Read read;
        const bool is_read = !is_inside_path_ && describe_read(id, read);
        const std::uint16_t path = is_read ? note_read(std::move(read)) : 0;
        const Part part = emit_field(id, expr.target, expr.name, is_read);
        if (!complaint_ && !expr.is_test) code_.paths[part.node] = path;
        return part;
    }

    Part emit_field(ExprId id, ExprId target, std::string_view name, bool is_read) {
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

    // --- calls

    Part emit_call(ExprId id) {
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

    Part emit_operator(ExprId id, Op op) {
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

    std::vector<Operand> operands_of(const Expr& expr, const std::array<Part, 3>& parts) const {
        std::vector<Operand> operands;
        for (std::size_t i = 0; i < expr.arguments.size(); ++i) {
            operands.push_back(
                {checked_.notes[expr.arguments[i]].type, parts[i].cost, parts[i].size});
        }
        return operands;
    }

    std::uint64_t result_size(ExprId id, Op op, const std::array<Part, 3>& parts) const {
        if (op == Op::add) return add_cost(parts[0].size, parts[1].size);
        if (op == Op::conditional) return std::max(parts[1].size, parts[2].size);
        return size_of(checked_.notes[id].type);
    }

    /// Turns `x in [constants]` into a look-up.
    bool to_set(Node& node) {
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

    Part emit_logical(ExprId id) {
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

    std::uint32_t add_children(const std::vector<std::uint32_t>& nodes,
                               const std::vector<bool>& optional) {
        const auto first = static_cast<std::uint32_t>(code_.children.size());
        code_.children.insert(code_.children.end(), nodes.begin(), nodes.end());
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            code_.optional_children.push_back(!optional.empty() && optional[i]);
        }
        return first;
    }

    Part emit_function(ExprId id) {
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
            own = std::max<std::uint64_t>(
                own, overload->cost + (overload->is_linear ? largest / 32 : 0));
        }
        part.cost = add_cost(part.cost, own);
        if (expr.name == "matches" && operands.size() == 2) {
            bool is_done = false;
            const Part search = emit_matches(id, part, operands, is_done);
            if (is_done || complaint_)
                return complaint_ ? Part() : fold(id, before, search, operands);
        }
        if (!check_zone(id, operands)) return {};
        const std::uint32_t first = add_children(operands, {});
        part.node = add(id, {.op = Op::call,
                             .count = static_cast<std::uint16_t>(operands.size()),
                             .a = first,
                             .b = add_function(id)});
        return fold(id, before, part, operands);
    }

    std::uint32_t add_function(ExprId id) {
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

    Part emit_matches(ExprId id, Part part, const std::vector<std::uint32_t>& operands,
                      bool& is_done) {
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

    /// Zones are loaded now, so that an agent's text never names what is looked up and kept.
    bool check_zone(ExprId id, const std::vector<std::uint32_t>& operands) {
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

    // --- lists, maps, loops, bindings

    Part emit_aggregate(ExprId id) {
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

    static Op loop_op(Loop loop) {
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

    Part emit_loop(ExprId id) {
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

    Part emit_bind(ExprId id) {
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

    // --- folding

    void take_back(const Mark& to) {
        code_.nodes.resize(to.nodes);
        code_.spans.resize(to.nodes);
        code_.marks.resize(to.nodes);
        code_.paths.resize(to.nodes);
        code_.children.resize(to.children);
        code_.optional_children.resize(to.children);
    }

    /// Replaces an operation on constants by its result; one that fails is left to fail when it is
    /// evaluated.
    Part fold(ExprId id, const Mark& before, Part part,
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

    const Ast& ast_;
    const Checked& checked_;
    const Environment::Switches& switches_;
    const Limits& limits_;
    Code& code_;
    bool is_inside_path_ = false;
    std::optional<Complaint> complaint_;
};

}  // namespace

std::optional<Complaint> emit(const Ast& ast, const Checked& checked,
                              const Environment::Switches& switches, const Limits& limits,
                              Code& code) {
    return Emitter(ast, checked, switches, limits, code).run();
}

}  // namespace holdpoint::cel
