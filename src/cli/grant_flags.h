#pragma once

#include <string>

#include "base/json.h"
#include "base/result.h"
#include "cli/arguments.h"

namespace holdpoint::cli {

/// What an approval lets pass beyond the one request: similar calls, within these bounds and those
/// of the policy.
struct GrantFlags {
    std::string duration;
    int uses = 0;
    double sum = 0;
    bool is_for_session = false;
    int words = 0;

    bool is_given() const {
        return !duration.empty() || uses > 0 || sum > 0 || is_for_session || words > 0;
    }
};

void add_grant_flags(Command command, GrantFlags& flags);

/// Adds `grant` to a decision where one was asked for. Fails for a duration that is none.
Result<void> put_grant(json::object& body, const GrantFlags& flags);

}  // namespace holdpoint::cli
