#pragma once

#include <string_view>
#include <vector>

#include "cli/style.h"

namespace holdpoint::cli {

/// What changed between two texts, line by line: `- ` taken away, `+ ` new, `  ` the same. Both
/// must already be harmless to print.
std::vector<Line> diff_lines(std::string_view before, std::string_view after);

}  // namespace holdpoint::cli
