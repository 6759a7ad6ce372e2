#include "service/identity.h"

#include <fmt/format.h>

#include <algorithm>

namespace holdpoint::service {
namespace {

using store::Key;
using store::Principal;
using store::Role;
using store::Transaction;

Error bad_credential() { return {ErrorCode::unauthenticated, "the credential is not valid"}; }

Error unknown_user(const std::string& name) {
    return {ErrorCode::not_found, fmt::format("user `{}` not found", name)};
}

Error name_taken(const Principal& other) {
    return {ErrorCode::conflict,
            fmt::format("`{}` exists already as {} `{}`", other.name, to_string(other.role),
                        other.id.text()),
            "name"};
}

Result<Principal> principal_for(Transaction& tx, const KeySpec& spec, const PrincipalId& id,
                                Timestamp now) {
    Result<std::optional<Principal>> found = tx.find_principal(spec.name);
    if (!found) return found.error();
    if (*found) {
        Principal& existing = **found;
        if (existing.role != spec.role) return name_taken(existing);
        if (existing.is_disabled)
            return Error{ErrorCode::conflict, fmt::format("`{}` is disabled", spec.name), "name"};
        if (spec.groups && *spec.groups != existing.groups)
            return Error{
                ErrorCode::conflict,
                fmt::format("`{}` exists with other groups; change them with `user groups`",
                            spec.name),
                "groups"};
        if (!spec.owner.empty() && spec.owner != existing.owner)
            return Error{ErrorCode::conflict, fmt::format("`{}` has another owner", spec.name),
                         "owner"};
        return existing;
    }
    if (!spec.owner.empty()) {
        // Whoever owns an agent is kept from deciding for it by this very name.
        const Result<std::optional<Principal>> owner = tx.find_principal(spec.owner);
        if (!owner) return owner.error();
        if (!*owner || (*owner)->role == Role::agent)
            return Error{
                ErrorCode::refused,
                fmt::format("nobody here is called `{}`; add that person first", spec.owner),
                "owner"};
    }
    Principal fresh;
    fresh.id = id;
    fresh.name = spec.name;
    fresh.role = spec.role;
    fresh.groups = spec.groups.value_or(std::vector<std::string>{});
    fresh.owner = spec.owner;
    fresh.created_at = now;
    if (Result<void> ok = tx.save_principal(fresh); !ok) return ok.error();
    return fresh;
}

/// Loads, changes and saves one user.
template <class Change>
Result<Principal> change_user(Transaction& tx, const std::string& name, Change change) {
    Result<Principal> user = find_user(tx, name);
    if (!user) return user.error();
    change(*user);
    if (Result<void> ok = tx.save_principal(*user); !ok) return ok.error();
    return user;
}

Result<bool> is_last_admin(Transaction& tx, const Principal& user) {
    if (user.role != Role::admin) return false;
    const Result<std::vector<Principal>> all = tx.principals();
    if (!all) return all.error();
    return std::none_of(all->begin(), all->end(), [&](const Principal& other) {
        return other.role == Role::admin && !other.is_disabled && other.id != user.id;
    });
}

}  // namespace

Result<IssuedKey> create_key(Transaction& tx, const KeySpec& spec, Key key,
                             const PrincipalId& new_principal, Timestamp now) {
    Result<Principal> principal = principal_for(tx, spec, new_principal, now);
    if (!principal) return principal.error();
    key.principal = principal->id;
    key.created_at = now;
    key.expires_at = spec.expires_at;
    if (Result<void> ok = tx.save_key(key); !ok) return ok.error();
    return IssuedKey{std::move(key), std::move(*principal)};
}

Result<std::vector<KeyEntry>> list_keys(Transaction& tx) {
    Result<std::vector<Key>> keys = tx.keys();
    if (!keys) return keys.error();
    std::vector<KeyEntry> entries;
    for (Key& key : *keys) {
        Result<std::optional<Principal>> principal = tx.find_principal(key.principal);
        if (!principal) return principal.error();
        if (!*principal) return Error{ErrorCode::internal, "a key without a principal"};
        entries.push_back({std::move(key), std::move(**principal)});
    }
    return entries;
}

Result<KeyEntry> revoke_key(Transaction& tx, const KeyId& id, Timestamp now) {
    Result<std::optional<Key>> key = tx.find_key(id);
    if (!key) return key.error();
    if (!*key) return Error{ErrorCode::not_found, fmt::format("key `{}` not found", id.text())};
    Result<std::optional<Principal>> principal = tx.find_principal((*key)->principal);
    if (!principal) return principal.error();
    if (!*principal) return Error{ErrorCode::internal, "a key without a principal"};
    if (!(*key)->revoked_at) {
        (*key)->revoked_at = now;
        if (Result<void> ok = tx.save_key(**key); !ok) return ok.error();
    }
    return KeyEntry{std::move(**key), std::move(**principal)};
}

Result<Principal> create_user(Transaction& tx, Principal user) {
    const Result<std::optional<Principal>> found = tx.find_principal(user.name);
    if (!found) return found.error();
    if (*found) return name_taken(**found);
    if (Result<void> ok = tx.save_principal(user); !ok) return ok.error();
    return user;
}

Result<Principal> find_user(Transaction& tx, const std::string& name) {
    Result<std::optional<Principal>> found = tx.find_principal(name);
    if (!found) return found.error();
    if (!*found) return unknown_user(name);
    return std::move(**found);
}

Result<Principal> set_password(Transaction& tx, const std::string& name,
                               const std::string& password_hash) {
    const Result<Principal> user = find_user(tx, name);
    if (!user) return user.error();
    if (user->role == Role::agent)
        return Error{ErrorCode::refused, "an agent has keys, not a password", "name"};
    // Whoever had the old password is signed out.
    if (Result<void> ok = tx.drop_sessions_of(user->id); !ok) return ok.error();
    return change_user(tx, name,
                       [&](Principal& changed) { changed.password_hash = password_hash; });
}

Result<Principal> set_disabled(Transaction& tx, const std::string& name, bool is_disabled) {
    const Result<Principal> user = find_user(tx, name);
    if (!user) return user.error();
    if (is_disabled) {
        const Result<bool> is_last = is_last_admin(tx, *user);
        if (!is_last) return is_last.error();
        if (*is_last)
            return Error{ErrorCode::refused, fmt::format("`{}` is the last admin", name), "name"};
        if (Result<void> ok = tx.drop_sessions_of(user->id); !ok) return ok.error();
    }
    return change_user(tx, name, [&](Principal& changed) { changed.is_disabled = is_disabled; });
}

Result<Principal> set_groups(Transaction& tx, const std::string& name,
                             std::vector<std::string> groups) {
    const Result<Principal> user = find_user(tx, name);
    if (!user) return user.error();
    if (user->role == Role::agent)
        return Error{ErrorCode::refused, "an agent is in no group of people", "name"};
    return change_user(tx, name, [&](Principal& changed) { changed.groups = std::move(groups); });
}

Result<Authenticated> authenticate_key(Transaction& tx, const std::string& key_hash,
                                       Timestamp now) {
    const Result<std::optional<Key>> key = tx.find_key(key_hash);
    if (!key) return key.error();
    if (!*key || (*key)->revoked_at) return bad_credential();
    if ((*key)->expires_at && now >= *(*key)->expires_at) return bad_credential();
    Result<std::optional<Principal>> principal = tx.find_principal((*key)->principal);
    if (!principal) return principal.error();
    if (!*principal || (*principal)->is_disabled) return bad_credential();
    return Authenticated{std::move(**principal), (*key)->expires_at, ""};
}

Result<Authenticated> authenticate_session(Transaction& tx, const std::string& token_hash,
                                           Timestamp now) {
    const Result<std::optional<store::Session>> session = tx.find_session(token_hash);
    if (!session) return session.error();
    if (!*session || (*session)->is_link || now >= (*session)->expires_at) return bad_credential();
    Result<std::optional<Principal>> principal = tx.find_principal((*session)->principal);
    if (!principal) return principal.error();
    if (!*principal || (*principal)->is_disabled) return bad_credential();
    return Authenticated{std::move(**principal), (*session)->expires_at, (*session)->csrf,
                         (*session)->last_seen_at, (*session)->created_at};
}

Result<bool> is_signed_in(Transaction& tx, const SessionId& id, const PrincipalId& person,
                          Timestamp now) {
    const Result<std::optional<store::Session>> session = tx.find_session(id);
    if (!session) return session.error();
    if (!*session || (*session)->principal != person) return false;
    const Result<Authenticated> found = authenticate_session(tx, (*session)->hash, now);
    if (!found && found.error().code != ErrorCode::unauthenticated) return found.error();
    return found.has_value();
}

Result<Authenticated> open_session(Transaction& tx, const store::Session& session,
                                   const std::string& password_hash) {
    Result<std::optional<Principal>> principal = tx.find_principal(session.principal);
    if (!principal) return principal.error();
    if (!*principal || (*principal)->is_disabled || (*principal)->password_hash != password_hash)
        return bad_credential();
    if (Result<void> ok = tx.save_session(session); !ok) return ok.error();
    return Authenticated{std::move(**principal), session.expires_at, session.csrf};
}

Result<Authenticated> redeem_link(Transaction& tx, const std::string& link_hash,
                                  store::Session session, Timestamp now) {
    const Result<std::optional<store::Session>> link = tx.find_session(link_hash);
    if (!link) return link.error();
    if (!*link || !(*link)->is_link || now >= (*link)->expires_at) return bad_credential();
    Result<std::optional<Principal>> principal = tx.find_principal((*link)->principal);
    if (!principal) return principal.error();
    if (!*principal || (*principal)->is_disabled) return bad_credential();
    if (Result<void> ok = tx.drop_session(link_hash); !ok) return ok.error();
    session.principal = (*principal)->id;
    session.is_link = false;
    if (Result<void> ok = tx.save_session(session); !ok) return ok.error();
    return Authenticated{std::move(**principal), session.expires_at, session.csrf};
}

Result<std::vector<SessionEntry>> list_sessions(Transaction& tx, const std::string& name,
                                                Timestamp now) {
    const Result<Principal> person = find_user(tx, name);
    if (!person) return person.error();
    Result<std::vector<store::Session>> sessions = tx.sessions_of(person->id);
    if (!sessions) return sessions.error();
    std::vector<SessionEntry> entries;
    for (auto session = sessions->rbegin(); session != sessions->rend(); ++session)
        if (!session->is_link && now < session->expires_at)
            entries.push_back({std::move(*session), person->name});
    return entries;
}

Result<SessionEntry> revoke_session(Transaction& tx, const SessionId& id, const PrincipalId& caller,
                                    bool is_admin, Timestamp now) {
    const Error unknown{ErrorCode::not_found, "no session has this id"};
    Result<std::optional<store::Session>> session = tx.find_session(id);
    if (!session) return session.error();
    const bool is_there = *session && !(*session)->is_link && now < (*session)->expires_at;
    if (!is_there || ((*session)->principal != caller && !is_admin)) return unknown;
    const Result<std::optional<Principal>> person = tx.find_principal((*session)->principal);
    if (!person) return person.error();
    if (!*person) return unknown;
    if (Result<void> ok = tx.drop_session((*session)->hash); !ok) return ok.error();
    return SessionEntry{std::move(**session), (*person)->name};
}

Result<void> check_target(store::Transaction& tx, const std::string& target,
                          const std::string& field) {
    constexpr std::string_view group_prefix = "group:";
    const Error unknown{ErrorCode::refused, fmt::format("`{}` is nobody who could decide", target),
                        field};
    if (target.starts_with(group_prefix)) {
        const Result<bool> is_group = tx.is_group(target.substr(group_prefix.size()));
        if (!is_group) return is_group.error();
        if (!*is_group) return unknown;
        return {};
    }
    const Result<std::optional<store::Principal>> person = tx.find_principal(target);
    if (!person) return person.error();
    if (!*person || !is_decider(**person)) return unknown;
    return {};
}

}  // namespace holdpoint::service
