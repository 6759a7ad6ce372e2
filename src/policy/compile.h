#pragma once

#include <memory>
#include <string_view>

#include "policy/extend.h"
#include "policy/policy.h"

namespace holdpoint::policy {

/// Judges everything that can be judged before the first call: names that lead nowhere, types and
/// cost of every condition, patterns, templates. All or nothing; the first thing wrong is the
/// error, with its place. Does not run the tests in the file.
Result<std::shared_ptr<const Policy>> compile(PolicyFile file, Extensions extensions = {});

/// The same policy with its master switch off: everything passes, and is recorded. What a program
/// added to it is left out; nothing would ask it.
std::shared_ptr<const Policy> switched_off(const Policy& policy);

struct LoadOptions {
    ParentReader read_parent;
    Extensions extensions;
    bool may_fail_tests = false;  ///< for `--force`; the caller records that it was used
};

/// The whole way from text to a policy in force: read, extend, compile, run the tests inside.
/// A failing test refuses the file, with what it expected and what came.
Result<std::shared_ptr<const Policy>> load(std::string_view text, const LoadOptions& options = {});

}  // namespace holdpoint::policy
