#include "policy/cel/evaluator.h"

namespace holdpoint::cel {

template <bool Traced>
void Evaluator<Traced>::set_locals(const Node& at, const Value& range, std::size_t index) {
    const bool has_two = at.flag != 0;
    if (range.kind() == Kind::map) {
        const MapEntry entry = range.entry(index, arena_);
        locals_[at.count] = entry.key;
        if (has_two) locals_[at.count + 1] = entry.value;
        return;
    }
    const Value element = range.element(index, arena_);
    if (has_two) {
        locals_[at.count] = Value::integer(static_cast<std::int64_t>(index));
        locals_[at.count + 1] = element;
    } else {
        locals_[at.count] = element;
    }
}

template <bool Traced>
Value Evaluator<Traced>::loop(std::uint32_t node) {
    const Node& at = nodes_[node];
    const Value range = evaluate(at.a);
    if (range.kind() != Kind::list && range.kind() != Kind::map) {
        return range.is_error() ? range : no_overload(node, range);
    }
    switch (at.op) {
        case Op::loop_all:
        case Op::loop_exists:
            return loop_logical(node, range);
        case Op::loop_exists_one:
            return loop_exists_one(node, range);
        case Op::loop_map:
        case Op::loop_filter:
            return loop_list(node, range);
        default:
            return loop_map(node, range);
    }
}

template <bool Traced>
Value Evaluator<Traced>::loop_logical(std::uint32_t node, const Value& range) {
    const Node& at = nodes_[node];
    // `all` is a long `&&`, `exists` a long `||`: one decisive element absorbs every error.
    const bool decisive = at.op == Op::loop_exists;
    Value error;
    const std::size_t size = range.size();
    for (std::size_t i = 0; i < size; ++i) {
        set_locals(at, range, i);
        const Value value = evaluate(at.b);
        if (steps_ < 0) return exhausted();
        if (value.kind() == Kind::boolean) {
            if (value.as_boolean() == decisive) return value;
        } else if (error.is_absent()) {
            error = value.is_error() ? value : no_overload(at.b, value);
        }
    }
    return error.is_absent() ? Value::boolean(!decisive) : error;
}

template <bool Traced>
Value Evaluator<Traced>::loop_exists_one(std::uint32_t node, const Value& range) {
    const Node& at = nodes_[node];
    std::size_t count = 0;
    const std::size_t size = range.size();
    for (std::size_t i = 0; i < size; ++i) {
        set_locals(at, range, i);
        const Value value = condition(node, at.b);
        if (value.is_error()) return value;
        count += value.as_boolean() ? 1 : 0;
    }
    return Value::boolean(count == 1);
}

template <bool Traced>
Value Evaluator<Traced>::condition(std::uint32_t node, std::uint32_t condition) {
    const Value value = evaluate(condition);
    if (steps_ < 0) return exhausted();
    if (value.kind() == Kind::boolean || value.is_error()) return value;
    return no_overload(node, value);
}

template <bool Traced>
Value Evaluator<Traced>::loop_list(std::uint32_t node, const Value& range) {
    const Node& at = nodes_[node];
    const std::size_t size = range.size();
    charge(size / 16);
    if (steps_ < 0) return exhausted();
    const bool is_filter = at.op == Op::loop_filter;
    auto* elements = arena_.template make_array<Value>(size);
    std::size_t count = 0;
    for (std::size_t i = 0; i < size; ++i) {
        set_locals(at, range, i);
        if (is_filter || at.c != 0) {
            const Value wanted = condition(node, is_filter ? at.b : at.c - 1);
            if (wanted.is_error()) return wanted;
            if (!wanted.as_boolean()) continue;
        }
        const Value value = is_filter ? locals_[at.count] : evaluate(at.b);
        if (steps_ < 0) return exhausted();
        if (value.is_error()) return value;
        elements[count++] = value;
    }
    return Value::list({elements, count});
}

template <bool Traced>
Value Evaluator<Traced>::loop_map(std::uint32_t node, const Value& range) {
    const Node& at = nodes_[node];
    const bool makes_entries = at.op == Op::loop_transform_map_entry;
    const std::size_t size = range.size();
    charge(size / 8);
    if (steps_ < 0) return exhausted();
    std::size_t room = size;
    auto* entries = arena_.template make_array<MapEntry>(room);
    std::size_t count = 0;
    for (std::size_t i = 0; i < size; ++i) {
        set_locals(at, range, i);
        if (at.c != 0) {
            const Value wanted = condition(node, at.c - 1);
            if (wanted.is_error()) return wanted;
            if (!wanted.as_boolean()) continue;
        }
        // The body may hold loops of its own, which use the locals after ours only.
        const Value key = locals_[at.count];
        const Value value = evaluate(at.b);
        if (steps_ < 0) return exhausted();
        if (value.is_error()) return value;
        if (!makes_entries) {
            new (&entries[count++]) MapEntry{key, value};
            continue;
        }
        if (value.kind() != Kind::map || value.size() != 1) {
            return fail(node, Fault::invalid_argument, "the body is not a map with one entry");
        }
        new (&entries[count++]) MapEntry(value.entry(0, arena_));
    }
    return cel::make_map({entries, count}, arena_).at_node(static_cast<std::uint16_t>(node));
}

template <bool Traced>
Value Evaluator<Traced>::opt_map(std::uint32_t node) {
    const Node& at = nodes_[node];
    const Value target = evaluate(at.a);
    if (target.kind() != Kind::optional)
        return target.is_error() ? target : no_overload(node, target);
    if (!target.has_value()) return target;
    locals_[at.count] = target.optional_value();
    const Value value = evaluate(at.b);
    if (value.is_error()) return value;
    if (at.op == Op::opt_map) return Value::some(value, arena_);
    return value.kind() == Kind::optional ? value : no_overload(node, value);
}

template class Evaluator<false>;
template class Evaluator<true>;

}  // namespace holdpoint::cel
