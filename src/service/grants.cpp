#include "service/grants.h"

namespace holdpoint::service {

Result<store::GrantRecord> read_grant(store::Transaction& tx, const std::string& id) {
    Result<std::optional<store::GrantRecord>> found = tx.find_grant(id);
    if (!found) return found.error();
    if (!*found) return Error{ErrorCode::not_found, "no grant has this id"};
    return std::move(**found);
}

Result<store::GrantRecord> revoke_grant(store::Transaction& tx, const std::string& id,
                                        const core::Actor& person, Timestamp now) {
    if (person.is_agent) return Error{ErrorCode::permission_denied, "an agent cannot decide"};
    Result<store::GrantRecord> record = read_grant(tx, id);
    if (!record) return record.error();
    if (record->ended_at)
        return Error{ErrorCode::conflict, "the grant was ended before: " + record->ended_by};
    record->grant.is_revoked = true;
    record->ended_at = now;
    record->ended_by = "revoked by " + person.name;
    if (Result<void> ok = tx.save_grant(*record); !ok) return ok.error();
    return record;
}

}  // namespace holdpoint::service
