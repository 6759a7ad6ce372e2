#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "policy/conditions.h"
#include "policy/policy.h"

namespace holdpoint::policy {

/// The described tools that these names and globs mean; a nullptr stands for a name that no tool
/// describes. Empty names mean all: then the result is empty.
std::vector<const Tool*> named_tools(const PolicyFile& file, const std::vector<std::string>& names);

/// Whether a name is among these names and globs. No names at all mean every name.
bool is_named(const std::vector<std::string>& names, std::string_view tool);

/// Fills `tools`, `unknown` and `events` of the policy from its rules and gates.
Result<void> index(Policy& policy, Conditions& conditions);

}  // namespace holdpoint::policy
