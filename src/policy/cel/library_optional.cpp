#include "policy/cel/library.h"

namespace holdpoint::cel {
namespace {

using Arguments = std::span<const Value>;

/// What a value of its kind is before anyone sets it.
bool is_zero(const Value& value) {
    switch (value.kind()) {
        case Kind::null:
            return true;
        case Kind::boolean:
        case Kind::integer:
        case Kind::unsigned_integer:
        case Kind::duration:
            return value.as_integer() == 0;
        case Kind::real:
            return value.as_real() == 0;
        case Kind::string:
        case Kind::bytes:
            return value.as_text().empty();
        case Kind::list:
        case Kind::map:
            return value.size() == 0;
        case Kind::timestamp:
            return value.as_timestamp() == Moment{};
        case Kind::optional:
            return !value.has_value();
        default:
            return false;
    }
}

Value none(Call&, Arguments) { return Value::none(); }
Value of(Call& call, Arguments arguments) { return Value::some(arguments[0], call.arena()); }

Value of_non_zero(Call& call, Arguments arguments) {
    if (is_zero(arguments[0])) return Value::none();
    return Value::some(arguments[0], call.arena());
}

Value has_value(Call&, Arguments arguments) { return Value::boolean(arguments[0].has_value()); }

Value value(Call& call, Arguments arguments) {
    if (arguments[0].has_value()) return arguments[0].optional_value();
    return call.fail(Fault::invalid_argument, "the optional is empty");
}

Value otherwise(Call&, Arguments arguments) {
    return arguments[0].has_value() ? arguments[0] : arguments[1];
}

Value value_or(Call&, Arguments arguments) {
    return arguments[0].has_value() ? arguments[0].optional_value() : arguments[1];
}

/// Of a list of optionals, what those that are not empty hold.
Value unwrap(Call& call, Arguments arguments) {
    const std::size_t size = arguments[0].size();
    if (!call.charge(size)) return {};
    auto* elements = call.arena().make_array<Value>(size);
    std::size_t count = 0;
    for (std::size_t i = 0; i < size; ++i) {
        const Value element = arguments[0].element(i, call.arena());
        if (element.kind() != Kind::optional) {
            return call.fail(Fault::no_such_overload, "the list holds more than optionals");
        }
        if (element.has_value()) elements[count++] = element.optional_value();
    }
    return Value::list({elements, count});
}

template <bool Last>
Value end_of_list(Call& call, Arguments arguments) {
    const std::size_t size = arguments[0].size();
    if (size == 0) return Value::none();
    const Value element = arguments[0].element(Last ? size - 1 : 0, call.arena());
    return element.is_error() ? element : Value::some(element, call.arena());
}

}  // namespace

void add_optional_functions(Library& library) {
    const Type held = Type::parameter("V");
    const Type optional = Type::optional(held);
    library.function("optional.none", {}, optional, none);
    library.function("optional.of", {held}, optional, of);
    library.function("optional.ofNonZeroValue", {held}, optional, of_non_zero);
    library.function("optional.unwrap", {Type::list(optional)}, Type::list(held), unwrap,
                     {1, true});
    library.method("unwrapOpt", {Type::list(optional)}, Type::list(held), unwrap, {1, true});
    library.method("hasValue", {optional}, Type::boolean(), has_value);
    library.method("value", {optional}, held, value);
    library.method("or", {optional, optional}, optional, otherwise);
    library.method("orValue", {optional, held}, held, value_or);
    library.method("first", {Type::list(held)}, optional, end_of_list<false>);
    library.method("last", {Type::list(held)}, optional, end_of_list<true>);
}

}  // namespace holdpoint::cel
