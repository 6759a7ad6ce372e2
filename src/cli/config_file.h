#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace holdpoint::cli {

struct ConfigValue {
    enum class Kind { text, truth, number, list };
    Kind kind = Kind::text;
    std::vector<std::string> words;  ///< one, or those of the list; what was in quotes without them
    int line = 0;
};
using ConfigTable = std::map<std::string, ConfigValue>;

struct ConfigFile {
    ConfigTable client;  ///< the keys above the first table
    ConfigTable serve;   ///< those of `[serve]`; which there are is for the command to say
};

/// Reads the part of TOML that the settings need, and nothing else: bare keys with strings,
/// booleans, numbers or lists of these, above any table or in `[serve]`. Whatever it does not
/// understand is invalid_argument with the line number: a word that was skipped could be the one
/// that keeps the gate closed. So are other tables, other keys above them, and anything said twice.
Result<ConfigFile> parse_config(std::string_view text);

}  // namespace holdpoint::cli
