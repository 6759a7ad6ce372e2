#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace holdpoint::policy {

struct Call;
struct Tool;

/// The paths a template names: `Refund {{args.amount}}?` has `args.amount`. Fails for braces that
/// do not close and for what cannot be shown.
Result<std::vector<std::string>> template_paths(std::string_view text);

/// Whether what stands at this path (`args.NAME…`) is a secret, by what the operator says of the
/// tool (null: nothing) or by its name.
bool is_secret(std::string_view path, const Tool* tool);

/// One line for people, from the template and the canonical arguments. What could trick the eye is
/// made visible, long values are cut, and secrets (arguments the tool redacts, names like
/// `password`) show as dots.
std::string render(std::string_view text, const Call& call, const Tool* tool);

}  // namespace holdpoint::policy
