#pragma once

#include <vector>

#include <holdpoint/options.h>

#include "policy/policy.h"

namespace holdpoint::server {

/// The policy of an embedding program: its file, text or preset, with the gates and the facts about
/// tools that it gives in code. What a file says about a tool counts more than what code says.
Result<std::shared_ptr<const policy::Policy>> make_policy(const EmbeddedOptions& options,
                                                          const std::vector<ToolFacts>& tools);

}  // namespace holdpoint::server
