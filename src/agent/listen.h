#pragma once

#include <memory>
#include <stop_token>

#include "agent/client.h"

namespace holdpoint::agent {

/// Listens to events on a thread of its own and calls `on_event` on the executor, one after the
/// other; ends as Holdpoint::events() does, with what `on_event` threw if it threw.
Task<Result<void>> listen(std::shared_ptr<Client> client, EventFilter filter,
                          Holdpoint::OnEvent on_event, std::stop_token stop, Executor executor);

}  // namespace holdpoint::agent
