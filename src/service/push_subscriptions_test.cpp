#include "service/push_subscriptions.h"

#include "base/sha256.h"
#include "service/identity.h"
#include "service/test_store.h"

namespace holdpoint::service {
namespace {

using namespace core::test;
using store::PushSubscription;

class PushSubscriptions : public test::StoreTest {
  protected:
    PushSubscriptions() {
        add_person("ann");
        add_person("ben");
    }
    /// Opens a session of an hour and returns the hash of its token.
    std::string sign_in(const std::string& name) {
        store::Session session;
        session.id = SessionId::fresh(start);
        session.hash = std::string(as_text(sha256(session.id.text())));
        session.principal = id_of(name);
        session.created_at = session.last_seen_at = start;
        session.expires_at = start + 3'600'000;
        EXPECT_TRUE(run([&](store::Transaction& tx) { return tx.save_session(session); }));
        return session.hash;
    }
    Result<PushSubscription> subscribe(const std::string& session,
                                       const std::string& endpoint = "a", Timestamp now = start) {
        PushSubscription subscription;
        subscription.id = PushSubscriptionId::fresh(start);
        subscription.endpoint = "https://push.example/" + endpoint;
        subscription.created_at = now;
        return run(
            [&](store::Transaction& tx) { return subscribe_push(tx, subscription, session, now); });
    }
    std::size_t left() {
        return get([](store::Transaction& tx) { return tx.push_subscriptions(std::nullopt); })
            .size();
    }
};

TEST_F(PushSubscriptions, H8_belong_to_the_session_that_asked) {
    const std::string session = sign_in("ann");
    const Result<PushSubscription> made = subscribe(session);
    ASSERT_TRUE(made);
    EXPECT_EQ(made->principal, id_of("ann"));
    EXPECT_EQ(made->session,
              get([&](store::Transaction& tx) { return tx.find_session(session); })->id);
}

TEST_F(PushSubscriptions, H8_nobody_subscribes_with_a_session_that_has_ended) {
    const std::string session = sign_in("ann");
    const Result<PushSubscription> late = subscribe(session, "a", start + 3'600'000);
    ASSERT_FALSE(late);
    EXPECT_EQ(late.error().code, ErrorCode::unauthenticated);
    ASSERT_TRUE(run([&](store::Transaction& tx) { return tx.drop_session(session); }));
    EXPECT_FALSE(subscribe(session));
    EXPECT_EQ(left(), 0u);
}

TEST_F(PushSubscriptions, H8_a_new_password_and_disabling_end_them) {
    ASSERT_TRUE(subscribe(sign_in("ann")));
    ASSERT_TRUE(subscribe(sign_in("ben"), "b"));
    ASSERT_TRUE(run([](store::Transaction& tx) { return set_password(tx, "ann", "hash"); }));
    EXPECT_EQ(left(), 1u);
    ASSERT_TRUE(run([](store::Transaction& tx) { return set_disabled(tx, "ben", true); }));
    EXPECT_EQ(left(), 0u);
}

TEST_F(PushSubscriptions, a_browser_tells_whoever_signed_in_there_last) {
    const Result<PushSubscription> first = subscribe(sign_in("ann"));
    const Result<PushSubscription> second = subscribe(sign_in("ben"));
    ASSERT_TRUE(first && second);
    EXPECT_EQ(second->id, first->id);
    EXPECT_EQ(second->principal, id_of("ben"));
    EXPECT_EQ(left(), 1u);
    ASSERT_TRUE(run([](store::Transaction& tx) { return tx.drop_sessions_of(id_of("ann")); }));
    EXPECT_EQ(left(), 1u) << "it is no longer hers";
}

TEST_F(PushSubscriptions, are_removed_by_their_owner_or_an_admin) {
    const Result<PushSubscription> made = subscribe(sign_in("ann"));
    ASSERT_TRUE(made);
    const auto remove = [&](const char* who, bool is_admin) {
        return run([&](store::Transaction& tx) {
            return unsubscribe_push(tx, made->id, id_of(who), is_admin);
        });
    };
    ASSERT_FALSE(remove("ben", false));
    EXPECT_EQ(remove("ben", false).error().code, ErrorCode::not_found);
    EXPECT_EQ(left(), 1u);
    EXPECT_TRUE(remove("ben", true));
    EXPECT_EQ(left(), 0u);
    EXPECT_FALSE(remove("ann", false));
}

TEST_F(PushSubscriptions, of_one_person_are_bounded) {
    const std::string session = sign_in("ann");
    for (std::size_t i = 0; i < push_subscriptions_max; ++i)
        ASSERT_TRUE(subscribe(session, std::to_string(i)));
    const Result<PushSubscription> one_more = subscribe(session, "more");
    ASSERT_FALSE(one_more);
    EXPECT_EQ(one_more.error().code, ErrorCode::refused);
    EXPECT_TRUE(subscribe(session, "0")) << "one that is there may be renewed";
    EXPECT_EQ(get([](store::Transaction& tx) { return list_push(tx, "ann"); }).size(),
              push_subscriptions_max);
    EXPECT_FALSE(run([](store::Transaction& tx) { return list_push(tx, "nobody"); }));
}

}  // namespace
}  // namespace holdpoint::service
