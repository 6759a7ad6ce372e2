#pragma once

#include <string>
#include <string_view>

/// Tool names that pretend to be others. Pure functions.
namespace holdpoint::policy {

/// Printable ASCII without blanks: what a name must be to be compared with globs at all.
bool is_plain_name(std::string_view name);

/// What is left of a name when everything that eyes confuse is put together: case, `-` `_` `.`,
/// `0` and `o`, `1`, `l` and `i`, `rn` and `m`, and the best-known letters of other scripts. Two
/// different names with one skeleton can be mistaken for each other.
std::string skeleton(std::string_view name);

}  // namespace holdpoint::policy
