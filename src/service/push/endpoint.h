#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

struct sockaddr;

/// Where push messages go. A browser names the URL, so the server must not be talked into calling
/// its own neighbours: the URL is checked when it comes, and the address again when it is called.
namespace holdpoint::webpush {

struct Endpoint {
    std::string host;
    std::string origin;  ///< `https://host[:port]`
};

/// Reads a push endpoint: https, a host name or a public address, no credentials, no fragment.
/// `may_be_loopback` (for tests) lets http to this very machine pass too. Refused with the reason
/// otherwise.
Result<Endpoint> read_endpoint(std::string_view url, bool may_be_loopback);

/// Whether an address belongs to the internet: not to this machine, a private network, a link, or
/// to no use at all.
bool is_public(const sockaddr& address);
bool is_loopback(const sockaddr& address);

}  // namespace holdpoint::webpush
