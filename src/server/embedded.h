#pragma once

#include <memory>

#include "agent/backend.h"

namespace holdpoint::server {

/// The engine without a server: store, policy and use cases in this process, people through a
/// HumanInterface. What Holdpoint::embedded() stands on.
///
/// Three threads: the store's, a loop that owns every wait and lets time pass, and a desk that asks
/// the people, one request after the other.
Result<std::unique_ptr<agent::Backend>> make_embedded_backend(const EmbeddedOptions& options);

}  // namespace holdpoint::server
