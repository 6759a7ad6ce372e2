#pragma once

#include "api/http/http.h"

namespace holdpoint::api {

/// Sends the long answer to a GET as gzip to a caller who accepts that (RFC 9110, 12.5.3): over a
/// phone's network the page of a list takes a tenth of the time. Short bodies gain nothing, and the
/// longest would keep everybody else waiting while they are compressed: both stay as they are.
void compress_if_long(const http::Request& request, http::Response& response);

}  // namespace holdpoint::api
