#pragma once

#include "notify/channel.h"

namespace holdpoint::notify {

/// Writes one line to the server's log: enough for a person who watches the terminal.
class LogChannel : public Channel {
  public:
    const std::string& name() const override;
    Result<void> send(core::EventKind about, const core::Request& request) override;
};

}  // namespace holdpoint::notify
