#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"

namespace holdpoint::policy {

struct Call;

/// The JSON value at `args.a.b`, or nullptr. Arguments only; keys are plain names.
const json::value* arg_at(const Call& call, std::string_view path);

/// The canonical JSON text at a path that grants and trust can pin: `agent.id`, `user.id`,
/// `session`, `task.id`, `tool`, `args`, `args.x`. Nothing for what is not there.
std::optional<std::string> value_at(const Call& call, std::string_view path);

}  // namespace holdpoint::policy
