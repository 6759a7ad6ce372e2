// The promises of store.h about counters, deadlines, events, the outbox and repeated calls.

#include "store/test_contract.h"

namespace holdpoint::store {
namespace {

// ---- counters

TEST_P(StoreContract, OnlyWhatPeopleSettledCountsAsADecision) {
    const auto settle_with = [&](bool is_decided, bool is_timeout) {
        Request made = *create(request());
        Step step = settled(made, Outcome::approved, start + 500);
        if (is_decided)
            step.request.decision =
                decision_of(PrincipalId::fresh(start), core::DecisionKind::approve);
        if (is_timeout) step.request.timeout_taken = core::TimeoutAction::use_default;
        get([&](Transaction& tx) { return tx.apply(step); });
    };
    settle_with(true, false);
    settle_with(false, false);
    settle_with(true, true);
    const Counters counters = get([](Transaction& tx) { return tx.counters(); });
    EXPECT_EQ(counters.decision_count, 1);
    EXPECT_EQ(counters.decision_ms_total, 500);
    EXPECT_EQ(counters.pending, 0);
    EXPECT_EQ(counters.oldest_pending, std::nullopt);
}

TEST_P(StoreContract, TheOldestPendingRequestIsKnown) {
    const RequestPointer first = create(request(start));
    Request other = request(start + 10);
    other.risk = RiskLevel::critical;
    create(std::move(other));
    const auto oldest = [&] {
        return get([](Transaction& tx) { return tx.counters(); }).oldest_pending;
    };
    EXPECT_EQ(oldest(), start);
    settle(first->id, Outcome::rejected, start + 20);
    EXPECT_EQ(oldest(), start + 10);
}

// ---- deadlines

TEST_P(StoreContract, DueRequestsComeEarliestFirstAndOnlyWhilePending) {
    std::vector<RequestId> ids;
    for (const int ms : {300, 100, 200, 400}) {
        Request made = request();
        made.next_at = start + ms;
        ids.push_back(create(std::move(made))->id);
    }
    const auto due = [&](int ms, int limit) {
        return get([=](Transaction& tx) { return tx.due(start + ms, limit); });
    };
    const auto next = [&] { return get([](Transaction& tx) { return tx.next_due(); }); };
    EXPECT_THAT(due(99, 10), IsEmpty());
    EXPECT_EQ(next(), start + 100);
    EXPECT_THAT(due(300, 10), ElementsAre(ids[1], ids[2], ids[0]));
    EXPECT_THAT(due(300, 1), ElementsAre(ids[1]));
    settle(ids[1], Outcome::expired, start + 100);
    EXPECT_THAT(due(300, 10), ElementsAre(ids[2], ids[0]));
    EXPECT_EQ(next(), start + 200);

    Request later = *load(ids[2]);
    later.version += 1;
    later.next_at = start + 350;
    get([&](Transaction& tx) { return tx.apply(Step{later, {}, {}}); });
    EXPECT_THAT(due(400, 10), ElementsAre(ids[0], ids[2], ids[3]));
    for (const int i : {0, 2, 3}) settle(ids[static_cast<std::size_t>(i)], Outcome::expired, start);
    EXPECT_EQ(next(), std::nullopt);
}

TEST_P(StoreContract, WhatIsLookedAtAgainLaterIsNotDueUntilThen) {
    const RequestPointer pending = create(request());
    put([&](Transaction& tx) { return tx.look_again(pending->id, start + 9000); });
    EXPECT_EQ(get([](Transaction& tx) { return tx.next_due(); }), start + 9000);
    EXPECT_EQ(load(pending->id)->next_at, start + 9000);
    EXPECT_EQ(load(pending->id)->version, pending->version) << "it is as it was";
    settle(pending->id, Outcome::approved, start + 2);
}

TEST_P(StoreContract, ShiftingMovesThePendingDeadlinesOnly) {
    const RequestPointer pending = create(request());
    const RequestPointer done = create(request());
    settle(done->id, Outcome::approved, start + 1);
    put([](Transaction& tx) { return tx.shift_deadlines(5000); });
    const RequestPointer shifted = load(pending->id);
    EXPECT_EQ(shifted->expires_at, pending->expires_at + 5000);
    EXPECT_EQ(shifted->next_at, pending->next_at + 5000);
    EXPECT_EQ(shifted->version, pending->version + 1);
    EXPECT_EQ(shifted->timing.shifted_ms, 5000);
    EXPECT_EQ(shifted->created_at, pending->created_at);
    put([](Transaction& tx) { return tx.shift_deadlines(-7000); });
    EXPECT_EQ(load(pending->id)->timing.shifted_ms, -2000);
    put([](Transaction& tx) { return tx.shift_deadlines(7000); });
    EXPECT_EQ(load(done->id)->expires_at, done->expires_at);
    EXPECT_EQ(load(done->id)->timing.shifted_ms, 0);
    EXPECT_EQ(get([](Transaction& tx) { return tx.next_due(); }), pending->next_at + 5000);
    settle(pending->id, Outcome::approved, start + 2);
}

// ---- events and outbox

TEST_P(StoreContract, S4_EventsOfARequestTellItsStoryInOrder) {
    const RequestPointer first = create(request());
    const RequestPointer other = create(request());
    settle(first->id, Outcome::approved, start + 7);
    const std::vector<StoredEvent> events =
        get([&](Transaction& tx) { return tx.events_of(first->id); });
    ASSERT_EQ(events.size(), 2u);
    EXPECT_EQ(events[0].event.kind, EventKind::requested);
    EXPECT_EQ(events[0].event.actor, "bot");
    EXPECT_EQ(events[0].event.via, "api");
    EXPECT_EQ(events[0].event.address, "127.0.0.1");
    EXPECT_EQ(events[0].event.detail.text, R"({"a":1})");
    EXPECT_EQ(events[1].event.kind, EventKind::settled);
    EXPECT_EQ(events[1].event.at, start + 7);
    EXPECT_TRUE(events[1].event.detail.is_null());
    EXPECT_EQ(events[1].event.request, first->id);
    EXPECT_LT(events[0].seq, events[1].seq);
    EXPECT_EQ(get([&](Transaction& tx) { return tx.events_of(other->id); }).size(), 1u);
    EXPECT_EQ(
        run([](Transaction& tx) { return tx.events_of(RequestId::fresh(start)); }).error().code,
        ErrorCode::not_found);
}

TEST_P(StoreContract, EventsCarryTheRequestAsItStandsNow) {
    const RequestPointer made = create(request());
    settle(made->id, Outcome::rejected, start + 1);
    const std::vector<Change> changes = get([](Transaction& tx) { return tx.events({}, {}, 10); });
    ASSERT_EQ(changes.size(), 2u);
    EXPECT_EQ(changes[0].event.event.kind, EventKind::requested);
    EXPECT_EQ(changes[0].request->outcome, Outcome::rejected);
    EXPECT_THAT(
        get([&](Transaction& tx) { return tx.events({.after = changes[1].event.seq}, {}, 10); }),
        IsEmpty());
}

TEST_P(StoreContract, EveryChannelGetsEveryEffectUntilItIsSent) {
    open({.channels = {"webhook", "mail"}});
    const RequestPointer made = create(request());
    const auto due = [&](int ms) {
        return get([=](Transaction& tx) {
            return tx.outbox_due(start + ms, 10, [](const auto&) { return true; });
        });
    };
    EXPECT_THAT(due(-1), IsEmpty());
    const std::vector<OutboxRow> rows = due(0);
    ASSERT_EQ(rows.size(), 2u);
    EXPECT_EQ(rows[0].channel, "webhook");
    EXPECT_EQ(rows[1].channel, "mail");
    EXPECT_EQ(rows[0].effect.request, made->id);
    EXPECT_EQ(rows[0].effect.about, EventKind::requested);
    EXPECT_EQ(rows[0].attempts, 0);

    put([&](Transaction& tx) { return tx.outbox_sent(rows[0].id); });
    put([&](Transaction& tx) { return tx.outbox_retry(rows[1].id, start + 100); });
    EXPECT_THAT(due(99), IsEmpty());
    ASSERT_EQ(due(100).size(), 1u);
    EXPECT_EQ(due(100)[0].channel, "mail");
    EXPECT_EQ(due(100)[0].attempts, 1);
}

// ---- idempotency

TEST_P(StoreContract, AnAnswerIsRememberedForItsCallerAndKey) {
    const IdempotencyRecord record{agent_,
                                   "key-1",
                                   std::string(32, '\x05'),
                                   {RequestId::fresh(start), RequestId::fresh(start)},
                                   start};
    put([&](Transaction& tx) { return tx.remember(record); });
    const auto found = get([&](Transaction& tx) { return tx.find_idempotent(agent_, "key-1"); });
    ASSERT_TRUE(found);
    EXPECT_EQ(found->body_hash, record.body_hash);
    EXPECT_EQ(found->requests, record.requests);
    EXPECT_EQ(found->at, start);
    EXPECT_FALSE(get([&](Transaction& tx) { return tx.find_idempotent(agent_, "key-2"); }));
    EXPECT_FALSE(get(
        [&](Transaction& tx) { return tx.find_idempotent(PrincipalId::fresh(start), "key-1"); }));
}

TEST_P(StoreContract, S4_AnAnswerOnceGivenIsNotReplaced) {
    IdempotencyRecord record{agent_, "key-1", std::string(32, 'a'), {}, start};
    put([&](Transaction& tx) { return tx.remember(record); });
    record.body_hash = std::string(32, 'b');
    const Result<void> again = run([&](Transaction& tx) { return tx.remember(record); });
    ASSERT_FALSE(again);
    EXPECT_EQ(again.error().code, ErrorCode::conflict);
    EXPECT_EQ(get([&](Transaction& tx) { return tx.find_idempotent(agent_, "key-1"); })->body_hash,
              std::string(32, 'a'));
}

TEST_P(StoreContract, S4_AFailedWriteCannotBeOverlooked) {
    const IdempotencyRecord record{agent_, "key-1", std::string(32, 'a'), {}, start};
    put([&](Transaction& tx) { return tx.remember(record); });
    const Result<void> answer = run([&](Transaction& tx) -> Result<void> {
        EXPECT_TRUE(tx.set_setting("x", "y"));
        EXPECT_FALSE(tx.remember(record));
        return {};
    });
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, ErrorCode::internal);
    EXPECT_FALSE(get([](Transaction& tx) { return tx.setting("x"); }));
}

TEST_P(StoreContract, OldAnswersAreForgottenAFewAtATime) {
    for (int i = 0; i < 10; ++i)
        put([&, i](Transaction& tx) {
            return tx.remember(
                {agent_, "key-" + std::to_string(i), std::string(32, 'a'), {}, start + i});
        });
    const auto forget = [&](int limit) {
        return get([=](Transaction& tx) { return tx.forget_idempotent(start + 6, limit); });
    };
    EXPECT_EQ(forget(4), 4);
    EXPECT_EQ(forget(4), 2);
    EXPECT_EQ(forget(4), 0);
    EXPECT_FALSE(get([&](Transaction& tx) { return tx.find_idempotent(agent_, "key-5"); }));
    EXPECT_TRUE(get([&](Transaction& tx) { return tx.find_idempotent(agent_, "key-6"); }));
}

}  // namespace
}  // namespace holdpoint::store
