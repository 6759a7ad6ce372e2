#pragma once

#include <string_view>

namespace holdpoint::policy::match {

enum class GlobKind {
    text,  ///< `*` and `?` match any character
    path   ///< `*` and `?` stop at `/`; `**` between slashes matches any number of folders
};

/// Whether the whole of `text` fits `pattern`: `*`, `?`, `[a-z]`, `[!a-z]`, and for paths `**`. A
/// backslash takes the next character literally; a `[` without its `]` is itself. Characters are
/// code points; case counts. `a/**` fits everything below `a` and `a` itself not; `**/b` fits `b`
/// at any depth. Needs time proportional to the product of both lengths at most, never more.
bool glob_matches(std::string_view pattern, std::string_view text, GlobKind kind);

/// Whether the pattern can fit anything but itself.
bool is_glob(std::string_view pattern);

}  // namespace holdpoint::policy::match
