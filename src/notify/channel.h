#pragma once

#include <string>

#include "base/result.h"
#include "core/request.h"

namespace holdpoint::notify {

/// A way to tell people. Called on the network thread; what blocks must be handed elsewhere.
class Channel {
  public:
    virtual ~Channel() = default;
    virtual const std::string& name() const = 0;
    /// Sends one message about what happened to the request. Sent at least once: after a crash it
    /// may come again, so the receiver recognises it by request and kind.
    virtual Result<void> send(core::EventKind about, const core::Request& request) = 0;
};

}  // namespace holdpoint::notify
