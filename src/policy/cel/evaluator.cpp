#include "policy/cel/evaluator.h"

#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "policy/cel/json_member.h"

namespace holdpoint::cel {
namespace {

/// A constant-time guard besides the budget: no single text or list grows beyond this.
constexpr std::size_t text_bytes_max = 64 << 20;

Order order_of_reals(double a, double b) {
    if (a < b) return Order::less;
    if (a > b) return Order::greater;
    return a == b ? Order::equal : Order::unordered;
}

}  // namespace

template <bool Traced>
Value Evaluator<Traced>::fail(std::uint32_t node, Fault fault, std::string_view message) const {
    return Value::error(fault, message).at_node(static_cast<std::uint16_t>(node));
}

template <bool Traced>
Value Evaluator<Traced>::no_overload(std::uint32_t node, const Value& a) const {
    return fail(node, Fault::no_such_overload,
                arena_.copy(fmt::format("not defined for {}", name_of(a.kind()))));
}

template <bool Traced>
Value Evaluator<Traced>::no_overload(std::uint32_t node, const Value& a, const Value& b) const {
    if (a.is_error()) return a;
    if (b.is_error()) return b;
    return fail(node, Fault::no_such_overload,
                arena_.copy(fmt::format("not defined for {} and {}", name_of(a.kind()),
                                        name_of(b.kind()))));
}

template <bool Traced>
Value Evaluator<Traced>::no_such_key(std::uint32_t node, const Value& key) const {
    return fail(node, Fault::no_such_key,
                arena_.copy(fmt::format("no such key: {}", to_text(key, 60))));
}

template <bool Traced>
Value Evaluator<Traced>::exhausted() const {
    return Value::error(Fault::budget_exceeded, "the evaluation takes too many steps");
}

template <bool Traced>
void Evaluator<Traced>::record(std::uint32_t node, const Value& value) {
    const std::uint16_t path = code_.paths[node];
    if (path == 0) return;
    const std::string_view text = code_.reads[path - 1].path;
    for (const Trace::Reading& reading : trace_->values) {
        if (reading.path == text) return;
    }
    trace_->values.push_back({text, value});
}

template <bool Traced>
Value Evaluator<Traced>::evaluate(std::uint32_t node) {
    if (--steps_ < 0) return exhausted();
    // Nothing but jumps, so that the common short operations pay for no other's stack frame.
    switch (nodes_[node].op) {
        case Op::constant:
        case Op::failure:
            return constants_[nodes_[node].a];
        case Op::local:
            return locals_[nodes_[node].a];
        case Op::slot:
            return read_slot(node);
        case Op::slot_field:
            return slot_field(node);
        case Op::select:
            return read_field(node);
        case Op::has_slot:
            return Value::boolean(!slot(nodes_[node].a).is_absent());
        case Op::has_field:
        case Op::optional_select:
            return ask_field(node);
        case Op::index:
        case Op::optional_index:
            return read_index(node);
        case Op::conjunction:
            return conjunction(node);
        case Op::disjunction:
            return disjunction(node);
        case Op::conditional:
            return conditional(node);
        case Op::logical_not:
            return logical_not(node);
        case Op::negate:
            return negate(node);
        case Op::equal:
        case Op::not_equal:
            return equality(node);
        case Op::less:
        case Op::less_equal:
        case Op::greater:
        case Op::greater_equal:
            return comparison(node);
        case Op::in:
            return membership(node);
        case Op::in_set:
            return set_membership(node);
        case Op::add:
        case Op::subtract:
        case Op::multiply:
        case Op::divide:
        case Op::modulo:
            return arithmetic(node);
        case Op::matches:
            return matches(node);
        case Op::call:
            return call(node);
        case Op::list:
            return make_list(node);
        case Op::map:
            return make_map(node);
        case Op::loop_all:
        case Op::loop_exists:
        case Op::loop_exists_one:
        case Op::loop_map:
        case Op::loop_filter:
        case Op::loop_transform_map:
        case Op::loop_transform_map_entry:
            return loop(node);
        case Op::bind:
            return bind(node);
        case Op::opt_map:
        case Op::opt_flat_map:
            return opt_map(node);
    }
    return fail(node, Fault::no_such_function, "unknown operation");
}

template <bool Traced>
Value Evaluator<Traced>::read_field(std::uint32_t node) {
    const Node& at = nodes_[node];
    const Value value = select(node, evaluate(at.a), at);
    if constexpr (Traced) record(node, value);
    return value;
}

template <bool Traced>
Value Evaluator<Traced>::ask_field(std::uint32_t node) {
    const Node& at = nodes_[node];
    const Value target = evaluate(at.a);
    if (at.op == Op::has_field) return has_field(node, target, constants_[at.b].as_text());
    return select_optional(node, target, constants_[at.b]);
}

template <bool Traced>
Value Evaluator<Traced>::read_index(std::uint32_t node) {
    const Node& at = nodes_[node];
    const Value target = evaluate(at.a);
    const Value key = operand(at.b);
    if (at.op == Op::optional_index) return index_optional(node, target, key);
    const Value value = index(node, target, key);
    if constexpr (Traced) record(node, value);
    return value;
}

template <bool Traced>
Value Evaluator<Traced>::logical_not(std::uint32_t node) {
    const Value value = evaluate(nodes_[node].a);
    if (value.kind() == Kind::boolean) return Value::boolean(!value.as_boolean());
    return value.is_error() ? value : no_overload(node, value);
}

template <bool Traced>
Value Evaluator<Traced>::set_membership(std::uint32_t node) {
    const Node& at = nodes_[node];
    const Value value = operand(at.a);
    if (value.is_error()) return value;
    return Value::boolean(!find_in(*code_.sets[at.b], value).is_absent());
}

template <bool Traced>
Value Evaluator<Traced>::bind(std::uint32_t node) {
    const Node& at = nodes_[node];
    // An error is bound like any value and surfaces where the variable is read.
    locals_[at.count] = evaluate(at.a);
    return evaluate(at.b);
}

template <bool Traced>
Value Evaluator<Traced>::read_slot(std::uint32_t node) {
    const Node& at = nodes_[node];
    const Value value = slot(at.a);
    if constexpr (Traced) record(node, value);
    if (value.is_absent()) return fail(node, Fault::no_such_variable, "the variable has no value");
    return value.at_node(static_cast<std::uint16_t>(node));
}

template <bool Traced>
Value Evaluator<Traced>::slot_field(std::uint32_t node) {
    const Node& at = nodes_[node];
    const Value target = slot(at.a);
    if constexpr (!Traced) {
        if (at.c != 0 && target.kind() == Kind::map) {
            const boost::json::object* object = target.json_object();
            const boost::json::value* found =
                object ? find_member(*object, constants_[at.b].as_text()) : nullptr;
            if (found) {
                return read_member(*found, code_.types[at.c - 1], arena_)
                    .at_node(static_cast<std::uint16_t>(node));
            }
        }
    }
    if (target.is_absent()) return fail(node, Fault::no_such_variable, "the variable has no value");
    const Value value = select(node, target, at);
    if constexpr (Traced) record(node, value);
    return value;
}

template <bool Traced>
Value Evaluator<Traced>::select(std::uint32_t node, const Value& target, const Node& at) {
    const Value& name = constants_[at.b];
    if (target.kind() == Kind::map) {
        const Value found = at.c == 0 ? target.find(name.as_text(), arena_)
                                      : target.find(name.as_text(), code_.types[at.c - 1], arena_);
        if (found.is_absent()) return no_such_key(node, name);
        return found.at_node(static_cast<std::uint16_t>(node));
    }
    if (target.is_error()) return target;
    if (target.kind() == Kind::optional) return select_optional(node, target, name);
    return fail(node, Fault::no_such_overload,
                arena_.copy(fmt::format("{} has no fields", name_of(target.kind()))));
}

template <bool Traced>
Value Evaluator<Traced>::select_optional(std::uint32_t node, const Value& target,
                                         const Value& name) {
    if (target.kind() == Kind::optional) {
        return target.has_value() ? select_optional(node, target.optional_value(), name) : target;
    }
    if (target.is_error()) return target;
    if (target.kind() != Kind::map) {
        return fail(node, Fault::no_such_key,
                    arena_.copy(fmt::format("{} has no fields", name_of(target.kind()))));
    }
    const Value found = target.find(name.as_text(), arena_);
    if (found.is_absent()) return Value::none();
    if (found.is_error()) return found.at_node(static_cast<std::uint16_t>(node));
    return Value::some(found, arena_);
}

template <bool Traced>
Value Evaluator<Traced>::has_field(std::uint32_t node, const Value& target, std::string_view name) {
    switch (target.kind()) {
        case Kind::map:
            return Value::boolean(target.contains_key(name));
        case Kind::optional:
            if (!target.has_value()) return Value::boolean(false);
            return has_field(node, target.optional_value(), name);
        case Kind::error:
            return target;
        default:
            return no_overload(node, target);
    }
}

template <bool Traced>
Value Evaluator<Traced>::look_up(std::uint32_t node, const Value& target, const Value& key) {
    if (target.kind() == Kind::map) return target.find(key, arena_);
    if (target.kind() != Kind::list || !key.is_numeric()) return no_overload(node, target, key);
    const std::size_t size = target.size();
    std::uint64_t position = key.as_unsigned();
    if (key.kind() == Kind::real) {
        const double number = key.as_real();
        if (std::trunc(number) != number) {
            return fail(node, Fault::invalid_argument, "the index is not a whole number");
        }
        if (number < 0 || number >= static_cast<double>(size)) return {};
        position = static_cast<std::uint64_t>(number);
    }
    // A negative integer is far out of range when read as unsigned.
    if (position >= size) return {};
    return target.element(position, arena_);
}

template <bool Traced>
Value Evaluator<Traced>::index(std::uint32_t node, const Value& target, const Value& key) {
    if (target.is_error()) return target;
    if (key.is_error()) return key;
    if (target.kind() == Kind::optional) return index_optional(node, target, key);
    const Value found = look_up(node, target, key);
    if (!found.is_absent()) return found.at_node(static_cast<std::uint16_t>(node));
    if (target.kind() == Kind::map) return no_such_key(node, key);
    return fail(node, Fault::out_of_range,
                arena_.copy(fmt::format("index out of range: {}", to_text(key))));
}

template <bool Traced>
Value Evaluator<Traced>::index_optional(std::uint32_t node, const Value& target, const Value& key) {
    if (target.is_error()) return target;
    if (key.is_error()) return key;
    if (target.kind() == Kind::optional) {
        return target.has_value() ? index_optional(node, target.optional_value(), key) : target;
    }
    const Value found = look_up(node, target, key);
    if (found.is_absent()) return Value::none();
    if (found.is_error()) return found.at_node(static_cast<std::uint16_t>(node));
    return Value::some(found, arena_);
}

template <bool Traced>
Value Evaluator<Traced>::conjunction(std::uint32_t node) {
    const Node& at = nodes_[node];
    const std::uint32_t* child = code_.children.data() + at.a;
    Value error;
    for (std::uint32_t i = 0; i < at.count; ++i) {
        const Value value = conjunct(child[i]);
        if (value.is_true()) continue;
        if (value.is_false()) return value;
        // Nothing is decided yet: a later operand may still be false, which absorbs the error.
        if (error.is_absent()) error = value.is_error() ? value : no_overload(child[i], value);
    }
    return error.is_absent() ? Value::boolean(true) : error;
}

template <bool Traced>
Value Evaluator<Traced>::disjunction(std::uint32_t node) {
    const Node& at = nodes_[node];
    const std::uint32_t* child = code_.children.data() + at.a;
    Value error;
    for (std::uint32_t i = 0; i < at.count; ++i) {
        const Value value = evaluate(child[i]);
        if (value.is_false()) continue;
        if (value.is_true()) return value;
        if (error.is_absent()) error = value.is_error() ? value : no_overload(child[i], value);
    }
    return error.is_absent() ? Value::boolean(false) : error;
}

template <bool Traced>
Value Evaluator<Traced>::conditional(std::uint32_t node) {
    const Node& at = nodes_[node];
    const Value value = evaluate(at.a);
    if (value.is_true()) return evaluate(at.b);
    if (value.is_false()) return evaluate(at.c);
    return value.is_error() ? value : no_overload(node, value);
}

template <bool Traced>
Value Evaluator<Traced>::equality(std::uint32_t node) {
    const Node& at = nodes_[node];
    const Value a = operand(at.a);
    const Value b = operand(at.b);
    if (a.is_error()) return a;
    if (b.is_error()) return b;
    const bool wanted = at.op == Op::equal;
    if (a.kind() == Kind::string && b.kind() == Kind::string) {
        return Value::boolean((a.as_text() == b.as_text()) == wanted);
    }
    return Value::boolean(equal(a, b, arena_, steps_) == wanted);
}

template <bool Traced>
Value Evaluator<Traced>::comparison(std::uint32_t node) {
    const Node& at = nodes_[node];
    const Value a = operand(at.a);
    const Value b = operand(at.b);
    const Order result = a.kind() == Kind::real && b.kind() == Kind::real
                             ? order_of_reals(a.as_real(), b.as_real())
                             : order(a, b);
    if (result == Order::incomparable) return no_overload(node, a, b);
    if (result == Order::unordered) return Value::boolean(false);
    switch (at.op) {
        case Op::less:
            return Value::boolean(result == Order::less);
        case Op::less_equal:
            return Value::boolean(result != Order::greater);
        case Op::greater:
            return Value::boolean(result == Order::greater);
        default:
            return Value::boolean(result != Order::less);
    }
}

template <bool Traced>
Value Evaluator<Traced>::membership(std::uint32_t node) {
    const Node& at = nodes_[node];
    const Value value = operand(at.a);
    const Value container = operand(at.b);
    if (value.is_error()) return value;
    if (container.kind() == Kind::map) {
        return Value::boolean(!container.find(value, arena_).is_absent());
    }
    if (container.kind() != Kind::list) return no_overload(node, value, container);
    const std::size_t size = container.size();
    Value error;
    for (std::size_t i = 0; i < size && steps_ >= 0; ++i) {
        const Value element = container.element(i, arena_);
        if (element.is_error()) error = element.at_node(static_cast<std::uint16_t>(node));
        if (equal(value, element, arena_, steps_)) return Value::boolean(true);
    }
    return error.is_absent() ? Value::boolean(false) : error;
}

template <bool Traced>
Value Evaluator<Traced>::matches(std::uint32_t node) {
    const Node& at = nodes_[node];
    const Value value = evaluate(at.a);
    if (value.kind() != Kind::string) return value.is_error() ? value : no_overload(node, value);
    const std::string_view text = value.as_text();
    if (text.size() > regex_subject_max) {
        return fail(node, Fault::out_of_range, "the text is too long for a regular expression");
    }
    charge(10 + text.size() / 16);
    return Value::boolean(
        re2::RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), *code_.regexes[at.b]));
}

