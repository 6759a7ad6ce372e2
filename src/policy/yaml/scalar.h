#pragma once

#include "base/result.h"
#include "policy/yaml/node.h"

namespace holdpoint::policy::yaml {

/// Gives a plain (unquoted) scalar its kind and value by the YAML 1.2 core schema; `node.text` and
/// `node.mark` are set. Refuses what YAML 1.1 readers understand differently.
Result<void> resolve_plain(Node& node);

/// Whether a plain key is a name: refuses `null`, `true`, numbers, `<<` and the empty key, but not
/// `on` and its like.
Result<void> check_plain_key(std::string_view key, Mark mark);

}  // namespace holdpoint::policy::yaml
