#pragma once

#include "policy/cel/environment.h"

namespace holdpoint::policy {

/// `url.host`, `url.scheme`, `url.path`, `url.port`, `path.under`, `glob`: what conditions can ask
/// beside the CEL library. Each normalises before it compares; what cannot be read is an error.
void declare_functions(cel::Environment& environment);

}  // namespace holdpoint::policy
