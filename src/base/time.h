#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace holdpoint {

/// A moment in UTC, milliseconds since 1970. Deadlines, votes and events all use this one type.
struct Timestamp {
    std::int64_t ms = 0;

    auto operator<=>(const Timestamp&) const = default;
};

inline Timestamp operator+(Timestamp t, std::int64_t ms) { return {t.ms + ms}; }
inline std::int64_t operator-(Timestamp a, Timestamp b) { return a.ms - b.ms; }

/// `2026-11-15T21:03:46.123Z`
std::string to_string(Timestamp t);
void append_timestamp(std::string& out, Timestamp t);

/// Reads RFC 3339 with `Z` or an offset, years 1970 to 9999. Leap seconds are refused.
Result<Timestamp> parse_timestamp(std::string_view text);

}  // namespace holdpoint
