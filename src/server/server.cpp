#include "server/server.h"

#include <sodium.h>

#include "server/running.h"

namespace holdpoint::server {

Result<void> serve(const Config& config, const std::function<void(const Started&)>& on_started) {
    if (sodium_init() < 0) return Error{ErrorCode::internal, "libsodium does not start"};
    if (Result<void> ok = check(config); !ok) return ok.error();
    Running running(config);
    const Result<Started> started = running.start();
    if (!started) return started.error();
    on_started(*started);
    running.run();
    return {};
}

}  // namespace holdpoint::server
