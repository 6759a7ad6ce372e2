#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

struct evp_pkey_st;

namespace holdpoint::webauthn {

/// The signature algorithms that we offer to authenticators, by their COSE numbers.
enum class Algorithm { es256 = -7, eddsa = -8, rs256 = -257 };

/// `ES256`, `EdDSA`, `RS256`.
std::string_view to_string(Algorithm algorithm);

/// A credential's public key (COSE_Key, RFC 9052 §7). Reading accepts exactly the members that its
/// kind of key has, and a point that lies on its curve.
class PublicKey {
  public:
    static Result<PublicKey> read(std::string_view cose);

    Algorithm algorithm() const { return algorithm_; }
    /// Whether the signature over these bytes is this key's. Malformed signatures are not.
    bool has_signed(std::string_view bytes, std::string_view signature) const;

  private:
    struct Free {
        void operator()(evp_pkey_st* key) const;
    };
    PublicKey(Algorithm algorithm, evp_pkey_st* key) : algorithm_(algorithm), key_(key) {}

    Algorithm algorithm_;
    std::unique_ptr<evp_pkey_st, Free> key_;
};

}  // namespace holdpoint::webauthn
