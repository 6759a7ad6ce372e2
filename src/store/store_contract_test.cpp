// The promises of store.h, played against every store there is.

#include "store/store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <future>
#include <map>
#include <random>
#include <thread>

#include "store/sqlite/sqlite.h"

namespace holdpoint::store {
namespace {

using core::EventKind;
using core::Kind;
using core::Outcome;
using core::Request;
using core::RiskLevel;
using core::State;
using core::Step;
using testing::ElementsAre;
using testing::IsEmpty;
using RequestPointer = std::shared_ptr<const Request>;

constexpr Timestamp start{1'800'000'000'000};

/// What a test asks of the store it opens.
struct Wanted {
    Store::Listener listener = {};
    Store::Executor executor = {};
    std::size_t queue_max = 100'000;
    std::vector<std::string> channels = {};
};

/// Makes stores of one kind. open() twice is a restart where `is_durable`.
class Factory {
  public:
    virtual ~Factory() = default;
    virtual std::unique_ptr<Store> open(Wanted wanted) = 0;
    virtual bool is_durable() const = 0;
};

class SqliteFactory : public Factory {
  public:
    explicit SqliteFactory(bool is_file) {
        if (!is_file) return;
        std::string pattern = (std::filesystem::temp_directory_path() / "store_XXXXXX").string();
        folder_ = mkdtemp(pattern.data());
    }
    ~SqliteFactory() override {
        if (!folder_.empty()) std::filesystem::remove_all(folder_);
    }
    std::unique_ptr<Store> open(Wanted wanted) override {
        sqlite::Options options;
        options.path = folder_.empty() ? ":memory:" : folder_ + "/test.db";
        options.executor = std::move(wanted.executor);
        options.listener = std::move(wanted.listener);
        options.queue_max = wanted.queue_max;
        options.channels = std::move(wanted.channels);
        Result<std::unique_ptr<Store>> store = sqlite::open_sqlite(std::move(options));
        if (!store) throw std::runtime_error(store.error().message);
        return std::move(*store);
    }
    bool is_durable() const override { return !folder_.empty(); }

  private:
    std::string folder_;
};

struct Made {
    const char* name;
    std::unique_ptr<Factory> (*make)();
};

class StoreContract : public testing::TestWithParam<Made> {
  protected:
    void SetUp() override {
        factory_ = GetParam().make();
        open();
    }
    void TearDown() override { close(); }

    void open(Wanted wanted = {}) {
        close();
        if (!wanted.executor)
            wanted.executor = [](std::move_only_function<void()> function) { function(); };
        store_ = factory_->open(std::move(wanted));
    }
    void close() {
        if (store_) store_->stop();
        store_.reset();
    }

    /// Runs `work` and waits for its answer.
    template <class Work>
    auto run(Work work) {
        using Answer = std::invoke_result_t<Work&, Transaction&>;
        std::promise<Answer> promise;
        std::future<Answer> future = promise.get_future();
        store_->run(std::move(work),
                    [&promise](Answer answer) { promise.set_value(std::move(answer)); });
        return future.get();
    }
    /// The same for a work that must succeed.
    template <class Work>
    auto get(Work work) {
        auto answer = run(std::move(work));
        if (!answer) throw std::runtime_error(answer.error().message);
        return std::move(*answer);
    }
    void put(std::function<Result<void>(Transaction&)> work) {
        const Result<void> answer = run(std::move(work));
        ASSERT_TRUE(answer) << answer.error().message;
    }

