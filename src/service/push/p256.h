#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

struct evp_pkey_st;

namespace holdpoint::webpush {

/// A key pair on P-256: the server's own (VAPID), and one for each message.
class KeyPair {
  public:
    static KeyPair generate();
    /// From the private number, 32 bytes.
    static Result<KeyPair> from_private(std::string_view scalar);

    /// Uncompressed, 65 bytes.
    std::string public_point() const;
    std::string private_scalar() const;
    /// ECDH with somebody's public point; refused when that is no point of the curve.
    Result<std::string> shared_secret(std::string_view public_point) const;
    /// ECDSA with SHA-256, as JWTs want it: r and s, 64 bytes.
    std::string sign(std::string_view text) const;

  private:
    struct Free {
        void operator()(evp_pkey_st* key) const;
    };
    explicit KeyPair(evp_pkey_st* key) : key_(key, Free{}) {}

    std::shared_ptr<evp_pkey_st> key_;
};

/// Whether these 65 bytes are a point of the curve.
bool is_point(std::string_view bytes);

}  // namespace holdpoint::webpush
