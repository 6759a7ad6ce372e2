#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

#include "base/result.h"
#include "base/time.h"

namespace holdpoint::auth {

/// Challenges for passkeys. Nothing is stored when one is given out: it carries its own expiry and
/// a seal with a key that this process drew at its start, so asking for many costs the server
/// nothing, and none outlives a restart. One that was used with success is remembered until it
/// would have expired anyway.
///
/// A challenge is `nonce (16) | expiry in ms (8) | seal (32) | SHA-256 over a domain, those three
/// and what it is bound to (32)`. Whoever keeps a signed challenge can check with nothing but these
/// bytes what was signed. Network thread only.
class Challenges {
  public:
    static constexpr std::int64_t life_ms = 120'000;

    /// What a challenge is good for: `bound` is the person, the digest, the decision, …
    struct Purpose {
        std::string_view name;
        std::string bound;
    };

    Challenges();

    /// A fresh one, as bytes.
    std::string issue(const Purpose& purpose, Timestamp now) const;

    /// Whether this is one of ours for this purpose, still good and not used yet; takes it if so.
    /// Whoever took one and did not succeed gives it back.
    Result<void> take(std::string_view challenge, const Purpose& purpose, Timestamp now);
    void give_back(std::string_view challenge);

  private:
    std::string seal(std::string_view head, const Purpose& purpose) const;
    std::string whole(std::string_view head, const Purpose& purpose) const;

    std::string key_;
    std::unordered_map<std::string, Timestamp> taken_;
};

}  // namespace holdpoint::auth
