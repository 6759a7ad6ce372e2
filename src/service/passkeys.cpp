#include "service/passkeys.h"

#include "base/sha256.h"

namespace holdpoint::service {
namespace {

using store::Passkey;
using store::Transaction;

Result<Passkey> own_passkey(Transaction& tx, const PasskeyId& id, const PrincipalId& person) {
    Result<std::optional<Passkey>> found = tx.find_passkey(id);
    if (!found) return found.error();
    if (!*found || (*found)->principal != person)
        return Error{ErrorCode::not_found, "no passkey has this id"};
    return std::move(**found);
}

}  // namespace

Result<Passkey> add_passkey(Transaction& tx, const webauthn::RelyingParty& party,
                            std::string_view challenge, const webauthn::NewCredential& credential,
                            Passkey passkey) {
    const Result<webauthn::Registered> registered =
        webauthn::verify_registration(party, challenge, credential);
    if (!registered) {
        Error error = registered.error();
        if (!error.field.empty()) error.field = "credential." + error.field;
        return error;
    }
    const Result<std::optional<Passkey>> known = tx.find_passkey(credential.id);
    if (!known) return known.error();
    if (*known)
        return Error{ErrorCode::conflict, "this passkey is registered already", "credential.id"};
    const Result<std::vector<Passkey>> others = tx.passkeys_of(passkey.principal);
    if (!others) return others.error();
    if (others->size() >= passkeys_max)
        return Error{ErrorCode::refused, "remove another passkey first"};
    passkey.credential = credential.id;
    passkey.transports = credential.transports;
    passkey.public_key = registered->public_key;
    passkey.counter = registered->counter;
    passkey.is_backed_up = registered->is_backed_up;
    if (Result<void> ok = tx.save_passkey(passkey); !ok) return ok.error();
    return passkey;
}

Result<Passkey> rename_passkey(Transaction& tx, const PasskeyId& id, const PrincipalId& person,
                               const std::string& name) {
    Result<Passkey> passkey = own_passkey(tx, id, person);
    if (!passkey) return passkey.error();
    passkey->name = name;
    if (Result<void> ok = tx.save_passkey(*passkey); !ok) return ok.error();
    return passkey;
}

Result<void> remove_passkey(Transaction& tx, const PasskeyId& id, const PrincipalId& person) {
    const Result<Passkey> passkey = own_passkey(tx, id, person);
    if (!passkey) return passkey.error();
    return tx.drop_passkey(id);
}

Result<UsedPasskey> use_passkey(Transaction& tx, const webauthn::RelyingParty& party,
                                std::string_view challenge, const webauthn::Assertion& assertion,
                                const std::optional<PrincipalId>& by, Timestamp now) {
    const Error unknown{ErrorCode::unauthenticated, "the passkey is not known here"};
    Result<std::optional<Passkey>> found = tx.find_passkey(assertion.id);
    if (!found) return found.error();
    if (!*found) return unknown;
    Passkey& passkey = **found;
    Result<std::optional<store::Principal>> person = tx.find_principal(passkey.principal);
    if (!person) return person.error();
    if (!*person || (*person)->is_disabled) return unknown;
    if (by && passkey.principal != *by)
        return Error{ErrorCode::permission_denied, "the passkey is somebody else's", "passkey.id"};
    const std::string handle(as_text(passkey.principal.ulid.bytes));
    if (!assertion.user_handle.empty() && assertion.user_handle != handle)
        return Error{ErrorCode::permission_denied, "the passkey says it is somebody else's",
                     "passkey.response.userHandle"};
    const Result<webauthn::Asserted> asserted = webauthn::verify_assertion(
        party, challenge, passkey.public_key, passkey.counter, assertion);
    if (!asserted) {
        if (asserted.error().code == ErrorCode::internal) return asserted.error();
        return Error{ErrorCode::permission_denied, asserted.error().message,
                     "passkey.response." + asserted.error().field};
    }
    passkey.counter = asserted->counter;
    passkey.is_backed_up = asserted->is_backed_up;
    passkey.last_used_at = now;
    if (Result<void> ok = tx.save_passkey(passkey); !ok) return ok.error();
    return UsedPasskey{std::move(passkey), std::move(**person)};
}

}  // namespace holdpoint::service
