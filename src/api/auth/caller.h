#pragma once

#include <optional>
#include <string>

#include "core/request.h"
#include "store/store.h"

namespace holdpoint::auth {

/// What a route asks of whoever calls it.
enum class Need {
    nothing,  ///< open to all
    anybody,  ///< any valid credential
    propose,  ///< agents
    decide,   ///< people who may decide: approvers and admins
    oversee,  ///< people: approvers, auditors, admins
    audit,    ///< auditors and admins
    admin,
};

/// Who calls. Everything here comes from the credential.
struct Caller {
    core::Actor actor;
    store::Role role = store::Role::agent;
    std::string owner;
    std::string credential;  ///< SHA-256 of the key or session token, for later checks
    bool is_cookie = false;
    std::string csrf;
    std::optional<Timestamp> expires_at;
    std::optional<Timestamp> signed_in_at;  ///< of a browser's session
};

/// Whether a principal of this role may pass. One table for every door.
bool may(store::Role role, Need need);

}  // namespace holdpoint::auth
