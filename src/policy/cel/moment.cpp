#include "policy/cel/moment.h"

#include <cctz/civil_time.h>
#include <cctz/time_zone.h>
#include <fmt/format.h>
#include <charconv>
#include <chrono>

#include "base/ascii.h"

namespace holdpoint::cel {
namespace {

using Seconds = std::chrono::duration<std::int64_t>;
using TimePoint = cctz::time_point<cctz::seconds>;

using ascii::is_digit;

/// Reads exactly `digits` digits from the front of `text`.
std::optional<int> take_number(std::string_view& text, int digits) {
    if (text.size() < static_cast<std::size_t>(digits)) return std::nullopt;
    int number = 0;
    for (int i = 0; i < digits; ++i) {
        if (!is_digit(text[i])) return std::nullopt;
        number = number * 10 + (text[i] - '0');
    }
    text.remove_prefix(digits);
    return number;
}

bool take(std::string_view& text, char expected) {
    if (text.empty() || text.front() != expected) return false;
    text.remove_prefix(1);
    return true;
}

bool take_either(std::string_view& text, char lower) {
    return take(text, lower) || take(text, static_cast<char>(lower - 'a' + 'A'));
}

/// The digits after the decimal point as nanoseconds; more than nine cannot be kept.
std::optional<std::int32_t> take_fraction(std::string_view& text) {
    std::int32_t nanos = 0;
    int digits = 0;
    while (!text.empty() && is_digit(text.front())) {
        if (++digits > 9) return std::nullopt;
        nanos = nanos * 10 + (text.front() - '0');
        text.remove_prefix(1);
    }
    if (digits == 0) return std::nullopt;
    for (; digits < 9; ++digits) nanos *= 10;
    return nanos;
}

/// `+02:00` or `-09:30` in seconds; the sign may be missing where CEL allows it.
std::optional<int> take_offset(std::string_view& text, bool needs_sign) {
    int sign = 1;
    if (take(text, '-')) {
        sign = -1;
    } else if (!take(text, '+') && needs_sign) {
        return std::nullopt;
    }
    const std::optional<int> hours = take_number(text, 2);
    if (!hours || *hours > 23 || !take(text, ':')) return std::nullopt;
    const std::optional<int> minutes = take_number(text, 2);
    if (!minutes || *minutes > 59) return std::nullopt;
    return sign * (*hours * 3600 + *minutes * 60);
}

std::int64_t unit_nanos(std::string_view& text) {
    struct Unit {
        std::string_view name;
        std::int64_t nanos;
    };
    static constexpr Unit units[] = {{"ns", 1},
                                     {"us", 1'000},
                                     {"µs", 1'000},  // U+00B5
                                     {"μs", 1'000},  // U+03BC
                                     {"ms", 1'000'000},
                                     {"s", nanos_per_second},
                                     {"m", 60 * nanos_per_second},
                                     {"h", 3600 * nanos_per_second}};
    for (const Unit& unit : units) {
        if (!text.starts_with(unit.name)) continue;
        text.remove_prefix(unit.name.size());
        return unit.nanos;
    }
    return 0;
}

/// One number with its unit, added to `total`; false if it is malformed or does not fit.
bool take_span(std::string_view& text, __int128& total) {
    __int128 whole = 0;
    __int128 fraction = 0;
    __int128 scale = 1;
    bool has_digits = false;
    for (; !text.empty() && is_digit(text.front()); text.remove_prefix(1)) {
        whole = whole * 10 + (text.front() - '0');
        has_digits = true;
        if (whole > static_cast<__int128>(INT64_MAX) + 1) return false;
    }
    if (take(text, '.')) {
        for (; !text.empty() && is_digit(text.front()); text.remove_prefix(1)) {
            has_digits = true;
            if (scale > nanos_per_second * 100'000) continue;  // beyond a nanosecond of an hour
            fraction = fraction * 10 + (text.front() - '0');
            scale *= 10;
        }
    }
    if (!has_digits) return false;
    const std::int64_t unit = unit_nanos(text);
    if (unit == 0) return false;
    total += whole * unit + fraction * unit / scale;
    return total <= static_cast<__int128>(INT64_MAX) + 1;
}

std::string fraction_text(std::int32_t nanos) {
    if (nanos == 0) return {};
    std::string digits = fmt::format(".{:09}", nanos);
    digits.erase(digits.find_last_not_of('0') + 1);
    return digits;
}

bool may_be_zone_name(std::string_view name) {
    // Names are looked up below a folder: one that could climb out of it is not a zone.
    if (name.empty() || name.size() > 64 || name.front() == '/') return false;
    for (const char c : name) {
        const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (!is_letter && !is_digit(c) && c != '/' && c != '_' && c != '-' && c != '+')
            return false;
    }
    return true;
}

const cctz::time_zone* find_zone(std::string_view name) {
    if (!may_be_zone_name(name)) return nullptr;
    // Conditions ask for the same zone again and again; the library's own table has a lock.
    thread_local std::string last_name;
    thread_local cctz::time_zone last_zone;
    if (name == last_name) return &last_zone;
    cctz::time_zone zone;
    if (!cctz::load_time_zone(std::string(name), &zone)) return nullptr;
    last_name = name;
    last_zone = zone;
    return &last_zone;
}

/// The clock on the wall in a zone, or nothing if there is no such zone.
std::optional<cctz::civil_second> wall_clock(std::int64_t seconds, std::string_view zone) {
    const cctz::civil_second epoch(1970, 1, 1);
    if (zone.empty() || zone == "UTC") return epoch + seconds;
    std::string_view rest = zone;
    if (const std::optional<int> offset = take_offset(rest, false); offset && rest.empty()) {
        return epoch + (seconds + *offset);
    }
    const cctz::time_zone* found = find_zone(zone);
    if (!found) return std::nullopt;
    return found->lookup(TimePoint{Seconds(seconds)}).cs;
}

}  // namespace

std::optional<Moment> parse_moment(std::string_view text) {
    const auto year = take_number(text, 4);
    if (!year || !take(text, '-')) return std::nullopt;
    const auto month = take_number(text, 2);
    if (!month || !take(text, '-')) return std::nullopt;
    const auto day = take_number(text, 2);
    if (!day || !take_either(text, 't')) return std::nullopt;
    const auto hour = take_number(text, 2);
    if (!hour || !take(text, ':')) return std::nullopt;
    const auto minute = take_number(text, 2);
    if (!minute || !take(text, ':')) return std::nullopt;
    const auto second = take_number(text, 2);
    if (!second || *hour > 23 || *minute > 59 || *second > 59) return std::nullopt;

    std::int32_t nanos = 0;
    if (take(text, '.')) {
        const auto fraction = take_fraction(text);
        if (!fraction) return std::nullopt;
        nanos = *fraction;
    }
    int offset = 0;
    if (!take_either(text, 'z')) {
        const auto given = take_offset(text, true);
        if (!given) return std::nullopt;
        offset = *given;
    }
    if (!text.empty()) return std::nullopt;

    const cctz::civil_second local(*year, *month, *day, *hour, *minute, *second);
    // cctz normalises what the calendar does not have (the 30th of February).
    if (local.month() != *month || local.day() != *day) return std::nullopt;
    const std::int64_t seconds = (local - cctz::civil_second(1970, 1, 1)) - offset;
    if (seconds < seconds_min || seconds > seconds_max) return std::nullopt;
    return Moment{seconds, nanos};
}

std::string to_string(Moment moment) {
    const cctz::civil_second local = cctz::civil_second(1970, 1, 1) + moment.seconds;
    return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}{}Z", local.year(), local.month(),
                       local.day(), local.hour(), local.minute(), local.second(),
                       fraction_text(moment.nanos));
}

std::optional<std::int64_t> parse_duration(std::string_view text) {
    bool is_negative = false;
    if (take(text, '-')) {
        is_negative = true;
    } else {
        take(text, '+');
    }
    if (text == "0") return 0;
    if (text.empty()) return std::nullopt;
    __int128 total = 0;
    while (!text.empty()) {
        if (!take_span(text, total)) return std::nullopt;
    }
    if (is_negative) total = -total;
    if (total > INT64_MAX || total < INT64_MIN) return std::nullopt;
    return static_cast<std::int64_t>(total);
}

std::string duration_text(std::int64_t nanoseconds) {
    const bool is_negative = nanoseconds < 0;
    const std::uint64_t size =
        is_negative ? 0 - static_cast<std::uint64_t>(nanoseconds) : nanoseconds;
    return fmt::format("{}{}{}s", is_negative ? "-" : "", size / nanos_per_second,
                       fraction_text(static_cast<std::int32_t>(size % nanos_per_second)));
}

std::optional<Moment> add(Moment moment, std::int64_t nanoseconds) {
    std::int64_t seconds = moment.seconds + nanoseconds / nanos_per_second;
    std::int64_t nanos = moment.nanos + nanoseconds % nanos_per_second;
    if (nanos < 0) {
        nanos += nanos_per_second;
        --seconds;
    } else if (nanos >= nanos_per_second) {
        nanos -= nanos_per_second;
        ++seconds;
    }
    if (seconds < seconds_min || seconds > seconds_max) return std::nullopt;
    return Moment{seconds, static_cast<std::int32_t>(nanos)};
}

std::optional<std::int64_t> subtract(Moment a, Moment b) {
    const __int128 span =
        (static_cast<__int128>(a.seconds) - b.seconds) * nanos_per_second + (a.nanos - b.nanos);
    if (span > INT64_MAX || span < INT64_MIN) return std::nullopt;
    return static_cast<std::int64_t>(span);
}

std::optional<Civil> civil(Moment moment, std::string_view zone) {
    const std::optional<cctz::civil_second> found = wall_clock(moment.seconds, zone);
    if (!found) return std::nullopt;
    const cctz::civil_second local = *found;
    const cctz::civil_day day(local);
    Civil result;
    result.year = local.year();
    result.month = local.month();
    result.day = local.day();
    result.hour = local.hour();
    result.minute = local.minute();
    result.second = local.second();
    // cctz counts weekdays from Monday.
    result.day_of_week = (static_cast<int>(cctz::get_weekday(day)) + 1) % 7;
    result.day_of_year = cctz::get_yearday(day) - 1;
    return result;
}

}  // namespace holdpoint::cel
