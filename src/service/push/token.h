#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/id.h"
#include "base/time.h"

namespace holdpoint::webpush {

/// What the button of a push message may do: decide one request, as it was shown, for one person,
/// until the request expires and while the session lives that asked for the messages. Sealed with
/// the server's key; nothing is stored until it is used.
struct Token {
    PrincipalId person;
    SessionId session;
    RequestId request;
    std::string digest;  ///< `sha256:…`
    Timestamp expires_at;
};

std::string seal(const Token& token, std::string_view key);
/// Nothing for a text that this key has not sealed.
std::optional<Token> unseal(std::string_view text, std::string_view key);

}  // namespace holdpoint::webpush
