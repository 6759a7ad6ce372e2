// The promises of store.h, played against every store there is: requests and jobs.

#include "store/test_contract.h"

namespace holdpoint::store {
namespace {

TEST_P(StoreContract, S4_WhatWasStoredIsReadBackFieldForField) {
    const RequestPointer stored = create(full_request(request()));
    EXPECT_GT(stored->row, 0);
    expect_same(*load(stored->id), *stored);
    const RequestPointer plain = create(request());
    EXPECT_GT(plain->row, stored->row);
    expect_same(*load(plain->id), *plain);
}

TEST_P(StoreContract, S4_EveryFieldThatMayChangeIsUpdated) {
    const RequestPointer first = create(full_request(request()));
    Request changed = *first;
    changed.version += 1;
    changed.state = State::settled;
    changed.outcome = Outcome::modified;
    changed.subject.text = R"({"new":true})";
    changed.proposed.text = R"({"was":false})";
    changed.headline = "another";
    changed.risk = RiskLevel::low;
    changed.requirement.lines[0].have = 2;
    changed.timing.reminders_sent = 2;
    changed.timing.shifted_ms = -7;
    changed.digest = "sha256:new";
    changed.expires_at = start + 9;
    changed.next_at = start + 8;
    changed.settled_at = start + 7;
    changed.timeout_taken = core::TimeoutAction::use_default;
    changed.is_released = true;
    changed.message_for_agent = "done";
    changed.decision = decision_of(PrincipalId::fresh(start), core::DecisionKind::modify);
    changed.votes = {{*changed.decision, {"finance", "ops"}}};
    changed.report = {true, {R"({"ok":1})"}, "err", start + 10};
    const RequestPointer stored =
        get([&](Transaction& tx) { return tx.apply(Step{changed, {}, {}}); });
    expect_same(*stored, changed);
    expect_same(*load(first->id), changed);
}

TEST_P(StoreContract, AnUnknownRequestIsNotFound) {
    const Result<RequestPointer> missing =
        run([](Transaction& tx) { return tx.load(RequestId::fresh(start)); });
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().code, ErrorCode::not_found);
}

TEST_P(StoreContract, S4_AUseCaseReadsWhatItWrote) {
    const Step step = opened(request());
    put([&](Transaction& tx) -> Result<void> {
        const Result<RequestPointer> made = tx.apply(step);
        if (!made) return made.error();
        const Result<RequestPointer> read = tx.load(step.request.id);
        EXPECT_TRUE(read);
        const Result<RequestPointer> done = tx.apply(settled(**read, Outcome::approved, start + 1));
        EXPECT_TRUE(done);
        EXPECT_EQ((*tx.load(step.request.id))->outcome, Outcome::approved);
        EXPECT_EQ(tx.events_of(step.request.id)->size(), 2u);
        return {};
    });
    EXPECT_EQ(load(step.request.id)->outcome, Outcome::approved);
}

TEST_P(StoreContract, VotesKeepTheirOrderAndMayBeWithdrawn) {
    Request made = *create(request());
    for (int i = 0; i < 3; ++i) {
        made.version += 1;
        made.votes.push_back(
            {decision_of(PrincipalId::fresh(start + (3 - i)), core::DecisionKind::approve),
             {"g" + std::to_string(i)}});
        made = *get([&](Transaction& tx) { return tx.apply(Step{made, {}, {}}); });
    }
    expect_same(*load(made.id), made);

    made.version += 1;
    made.votes.erase(made.votes.begin());
    get([&](Transaction& tx) { return tx.apply(Step{made, {}, {}}); });
    expect_same(*load(made.id), made);

    made.version += 1;
    made.votes.clear();
    get([&](Transaction& tx) { return tx.apply(Step{made, {}, {}}); });
    EXPECT_THAT(load(made.id)->votes, IsEmpty());
}

TEST_P(StoreContract, OnePersonCannotVoteTwiceOnARequest) {
    Request made = *create(request());
    const core::Decision vote = decision_of(PrincipalId::fresh(start), core::DecisionKind::approve);
    made.version += 1;
    made.votes = {{vote, {}}, {vote, {}}};
    EXPECT_FALSE(run([&](Transaction& tx) { return tx.apply(Step{made, {}, {}}); }));
    EXPECT_THAT(load(made.id)->votes, IsEmpty());
    EXPECT_EQ(load(made.id)->version, 1);
}

TEST_P(StoreContract, AStaleVersionIsABugAndStopsTheProcess) {
    testing::FLAGS_gtest_death_test_style = "threadsafe";
    const RequestPointer made = create(request());
    Request stale = *made;
    stale.version = 7;
    EXPECT_DEATH((void)run([&](Transaction& tx) { return tx.apply(Step{stale, {}, {}}); }),
                 "broken invariant");
}

// ---- jobs

TEST_P(StoreContract, AJobThatOnlyFailsLeavesItsNeighboursAlone) {
    // Held back so that the jobs come together.
    std::promise<void> gate;
    std::shared_future<void> opened_gate = gate.get_future().share();
    store_->run(
        [opened_gate](Transaction&) -> Result<void> {
            opened_gate.wait();
            return {};
        },
        [](Result<void>) {});
    std::promise<ErrorCode> failure;
    std::promise<bool> success;
    store_->run([](Transaction&) -> Result<int> { return Error{ErrorCode::conflict, "no"}; },
                [&](Result<int> answer) { failure.set_value(answer.error().code); });
    const Step step = opened(request());
    store_->run([&](Transaction& tx) { return tx.apply(step); },
                [&](Result<RequestPointer> answer) { success.set_value(answer.has_value()); });
    gate.set_value();
    EXPECT_EQ(failure.get_future().get(), ErrorCode::conflict);
    EXPECT_TRUE(success.get_future().get());
    EXPECT_EQ(load(step.request.id)->id, step.request.id);
}

TEST_P(StoreContract, S4_AJobThatWroteAndFailedIsRolledBackAlone) {
    std::promise<void> gate, waits;
    std::shared_future<void> opened_gate = gate.get_future().share();
    std::vector<Change> heard;
    open({.listener = [&](const std::vector<Change>& changes) {
        heard.insert(heard.end(), changes.begin(), changes.end());
    }});
    store_->run(
        [opened_gate, &waits](Transaction&) -> Result<void> {
            waits.set_value();
            opened_gate.wait();
            return {};
        },
        [](Result<void>) {});
    // Whatever comes from here on comes together.
    waits.get_future().wait();
    const Step before = opened(request()), broken = opened(request()), after = opened(request());
    std::vector<std::string> answers;
    int runs = 0;
    const auto note = [&](std::string name) {
        return [&answers, name](Result<RequestPointer> answer) {
            answers.push_back(name + (answer ? " ok" : " " + answer.error().message));
        };
    };
    store_->run(
        [&](Transaction& tx) {
            ++runs;
            return tx.apply(before);
        },
        note("before"));
    store_->run(
        [&](Transaction& tx) -> Result<RequestPointer> {
            const Result<RequestPointer> written = tx.apply(broken);
            EXPECT_TRUE(written);
            return Error{ErrorCode::refused, "changed my mind"};
        },
        note("broken"));
    store_->run([&](Transaction& tx) { return tx.apply(after); }, note("after"));
    gate.set_value();
    const Result<RequestPointer> lost =
        run([&](Transaction& tx) { return tx.load(broken.request.id); });
    EXPECT_EQ(lost.error().code, ErrorCode::not_found);
    EXPECT_THAT(answers, ElementsAre("before ok", "broken changed my mind", "after ok"));
    EXPECT_EQ(runs, 2) << "the batch is rolled back and each job runs again";
    ASSERT_EQ(heard.size(), 2u) << "nobody hears of what was rolled back";
    EXPECT_EQ(heard[0].event.event.request, before.request.id);
    EXPECT_EQ(heard[1].event.event.request, after.request.id);
    EXPECT_EQ(heard[1].event.seq, heard[0].event.seq + 1);
    EXPECT_EQ(get([](Transaction& tx) { return tx.counters(); }).pending, 2);
    EXPECT_EQ(get([&](Transaction& tx) { return tx.pending_count(agent_); }), 2);
}

TEST_P(StoreContract, S4_AnAttemptThatFailsTakesBackWhatItWroteAndNothingElse) {
    std::vector<Change> heard;
    open({.listener = [&](const std::vector<Change>& changes) {
        heard.insert(heard.end(), changes.begin(), changes.end());
    }});
    const RequestPointer kept = create(request());
    const Step before = opened(request()), broken = opened(request()), after = opened(request());
    PrincipalId other = PrincipalId::fresh(start);
    put([&](Transaction& tx) -> Result<void> {
        EXPECT_TRUE(tx.apply(before));
        const Result<void> failed = tx.attempt([&]() -> Result<void> {
            Step theirs = broken;
            theirs.request.agent_id = other;
            EXPECT_TRUE(tx.apply(theirs));
            EXPECT_TRUE(tx.apply(settled(*kept, Outcome::rejected, start + 1)));
            return Error{ErrorCode::internal, "no"};
        });
        EXPECT_EQ(failed.error().message, "no");
        EXPECT_EQ((*tx.load(kept->id))->state, State::pending);
        EXPECT_EQ(tx.load(broken.request.id).error().code, ErrorCode::not_found);
        return tx.attempt([&]() -> Result<void> {
            EXPECT_TRUE(tx.apply(after));
            return {};
        });
    });
    ASSERT_EQ(heard.size(), 3u) << "nobody hears of what was taken back";
    EXPECT_EQ(heard[1].event.event.request, before.request.id);
    EXPECT_EQ(heard[2].event.event.request, after.request.id);
    EXPECT_EQ(heard[2].event.seq, heard[1].event.seq + 1);
    EXPECT_EQ(get([](Transaction& tx) { return tx.counters(); }).pending, 3);
    EXPECT_EQ(get([&](Transaction& tx) { return tx.pending_count(agent_); }), 3);
    EXPECT_EQ(get([&](Transaction& tx) { return tx.pending_count(other); }), 0);
    settle(kept->id, Outcome::approved, start + 2);
    EXPECT_EQ(get([&](Transaction& tx) { return tx.pending_count(agent_); }), 2);
}

TEST_P(StoreContract, AJobThatThrowsIsAnsweredAndTheStoreGoesOn) {
    const Step step = opened(request());
    const Result<RequestPointer> answer = run([&](Transaction& tx) -> Result<RequestPointer> {
        EXPECT_TRUE(tx.apply(step));
        throw std::runtime_error("bug");
    });
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, ErrorCode::internal);
    EXPECT_EQ(run([&](Transaction& tx) { return tx.load(step.request.id); }).error().code,
              ErrorCode::not_found);
}

