#pragma once

#include <string>

#include "policy/extend.h"
#include "service/policy_in_force.h"

namespace holdpoint::server {

/// Reads and loads a policy file with whatever it extends; parents that are no presets are files
/// beside it. Fails with the file's name, line and column. Blocks.
Result<service::PolicyInForce::Pointer> load_policy_file(const std::string& path);

/// Reads parents that are no presets: files in the folder of the policy at `path`, by plain name.
policy::ParentReader parents_beside(const std::string& path);

/// The text of a file that may be at most as large as a policy may be.
Result<std::string> read_policy_text(const std::string& path);

}  // namespace holdpoint::server
