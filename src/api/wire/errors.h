#pragma once

#include <string>

#include "api/http/http.h"
#include "base/error.h"
#include "core/request.h"

namespace holdpoint::wire {

int http_status(ErrorCode code);

/// `{"error": {…}}`; conflict and expired carry the request as it stands.
std::string error_json(const Error& error, const core::Request* request = nullptr);

http::Response to_response(const Error& error, const core::Request* request = nullptr);

/// For errors that the HTTP engine answers by itself.
std::string engine_error(int status, std::string_view code, std::string_view message);

}  // namespace holdpoint::wire