TEST_P(StoreContract, S4_TheListenerHearsOfACommitBeforeTheCallers) {
    std::vector<std::string> order;
    open({.listener = [&](const std::vector<Change>& changes) {
        for (const Change& change : changes)
            order.push_back("heard " + std::string(to_string(change.event.event.kind)));
    }});
    const Step step = opened(request());
    std::promise<void> done;
    store_->run([&](Transaction& tx) { return tx.apply(step); },
                [&](Result<RequestPointer>) {
                    order.push_back("answered");
                    done.set_value();
                });
    done.get_future().wait();
    EXPECT_THAT(order, ElementsAre("heard requested", "answered"));
}

TEST_P(StoreContract, AnswersComeInTheOrderOfQueueing) {
    std::vector<int> order;
    std::promise<void> last;
    for (int i = 0; i < 2000; ++i) {
        store_->run(
            [i](Transaction& tx) -> Result<int> {
                if (i % 3 == 0) return Error{ErrorCode::conflict, "no"};
                if (i % 7 == 0) (void)tx.set_setting("n", std::to_string(i));
                return i;
            },
            [&, i](Result<int>) {
                order.push_back(i);
                if (i == 1999) last.set_value();
            });
    }
    last.get_future().wait();
    ASSERT_EQ(order.size(), 2000u);
    EXPECT_TRUE(std::ranges::is_sorted(order));
}

