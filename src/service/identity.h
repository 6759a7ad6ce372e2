#pragma once

#include <optional>
#include <string>
#include <vector>

#include "store/store.h"

namespace holdpoint::service {

// Principals, keys and sessions. Secrets are drawn and hashed at the door, outside the transaction:
// a use case may run twice, and nothing secret enters the store.

struct KeySpec {
    store::Role role = store::Role::agent;
    std::string name;  ///< of the principal; made if it is new
    std::optional<std::vector<std::string>> groups;
    std::string owner;
    std::optional<Timestamp> expires_at;
};

struct IssuedKey {
    store::Key key;
    store::Principal principal;
};

/// Adds a key, and the principal if the name is new. conflict when the name belongs to a principal
/// of another role, or the groups or owner differ from what is stored.
Result<IssuedKey> create_key(store::Transaction& tx, const KeySpec& spec, store::Key key,
                             const PrincipalId& new_principal, Timestamp now);

struct KeyEntry {
    store::Key key;
    store::Principal principal;
};
Result<std::vector<KeyEntry>> list_keys(store::Transaction& tx);
/// Revoking twice changes nothing. The caller's own key can be revoked; another one stays needed.
Result<KeyEntry> revoke_key(store::Transaction& tx, const KeyId& id, Timestamp now);

/// conflict when the name is taken.
Result<store::Principal> create_user(store::Transaction& tx, store::Principal user);
Result<store::Principal> find_user(store::Transaction& tx, const std::string& name);
Result<store::Principal> set_password(store::Transaction& tx, const std::string& name,
                                      const std::string& password_hash);
/// Disabling ends the person's sessions; keys stop working at once. Refused for the last admin.
Result<store::Principal> set_disabled(store::Transaction& tx, const std::string& name,
                                      bool is_disabled);
Result<store::Principal> set_groups(store::Transaction& tx, const std::string& name,
                                    std::vector<std::string> groups);

/// A principal and until when the credential is good.
struct Authenticated {
    store::Principal principal;
    std::optional<Timestamp> expires_at;
    std::string csrf;                            ///< of a session
    std::optional<Timestamp> last_seen_at = {};  ///< of a session
    std::optional<Timestamp> signed_in_at = {};  ///< of a session
};

/// unauthenticated for a key that is unknown, revoked, expired or whose principal is disabled; the
/// message does not say which.
Result<Authenticated> authenticate_key(store::Transaction& tx, const std::string& key_hash,
                                       Timestamp now);
Result<Authenticated> authenticate_session(store::Transaction& tx, const std::string& token_hash,
                                           Timestamp now);

/// Whether this session of this person is good for anything at this moment.
Result<bool> is_signed_in(store::Transaction& tx, const SessionId& id, const PrincipalId& person,
                          Timestamp now);

/// Opens a session for whoever has just proved to know the password behind `password_hash`.
/// Checking it takes a while; unauthenticated if it was changed, or the person disabled, meanwhile.
Result<Authenticated> open_session(store::Transaction& tx, const store::Session& session,
                                   const std::string& password_hash);

/// Trades a one-time link for a session, once.
Result<Authenticated> redeem_link(store::Transaction& tx, const std::string& link_hash,
                                  store::Session session, Timestamp now);

struct SessionEntry {
    store::Session session;
    std::string name;  ///< of the person
};
/// The signed-in browsers of one person, newest first; links that nobody has used are none.
Result<std::vector<SessionEntry>> list_sessions(store::Transaction& tx, const std::string& name,
                                                Timestamp now);
/// Ends one session and returns what it was. A session of somebody else exists for admins only.
Result<SessionEntry> revoke_session(store::Transaction& tx, const SessionId& id,
                                    const PrincipalId& caller, bool is_admin, Timestamp now);

/// Whether an escalation to `target` (`group:NAME` or a person's name) would reach somebody who can
/// decide; `refused` otherwise, naming `field`.
Result<void> check_target(store::Transaction& tx, const std::string& target,
                          const std::string& field);

}  // namespace holdpoint::service
