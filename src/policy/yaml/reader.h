#pragma once

#include <cstddef>
#include <string_view>

#include "base/result.h"
#include "policy/yaml/node.h"

namespace holdpoint::policy::yaml {

/// Checked while reading, so that a small file cannot become a large tree.
struct Limits {
    std::size_t bytes_max = 1024 * 1024;
    int depth_max = 32;               ///< lists and maps inside each other
    std::size_t nodes_max = 100'000;  ///< values, containers included
};

/// Reads one YAML 1.2 document by the core schema, strictly: whatever two readers could understand
/// differently is refused, with line and column. That is: a key that stands twice in one map,
/// anchors, aliases, tags, directives, merge keys, more than one document, an empty document, a tab
/// anywhere, control and invisible characters, text that is not UTF-8; as plain values `yes`, `no`,
/// `on`, `off`, `y`, `n`, numbers with leading zeros or underscores, `0b1`, `.inf` and `.nan`,
/// integers beyond 64 bits; keys that are no text. `on:` and `y:` are fine as keys, since a key is
/// always a name here. Errors are invalid_argument, or too_large beyond `limits`.
Result<Node> read(std::string_view text, const Limits& limits = {});

}  // namespace holdpoint::policy::yaml
