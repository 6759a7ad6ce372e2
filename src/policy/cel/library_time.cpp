#include <fmt/format.h>

#include "policy/cel/library.h"
#include "policy/cel/moment.h"

namespace holdpoint::cel {
namespace {

using Arguments = std::span<const Value>;

std::int64_t year(const Civil& at) { return at.year; }
std::int64_t month(const Civil& at) { return at.month - 1; }
std::int64_t date(const Civil& at) { return at.day; }
std::int64_t day_of_month(const Civil& at) { return at.day - 1; }
std::int64_t day_of_week(const Civil& at) { return at.day_of_week; }
std::int64_t day_of_year(const Civil& at) { return at.day_of_year; }
std::int64_t hours(const Civil& at) { return at.hour; }
std::int64_t minutes(const Civil& at) { return at.minute; }
std::int64_t seconds(const Civil& at) { return at.second; }

/// A part of the calendar date or clock time, in UTC or in the zone that is the second argument.
template <std::int64_t (*Part)(const Civil&)>
Value part(Call& call, Arguments arguments) {
    const std::string_view zone = arguments.size() > 1 ? arguments[1].as_text() : "";
    const std::optional<Civil> at = civil(arguments[0].as_timestamp(), zone);
    if (at) return Value::integer(Part(*at));
    return call.fail(Fault::invalid_argument,
                     fmt::format("there is no time zone {}", to_text(arguments[1], 60)));
}

Value milliseconds(Call& call, Arguments arguments) {
    const std::string_view zone = arguments.size() > 1 ? arguments[1].as_text() : "";
    const Moment moment = arguments[0].as_timestamp();
    if (civil(moment, zone)) return Value::integer(moment.nanos / 1'000'000);
    return call.fail(Fault::invalid_argument,
                     fmt::format("there is no time zone {}", to_text(arguments[1], 60)));
}

/// Durations are counted whole in the unit asked for.
template <std::int64_t Unit>
Value whole(Call&, Arguments arguments) {
    return Value::integer(arguments[0].as_duration_ns() / Unit);
}

Value duration_milliseconds(Call&, Arguments arguments) {
    return Value::integer(arguments[0].as_duration_ns() % nanos_per_second / 1'000'000);
}

}  // namespace

void add_time_functions(Library& library) {
    const Type timestamp = Type::timestamp();
    const auto add = [&](std::string_view name, Library::Function function) {
        library.method(name, {timestamp}, Type::integer(), function, {4});
        library.method(name, {timestamp, Type::string()}, Type::integer(), function, {8});
    };
    add("getFullYear", part<year>);
    add("getMonth", part<month>);
    add("getDate", part<date>);
    add("getDayOfMonth", part<day_of_month>);
    add("getDayOfWeek", part<day_of_week>);
    add("getDayOfYear", part<day_of_year>);
    add("getHours", part<hours>);
    add("getMinutes", part<minutes>);
    add("getSeconds", part<seconds>);
    add("getMilliseconds", milliseconds);

    const Type duration = Type::duration();
    library.method("getHours", {duration}, Type::integer(), whole<3600 * nanos_per_second>);
    library.method("getMinutes", {duration}, Type::integer(), whole<60 * nanos_per_second>);
    library.method("getSeconds", {duration}, Type::integer(), whole<nanos_per_second>);
    library.method("getMilliseconds", {duration}, Type::integer(), duration_milliseconds);
}

}  // namespace holdpoint::cel
