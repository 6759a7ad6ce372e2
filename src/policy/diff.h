#pragma once

#include <string>
#include <vector>

#include "policy/file.h"

namespace holdpoint::policy {

/// One difference between two policies.
struct Change {
    enum class Kind { added, removed, changed };
    /// Which way it can move verdicts, where the part alone tells.
    enum class Direction { stricter, looser, unclear };

    Kind kind = Kind::changed;
    Direction direction = Direction::unclear;
    std::string what;    ///< ``rule `refund-large` ``
    std::string before;  ///< empty if added
    std::string after;   ///< empty if removed
};

/// What differs in meaning; places, order and comments do not count. Both files are extended.
std::vector<Change> diff(const PolicyFile& before, const PolicyFile& after);

/// A line for each change, `+`, `-` or `~` in front.
std::string diff_text(const std::vector<Change>& changes);

}  // namespace holdpoint::policy