TEST_P(StoreContract, AFullQueueRefusesInsteadOfGrowing) {
    open({.queue_max = 2});
    std::promise<void> gate, started;
    std::shared_future<void> opened_gate = gate.get_future().share();
    store_->run(
        [&, opened_gate](Transaction&) -> Result<void> {
            started.set_value();
            opened_gate.wait();
            return {};
        },
        [](Result<void>) {});
    started.get_future().wait();
    std::atomic<int> refused = 0, answered = 0;
    std::promise<void> last;
    for (int i = 0; i < 3; ++i)
        store_->run([](Transaction&) -> Result<void> { return {}; },
                    [&](Result<void> answer) {
                        if (!answer && answer.error().code == ErrorCode::unavailable) ++refused;
                        if (answer && ++answered == 2) last.set_value();
                    });
    EXPECT_EQ(refused, 1);
    gate.set_value();
    last.get_future().wait();
}

TEST_P(StoreContract, S4_StoppingAnswersWhatIsQueuedAndRefusesTheRest) {
    std::atomic<int> done = 0;
    for (int i = 0; i < 100; ++i)
        store_->run([this](Transaction& tx) { return tx.apply(opened(request())); },
                    [&](Result<RequestPointer> answer) { done += answer ? 1 : 0; });
    store_->stop();
    EXPECT_EQ(done, 100);
    std::optional<ErrorCode> refused;
    store_->run([](Transaction&) -> Result<void> { return {}; },
                [&](Result<void> answer) { refused = answer.error().code; });
    EXPECT_EQ(refused, ErrorCode::unavailable);
    store_.reset();
}

TEST_P(StoreContract, P6_APolicyIsKeptWithTheTextsOfWhatItExtends) {
    const PolicyVersion kept{"sha256:a", "extends: b\n", "ann", start, {"b", "", "c"}};
    const PolicyVersion alone{"sha256:d", "policy: d\n", "", start + 1, {}};
    for (const PolicyVersion& one : {kept, alone})
        ASSERT_TRUE(run([&](Transaction& tx) { return tx.save_policy(one); }));
    for (const PolicyVersion& one : {kept, alone}) {
        const auto found = run([&](Transaction& tx) { return tx.find_policy(one.version); });
        ASSERT_TRUE(found && *found);
        EXPECT_EQ((*found)->text, one.text);
        EXPECT_EQ((*found)->above, one.above);
        EXPECT_EQ((*found)->by, one.by);
        EXPECT_EQ((*found)->at, one.at);
    }
    const auto latest = run([](Transaction& tx) { return tx.policy_versions(1); });
    ASSERT_TRUE(latest && latest->size() == 1);
    EXPECT_EQ(latest->front().version, alone.version);
}

INSTANTIATE_TEST_SUITE_P(Stores, StoreContract, testing::ValuesIn(kinds),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace holdpoint::store
