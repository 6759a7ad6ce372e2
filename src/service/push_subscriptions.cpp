#include "service/push_subscriptions.h"

#include "service/identity.h"

namespace holdpoint::service {

using store::PushSubscription;
using store::Transaction;

Result<PushSubscription> subscribe_push(Transaction& tx, PushSubscription subscription,
                                        const std::string& session_hash, Timestamp now) {
    const Result<Authenticated> person = authenticate_session(tx, session_hash, now);
    if (!person) return person.error();
    const Result<std::optional<store::Session>> session = tx.find_session(session_hash);
    if (!session) return session.error();
    subscription.principal = person->principal.id;
    subscription.session = (*session)->id;
    const Result<std::optional<PushSubscription>> known = tx.find_push(subscription.endpoint);
    if (!known) return known.error();
    if (*known) {
        // Who has the browser has the subscription: it now tells whoever signed in there.
        subscription.id = (*known)->id;
        subscription.created_at = (*known)->created_at;
        subscription.last_sent_at = (*known)->last_sent_at;
    } else {
        const Result<std::vector<PushSubscription>> others =
            tx.push_subscriptions(subscription.principal);
        if (!others) return others.error();
        if (others->size() >= push_subscriptions_max)
            return Error{ErrorCode::refused, "remove another subscription first"};
    }
    if (Result<void> ok = tx.save_push(subscription); !ok) return ok.error();
    return subscription;
}

Result<std::vector<PushSubscription>> list_push(Transaction& tx, const std::string& name) {
    const Result<store::Principal> person = find_user(tx, name);
    if (!person) return person.error();
    return tx.push_subscriptions(person->id);
}

Result<void> unsubscribe_push(Transaction& tx, const PushSubscriptionId& id,
                              const PrincipalId& caller, bool is_admin) {
    const Result<std::optional<PushSubscription>> found = tx.find_push(id);
    if (!found) return found.error();
    if (!*found || ((*found)->principal != caller && !is_admin))
        return Error{ErrorCode::not_found, "no subscription has this id"};
    return tx.drop_push(id);
}

}  // namespace holdpoint::service
