#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace holdpoint::notify::push {

/// One call to a push service.
struct Call {
    std::string url;
    std::vector<std::pair<std::string, std::string>> headers;
    std::string body;
};

/// Makes the call and returns the status; unavailable when there was no answer. Blocks.
using Post = std::function<Result<int>(const Call&)>;

/// The real one, over libcurl: a few seconds at most, no redirects, no proxy from the environment,
/// and no connection to an address that is not public (or this machine's, for tests), whatever the
/// name resolved to. Safe from any thread.
Result<int> post(const Call& call, bool may_be_loopback);

}  // namespace holdpoint::notify::push
