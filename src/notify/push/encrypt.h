#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "service/push/p256.h"

namespace holdpoint::notify::push {

using webpush::KeyPair;

/// The browser's end of a subscription.
struct Receiver {
    std::string public_point;  ///< 65 bytes
    std::string secret;        ///< 16 bytes
};

inline constexpr std::size_t plaintext_max = 3993;
inline constexpr std::size_t salt_size = 16;

/// A message that only this receiver can read (RFC 8291 over RFC 8188, one record). `sender` and
/// `salt` (`salt_size` bytes) are for this message alone. Padded to a multiple of 256 bytes, so
/// that the push service does not learn from the length which tool it is about; `is_padded` false
/// is for tests.
Result<std::string> encrypt(std::string_view plaintext, const Receiver& receiver,
                            const KeyPair& sender, std::string_view salt, bool is_padded = true);

/// The `Authorization` header that tells a push service who sends (VAPID, RFC 8292). `audience` is
/// the service's origin, `contact` a `mailto:` or `https:` URL of whoever runs this server.
std::string vapid(const KeyPair& server, const std::string& audience, const std::string& contact,
                  std::int64_t expires_s);

}  // namespace holdpoint::notify::push
