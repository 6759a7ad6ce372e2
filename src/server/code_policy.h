#pragma once

#include <vector>

#include <holdpoint/policy.h>

#include "policy/policy.h"

/// What an embedding program says in code, added to what a file says: gates, rules and facts become
/// the same plain values that a file gives, callables go into the extensions.
namespace holdpoint::server {

/// All of the part but its tools.
void add_part(const PolicyPart& part, policy::PolicyFile& file, policy::Extensions& extensions);
/// To a file whose parents were followed: what a parent says about a tool counts as much as what
/// the file itself says.
void add_tools(const std::vector<ToolFacts>& tools, policy::PolicyFile& file,
               policy::Extensions& extensions);
policy::Effect effect_of(Rule::Then then);

}  // namespace holdpoint::server
