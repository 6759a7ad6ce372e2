#include "store/store.h"

namespace holdpoint::store {

std::string_view to_string(Role role) {
    switch (role) {
        case Role::agent:
            return "agent";
        case Role::approver:
            return "approver";
        case Role::auditor:
            return "auditor";
        case Role::admin:
            return "admin";
    }
    return "agent";  // the role that may decide nothing
}

std::optional<Role> parse_role(std::string_view text) {
    for (const Role role : {Role::agent, Role::approver, Role::auditor, Role::admin})
        if (to_string(role) == text) return role;
    return std::nullopt;
}

bool is_after_the_end(core::EventKind kind) {
    return kind == core::EventKind::settled || kind == core::EventKind::reported;
}

bool may_decide(Role role) { return role == Role::approver || role == Role::admin; }

bool is_decider(const Principal& person) { return !person.is_disabled && may_decide(person.role); }

}  // namespace holdpoint::store
