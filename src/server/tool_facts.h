#pragma once

#include <vector>

#include <holdpoint/options.h>

#include "policy/file.h"

/// What several places say about one tool. Where they differ the stricter word counts: nobody
/// takes back with silence what somebody else asks for.
namespace holdpoint::server {

/// One entry for each tool, in the order in which they are first named. `first` is the operator's:
/// a later toolbox that says nothing at all about a tool does not doubt what it says.
std::vector<ToolFacts> merged(const std::vector<ToolFacts>& first,
                              const std::vector<ToolFacts>& others);

/// Adds what code says about a tool to what the file says. Code alone cannot soften: what it calls
/// read-only counts only for tools that the file does not describe.
void add_facts(const ToolFacts& facts, policy::PolicyFile& file);

}  // namespace holdpoint::server
