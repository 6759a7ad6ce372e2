#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "policy/cel/value.h"

/// Points in time and spans, as CEL reads, writes and takes them apart. Zone names come from the
/// system's zone database, read once per zone and kept.
namespace holdpoint::cel {

inline constexpr std::int64_t nanos_per_second = 1'000'000'000;
inline constexpr std::int64_t seconds_min = -62'135'596'800;  ///< 0001-01-01T00:00:00Z
inline constexpr std::int64_t seconds_max = 253'402'300'799;  ///< 9999-12-31T23:59:59Z

/// RFC 3339 with up to nine digits of fraction, years 1 to 9999 after applying the offset.
std::optional<Moment> parse_moment(std::string_view text);
std::string to_string(Moment moment);  ///< in UTC, with as many digits of fraction as needed

/// `1h30m`, `-1.5h`, `34us`: decimal numbers with units h, m, s, ms, us, ns; nothing if the text
/// has another form or the span does not fit.
std::optional<std::int64_t> parse_duration(std::string_view text);
std::string duration_text(std::int64_t nanoseconds);  ///< `6347s`, `-0.5s`

/// Nothing if the sum leaves the years 1 to 9999.
std::optional<Moment> add(Moment moment, std::int64_t nanoseconds);
/// Nothing if the span does not fit 64 bits of nanoseconds (about 292 years).
std::optional<std::int64_t> subtract(Moment a, Moment b);

/// A moment on the calendar and clock of some zone.
struct Civil {
    std::int64_t year = 0;
    int month = 1;  ///< 1 to 12
    int day = 1;    ///< 1 to 31
    int hour = 0;
    int minute = 0;
    int second = 0;
    int day_of_week = 0;  ///< 0 is Sunday
    int day_of_year = 0;  ///< from 0
};
/// `zone` is empty for UTC, a name like `Europe/Berlin`, or an offset like `+02:00`, `-09:30`,
/// `02:00`. Nothing if there is no such zone.
std::optional<Civil> civil(Moment moment, std::string_view zone);

}  // namespace holdpoint::cel
