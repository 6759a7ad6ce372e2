#include "service/idempotency.h"

namespace holdpoint::service {

Result<std::optional<std::vector<RequestId>>> find_replay(store::Transaction& tx,
                                                          const PrincipalId& principal,
                                                          const Idempotency& idempotency) {
    if (idempotency.key.empty()) return std::nullopt;
    Result<std::optional<store::IdempotencyRecord>> found =
        tx.find_idempotent(principal, idempotency.key);
    if (!found) return found.error();
    if (!*found) return std::nullopt;
    if ((*found)->body_hash != idempotency.call_hash)
        return Error{ErrorCode::refused, "this key was used for another call before",
                     "Idempotency-Key"};
    return std::move((*found)->requests);
}

Result<void> remember(store::Transaction& tx, const PrincipalId& principal,
                      const Idempotency& idempotency, std::vector<RequestId> requests,
                      Timestamp now) {
    if (idempotency.key.empty()) return {};
    return tx.remember(
        {principal, idempotency.key, idempotency.call_hash, std::move(requests), now});
}

}  // namespace holdpoint::service
