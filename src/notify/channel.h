#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/request.h"
#include "store/store.h"

namespace holdpoint::notify {

/// A way to tell people. Called on the network thread; what blocks must be handed elsewhere.
class Channel {
  public:
    using Done = std::move_only_function<void(Result<void>)>;

    virtual ~Channel() = default;
    virtual const std::string& name() const = 0;
    /// Sends one message about what happened to the request. Sent at least once: after a crash it
    /// may come again, so the receiver recognises it by request and kind.
    virtual Result<void> send(core::EventKind about, const core::Request& request) = 0;

    /// A channel that writes to each receiver apart names them here, in its own terms; each is then
    /// a row of the outbox of its own, so that one who cannot be reached does not make the others
    /// hear it twice. Called on the store's thread.
    virtual bool has_targets() const { return false; }
    virtual Result<std::vector<std::string>> targets(store::Transaction& /*tx*/,
                                                     core::EventKind /*about*/,
                                                     const core::Request& /*request*/) const {
        return std::vector<std::string>{};
    }
    /// Like send(), to one target, and may take its time: `done` is called once, on the network
    /// thread.
    virtual void deliver(core::EventKind about, std::shared_ptr<const core::Request> request,
                         const std::string& /*target*/, Done done) {
        done(send(about, *request));
    }
};

}  // namespace holdpoint::notify
