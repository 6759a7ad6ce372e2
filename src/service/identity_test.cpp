#include "service/identity.h"

#include "service/test_store.h"

namespace holdpoint::service {
namespace {

using namespace core::test;
using store::Role;

class Identity : public test::StoreTest {
  protected:
    Result<IssuedKey> issue(Role role, const std::string& name, char secret = 'k',
                            std::optional<Timestamp> expires_at = std::nullopt) {
        KeySpec spec;
        spec.role = role;
        spec.name = name;
        spec.expires_at = expires_at;
        return issue(spec, secret);
    }
    Result<IssuedKey> issue(const KeySpec& spec, char secret = 'k') {
        store::Key key;
        key.id = KeyId::fresh(start);
        key.hash = std::string(32, secret);
        return run([&, key](store::Transaction& tx) {
            return create_key(tx, spec, key, PrincipalId::fresh(start), start);
        });
    }
    Result<Authenticated> sign_in(char secret, Timestamp now = start) {
        return run([&](store::Transaction& tx) {
            return authenticate_key(tx, std::string(32, secret), now);
        });
    }
    store::Session link_for(const std::string& name, char secret) {
        store::Session link;
        link.id = SessionId::fresh(start);
        link.hash = std::string(32, secret);
        link.principal = get([&](store::Transaction& tx) { return find_user(tx, name); }).id;
        link.is_link = true;
        link.created_at = start;
        link.expires_at = start + 10 * minute;
        const Result<void> saved =
            run([&](store::Transaction& tx) { return tx.save_session(link); });
        EXPECT_TRUE(saved);
        return link;
    }
    Result<Authenticated> redeem(char secret, char token, Timestamp now = start) {
        store::Session session;
        session.id = SessionId::fresh(start);
        session.hash = std::string(32, token);
        session.csrf = "csrf";
        session.created_at = now;
        session.expires_at = now + 60 * minute;
        return run([&](store::Transaction& tx) {
            return redeem_link(tx, std::string(32, secret), session, now);
        });
    }
    Result<Authenticated> session(char token, Timestamp now = start) {
        return run([&](store::Transaction& tx) {
            return authenticate_session(tx, std::string(32, token), now);
        });
    }
};

TEST_F(Identity, a_new_name_makes_a_principal_and_a_known_one_gets_another_key) {
    const Result<IssuedKey> first = issue(Role::agent, "bot", 'a');
    ASSERT_TRUE(first);
    const Result<IssuedKey> second = issue(Role::agent, "bot", 'b');
    ASSERT_TRUE(second);
    EXPECT_EQ(first->principal.id, second->principal.id);
    EXPECT_NE(first->key.id, second->key.id);
    EXPECT_EQ(sign_in('a')->principal.name, "bot");
    EXPECT_EQ(sign_in('b')->principal.role, Role::agent);
}

TEST_F(Identity, X1_a_name_cannot_become_another_role) {
    ASSERT_TRUE(issue(Role::agent, "bot", 'a'));
    for (const Role role : {Role::approver, Role::auditor, Role::admin}) {
        const Result<IssuedKey> taken = issue(role, "bot", 'b');
        ASSERT_FALSE(taken);
        EXPECT_EQ(taken.error().code, ErrorCode::conflict);
        EXPECT_EQ(taken.error().field, "name");
    }
    EXPECT_FALSE(sign_in('b')) << "no key was left behind";
}

TEST_F(Identity, a_second_key_cannot_change_groups_or_owner) {
    KeySpec spec;
    spec.role = Role::approver;
    spec.name = "ann";
    spec.groups = std::vector<std::string>{"finance"};
    ASSERT_TRUE(issue(spec, 'a'));
    EXPECT_TRUE(issue(spec, 'b'));
    spec.groups = std::vector<std::string>{"finance", "legal"};
    EXPECT_EQ(issue(spec, 'c').error().field, "groups");
    KeySpec bot;
    bot.name = "bot";
    bot.owner = "ann";
    ASSERT_TRUE(issue(bot, 'd'));
    bot.owner = "ben";
    EXPECT_EQ(issue(bot, 'e').error().field, "owner");
}

TEST_F(Identity, X1_an_agent_belongs_to_a_person_who_is_known) {
    KeySpec bot;
    bot.name = "bot";
    bot.owner = "ann";
    const Result<IssuedKey> refused = issue(bot, 'a');
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::refused);
    EXPECT_EQ(refused.error().field, "owner") << "a name that nobody has keeps nobody out";
    KeySpec other;
    other.name = "other-bot";
    ASSERT_TRUE(issue(other, 'b'));
    bot.owner = "other-bot";
    EXPECT_EQ(issue(bot, 'c').error().field, "owner");
    KeySpec ann;
    ann.role = Role::approver;
    ann.name = "ann";
    ASSERT_TRUE(issue(ann, 'd'));
    bot.owner = "ann";
    EXPECT_TRUE(issue(bot, 'e'));
}

TEST_F(Identity, a_taken_name_is_a_conflict_for_users_too) {
    store::Principal user;
    user.id = PrincipalId::fresh(start);
    user.name = "ann";
    user.role = Role::approver;
    ASSERT_TRUE(run([&](store::Transaction& tx) { return create_user(tx, user); }));
    user.id = PrincipalId::fresh(start);
    const Result<store::Principal> again =
        run([&](store::Transaction& tx) { return create_user(tx, user); });
    ASSERT_FALSE(again);
    EXPECT_EQ(again.error().code, ErrorCode::conflict);
}

TEST_F(Identity, X3_a_credential_that_is_unknown_revoked_expired_or_disabled_is_one_and_the_same) {
    const Result<IssuedKey> revoked = issue(Role::approver, "ann", 'r');
    ASSERT_TRUE(issue(Role::approver, "eve", 'e', start + 1000));
    ASSERT_TRUE(issue(Role::approver, "dan", 'd'));
    ASSERT_TRUE(
        run([&](store::Transaction& tx) { return revoke_key(tx, revoked->key.id, start); }));
    ASSERT_TRUE(run([&](store::Transaction& tx) { return set_disabled(tx, "dan", true); }));
    EXPECT_TRUE(sign_in('e', start + 999));
    for (const char secret : {'r', 'e', 'd', 'u'}) {
        const Result<Authenticated> refused = sign_in(secret, start + 1000);
        ASSERT_FALSE(refused) << secret;
        EXPECT_EQ(refused.error().code, ErrorCode::unauthenticated);
        EXPECT_EQ(refused.error().message, "the credential is not valid");
    }
    ASSERT_TRUE(run([&](store::Transaction& tx) { return set_disabled(tx, "dan", false); }));
    EXPECT_TRUE(sign_in('d')) << "enabled again, the key works again";
}

TEST_F(Identity, revoking_twice_keeps_the_first_time) {
    const Result<IssuedKey> issued = issue(Role::agent, "bot");
    const auto revoke = [&](Timestamp now) {
        return run([&](store::Transaction& tx) { return revoke_key(tx, issued->key.id, now); });
    };
    EXPECT_EQ(revoke(start + 10)->key.revoked_at, start + 10);
    EXPECT_EQ(revoke(start + 20)->key.revoked_at, start + 10);
    EXPECT_EQ(
        run([&](store::Transaction& tx) { return revoke_key(tx, KeyId::fresh(start), start); })
            .error()
            .code,
        ErrorCode::not_found);
}

TEST_F(Identity, the_last_admin_cannot_be_disabled) {
    add_person("root", Role::admin);
    add_person("ann", Role::approver);
    const auto disable = [&](const char* name) {
        return run([&](store::Transaction& tx) { return set_disabled(tx, name, true); });
    };
    EXPECT_EQ(disable("root").error().code, ErrorCode::refused);
    EXPECT_TRUE(disable("ann"));
    add_person("root2", Role::admin);
    EXPECT_TRUE(disable("root"));
    EXPECT_EQ(disable("root2").error().code, ErrorCode::refused)
        << "a disabled admin does not count";
    EXPECT_EQ(disable("nobody").error().code, ErrorCode::not_found);
}

TEST_F(Identity, a_disabled_person_gets_no_new_key) {
    add_person("ann");
    ASSERT_TRUE(run([&](store::Transaction& tx) { return set_disabled(tx, "ann", true); }));
    EXPECT_EQ(issue(Role::approver, "ann").error().code, ErrorCode::conflict);
}

TEST_F(Identity, agents_have_neither_password_nor_groups) {
    ASSERT_TRUE(issue(Role::agent, "bot"));
    EXPECT_EQ(
        run([&](store::Transaction& tx) { return set_password(tx, "bot", "hash"); }).error().code,
        ErrorCode::refused);
    EXPECT_EQ(
        run([&](store::Transaction& tx) { return set_groups(tx, "bot", {"x"}); }).error().code,
        ErrorCode::refused);
}

TEST_F(Identity, X2_a_link_signs_in_once) {
    add_person("ann");
    link_for("ann", 'l');
    const Result<Authenticated> first = redeem('l', 's');
    ASSERT_TRUE(first);
    EXPECT_EQ(first->principal.name, "ann");
    EXPECT_EQ(first->csrf, "csrf");
    EXPECT_TRUE(session('s'));
    const Result<Authenticated> second = redeem('l', 't');
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, ErrorCode::unauthenticated);
    EXPECT_FALSE(session('t'));
}

