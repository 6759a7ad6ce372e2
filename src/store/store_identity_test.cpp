// The promises of store.h about principals, keys, sessions and settings.

#include "store/test_contract.h"

namespace holdpoint::store {
namespace {

TEST_P(StoreContract, PrincipalsAreFoundByIdAndName) {
    Principal ann = person("ann", Role::approver, {"finance", "ops"});
    ann.owner = "olga";
    ann.password_hash = "$argon2id$…";
    put([&](Transaction& tx) { return tx.save_principal(ann); });
    const auto found = get([&](Transaction& tx) { return tx.find_principal(ann.id); });
    ASSERT_TRUE(found);
    EXPECT_EQ(found->name, "ann");
    EXPECT_EQ(found->role, Role::approver);
    EXPECT_EQ(found->groups, ann.groups);
    EXPECT_EQ(found->owner, "olga");
    EXPECT_EQ(found->password_hash, ann.password_hash);
    EXPECT_FALSE(found->is_disabled);
    EXPECT_EQ(found->created_at, start);
    EXPECT_EQ(get([](Transaction& tx) { return tx.find_principal(std::string("ann")); })->id,
              ann.id);
    EXPECT_FALSE(get([](Transaction& tx) { return tx.find_principal(std::string("bob")); }));

    ann.is_disabled = true;
    ann.groups = {"ops"};
    put([&](Transaction& tx) { return tx.save_principal(ann); });
    EXPECT_TRUE(get([&](Transaction& tx) { return tx.find_principal(ann.id); })->is_disabled);
    put([&](Transaction& tx) { return tx.save_principal(person("bob", Role::agent, {})); });
    const std::vector<Principal> all = get([](Transaction& tx) { return tx.principals(); });
    ASSERT_EQ(all.size(), 2u);
    EXPECT_EQ(all[1].name, "bob");
}

TEST_P(StoreContract, NamesOfPrincipalsAreUnique) {
    put([&](Transaction& tx) { return tx.save_principal(person("ann", Role::admin, {})); });
    const Result<void> second =
        run([&](Transaction& tx) { return tx.save_principal(person("ann", Role::agent, {})); });
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, ErrorCode::conflict);
}

TEST_P(StoreContract, AGroupNeedsAMemberWhoMayDecide) {
    const auto is_group = [&](const std::string& name) {
        return get([=](Transaction& tx) { return tx.is_group(name); });
    };
    put([&](Transaction& tx) { return tx.save_principal(person("a", Role::agent, {"bots"})); });
    put([&](Transaction& tx) { return tx.save_principal(person("b", Role::auditor, {"eyes"})); });
    put([&](Transaction& tx) { return tx.save_principal(person("c", Role::admin, {"root"})); });
    Principal ann = person("ann", Role::approver, {"finance"});
    put([&](Transaction& tx) { return tx.save_principal(ann); });
    EXPECT_FALSE(is_group("bots"));
    EXPECT_FALSE(is_group("eyes"));
    EXPECT_TRUE(is_group("root"));
    EXPECT_TRUE(is_group("finance"));
    ann.is_disabled = true;
    put([&](Transaction& tx) { return tx.save_principal(ann); });
    EXPECT_FALSE(is_group("finance"));
    ann.is_disabled = false;
    ann.groups = {"ops"};
    put([&](Transaction& tx) { return tx.save_principal(ann); });
    EXPECT_FALSE(is_group("finance"));
    EXPECT_TRUE(is_group("ops"));
}

TEST_P(StoreContract, KeysAreFoundByHashAndMayBeRevoked) {
    const Principal bot = person("bot", Role::agent, {});
    put([&](Transaction& tx) { return tx.save_principal(bot); });
    Key key{KeyId::fresh(start),
            bot.id,
            std::string("\0hash", 5) + std::string(27, 'h'),
            "hp_ab",
            start,
            start + 1000,
            std::nullopt};
    put([&](Transaction& tx) { return tx.save_key(key); });
    const auto found = get([&](Transaction& tx) { return tx.find_key(key.hash); });
    ASSERT_TRUE(found);
    EXPECT_EQ(found->id, key.id);
    EXPECT_EQ(found->principal, bot.id);
    EXPECT_EQ(found->hash, key.hash);
    EXPECT_EQ(found->hint, "hp_ab");
    EXPECT_EQ(found->expires_at, start + 1000);
    EXPECT_EQ(found->revoked_at, std::nullopt);
    key.revoked_at = start + 5;
    put([&](Transaction& tx) { return tx.save_key(key); });
    EXPECT_EQ(get([&](Transaction& tx) { return tx.find_key(key.id); })->revoked_at, start + 5);
    EXPECT_EQ(get([](Transaction& tx) { return tx.keys(); }).size(), 1u);
    EXPECT_FALSE(get([](Transaction& tx) { return tx.find_key(std::string(32, 'x')); }));
}

TEST_P(StoreContract, SessionsEndWhenDroppedOrExpired) {
    const Principal ann = person("ann", Role::admin, {}), bob = person("bob", Role::admin, {});
    const auto session = [](const Principal& who, char mark, int ms) {
        return Session{std::string(32, mark),
                       who.id,
                       mark == 'l',
                       "csrf",
                       start,
                       start + ms,
                       "::1",
                       SessionId{{{static_cast<unsigned char>(mark)}}},
                       start + 1,
                       "Browser 1.0"};
    };
    put([&](Transaction& tx) -> Result<void> {
        for (const Principal* who : {&ann, &bob})
            if (const Result<void> saved = tx.save_principal(*who); !saved) return saved;
        for (const Session& each : {session(ann, 'a', 100), session(ann, 'l', 200),
                                    session(ann, 'c', 300), session(bob, 'b', 300)})
            if (const Result<void> saved = tx.save_session(each); !saved) return saved;
        return {};
    });
    const auto find = [&](char mark) {
        return get([=](Transaction& tx) { return tx.find_session(std::string(32, mark)); });
    };
    ASSERT_TRUE(find('l'));
    EXPECT_TRUE(find('l')->is_link);
    EXPECT_EQ(find('l')->principal, ann.id);
    EXPECT_EQ(find('l')->csrf, "csrf");
    EXPECT_EQ(find('l')->expires_at, start + 200);
    EXPECT_EQ(find('l')->address, "::1");
    EXPECT_EQ(find('l')->last_seen_at, start + 1);
    EXPECT_EQ(find('l')->user_agent, "Browser 1.0");
    const SessionId named{{{'c'}}};
    ASSERT_TRUE(get([&](Transaction& tx) { return tx.find_session(named); }));
    EXPECT_EQ(get([&](Transaction& tx) { return tx.find_session(named); })->hash,
              std::string(32, 'c'));
    EXPECT_FALSE(get([](Transaction& tx) { return tx.find_session(SessionId{{{'x'}}}); }));
    put([](Transaction& tx) { return tx.touch_session(std::string(32, 'c'), start + 50); });
    put([](Transaction& tx) { return tx.touch_session(std::string(32, 'x'), start + 50); });
    EXPECT_EQ(find('c')->last_seen_at, start + 50);
    EXPECT_EQ(find('b')->last_seen_at, start + 1);
    EXPECT_FALSE(find('x'));
    EXPECT_EQ(get([&](Transaction& tx) { return tx.sessions_of(ann.id); }).size(), 3u);
    EXPECT_EQ(get([](Transaction& tx) { return tx.drop_sessions_before(start + 100); }), 1);
    EXPECT_FALSE(find('a'));
    put([](Transaction& tx) { return tx.drop_session(std::string(32, 'l')); });
    EXPECT_FALSE(find('l'));
    EXPECT_TRUE(find('c'));
    put([&](Transaction& tx) { return tx.drop_sessions_of(ann.id); });
    EXPECT_FALSE(find('c'));
    EXPECT_TRUE(find('b'));
}

TEST_P(StoreContract, SettingsAreKept) {
    EXPECT_FALSE(get([](Transaction& tx) { return tx.setting("clock"); }));
    put([](Transaction& tx) { return tx.set_setting("clock", "1"); });
    put([](Transaction& tx) { return tx.set_setting("clock", "2"); });
    EXPECT_EQ(get([](Transaction& tx) { return tx.setting("clock"); }), "2");
    if (!factory_->is_durable()) return;
    open();
    EXPECT_EQ(get([](Transaction& tx) { return tx.setting("clock"); }), "2");
}

TEST(Role, WordsAreReadBack) {
    for (const Role role : {Role::agent, Role::approver, Role::auditor, Role::admin})
        EXPECT_EQ(parse_role(to_string(role)), role);
    EXPECT_EQ(parse_role("root"), std::nullopt);
    EXPECT_EQ(parse_role(""), std::nullopt);
}

}  // namespace
}  // namespace holdpoint::store
