#pragma once

#include <string>
#include <string_view>

namespace holdpoint {

/// Every way a call can fail. Each door (HTTP, CLI, later A2A and MCP) answers each code;
/// the switches have no default, so a new code does not compile until every door knows it.
enum class ErrorCode {
    invalid_argument,        ///< malformed; `field` says where
    unauthenticated,         ///< no credential, or one that is not (or no longer) valid
    permission_denied,       ///< a valid credential that may not do this
    not_found,               ///< no such thing, or not visible to this caller
    method_not_allowed,      ///< the path exists, the method does not
    conflict,                ///< somebody else was first, or the page was stale
    expired,                 ///< the deadline passed before the decision came
    too_large,               ///< body, depth or list beyond the limit
    unsupported_media_type,  ///< not application/json
    refused,                 ///< well-formed, but the rules say no
    rate_limited,            ///< come back after `retry_after_s`
    unavailable,             ///< the store or the server cannot answer now; nothing changed
    internal,                ///< a bug; logged
};

/// The word used on the wire and in logs.
std::string_view to_string(ErrorCode code);

/// An expected failure. Messages are lower case, without full stop, carry user text in backticks,
/// and reach agents: nothing secret belongs in them.
struct Error {
    ErrorCode code = ErrorCode::internal;
    std::string message;
    std::string field = {};  ///< the offending field, as a path: `requests[2].action.tool`
    int retry_after_s = 0;   ///< for rate_limited and unavailable; 0 means not said
};

}  // namespace holdpoint
