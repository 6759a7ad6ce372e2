#pragma once

#include <string_view>

#include "policy/match/glob.h"

/// Globs over the names of tools.
namespace holdpoint::policy {

using match::is_glob;

/// Anchored at both ends.
inline bool glob_matches(std::string_view pattern, std::string_view name) {
    return match::glob_matches(pattern, name, match::GlobKind::text);
}

}  // namespace holdpoint::policy
