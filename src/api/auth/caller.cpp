#include "api/auth/caller.h"

namespace holdpoint::auth {

bool may(store::Role role, Need need) {
    using store::Role;
    switch (need) {
        case Need::nothing:
        case Need::anybody:
            return true;
        case Need::propose:
            return role == Role::agent;
        case Need::decide:
            return store::may_decide(role);
        case Need::oversee:
            return role != Role::agent;
        case Need::audit:
            return role == Role::auditor || role == Role::admin;
        case Need::admin:
            return role == Role::admin;
    }
    return false;
}

}  // namespace holdpoint::auth