template <bool Traced>
Value Evaluator<Traced>::call(std::uint32_t node) {
    const Node& at = nodes_[node];
    constexpr std::size_t inline_count = 6;
    Value few[inline_count];
    Value* arguments = at.count <= inline_count ? few : arena_.make_array<Value>(at.count);
    const std::uint32_t* child = code_.children.data() + at.a;
    for (std::uint32_t i = 0; i < at.count; ++i) {
        arguments[i] = evaluate(child[i]);
        if (arguments[i].is_error()) return arguments[i];
    }
    const FunctionCode& function = code_.functions[at.b];
    for (const FunctionCode::Candidate& candidate : function.candidates) {
        bool fits = true;
        for (std::uint32_t i = 0; i < at.count && fits; ++i) {
            const std::size_t parameter = std::min<std::size_t>(i, candidate.kinds.size() - 1);
            fits = (candidate.kinds[parameter] >> static_cast<int>(arguments[i].kind()) & 1U) != 0;
        }
        if (!fits) continue;
        if (!candidate.overload->implementation) break;
        charge(candidate.overload->cost);
        Call context(arena_, steps_);
        return candidate.overload->implementation(context, {arguments, at.count})
            .at_node(static_cast<std::uint16_t>(node));
    }
    return fail(node, Fault::no_such_overload,
                arena_.copy(fmt::format("no such overload of {}", function.name)));
}

