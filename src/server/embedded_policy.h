#pragma once

#include <vector>

#include <holdpoint/options.h>

#include "policy/policy.h"

namespace holdpoint::server {

/// The policy of an embedding program: its file, text or preset, with what it gives in code, and
/// the facts about tools as they stand now.
Result<std::shared_ptr<const policy::Policy>> make_policy(const EmbeddedOptions& options,
                                                          const std::vector<ToolFacts>& tools);

}  // namespace holdpoint::server
