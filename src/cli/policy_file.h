#pragma once

#include <memory>
#include <string>

#include "cli/output.h"
#include "policy/policy.h"

/// Policy files named on the command line.
namespace holdpoint::cli {

using PolicyPointer = std::shared_ptr<const policy::Policy>;

/// What a failing test inside the file means.
enum class FailingTests { refuse, accept };

/// The text of a file, or of stdin for `-`.
Result<std::string> read_given_policy(const std::string& path);

/// Loads it with whatever it extends. Errors begin with `file:line:column:` where the place is
/// known, as editors and terminals make links of.
Result<PolicyPointer> load_given_policy(const std::string& path, FailingTests tests);

/// `line 3, column 5: …`, as the loader and the server say it, becomes `path:3:5: …`; a parent's
/// place becomes one in the file beside `path`.
Error with_place(Error error, const std::string& path);

/// A policy that does not load is a failure, not a wrong command line.
ExitCode fail_policy(const Output& out, const Error& error);

}  // namespace holdpoint::cli