template <bool Traced>
Value Evaluator<Traced>::make_list(std::uint32_t node) {
    const Node& at = nodes_[node];
    auto* elements = arena_.make_array<Value>(at.count);
    std::size_t size = 0;
    for (std::uint32_t i = at.a; i < at.a + at.count; ++i) {
        const Value value = evaluate(code_.children[i]);
        if (value.is_error()) return value;
        if (!code_.optional_children[i]) {
            elements[size++] = value;
        } else if (value.kind() != Kind::optional) {
            return no_overload(node, value);
        } else if (value.has_value()) {
            elements[size++] = value.optional_value();
        }
    }
    return Value::list({elements, size});
}

template <bool Traced>
Value Evaluator<Traced>::make_map(std::uint32_t node) {
    const Node& at = nodes_[node];
    auto* entries = arena_.make_array<MapEntry>(at.count / 2);
    std::size_t size = 0;
    for (std::uint32_t i = at.a; i < at.a + at.count; i += 2) {
        const Value key = evaluate(code_.children[i]);
        if (key.is_error()) return key;
        Value value = evaluate(code_.children[i + 1]);
        if (value.is_error()) return value;
        if (code_.optional_children[i]) {
            if (value.kind() != Kind::optional) return no_overload(node, value);
            if (!value.has_value()) continue;
            value = value.optional_value();
        }
        new (&entries[size++]) MapEntry{key, value};
    }
    return cel::make_map({entries, size}, arena_).at_node(static_cast<std::uint16_t>(node));
}