TEST_F(Identity, X2_a_link_is_no_session_and_a_session_no_link) {
    add_person("ann");
    link_for("ann", 'l');
    EXPECT_FALSE(session('l'));
    ASSERT_TRUE(redeem('l', 's'));
    EXPECT_FALSE(redeem('s', 't'));
    EXPECT_TRUE(session('s')) << "and trying does not end it";
}

TEST_F(Identity, a_link_ends_with_its_time_and_with_its_person) {
    add_person("ann");
    link_for("ann", 'l');
    EXPECT_FALSE(redeem('l', 's', start + 10 * minute));
    link_for("ann", 'm');
    ASSERT_TRUE(run([&](store::Transaction& tx) { return set_disabled(tx, "ann", true); }));
    EXPECT_FALSE(redeem('m', 's'));
}

TEST_F(Identity, sessions_end_with_time_a_new_password_and_disabling) {
    add_person("ann");
    link_for("ann", 'l');
    ASSERT_TRUE(redeem('l', 's'));
    EXPECT_TRUE(session('s', start + 60 * minute + -1));
    EXPECT_FALSE(session('s', start + 60 * minute));
    ASSERT_TRUE(run([&](store::Transaction& tx) { return set_password(tx, "ann", "hash"); }));
    EXPECT_FALSE(session('s')) << "whoever had the old password is out";
    link_for("ann", 'm');
    ASSERT_TRUE(redeem('m', 't'));
    ASSERT_TRUE(run([&](store::Transaction& tx) { return set_disabled(tx, "ann", true); }));
    ASSERT_TRUE(run([&](store::Transaction& tx) { return set_disabled(tx, "ann", false); }));
    EXPECT_FALSE(session('t')) << "disabling ended it for good";
}

