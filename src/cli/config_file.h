#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/result.h"

namespace holdpoint::cli {

/// The keys before the first table of a TOML file whose values are strings or booleans, which is
/// all that this program's settings need. Tables belong to other readers and are skipped. Fails
/// with invalid_argument and the line number for anything else.
Result<std::map<std::string, std::string>> parse_config(std::string_view text);

}  // namespace holdpoint::cli
