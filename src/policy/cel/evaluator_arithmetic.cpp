#include <cmath>
#include <limits>

#include "policy/cel/evaluator.h"
#include "policy/cel/moment.h"

namespace holdpoint::cel {
namespace {

constexpr std::string_view overflow = "the number overflows";
constexpr std::string_view outside_time = "the time is out of range";
constexpr std::string_view by_zero = "division by zero";

}  // namespace

template <bool Traced>
Value Evaluator<Traced>::negate(std::uint32_t node) {
    const Value value = evaluate(nodes_[node].a);
    if (value.kind() == Kind::real) return Value::real(-value.as_real());
    if (value.kind() != Kind::integer) return value.is_error() ? value : no_overload(node, value);
    if (value.as_integer() == std::numeric_limits<std::int64_t>::min()) {
        return fail(node, Fault::out_of_range, overflow);
    }
    return Value::integer(-value.as_integer());
}

template <bool Traced>
Value Evaluator<Traced>::arithmetic(std::uint32_t node) {
    const Node& at = nodes_[node];
    const Value a = evaluate(at.a);
    const Value b = evaluate(at.b);
    if (a.kind() == b.kind()) {
        switch (a.kind()) {
            case Kind::integer:
                return integer_arithmetic(node, a.as_integer(), b.as_integer());
            case Kind::unsigned_integer:
                return unsigned_arithmetic(node, a.as_unsigned(), b.as_unsigned());
            case Kind::real:
                return real_arithmetic(node, a.as_real(), b.as_real());
            case Kind::string:
            case Kind::bytes:
            case Kind::list:
                return at.op == Op::add ? concatenate(node, a, b) : no_overload(node, a, b);
            default:
                break;
        }
    }
    return time_arithmetic(node, a, b);
}

template <bool Traced>
Value Evaluator<Traced>::integer_arithmetic(std::uint32_t node, std::int64_t a, std::int64_t b) {
    std::int64_t result = 0;
    bool overflows = false;
    switch (nodes_[node].op) {
        case Op::add:
            overflows = __builtin_add_overflow(a, b, &result);
            break;
        case Op::subtract:
            overflows = __builtin_sub_overflow(a, b, &result);
            break;
        case Op::multiply:
            overflows = __builtin_mul_overflow(a, b, &result);
            break;
        default:
            if (b == 0) return fail(node, Fault::divide_by_zero, by_zero);
            // The one quotient that does not fit; the processor traps on both / and %.
            overflows = a == std::numeric_limits<std::int64_t>::min() && b == -1;
            if (overflows) break;
            result = nodes_[node].op == Op::divide ? a / b : a % b;
    }
    return overflows ? fail(node, Fault::out_of_range, overflow) : Value::integer(result);
}

template <bool Traced>
Value Evaluator<Traced>::unsigned_arithmetic(std::uint32_t node, std::uint64_t a, std::uint64_t b) {
    std::uint64_t result = 0;
    bool overflows = false;
    switch (nodes_[node].op) {
        case Op::add:
            overflows = __builtin_add_overflow(a, b, &result);
            break;
        case Op::subtract:
            overflows = __builtin_sub_overflow(a, b, &result);
            break;
        case Op::multiply:
            overflows = __builtin_mul_overflow(a, b, &result);
            break;
        default:
            if (b == 0) return fail(node, Fault::divide_by_zero, by_zero);
            result = nodes_[node].op == Op::divide ? a / b : a % b;
    }
    return overflows ? fail(node, Fault::out_of_range, overflow) : Value::unsigned_integer(result);
}

template <bool Traced>
Value Evaluator<Traced>::real_arithmetic(std::uint32_t node, double a, double b) {
    switch (nodes_[node].op) {
        case Op::add:
            return Value::real(a + b);
        case Op::subtract:
            return Value::real(a - b);
        case Op::multiply:
            return Value::real(a * b);
        case Op::divide:
            return Value::real(a / b);
        default:
            return no_overload(node, Value::real(a), Value::real(b));
    }
}

template <bool Traced>
Value Evaluator<Traced>::time_arithmetic(std::uint32_t node, const Value& a, const Value& b) {
    const Op op = nodes_[node].op;
    if (op == Op::add && a.kind() == Kind::duration && b.kind() == Kind::timestamp) {
        return time_arithmetic(node, b, a);
    }
    if ((op != Op::add && op != Op::subtract) || a.is_error() || b.is_error()) {
        return no_overload(node, a, b);
    }
    const bool is_sum = op == Op::add;
    if (a.kind() == Kind::duration && b.kind() == Kind::duration) {
        std::int64_t result = 0;
        const bool overflows =
            is_sum ? __builtin_add_overflow(a.as_duration_ns(), b.as_duration_ns(), &result)
                   : __builtin_sub_overflow(a.as_duration_ns(), b.as_duration_ns(), &result);
        return overflows ? fail(node, Fault::out_of_range, outside_time) : Value::duration(result);
    }
    if (a.kind() != Kind::timestamp) return no_overload(node, a, b);
    if (b.kind() == Kind::timestamp && !is_sum) {
        const auto span = cel::subtract(a.as_timestamp(), b.as_timestamp());
        return span ? Value::duration(*span) : fail(node, Fault::out_of_range, outside_time);
    }
    if (b.kind() != Kind::duration) return no_overload(node, a, b);
    const std::int64_t span = b.as_duration_ns();
    if (!is_sum && span == std::numeric_limits<std::int64_t>::min()) {
        return fail(node, Fault::out_of_range, outside_time);
    }
    const auto moment = cel::add(a.as_timestamp(), is_sum ? span : -span);
    return moment ? Value::timestamp(*moment) : fail(node, Fault::out_of_range, outside_time);
}

template class Evaluator<false>;
template class Evaluator<true>;

}  // namespace holdpoint::cel