    Request request(Timestamp at = start) {
        Request request;
        request.id = RequestId::fresh(at);
        request.version = 1;
        request.agent_id = agent_;
        request.agent = "bot";
        request.tool = "refund";
        request.subject.text = R"({"tool":"refund","arguments":{"amount":5}})";
        request.created_at = at;
        request.expires_at = at + 300'000;
        request.next_at = at + 300'000;
        return request;
    }
    static Step opened(Request request) {
        core::Event event{EventKind::requested, request.id, request.created_at,
                          request.agent,        "api",      "127.0.0.1",
                          {R"({"a":1})"}};
        core::Effect effect{EventKind::requested, request.id};
        return {std::move(request), {std::move(event)}, {effect}};
    }
    static Step settled(Request request, Outcome outcome, Timestamp at) {
        request.version += 1;
        request.state = State::settled;
        request.outcome = outcome;
        request.settled_at = at;
        core::Event event{EventKind::settled, request.id, at, "ann", "cookie", "::1", {}};
        return {std::move(request), {std::move(event)}, {}};
    }
    RequestPointer create(Request request) {
        return get([step = opened(std::move(request))](Transaction& tx) { return tx.apply(step); });
    }
    RequestPointer settle(const RequestId& id, Outcome outcome, Timestamp at) {
        return get([=](Transaction& tx) -> Result<RequestPointer> {
            const Result<RequestPointer> request = tx.load(id);
            if (!request) return request.error();
            return tx.apply(settled(**request, outcome, at));
        });
    }
    RequestPointer load(const RequestId& id) {
        return get([id](Transaction& tx) { return tx.load(id); });
    }

