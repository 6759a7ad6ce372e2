#pragma once

#include <string>
#include <vector>

#include "service/identity.h"
#include "service/webauthn/ceremony.h"
#include "store/store.h"

namespace holdpoint::service {

// Passkeys: made by somebody who is signed in, and used to sign in or to confirm a decision. The
// door gives out the challenges and looks at them before it calls; see api/auth/challenges.h.

inline constexpr std::size_t passkeys_max = 20;  ///< of one person

/// Keeps a new passkey for its person. conflict when the credential is known already; refused
/// beyond `passkeys_max`.
Result<store::Passkey> add_passkey(store::Transaction& tx, const webauthn::RelyingParty& party,
                                   std::string_view challenge,
                                   const webauthn::NewCredential& credential,
                                   store::Passkey passkey);

/// not_found when it is not this person's.
Result<store::Passkey> rename_passkey(store::Transaction& tx, const PasskeyId& id,
                                      const PrincipalId& person, const std::string& name);
Result<void> remove_passkey(store::Transaction& tx, const PasskeyId& id, const PrincipalId& person);

/// A passkey that was just used, and whose it is.
struct UsedPasskey {
    store::Passkey passkey;
    store::Principal person;
};
/// Checks the assertion and counts the use. unauthenticated when no such passkey exists or its
/// person is disabled; permission_denied when anything about the assertion is wrong, or when it is
/// not of the person who has to sign (`by`, unless anybody may).
Result<UsedPasskey> use_passkey(store::Transaction& tx, const webauthn::RelyingParty& party,
                                std::string_view challenge, const webauthn::Assertion& assertion,
                                const std::optional<PrincipalId>& by, Timestamp now);

}  // namespace holdpoint::service
