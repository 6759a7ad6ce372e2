#pragma once

#include <string>
#include <string_view>

#include "api/http/http.h"
#include "base/error.h"
#include "core/request.h"

namespace holdpoint::wire {

int http_status(ErrorCode code);

/// `{"error": {…}}`, with the request as it stands and the code that confirms it, where given.
std::string error_json(const Error& error, const core::Request* request = nullptr,
                       std::string_view confirm = {});

/// `request` is what the error is about. Conflict and expired carry it; a refusal for want of the
/// confirmation code carries that: where only a change makes it necessary, none was shown.
http::Response to_response(const Error& error, const core::Request* request = nullptr);

/// For errors that the HTTP engine answers by itself.
std::string engine_error(int status, std::string_view code, std::string_view message);

}  // namespace holdpoint::wire
