// The promises of store.h about what the inbox needs: held decisions, what is put off, passkeys,
// push.

#include "store/test_contract.h"

namespace holdpoint::store {
namespace {

core::Held held_by(const PrincipalId& person, core::DecisionKind kind, Timestamp until) {
    core::Held held;
    held.command.kind = kind;
    held.command.digest = "sha256:00";
    held.command.note = "line\nbreak \"quoted\" ünï";
    held.command.reason = "r";
    held.command.guidance = "g";
    held.command.target = "group:finance";
    held.command.replacement.text = R"({"amount":12500.75})";
    held.command.replacement_kind = Kind::action;
    held.command.approved_steps = {1, 3};
    held.command.answer.text = R"("yes")";
    held.command.confirm = "123456";
    held.command.proof.text = R"({"id":"psk_1"})";
    held.person = {person, "ann", false, {"finance", "legal"}, "browser", "::1"};
    held.at = start + 5;
    held.until = until;
    return held;
}

TEST_P(StoreContract, HeldDecisionsComeBackWordForWordAndAreFoundByTheirTime) {
    const PrincipalId ann = PrincipalId::fresh(start), bob = PrincipalId::fresh(start);
    const RequestId id = create(request())->id;
    get([&](Transaction& tx) -> Result<RequestPointer> {
        Request changed = **tx.load(id);
        changed.version += 1;
        changed.holds = {held_by(ann, core::DecisionKind::modify, start + 5000),
                         held_by(bob, core::DecisionKind::reject, start + 9000)};
        changed.holds[1].command = {};
        changed.holds[1].command.kind = core::DecisionKind::reject;
        changed.next_at = start + 5000;
        core::Event event{EventKind::held, id, start + 5, "ann", "browser", "::1", {}};
        return tx.apply({std::move(changed), {std::move(event)}, {}});
    });
    if (factory_->is_durable()) open();
    EXPECT_THAT(get([](Transaction& tx) { return tx.due(start + 5000, 10); }), ElementsAre(id));
    const RequestPointer loaded = load(id);
    ASSERT_EQ(loaded->holds.size(), 2u);
    const core::Held& held = loaded->holds[0];
    const core::Held wanted = held_by(ann, core::DecisionKind::modify, start + 5000);
    EXPECT_EQ(held.command.kind, wanted.command.kind);
    EXPECT_EQ(held.command.digest, wanted.command.digest);
    EXPECT_EQ(held.command.note, wanted.command.note);
    EXPECT_EQ(held.command.reason, wanted.command.reason);
    EXPECT_EQ(held.command.guidance, wanted.command.guidance);
    EXPECT_EQ(held.command.target, wanted.command.target);
    EXPECT_EQ(held.command.replacement, wanted.command.replacement);
    EXPECT_EQ(held.command.replacement_kind, wanted.command.replacement_kind);
    EXPECT_EQ(held.command.approved_steps, wanted.command.approved_steps);
    EXPECT_EQ(held.command.answer, wanted.command.answer);
    EXPECT_EQ(held.command.confirm, wanted.command.confirm);
    EXPECT_EQ(held.command.proof, wanted.command.proof);
    EXPECT_EQ(held.person.id, ann);
    EXPECT_EQ(held.person.name, "ann");
    EXPECT_EQ(held.person.groups, wanted.person.groups);
    EXPECT_EQ(held.person.via, "browser");
    EXPECT_EQ(held.person.address, "::1");
    EXPECT_FALSE(held.person.is_agent);
    EXPECT_EQ(held.at, wanted.at);
    EXPECT_EQ(held.until, wanted.until);
    EXPECT_EQ(loaded->holds[1].person.id, bob);
    EXPECT_FALSE(loaded->holds[1].command.approved_steps);

    put([](Transaction& tx) { return tx.shift_deadlines(1000); });
    EXPECT_EQ(load(id)->holds[0].until, start + 6000);
    EXPECT_EQ(load(id)->next_at, start + 6000);
    get([&](Transaction& tx) -> Result<RequestPointer> {
        Request changed = **tx.load(id);
        changed.holds.clear();
        return tx.apply(settled(changed, Outcome::rejected, start + 9000));
    });
    if (factory_->is_durable()) open();
    EXPECT_TRUE(load(id)->holds.empty());
}

TEST_P(StoreContract, WhatAPersonPutsOffIsLeftOutOfTheirListOnly) {
    const PrincipalId ann = PrincipalId::fresh(start), bob = PrincipalId::fresh(start);
    std::vector<RequestId> ids;
    for (int i = 0; i < 4; ++i) ids.push_back(create(request())->id);
    put([&](Transaction& tx) { return tx.save_snooze(ann, ids[1], start + 100); });
    put([&](Transaction& tx) { return tx.save_snooze(ann, ids[2], start + 200); });
    put([&](Transaction& tx) { return tx.save_snooze(bob, ids[0], start + 100); });
    const auto listed = [&](const PrincipalId& who, bool is_snoozed, Timestamp now) {
        ListQuery query;
        query.filter.state = State::pending;
        query.filter.snoozed = ListFilter::Snoozed{who, is_snoozed, now};
        const ListPage page = get([&](Transaction& tx) { return tx.list(query); });
        std::vector<RequestId> found;
        for (const RequestPointer& one : page.requests) found.push_back(one->id);
        return found;
    };
    EXPECT_THAT(listed(ann, false, start), ElementsAre(ids[3], ids[0]));
    EXPECT_THAT(listed(ann, true, start), ElementsAre(ids[2], ids[1]));
    EXPECT_THAT(listed(ann, true, start + 100), ElementsAre(ids[2])) << "until, not longer";
    EXPECT_THAT(listed(bob, false, start), ElementsAre(ids[3], ids[2], ids[1]));
    EXPECT_EQ(get([&](Transaction& tx) { return tx.snoozes_of(ann, start); }).size(), 2u);
    put([&](Transaction& tx) { return tx.save_snooze(ann, ids[2], std::nullopt); });
    EXPECT_THAT(listed(ann, true, start), ElementsAre(ids[1]));
    EXPECT_EQ(get([](Transaction& tx) { return tx.drop_snoozes_before(start + 100); }), 2);
    EXPECT_TRUE(get([&](Transaction& tx) { return tx.snoozes_of(ann, start); }).empty());
    EXPECT_FALSE(run(
        [&](Transaction& tx) { return tx.save_snooze(ann, RequestId::fresh(start), start + 1); }));
}

TEST_P(StoreContract, SimilarIsTheSameAgentsSameToolBefore) {
    const RequestId first = create(request())->id;
    Request other_tool = request();
    other_tool.tool = "mail";
    create(other_tool);
    Request other_agent = request();
    other_agent.agent_id = PrincipalId::fresh(start);
    create(other_agent);
    const RequestId second = create(request())->id;
    const RequestPointer now = create(request());
    create(request());
    const auto ids = [&](int looks, int limit) {
        std::vector<RequestId> found;
        for (const RequestPointer& one :
             get([&](Transaction& tx) { return tx.similar(*now, looks, limit); }))
            found.push_back(one->id);
        return found;
    };
    EXPECT_THAT(ids(100, 10), ElementsAre(second, first));
    EXPECT_THAT(ids(100, 1), ElementsAre(second));
    EXPECT_THAT(ids(2, 10), ElementsAre(second)) << "one of the two looks was at another agent's";
    Request without = *now;
    without.tool.clear();
    EXPECT_TRUE(get([&](Transaction& tx) { return tx.similar(without, 100, 10); }).empty());
}

TEST_P(StoreContract, AMessageForManyBecomesOneForEach) {
    Wanted wanted;
    wanted.channels = {"mail"};
    open(std::move(wanted));
    create(request());
    const auto rows = [&] {
        return get([](Transaction& tx) {
            return tx.outbox_due(start + 1000, 10, [](const auto&) { return true; });
        });
    };
    ASSERT_EQ(rows().size(), 1u);
    EXPECT_TRUE(rows()[0].target.empty());
    put([&, id = rows()[0].id](Transaction& tx) {
        return tx.outbox_split(id, {"ann", std::string("b\0b", 3)});
    });
    ASSERT_EQ(rows().size(), 2u);
    EXPECT_EQ(rows()[0].target, "ann");
    EXPECT_EQ(rows()[1].target, std::string("b\0b", 3));
    EXPECT_EQ(rows()[0].channel, "mail");
    put([&, id = rows()[0].id](Transaction& tx) { return tx.outbox_split(id, {}); });
    EXPECT_EQ(rows().size(), 1u) << "for nobody there is nothing to send";
}

TEST_P(StoreContract, PasskeysAreKeptUntilTheyAreDropped) {
    const Principal ann = person("ann", Role::admin, {});
    Passkey passkey{PasskeyId{{{1}}},
                    ann.id,
                    std::string("cred\0id", 7),
                    "cose",
                    7,
                    "phone",
                    {"internal", "hybrid"},
                    true,
                    start,
                    std::nullopt};
    put([&](Transaction& tx) { return tx.save_principal(ann); });
    put([&](Transaction& tx) { return tx.save_passkey(passkey); });
    const auto find = [&] {
        return get([&](Transaction& tx) { return tx.find_passkey(passkey.credential); });
    };
    ASSERT_TRUE(find());
    EXPECT_EQ(find()->id, passkey.id);
    EXPECT_EQ(find()->principal, ann.id);
    EXPECT_EQ(find()->public_key, "cose");
    EXPECT_EQ(find()->counter, 7);
    EXPECT_THAT(find()->transports, ElementsAre("internal", "hybrid"));
    EXPECT_TRUE(find()->is_backed_up);
    EXPECT_EQ(find()->last_used_at, std::nullopt);
    passkey.counter = 4'294'967'295;
    passkey.name = "laptop";
    passkey.last_used_at = start + 1;
    put([&](Transaction& tx) { return tx.save_passkey(passkey); });
    EXPECT_EQ(find()->counter, 4'294'967'295);
    EXPECT_EQ(get([&](Transaction& tx) { return tx.find_passkey(passkey.id); })->name, "laptop");
    EXPECT_EQ(find()->last_used_at, start + 1);
    EXPECT_EQ(get([&](Transaction& tx) { return tx.passkeys_of(ann.id); }).size(), 1u);
    put([&](Transaction& tx) { return tx.drop_passkey(passkey.id); });
    EXPECT_FALSE(find());
    EXPECT_TRUE(get([&](Transaction& tx) { return tx.passkeys_of(ann.id); }).empty());
}

/// A session that is called like the person's first letter.
Session signed_in(const Principal& who) {
    const char mark = who.name.front();
    Session session;
    session.hash = std::string(32, mark);
    session.principal = who.id;
    session.created_at = session.last_seen_at = start;
    session.expires_at = start + 1000;
    session.id = SessionId{{{static_cast<unsigned char>(mark)}}};
    return session;
}

TEST_P(StoreContract, PushSubscriptionsBelongToOneEndpoint) {
    const Principal ann = person("ann", Role::admin, {}), bob = person("bob", Role::admin, {});
    PushSubscription push{PushSubscriptionId{{{1}}},
                          ann.id,
                          "https://push.example/1",
                          std::string(65, 'k'),
                          std::string(16, 's'),
                          "phone",
                          start,
                          std::nullopt,
                          SessionId{{{'a'}}}};
    put([&](Transaction& tx) -> Result<void> {
        for (const Principal* who : {&ann, &bob}) {
            if (const Result<void> saved = tx.save_principal(*who); !saved) return saved;
            if (const Result<void> saved = tx.save_session(signed_in(*who)); !saved) return saved;
        }
        return tx.save_push(push);
    });
    const auto of = [&](const std::optional<PrincipalId>& who) {
        return get([&](Transaction& tx) { return tx.push_subscriptions(who); }).size();
    };
    EXPECT_EQ(of(ann.id), 1u);
    EXPECT_EQ(of(bob.id), 0u);
    EXPECT_EQ(of(std::nullopt), 1u);
    push.principal = bob.id;
    push.session = SessionId{{{'b'}}};
    push.last_sent_at = start + 1;
    put([&](Transaction& tx) { return tx.save_push(push); });
    const auto found = get([&](Transaction& tx) { return tx.find_push(push.endpoint); });
    ASSERT_TRUE(found);
    EXPECT_EQ(found->principal, bob.id);
    EXPECT_EQ(found->session, push.session);
    EXPECT_EQ(found->public_key, push.public_key);
    EXPECT_EQ(found->secret, push.secret);
    EXPECT_EQ(found->last_sent_at, start + 1);
    EXPECT_TRUE(get([&](Transaction& tx) { return tx.find_push(push.id); }));
    put([&](Transaction& tx) { return tx.drop_push(push.id); });
    EXPECT_EQ(of(std::nullopt), 0u);
}

TEST_P(StoreContract, AMessageThatWasOnItsWayDoesNotUndoANewSubscription) {
    const Principal ann = person("ann", Role::admin, {}), bob = person("bob", Role::admin, {});
    PushSubscription push;
    push.id = PushSubscriptionId{{{1}}};
    push.principal = ann.id;
    push.session = SessionId{{{'a'}}};
    push.endpoint = "https://push.example/1";
    push.public_key = std::string(65, 'k');
    push.secret = std::string(16, 's');
    put([&](Transaction& tx) -> Result<void> {
        for (const Principal* who : {&ann, &bob}) {
            if (const Result<void> saved = tx.save_principal(*who); !saved) return saved;
            if (const Result<void> saved = tx.save_session(signed_in(*who)); !saved) return saved;
        }
        return tx.save_push(push);
    });
    const auto found = [&] { return get([&](Transaction& tx) { return tx.find_push(push.id); }); };
    put([&](Transaction& tx) { return tx.note_push_sent(push, start + 1); });
    EXPECT_EQ(found()->last_sent_at, start + 1);

    PushSubscription renewed = push;
    renewed.principal = bob.id;
    renewed.session = SessionId{{{'b'}}};
    renewed.public_key = std::string(65, 'n');
    put([&](Transaction& tx) { return tx.save_push(renewed); });
    put([&](Transaction& tx) { return tx.note_push_sent(push, start + 2); });
    ASSERT_TRUE(found());
    EXPECT_EQ(found()->principal, bob.id);
    EXPECT_EQ(found()->public_key, renewed.public_key);
    EXPECT_FALSE(found()->last_sent_at) << "nothing was sent to this one yet";

    put([&](Transaction& tx) { return tx.drop_push(push.id); });
    put([&](Transaction& tx) { return tx.note_push_sent(renewed, start + 3); });
    EXPECT_FALSE(found());
}

TEST_P(StoreContract, APushSubscriptionGoesWithItsSessionHoweverThatEnds) {
    const Principal ann = person("ann", Role::admin, {}), bob = person("bob", Role::admin, {});
    const auto left = [&] {
        return get([](Transaction& tx) { return tx.push_subscriptions(std::nullopt); }).size();
    };
    const auto subscribe = [&] {
        put([&](Transaction& tx) -> Result<void> {
            for (const Principal* who : {&ann, &bob}) {
                if (const Result<void> saved = tx.save_principal(*who); !saved) return saved;
                const Session session = signed_in(*who);
                if (const Result<void> saved = tx.save_session(session); !saved) return saved;
                PushSubscription push;
                push.id = PushSubscriptionId{{{session.id.ulid.bytes[0]}}};
                push.principal = who->id;
                push.endpoint = "https://push.example/" + who->name;
                push.session = session.id;
                if (const Result<void> saved = tx.save_push(push); !saved) return saved;
            }
            return {};
        });
        ASSERT_EQ(left(), 2u);
    };
    subscribe();
    put([&](Transaction& tx) { return tx.drop_session(signed_in(ann).hash); });
    EXPECT_EQ(left(), 1u);
    subscribe();
    put([&](Transaction& tx) { return tx.drop_sessions_of(bob.id); });
    EXPECT_EQ(left(), 1u);
    subscribe();
    EXPECT_EQ(get([](Transaction& tx) { return tx.drop_sessions_before(start + 1000); }), 2);
    EXPECT_EQ(left(), 0u);
}

}  // namespace
}  // namespace holdpoint::store
