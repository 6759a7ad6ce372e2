#pragma once

#include <memory>

#include "agent/backend.h"

namespace holdpoint::agent {

/// A Holdpoint server over HTTP. Fails with invalid_argument where the address or the key cannot be
/// used; whether the server is there shows with the first call.
Result<std::unique_ptr<Backend>> make_remote_backend(const RemoteOptions& options);

/// The error that an HTTP answer stands for.
ErrorCode code_of_status(int status);
Error error_of(int status, std::string_view body, int retry_after_s);

}  // namespace holdpoint::agent