TEST_F(Identity, sessions_are_listed_newest_first_without_links) {
    add_person("ann");
    add_person("ben");
    const std::vector<SessionEntry> none =
        get([](store::Transaction& tx) { return list_sessions(tx, "ann", start); });
    EXPECT_TRUE(none.empty());
    link_for("ann", 'l');
    link_for("ann", 'm');
    ASSERT_TRUE(redeem('l', 's'));
    link_for("ben", 'n');
    ASSERT_TRUE(redeem('n', 't'));
    const std::vector<SessionEntry> entries =
        get([](store::Transaction& tx) { return list_sessions(tx, "ann", start); });
    ASSERT_EQ(entries.size(), 1u);
    EXPECT_EQ(entries[0].name, "ann");
    EXPECT_EQ(entries[0].session.hash, std::string(32, 's'));
    EXPECT_TRUE(get([](store::Transaction& tx) {
                    return list_sessions(tx, "ann", start + 60 * minute);
                }).empty())
        << "over is over";
    EXPECT_EQ(
        run([](store::Transaction& tx) { return list_sessions(tx, "nobody", start); }).error().code,
        ErrorCode::not_found);
}

TEST_F(Identity, a_session_is_ended_by_its_owner_or_an_admin) {
    add_person("ann");
    add_person("ben");
    link_for("ann", 'l');
    ASSERT_TRUE(redeem('l', 's'));
    const SessionId id =
        get([](store::Transaction& tx) { return list_sessions(tx, "ann", start); })[0].session.id;
    const auto revoke = [&](const char* who, bool is_admin) {
        return run([&](store::Transaction& tx) {
            return revoke_session(tx, id, id_of(who), is_admin, start);
        });
    };
    EXPECT_EQ(revoke("ben", false).error().code, ErrorCode::not_found);
    EXPECT_TRUE(session('s'));
    ASSERT_TRUE(revoke("ben", true));
    EXPECT_FALSE(session('s'));
    EXPECT_EQ(revoke("ann", false).error().code, ErrorCode::not_found) << "once";
}

TEST_F(Identity, X1_a_password_that_changes_while_it_is_checked_opens_no_session) {
    add_person("ann");
    const auto set = [&](const std::string& hash) {
        ASSERT_TRUE(run([&](store::Transaction& tx) { return set_password(tx, "ann", hash); }));
    };
    const auto open = [&](char token, const std::string& hash) {
        store::Session opened;
        opened.hash = std::string(32, token);
        opened.principal = id_of("ann");
        opened.created_at = start;
        opened.expires_at = start + 60 * minute;
        return run([&](store::Transaction& tx) { return open_session(tx, opened, hash); });
    };
    set("old");
    EXPECT_TRUE(open('s', "old"));
    set("new");
    const Result<Authenticated> late = open('t', "old");
    ASSERT_FALSE(late);
    EXPECT_EQ(late.error().code, ErrorCode::unauthenticated);
    EXPECT_FALSE(session('t'));
    ASSERT_TRUE(run([&](store::Transaction& tx) { return set_disabled(tx, "ann", true); }));
    EXPECT_FALSE(open('u', "new"));
}

TEST_F(Identity, keys_are_listed_with_whom_they_belong_to) {
    ASSERT_TRUE(issue(Role::agent, "bot", 'a'));
    ASSERT_TRUE(issue(Role::approver, "ann", 'b'));
    const std::vector<KeyEntry> keys = get([](store::Transaction& tx) { return list_keys(tx); });
    ASSERT_EQ(keys.size(), 2u);
    EXPECT_EQ(keys[0].key.principal, keys[0].principal.id);
}

}  // namespace
}  // namespace holdpoint::service