    std::unique_ptr<Factory> factory_;
    std::unique_ptr<Store> store_;
    const PrincipalId agent_ = PrincipalId::fresh(start);
};

core::Decision decision_of(const PrincipalId& person, core::DecisionKind kind) {
    core::Decision decision;
    decision.kind = kind;
    decision.by_id = person;
    decision.by = "ann";
    decision.via = "cookie";
    decision.address = "::1";
    decision.at = start + 5;
    decision.digest = "sha256:00";
    decision.note = "line\nbreak \"quoted\" \\ \x01 ünï";
    decision.reason = "r";
    decision.guidance = "g";
    decision.target = "group:finance";
    decision.replacement.text = R"({"amount":12500.75})";
    decision.answer.text = R"("yes")";
    return decision;
}

/// A request in which every field differs from its default.
Request full_request(Request request) {
    request.kind = Kind::plan;
    request.session = "s-1";
    request.thread = "t-1";
    request.task = "task-1";
    request.user = "ann";
    request.owner = "olga";
    request.batch = BatchId::fresh(start);
    request.proposed.text = R"({"old":1})";
    request.headline = "Refund 5 € to \"Bob\"";
    request.risk = RiskLevel::critical;
    request.risk_detail.text = R"({"factors":["money"]})";
    request.verdict = {core::VerdictKind::deny, "rule-1", "gate-1", "because \"so\""};
    request.requirement.lines = {{"finance", {"ann", "bob"}, 2, 1}, {"", {}, 1, 0}};
    request.requirement.reject_threshold = 2;
    request.requirement.reason_required = true;
    request.requirement.modifiable = false;
    request.requirement.exclude_requester = true;
    request.timing = {1000,
                      core::TimeoutAction::use_default,
                      RiskLevel::high,
                      {R"({"k":1.5})"},
                      7,
                      9,
                      1,
                      8,
                      "group:x",
                      true,
                      4,
                      3};
    request.digest = "sha256:abc";
    request.context.text = R"({"c":[1,2,3]})";
    request.suggested.text = R"({"s":null})";
    request.metadata.text = R"({"m":"x"})";
    request.message_for_agent = "go on";
    return request;
}

void expect_same(const core::Decision& a, const core::Decision& b) {
    EXPECT_EQ(a.kind, b.kind);
    EXPECT_EQ(a.by_id, b.by_id);
    EXPECT_EQ(a.by, b.by);
    EXPECT_EQ(a.via, b.via);
    EXPECT_EQ(a.address, b.address);
    EXPECT_EQ(a.at, b.at);
    EXPECT_EQ(a.digest, b.digest);
    EXPECT_EQ(a.note, b.note);
    EXPECT_EQ(a.reason, b.reason);
    EXPECT_EQ(a.guidance, b.guidance);
    EXPECT_EQ(a.target, b.target);
    EXPECT_EQ(a.replacement, b.replacement);
    EXPECT_EQ(a.answer, b.answer);
}

void expect_same(const core::Timing& a, const core::Timing& b) {
    EXPECT_EQ(a.timeout_ms, b.timeout_ms);
    EXPECT_EQ(a.on_timeout, b.on_timeout);
    EXPECT_EQ(a.approve_risk_max, b.approve_risk_max);
    EXPECT_EQ(a.default_decision, b.default_decision);
    EXPECT_EQ(a.remind_every_ms, b.remind_every_ms);
    EXPECT_EQ(a.reminders_max, b.reminders_max);
    EXPECT_EQ(a.reminders_sent, b.reminders_sent);
    EXPECT_EQ(a.escalate_after_ms, b.escalate_after_ms);
    EXPECT_EQ(a.escalate_to, b.escalate_to);
    EXPECT_EQ(a.is_escalated, b.is_escalated);
    EXPECT_EQ(a.retries_max, b.retries_max);
    EXPECT_EQ(a.retries_done, b.retries_done);
}

void expect_same(const Request& a, const Request& b) {
    EXPECT_EQ(a.id, b.id);
    EXPECT_EQ(a.row, b.row);
    EXPECT_EQ(a.version, b.version);
    EXPECT_EQ(a.kind, b.kind);
    EXPECT_EQ(a.state, b.state);
    EXPECT_EQ(a.outcome, b.outcome);
    EXPECT_EQ(a.session, b.session);
    EXPECT_EQ(a.thread, b.thread);
    EXPECT_EQ(a.task, b.task);
    EXPECT_EQ(a.user, b.user);
    EXPECT_EQ(a.agent_id, b.agent_id);
    EXPECT_EQ(a.agent, b.agent);
    EXPECT_EQ(a.owner, b.owner);
    EXPECT_EQ(a.batch, b.batch);
    EXPECT_EQ(a.tool, b.tool);
    EXPECT_EQ(a.subject, b.subject);
    EXPECT_EQ(a.proposed, b.proposed);
    EXPECT_EQ(a.headline, b.headline);
    EXPECT_EQ(a.risk, b.risk);
    EXPECT_EQ(a.risk_detail, b.risk_detail);
    EXPECT_EQ(a.verdict.kind, b.verdict.kind);
    EXPECT_EQ(a.verdict.rule, b.verdict.rule);
    EXPECT_EQ(a.verdict.gate, b.verdict.gate);
    EXPECT_EQ(a.verdict.because, b.verdict.because);
    EXPECT_EQ(a.requirement, b.requirement);
    expect_same(a.timing, b.timing);
    EXPECT_EQ(a.digest, b.digest);
    EXPECT_EQ(a.created_at, b.created_at);
    EXPECT_EQ(a.expires_at, b.expires_at);
    EXPECT_EQ(a.next_at, b.next_at);
    EXPECT_EQ(a.settled_at, b.settled_at);
    EXPECT_EQ(a.context, b.context);
    EXPECT_EQ(a.suggested, b.suggested);
    EXPECT_EQ(a.metadata, b.metadata);
    EXPECT_EQ(a.timeout_taken, b.timeout_taken);
    EXPECT_EQ(a.is_released, b.is_released);
    EXPECT_EQ(a.message_for_agent, b.message_for_agent);
    ASSERT_EQ(a.votes.size(), b.votes.size());
    for (std::size_t i = 0; i < a.votes.size(); ++i) {
        expect_same(a.votes[i].decision, b.votes[i].decision);
        EXPECT_EQ(a.votes[i].groups, b.votes[i].groups);
    }
    ASSERT_EQ(a.decision.has_value(), b.decision.has_value());
    if (a.decision) expect_same(*a.decision, *b.decision);
    ASSERT_EQ(a.report.has_value(), b.report.has_value());
    if (!a.report) return;
    EXPECT_EQ(a.report->is_success, b.report->is_success);
    EXPECT_EQ(a.report->result, b.report->result);
    EXPECT_EQ(a.report->error, b.report->error);
    EXPECT_EQ(a.report->at, b.report->at);
}

// ---- requests

TEST_P(StoreContract, WhatWasStoredIsReadBackFieldForField) {
    const RequestPointer stored = create(full_request(request()));
    EXPECT_GT(stored->row, 0);
    expect_same(*load(stored->id), *stored);
    const RequestPointer plain = create(request());
    EXPECT_GT(plain->row, stored->row);
    expect_same(*load(plain->id), *plain);
}

TEST_P(StoreContract, EveryFieldThatMayChangeIsUpdated) {
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

TEST_P(StoreContract, AUseCaseReadsWhatItWrote) {
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

TEST_P(StoreContract, AJobThatWroteAndFailedIsRolledBackAlone) {
    std::promise<void> gate;
    std::shared_future<void> opened_gate = gate.get_future().share();
    std::vector<Change> heard;
    open({.listener = [&](const std::vector<Change>& changes) {
        heard.insert(heard.end(), changes.begin(), changes.end());
    }});
    store_->run(
        [opened_gate](Transaction&) -> Result<void> {
            opened_gate.wait();
            return {};
        },
        [](Result<void>) {});
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

TEST_P(StoreContract, TheListenerHearsOfACommitBeforeTheCallers) {
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

TEST_P(StoreContract, StoppingAnswersWhatIsQueuedAndRefusesTheRest) {
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

// ---- lists

bool matches(const Request& request, const ListFilter& filter) {
    const auto is = [](const auto& wanted, const auto& value) {
        return !wanted || *wanted == value;
    };
    return is(filter.state, request.state) &&
           (!filter.outcome || filter.outcome == request.outcome) &&
           is(filter.session, request.session) && is(filter.thread, request.thread) &&
           is(filter.task, request.task) && is(filter.user, request.user) &&
           is(filter.agent, request.agent) && is(filter.tool, request.tool) &&
           is(filter.risk, request.risk) && is(filter.kind, request.kind) &&
           (!filter.batch || filter.batch == request.batch) &&
           (!filter.since || request.created_at >= *filter.since) &&
           (!filter.until || request.created_at < *filter.until) &&
           is(filter.agent_id, request.agent_id);
}

/// A few thousand requests with few distinct values, and the same kept in a vector.
class StoreLists : public StoreContract {
  protected:
    static constexpr int count = 3000;

    void SetUp() override {
        StoreContract::SetUp();
        for (int i = 0; i < 3; ++i) {
            agents_.push_back(PrincipalId::fresh(start));
            batches_.push_back(BatchId::fresh(start));
        }
        put([this](Transaction& tx) -> Result<void> {
            model_.clear();
            random_.seed(7);
            for (int i = 0; i < count; ++i) {
                const Result<RequestPointer> made = add(tx, i);
                if (!made) return made.error();
                model_.push_back(*made);
            }
            return {};
        });
    }

    int roll(int sides) { return static_cast<int>(random_() % static_cast<unsigned>(sides)); }
    std::string one_of(const char* name, int sides) {
        const int value = roll(sides);
        return value == 0 ? std::string{} : name + std::to_string(value);
    }

    Result<RequestPointer> add(Transaction& tx, int i) {
        // Rows that come together may be slightly out of order in time.
        Request made = request(start + (i * 10 - roll(40)));
        made.session = one_of("s", 40);
        made.thread = one_of("t", 10);
        made.task = one_of("k", 6);
        made.user = one_of("u", 5);
        made.tool = one_of("tool", 6);
        made.agent_id = agents_[static_cast<std::size_t>(roll(3))];
        made.agent = one_of("bot", 4) + "x";
        made.risk = static_cast<RiskLevel>(roll(4));
        made.kind = static_cast<Kind>(roll(20) == 0 ? roll(5) : 0);
        if (roll(10) == 0) made.batch = batches_[static_cast<std::size_t>(roll(3))];
        Result<RequestPointer> stored = tx.apply(opened(std::move(made)));
        if (!stored || roll(3) == 0) return stored;
        return tx.apply(settled(**stored, static_cast<Outcome>(roll(11)), start + i * 10));
    }

    /// Sets one field of the filter to a value that occurs (mostly).
    void narrow(ListFilter& filter, int field) {
        switch (field) {
            case 0:
                filter.state = static_cast<State>(roll(2));
                break;
            case 1:
                filter.outcome = static_cast<Outcome>(roll(11));
                break;
            case 2:
                filter.session = "s" + std::to_string(roll(41));
                break;
            case 3:
                filter.thread = "t" + std::to_string(roll(11));
                break;
            case 4:
                filter.task = "k" + std::to_string(roll(7));
                break;
            case 5:
                filter.user = "u" + std::to_string(roll(6));
                break;
            case 6:
                filter.agent = one_of("bot", 5) + "x";
                break;
            case 7:
                filter.tool = one_of("tool", 7);
                break;
            case 8:
                filter.risk = static_cast<RiskLevel>(roll(4));
                break;
            case 9:
                filter.kind = static_cast<Kind>(roll(5));
                break;
            case 10:
                filter.batch = batches_[static_cast<std::size_t>(roll(3))];
                break;
            case 11:
                filter.since = start + roll(count * 10);
                break;
            case 12:
                filter.until = start + roll(count * 10);
                break;
            case 13:
                filter.agent_id = agents_[static_cast<std::size_t>(roll(3))];
                break;
        }
    }
    static constexpr int fields = 14;

    /// Pages through and compares with the vector.
    void expect_list(const ListFilter& filter, int limit) {
        std::vector<std::int64_t> expected, found;
        for (auto request = model_.rbegin(); request != model_.rend(); ++request)
            if (matches(**request, filter)) expected.push_back((*request)->row);
        ListQuery query{filter, 0, limit};
        do {
            const ListPage page = get([&](Transaction& tx) { return tx.list(query); });
            ASSERT_LE(page.requests.size(), static_cast<std::size_t>(limit));
            for (const RequestPointer& request : page.requests) found.push_back(request->row);
            query.before_row = page.next_before_row;
        } while (query.before_row != 0);
        EXPECT_EQ(found, expected);
    }

    std::mt19937 random_{7};
    std::vector<PrincipalId> agents_;
    std::vector<BatchId> batches_;
    std::vector<RequestPointer> model_;
};

TEST_P(StoreLists, EveryFilterAloneFindsWhatItShouldNewestFirst) {
    expect_list({}, 1000);
    for (int field = 0; field < fields; ++field) {
        for (int i = 0; i < 3; ++i) {
            SCOPED_TRACE("field " + std::to_string(field));
            ListFilter filter;
            narrow(filter, field);
            expect_list(filter, 250);
        }
    }
}

TEST_P(StoreLists, EveryPairOfFiltersFindsWhatItShould) {
    for (int first = 0; first < fields; ++first) {
        for (int second = first + 1; second < fields; ++second) {
            SCOPED_TRACE("fields " + std::to_string(first) + " and " + std::to_string(second));
            ListFilter filter;
            narrow(filter, first);
            narrow(filter, second);
            expect_list(filter, 100);
        }
    }
}

TEST_P(StoreLists, ManyFiltersTogetherFindWhatTheyShould) {
    for (int i = 0; i < 100; ++i) {
        ListFilter filter;
        for (int n = 0; n < 3; ++n) narrow(filter, roll(fields));
        expect_list(filter, 1 + roll(50));
    }
}

TEST_P(StoreLists, AnEmptyTextMeansTheRequestsWithoutOne) {
    ListFilter filter;
    filter.session = "";
    expect_list(filter, 100);
    filter.tool = "";
    expect_list(filter, 100);
}

TEST_P(StoreLists, APageIsNotDisturbedByWhatArrivesMeanwhile) {
    ListQuery query{{}, 0, 10};
    const ListPage first = get([&](Transaction& tx) { return tx.list(query); });
    create(request(start + count * 10));
    query.before_row = first.next_before_row;
    const ListPage second = get([&](Transaction& tx) { return tx.list(query); });
    EXPECT_EQ(second.requests.front()->row, first.requests.back()->row - 1);
}

TEST_P(StoreLists, EventsAreFilteredLikeLists) {
    const std::vector<Change> all =
        get([](Transaction& tx) { return tx.events_after(0, {}, 10'000); });
    EXPECT_GT(all.size(), static_cast<std::size_t>(count));
    EXPECT_EQ(all.back().event.seq, get([](Transaction& tx) { return tx.last_event(); }));
    for (int field = 0; field < fields; ++field) {
        SCOPED_TRACE("field " + std::to_string(field));
        ListFilter filter;
        narrow(filter, field);
        const std::int64_t after = roll(3000);
        std::vector<std::int64_t> expected, found;
        for (const Change& change : all)
            if (change.event.seq > after && matches(*change.request, filter) &&
                expected.size() < 50)
                expected.push_back(change.event.seq);
        for (const Change& change :
             get([&](Transaction& tx) { return tx.events_after(after, filter, 50); }))
            found.push_back(change.event.seq);
        EXPECT_EQ(found, expected);
    }
}

TEST_P(StoreLists, CountersAgreeWithARecount) {
    std::map<Outcome, std::int64_t> outcomes;
    std::map<PrincipalId, std::int64_t> pending;
    std::int64_t all_pending = 0;
    for (const RequestPointer& request : model_) {
        if (request->outcome) ++outcomes[*request->outcome];
        if (request->outcome) continue;
        ++all_pending;
        ++pending[request->agent_id];
    }
    const Counters counters = get([](Transaction& tx) { return tx.counters(); });
    EXPECT_EQ(counters.pending, all_pending);
    ASSERT_EQ(counters.by_outcome.size(), 11u);
    for (const auto& [outcome, number] : counters.by_outcome) EXPECT_EQ(number, outcomes[outcome]);
    for (const PrincipalId& agent : agents_)
        EXPECT_EQ(get([&](Transaction& tx) { return tx.pending_count(agent); }), pending[agent]);
    EXPECT_EQ(get([&](Transaction& tx) { return tx.pending_count(agent_); }), 0);
}

TEST_P(StoreLists, PendingInASessionComeOldestFirst) {
    for (const char* session : {"s1", "s2", "", "unknown"}) {
        for (const PrincipalId& agent : agents_) {
            std::vector<RequestId> expected;
            for (const RequestPointer& request : model_)
                if (!request->outcome && request->session == session && request->agent_id == agent)
                    expected.push_back(request->id);
            EXPECT_EQ(get([&](Transaction& tx) { return tx.pending_in_session(agent, session); }),
                      expected);
        }
    }
}

TEST_P(StoreLists, ABatchComesInItsOrder) {
    for (const BatchId& batch : batches_) {
        std::vector<std::int64_t> expected, found;
        for (const RequestPointer& request : model_)
            if (request->batch == batch) expected.push_back(request->row);
        for (const RequestPointer& request : get([&](Transaction& tx) { return tx.batch(batch); }))
            found.push_back(request->row);
        EXPECT_EQ(found, expected);
    }
    EXPECT_THAT(get([](Transaction& tx) { return tx.batch(BatchId::fresh(start)); }), IsEmpty());
}

TEST_P(StoreLists, S4_AfterARestartEverythingIsAsItWas) {
    if (!factory_->is_durable()) GTEST_SKIP() << "this store keeps nothing";
    const std::int64_t last = get([](Transaction& tx) { return tx.last_event(); });
    const Counters before = get([](Transaction& tx) { return tx.counters(); });
    open();
    expect_list({}, 1000);
    ListFilter filter;
    filter.state = State::pending;
    filter.agent_id = agents_[1];
    expect_list(filter, 1000);
    const Counters after = get([](Transaction& tx) { return tx.counters(); });
    EXPECT_EQ(after.pending, before.pending);
    EXPECT_EQ(after.by_outcome, before.by_outcome);
    EXPECT_EQ(after.oldest_pending, before.oldest_pending);
    EXPECT_EQ(get([](Transaction& tx) { return tx.last_event(); }), last);
    const RequestPointer next = create(request(start + count * 10));
    EXPECT_EQ(next->row, model_.back()->row + 1);
    EXPECT_EQ(get([](Transaction& tx) { return tx.last_event(); }), last + 1);
    const PrincipalId agent = agents_[0];
    const std::int64_t pending = std::ranges::count_if(model_, [&](const RequestPointer& request) {
        return !request->outcome && request->agent_id == agent;
    });
    EXPECT_EQ(get([&](Transaction& tx) { return tx.pending_count(agent); }), pending);
}

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

TEST_P(StoreContract, ShiftingMovesThePendingDeadlinesOnly) {
    const RequestPointer pending = create(request());
    const RequestPointer done = create(request());
    settle(done->id, Outcome::approved, start + 1);
    put([](Transaction& tx) { return tx.shift_deadlines(5000); });
    const RequestPointer shifted = load(pending->id);
    EXPECT_EQ(shifted->expires_at, pending->expires_at + 5000);
    EXPECT_EQ(shifted->next_at, pending->next_at + 5000);
    EXPECT_EQ(shifted->version, pending->version + 1);
    EXPECT_EQ(load(done->id)->expires_at, done->expires_at);
    EXPECT_EQ(get([](Transaction& tx) { return tx.next_due(); }), pending->next_at + 5000);
    settle(pending->id, Outcome::approved, start + 2);
}

// ---- events and outbox

TEST_P(StoreContract, EventsOfARequestTellItsStoryInOrder) {
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
    const std::vector<Change> changes =
        get([](Transaction& tx) { return tx.events_after(0, {}, 10); });
    ASSERT_EQ(changes.size(), 2u);
    EXPECT_EQ(changes[0].event.event.kind, EventKind::requested);
    EXPECT_EQ(changes[0].request->outcome, Outcome::rejected);
    EXPECT_THAT(get([&](Transaction& tx) { return tx.events_after(changes[1].event.seq, {}, 10); }),
                IsEmpty());
}

TEST_P(StoreContract, EveryChannelGetsEveryEffectUntilItIsSent) {
    open({.channels = {"webhook", "mail"}});
    const RequestPointer made = create(request());
    const auto due = [&](int ms) {
        return get([=](Transaction& tx) { return tx.outbox_due(start + ms, 10); });
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

TEST_P(StoreContract, AnAnswerOnceGivenIsNotReplaced) {
    IdempotencyRecord record{agent_, "key-1", std::string(32, 'a'), {}, start};
    put([&](Transaction& tx) { return tx.remember(record); });
    record.body_hash = std::string(32, 'b');
    const Result<void> again = run([&](Transaction& tx) { return tx.remember(record); });
    ASSERT_FALSE(again);
    EXPECT_EQ(again.error().code, ErrorCode::conflict);
    EXPECT_EQ(get([&](Transaction& tx) { return tx.find_idempotent(agent_, "key-1"); })->body_hash,
              std::string(32, 'a'));
}

TEST_P(StoreContract, AFailedWriteCannotBeOverlooked) {
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

// ---- principals, keys, sessions, settings

Principal person(const std::string& name, Role role, std::vector<std::string> groups) {
    return {PrincipalId::fresh(start), name, role, std::move(groups), "", "", false, start};
}

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
        return get([](Transaction& tx) { return tx.outbox_due(start + 1000, 10); });
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

TEST_P(StoreContract, PushSubscriptionsBelongToOneEndpoint) {
    const Principal ann = person("ann", Role::admin, {}), bob = person("bob", Role::admin, {});
    PushSubscription push{PushSubscriptionId{{{1}}},
                          ann.id,
                          "https://push.example/1",
                          std::string(65, 'k'),
                          std::string(16, 's'),
                          "phone",
                          start,
                          std::nullopt};
    put([&](Transaction& tx) -> Result<void> {
        for (const Principal* who : {&ann, &bob})
            if (const Result<void> saved = tx.save_principal(*who); !saved) return saved;
        return tx.save_push(push);
    });
    const auto of = [&](const std::optional<PrincipalId>& who) {
        return get([&](Transaction& tx) { return tx.push_subscriptions(who); }).size();
    };
    EXPECT_EQ(of(ann.id), 1u);
    EXPECT_EQ(of(bob.id), 0u);
    EXPECT_EQ(of(std::nullopt), 1u);
    push.principal = bob.id;
    push.last_sent_at = start + 1;
    put([&](Transaction& tx) { return tx.save_push(push); });
    const auto found = get([&](Transaction& tx) { return tx.find_push(push.endpoint); });
    ASSERT_TRUE(found);
    EXPECT_EQ(found->principal, bob.id);
    EXPECT_EQ(found->public_key, push.public_key);
    EXPECT_EQ(found->secret, push.secret);
    EXPECT_EQ(found->last_sent_at, start + 1);
    EXPECT_TRUE(get([&](Transaction& tx) { return tx.find_push(push.id); }));
    put([&](Transaction& tx) { return tx.drop_push(push.id); });
    EXPECT_EQ(of(std::nullopt), 0u);
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

const Made kinds[] = {
    {"SqliteInMemory",
     [] { return std::unique_ptr<Factory>(std::make_unique<SqliteFactory>(false)); }},
    {"SqliteFile", [] { return std::unique_ptr<Factory>(std::make_unique<SqliteFactory>(true)); }},
};

INSTANTIATE_TEST_SUITE_P(Stores, StoreLists, testing::ValuesIn(kinds),
                         [](const auto& info) { return std::string(info.param.name); });
INSTANTIATE_TEST_SUITE_P(Stores, StoreContract, testing::ValuesIn(kinds),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace holdpoint::store
