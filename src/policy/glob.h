#pragma once

#include <string_view>

/// Globs over tool names: `*` stands for any run of characters, `?` for one byte. Nothing else is
/// special. Paths have their own globs, in match/.
namespace holdpoint::policy {

bool is_glob(std::string_view pattern);

/// Anchored at both ends; linear in pattern times name.
bool glob_matches(std::string_view pattern, std::string_view name);

}  // namespace holdpoint::policy
