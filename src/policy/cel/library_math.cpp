#include <cmath>
#include <limits>

#include "policy/cel/library.h"

namespace holdpoint::cel {
namespace {

using Arguments = std::span<const Value>;

Value no_overload(Call& call) {
    return call.fail(Fault::no_such_overload, "the function is for numbers");
}

/// The element that stands before (Order::less) or after all others.
template <Order Wanted>
Value extreme_of(Call& call, const Value* first, std::size_t count, const Value* list) {
    if (!call.charge(count)) return {};
    if (count == 0) return call.fail(Fault::invalid_argument, "the list is empty");
    Value best;
    for (std::size_t i = 0; i < count; ++i) {
        const Value value = list ? list->element(i, call.arena()) : first[i];
        if (value.is_error()) return value;
        if (!value.is_numeric()) return no_overload(call);
        if (i == 0 || order(value, best) == Wanted) best = value;
    }
    return best;
}

template <Order Wanted>
Value extreme(Call& call, Arguments arguments) {
    if (arguments.size() == 1 && arguments[0].kind() == Kind::list) {
        return extreme_of<Wanted>(call, nullptr, arguments[0].size(), &arguments[0]);
    }
    return extreme_of<Wanted>(call, arguments.data(), arguments.size(), nullptr);
}

template <double (*Function)(double)>
Value real_function(Call&, Arguments arguments) {
    return Value::real(Function(arguments[0].as_real()));
}

double round_half_away(double number) { return std::round(number); }
double ceiling(double number) { return std::ceil(number); }
double lower(double number) { return std::floor(number); }
double truncate(double number) { return std::trunc(number); }
double root(double number) { return std::sqrt(number); }

Value root_of_int(Call&, Arguments arguments) {
    return Value::real(std::sqrt(static_cast<double>(arguments[0].as_integer())));
}
Value root_of_unsigned(Call&, Arguments arguments) {
    return Value::real(std::sqrt(static_cast<double>(arguments[0].as_unsigned())));
}

Value absolute(Call& call, Arguments arguments) {
    const Value& value = arguments[0];
    if (value.kind() == Kind::real) return Value::real(std::abs(value.as_real()));
    if (value.kind() == Kind::unsigned_integer) return value;
    if (value.as_integer() == std::numeric_limits<std::int64_t>::min()) {
        return call.fail(Fault::out_of_range, "the number overflows");
    }
    return Value::integer(std::abs(value.as_integer()));
}

Value sign(Call&, Arguments arguments) {
    const Value& value = arguments[0];
    if (value.kind() == Kind::real) {
        const double number = value.as_real();
        return Value::real(std::isnan(number) ? number : (number > 0) - (number < 0));
    }
    if (value.kind() == Kind::unsigned_integer) {
        return Value::unsigned_integer(value.as_unsigned() > 0 ? 1 : 0);
    }
    return Value::integer((value.as_integer() > 0) - (value.as_integer() < 0));
}

Value is_nan(Call&, Arguments arguments) {
    return Value::boolean(std::isnan(arguments[0].as_real()));
}
Value is_infinite(Call&, Arguments arguments) {
    return Value::boolean(std::isinf(arguments[0].as_real()));
}
Value is_finite(Call&, Arguments arguments) {
    return Value::boolean(std::isfinite(arguments[0].as_real()));
}

/// The result is of the first argument's kind; the bits of int and uint are treated alike.
Value with_bits(const Value& like, std::uint64_t bits) {
    if (like.kind() == Kind::unsigned_integer) return Value::unsigned_integer(bits);
    return Value::integer(static_cast<std::int64_t>(bits));
}

Value bit_and(Call&, Arguments arguments) {
    return with_bits(arguments[0], arguments[0].as_unsigned() & arguments[1].as_unsigned());
}
Value bit_or(Call&, Arguments arguments) {
    return with_bits(arguments[0], arguments[0].as_unsigned() | arguments[1].as_unsigned());
}
Value bit_xor(Call&, Arguments arguments) {
    return with_bits(arguments[0], arguments[0].as_unsigned() ^ arguments[1].as_unsigned());
}
Value bit_not(Call&, Arguments arguments) {
    return with_bits(arguments[0], ~arguments[0].as_unsigned());
}

template <bool Left>
Value shift(Call& call, Arguments arguments) {
    const std::int64_t by = arguments[1].as_integer();
    if (by < 0) return call.fail(Fault::invalid_argument, "the shift is negative");
    if (by > 63) return with_bits(arguments[0], 0);
    // Zeros come in from the left, whatever the sign.
    const std::uint64_t bits = arguments[0].as_unsigned();
    return with_bits(arguments[0], Left ? bits << by : bits >> by);
}

void add_extreme(Library& library, std::string_view name, Library::Function function) {
    const Type numbers[] = {Type::integer(), Type::unsigned_integer(), Type::real()};
    for (const Type& a : numbers) {
        library.function(name, {a}, a, function);
        library.function(name, {Type::list(a)}, a, function, {1, true});
        for (const Type& b : numbers) {
            library.function(name, {a, b}, a == b ? a : Type::dynamic(), function);
        }
    }
    for (const Type& a : numbers) library.variadic(name, {a, a, a}, a, function);
    for (const Type& a : numbers) {
        // Three and more of several kinds: the first tells nothing about the rest.
        library.variadic(name, {a, Type::dynamic(), Type::dynamic()}, Type::dynamic(), function);
    }
}

}  // namespace

void add_math_functions(Library& library) {
    const Type integer = Type::integer();
    const Type natural = Type::unsigned_integer();
    const Type real = Type::real();
    add_extreme(library, "math.greatest", extreme<Order::greater>);
    add_extreme(library, "math.least", extreme<Order::less>);
    library.function("math.ceil", {real}, real, real_function<ceiling>);
    library.function("math.floor", {real}, real, real_function<lower>);
    library.function("math.round", {real}, real, real_function<round_half_away>);
    library.function("math.trunc", {real}, real, real_function<truncate>);
    library.function("math.sqrt", {real}, real, real_function<root>);
    library.function("math.sqrt", {integer}, real, root_of_int);
    library.function("math.sqrt", {natural}, real, root_of_unsigned);
    for (const Type& type : {integer, natural, real}) {
        library.function("math.abs", {type}, type, absolute);
        library.function("math.sign", {type}, type, sign);
    }
    library.function("math.isNaN", {real}, Type::boolean(), is_nan);
    library.function("math.isInf", {real}, Type::boolean(), is_infinite);
    library.function("math.isFinite", {real}, Type::boolean(), is_finite);
    for (const Type& type : {integer, natural}) {
        library.function("math.bitAnd", {type, type}, type, bit_and);
        library.function("math.bitOr", {type, type}, type, bit_or);
        library.function("math.bitXor", {type, type}, type, bit_xor);
        library.function("math.bitNot", {type}, type, bit_not);
        library.function("math.bitShiftLeft", {type, integer}, type, shift<true>);
        library.function("math.bitShiftRight", {type, integer}, type, shift<false>);
    }
}

}  // namespace holdpoint::cel
