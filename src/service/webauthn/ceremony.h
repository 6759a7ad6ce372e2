#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "service/webauthn/cose.h"

/// WebAuthn (level 2), the server's part: what a browser hands over when a passkey is made or used,
/// judged step by step. Nothing here keeps state; challenges, credentials and counters are the
/// caller's. Errors are invalid_argument and name the member that is wrong.
namespace holdpoint::webauthn {

/// Whom passkeys are for: the host name, and the origins of our pages on it.
struct RelyingParty {
    std::string id;
    std::vector<std::string> origins;

    bool is_set() const { return !id.empty(); }
};

/// The relying party of a server that people reach at this URL. Browsers want a host name: an
/// address of this very machine becomes `localhost`, any other address has no passkeys.
RelyingParty relying_party_of(std::string_view base_url);

/// What `navigator.credentials.create()` answered, decoded.
struct NewCredential {
    std::string id;
    std::string client_data;
    std::string attestation;
    std::vector<std::string> transports;
};
/// Reads a RegistrationResponseJSON. `path` is where it stands in the body.
Result<NewCredential> read_new_credential(const json::value& value, const std::string& path);

/// What `navigator.credentials.get()` answered, decoded.
struct Assertion {
    std::string id;
    std::string client_data;
    std::string authenticator_data;
    std::string signature;
    std::string user_handle;  ///< empty if the authenticator gave none
};
/// Reads an AuthenticationResponseJSON.
Result<Assertion> read_assertion(const json::value& value, const std::string& path);

/// The challenge that the browser says was signed, as bytes; empty when it says none.
std::string challenge_in(std::string_view client_data);

/// What a new credential turned out to be.
struct Registered {
    std::string public_key;  ///< COSE
    Algorithm algorithm = Algorithm::es256;
    std::uint32_t counter = 0;
    bool is_backed_up = false;
};
/// Attestation is `none`, or `packed` by the credential's own key, which says as little.
Result<Registered> verify_registration(const RelyingParty& party, std::string_view challenge,
                                       const NewCredential& credential);

struct Asserted {
    std::uint32_t counter = 0;
    bool is_backed_up = false;
};
/// Whether the person who has this key was there, was verified, and signed this challenge on one of
/// our pages. `counter` is the last one seen: one that does not grow is the mark of a copied key.
Result<Asserted> verify_assertion(const RelyingParty& party, std::string_view challenge,
                                  std::string_view public_key, std::int64_t counter,
                                  const Assertion& assertion);

}  // namespace holdpoint::webauthn
