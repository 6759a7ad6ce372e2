#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>

#include <fmt/format.h>

#include "base/text.h"
#include "policy/cel/library.h"
#include "policy/cel/moment.h"
#include "policy/cel/number_text.h"

namespace holdpoint::cel {
namespace {

using Arguments = std::span<const Value>;

Value same(Call&, Arguments arguments) { return arguments[0]; }

Value out_of_range(Call& call, std::string_view type) {
    return call.fail(Fault::out_of_range, fmt::format("the value is out of range for {}", type));
}

Value not_readable(Call& call, const Value& text, std::string_view type) {
    return call.fail(Fault::invalid_argument,
                     fmt::format("{} cannot be read as {}", to_text(text, 60), type));
}

// --- int, uint, double

Value int_from_unsigned(Call& call, Arguments arguments) {
    const std::uint64_t number = arguments[0].as_unsigned();
    if (number > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
        return out_of_range(call, "int");
    }
    return Value::integer(static_cast<std::int64_t>(number));
}

Value int_from_real(Call& call, Arguments arguments) {
    // Both ends are excluded: near them doubles are too coarse to say which integer is meant.
    const double number = arguments[0].as_real();
    if (!(number > -0x1p63 && number < 0x1p63)) return out_of_range(call, "int");
    return Value::integer(static_cast<std::int64_t>(number));
}

template <class Number>
bool read_whole(std::string_view text, Number& number) {
    if (text.starts_with('+')) text.remove_prefix(1);
    const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
    return read.ec == std::errc() && read.ptr == text.data() + text.size() && !text.empty();
}

Value int_from_string(Call& call, Arguments arguments) {
    std::int64_t number = 0;
    if (!read_whole(arguments[0].as_text(), number)) return not_readable(call, arguments[0], "int");
    return Value::integer(number);
}

Value int_from_timestamp(Call&, Arguments arguments) {
    return Value::integer(arguments[0].as_timestamp().seconds);
}

Value uint_from_int(Call& call, Arguments arguments) {
    if (arguments[0].as_integer() < 0) return out_of_range(call, "uint");
    return Value::unsigned_integer(arguments[0].as_unsigned());
}

Value uint_from_real(Call& call, Arguments arguments) {
    const double number = arguments[0].as_real();
    if (!(number >= 0 && number < 0x1p64)) return out_of_range(call, "uint");
    return Value::unsigned_integer(static_cast<std::uint64_t>(number));
}

Value uint_from_string(Call& call, Arguments arguments) {
    std::uint64_t number = 0;
    if (!read_whole(arguments[0].as_text(), number)) {
        return not_readable(call, arguments[0], "uint");
    }
    return Value::unsigned_integer(number);
}

Value real_from_int(Call&, Arguments arguments) {
    return Value::real(static_cast<double>(arguments[0].as_integer()));
}

Value real_from_unsigned(Call&, Arguments arguments) {
    return Value::real(static_cast<double>(arguments[0].as_unsigned()));
}

bool is_decimal(std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789+-.eE") == text.npos;
}

Value real_from_string(Call& call, Arguments arguments) {
    std::string_view text = arguments[0].as_text();
    const bool is_negative = text.starts_with('-');
    std::string_view size = text;
    if (is_negative || text.starts_with('+')) size.remove_prefix(1);
    if (size == "Infinity" || size == "Inf" || size == "inf" || size == "infinity") {
        const double infinity = std::numeric_limits<double>::infinity();
        return Value::real(is_negative ? -infinity : infinity);
    }
    if (text == "NaN" || text == "nan") {
        return Value::real(std::numeric_limits<double>::quiet_NaN());
    }
    // from_chars takes no plus sign, and gives nothing for numbers too large or too small.
    if (!is_decimal(text) || text.size() > 400) return not_readable(call, arguments[0], "double");
    const std::string copy(text);
    char* end = nullptr;
    const double number = std::strtod(copy.c_str(), &end);
    if (end != copy.c_str() + copy.size()) return not_readable(call, arguments[0], "double");
    if (std::isinf(number)) return out_of_range(call, "double");
    return Value::real(number);
}

// --- bool, string, bytes

Value bool_from_string(Call& call, Arguments arguments) {
    const std::string_view text = arguments[0].as_text();
    for (const std::string_view yes : {"1", "t", "T", "true", "TRUE", "True"}) {
        if (text == yes) return Value::boolean(true);
    }
    for (const std::string_view no : {"0", "f", "F", "false", "FALSE", "False"}) {
        if (text == no) return Value::boolean(false);
    }
    return not_readable(call, arguments[0], "bool");
}

Value string_from_bool(Call&, Arguments arguments) {
    return Value::string(arguments[0].as_boolean() ? "true" : "false");
}

Value string_of(Call& call, std::string_view text) {
    return Value::string(call.arena().copy(text));
}

Value string_from_int(Call& call, Arguments arguments) {
    return string_of(call, fmt::format_int(arguments[0].as_integer()).c_str());
}

Value string_from_unsigned(Call& call, Arguments arguments) {
    return string_of(call, fmt::format_int(arguments[0].as_unsigned()).c_str());
}

Value string_from_real(Call& call, Arguments arguments) {
    return string_of(call, number_text(arguments[0].as_real()));
}

Value string_from_bytes(Call& call, Arguments arguments) {
    const std::string_view bytes = arguments[0].as_text();
    if (!call.charge(bytes.size() / 32)) return {};
    if (!is_utf8(bytes)) return call.fail(Fault::invalid_argument, "the bytes are not UTF-8");
    return Value::string(bytes);
}

Value string_from_timestamp(Call& call, Arguments arguments) {
    return string_of(call, to_string(arguments[0].as_timestamp()));
}

Value string_from_duration(Call& call, Arguments arguments) {
    return string_of(call, duration_text(arguments[0].as_duration_ns()));
}

Value bytes_from_string(Call&, Arguments arguments) { return Value::bytes(arguments[0].as_text()); }

// --- timestamp, duration, dyn, type

Value timestamp_from_string(Call& call, Arguments arguments) {
    const auto moment = parse_moment(arguments[0].as_text());
    return moment ? Value::timestamp(*moment) : not_readable(call, arguments[0], "timestamp");
}

Value timestamp_from_int(Call& call, Arguments arguments) {
    const std::int64_t seconds = arguments[0].as_integer();
    if (seconds < seconds_min || seconds > seconds_max) return out_of_range(call, "timestamp");
    return Value::timestamp({seconds, 0});
}

Value duration_from_string(Call& call, Arguments arguments) {
    const auto span = parse_duration(arguments[0].as_text());
    return span ? Value::duration(*span) : not_readable(call, arguments[0], "duration");
}

Value type_of(Call&, Arguments arguments) { return Value::type(name_of(arguments[0].kind())); }

}  // namespace

void add_conversions(Library& library) {
    const Type integer = Type::integer();
    const Type natural = Type::unsigned_integer();
    const Type real = Type::real();
    const Type string = Type::string();
    const Type bytes = Type::bytes();
    const Type timestamp = Type::timestamp();
    const Type duration = Type::duration();
    const Library::Cost linear{1, true};

    library.function("int", {integer}, integer, same);
    library.function("int", {natural}, integer, int_from_unsigned);
    library.function("int", {real}, integer, int_from_real);
    library.function("int", {string}, integer, int_from_string);
    library.function("int", {timestamp}, integer, int_from_timestamp);
    library.function("uint", {natural}, natural, same);
    library.function("uint", {integer}, natural, uint_from_int);
    library.function("uint", {real}, natural, uint_from_real);
    library.function("uint", {string}, natural, uint_from_string);
    library.function("double", {real}, real, same);
    library.function("double", {integer}, real, real_from_int);
    library.function("double", {natural}, real, real_from_unsigned);
    library.function("double", {string}, real, real_from_string);
    library.function("bool", {Type::boolean()}, Type::boolean(), same);
    library.function("bool", {string}, Type::boolean(), bool_from_string);
    library.function("string", {string}, string, same);
    library.function("string", {Type::boolean()}, string, string_from_bool);
    library.function("string", {integer}, string, string_from_int);
    library.function("string", {natural}, string, string_from_unsigned);
    library.function("string", {real}, string, string_from_real);
    library.function("string", {bytes}, string, string_from_bytes, linear);
    library.function("string", {timestamp}, string, string_from_timestamp);
    library.function("string", {duration}, string, string_from_duration);
    library.function("bytes", {bytes}, bytes, same);
    library.function("bytes", {string}, bytes, bytes_from_string);
    library.function("timestamp", {timestamp}, timestamp, same);
    library.function("timestamp", {string}, timestamp, timestamp_from_string);
    library.function("timestamp", {integer}, timestamp, timestamp_from_int);
    library.function("duration", {duration}, duration, same);
    library.function("duration", {string}, duration, duration_from_string);
    library.function("dyn", {Type::parameter("A")}, Type::dynamic(), same);
    library.function("type", {Type::parameter("A")}, Type::type(Type::parameter("A")), type_of);
}

}  // namespace holdpoint::cel