template <bool Traced>
Value Evaluator<Traced>::concatenate(std::uint32_t node, const Value& a, const Value& b) {
    if (a.kind() != Kind::list) {
        const std::size_t size = a.as_text().size() + b.as_text().size();
        charge(size / 32);
        if (steps_ < 0 || size > text_bytes_max) return exhausted();
        char* text = arena_.template make_array<char>(size);
        if (!a.as_text().empty()) std::memcpy(text, a.as_text().data(), a.as_text().size());
        if (!b.as_text().empty()) {
            std::memcpy(text + a.as_text().size(), b.as_text().data(), b.as_text().size());
        }
        return a.kind() == Kind::string ? Value::string({text, size}) : Value::bytes({text, size});
    }
    const std::size_t first = a.size();
    const std::size_t size = first + b.size();
    charge(size);
    if (steps_ < 0 || size > text_bytes_max) return exhausted();
    auto* elements = arena_.template make_array<Value>(size);
    for (std::size_t i = 0; i < size; ++i) {
        elements[i] = i < first ? a.element(i, arena_) : b.element(i - first, arena_);
        if (elements[i].is_error()) return elements[i].at_node(static_cast<std::uint16_t>(node));
    }
    return Value::list({elements, size});
}

template class Evaluator<false>;
template class Evaluator<true>;

}  // namespace holdpoint::cel
