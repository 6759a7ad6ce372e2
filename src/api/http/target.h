#pragma once

#include <string_view>

#include "api/http/http.h"

namespace holdpoint::http {

/// Reads an origin-form request target into `path` and `query` of a request.
/// Returns what is wrong with the path, or an empty text; a fault
/// of the query is kept in the request. Whatever two programs could read differently is refused
/// rather than tidied up: a path is compared with routes and permissions as it stands.
std::string_view read_target(std::string_view target, Request& request);

}  // namespace holdpoint::http
