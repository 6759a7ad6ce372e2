#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace holdpoint::cli {

/// Reads `90s`, `5m`, `1h30m`, `2d`, or a plain number of seconds. Units descend and occur once.
/// Returns seconds, 0 to ten years.
Result<std::int64_t> parse_duration_s(std::string_view text);

/// Short enough for a column: `8s`, `4:12`, `2h05`, `3d`. Negative durations are `0s`.
std::string short_duration(std::int64_t ms);

}  // namespace holdpoint::cli
