#pragma once

#include <string>

#include "api/http/http.h"

namespace holdpoint::auth {

/// Takes the caller's address and whether TLS was used from what a trusted proxy in front says:
/// the last address, which the proxy itself has added. Everything before it is the caller's word,
/// also where the proxy adds a header of its own below the caller's. A port behind the address does
/// not count; what is no address is not believed, and the proxy's own stays.
void take_forwarded(http::Request& request);

/// The name under which an address is counted. One machine has a whole /64 of IPv6 addresses to
/// call from, so these count as one.
std::string network_of(const std::string& address);

}  // namespace holdpoint::auth
