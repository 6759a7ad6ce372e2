#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "server/config.h"

namespace holdpoint::server {

/// What a start made, for whoever greets the newcomer.
struct Started {
    std::string url;
    std::string admin_key_file;
    std::string sign_in_link;  ///< on the first start, else empty
    bool is_first = false;
};

/// Opens the store, serves until SIGINT or SIGTERM, and stops cleanly. SIGHUP reads the
/// certificates and the policy file again. `on_started` is called once, when requests are answered.
/// Fails with what went wrong and what to do when it cannot start.
Result<void> serve(const Config& config, const std::function<void(const Started&)>& on_started);

}  // namespace holdpoint::server
