#pragma once

#include <string_view>

#include "api/http/http.h"

namespace holdpoint::http {

/// A request target without the scheme and authority that the absolute form has.
struct SplitTarget {
    std::string_view
        rest;  ///< what origin-form would say; `*` of OPTIONS for a target without path
    std::size_t authority_at = 0;
    std::size_t authority_size = 0;  ///< 0: it was not the absolute form
};
/// RFC 9112 §3.2.2: a server takes `http://host/path` as well, and the host in it counts. Whatever
/// else does not begin with `/` comes back as it is, for read_target() to refuse.
SplitTarget split_target(std::string_view target, std::string_view method);

/// Reads an origin-form request target into `path` and `query` of a request.
/// `*` is taken with OPTIONS only. Returns what is wrong with the path, or an empty text; a fault
/// of the query is kept in the request. Whatever two programs could read differently is refused
/// rather than tidied up: a path is compared with routes and permissions as it stands.
std::string_view read_target(std::string_view target, Request& request);

}  // namespace holdpoint::http
