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

const Made kinds[] = {
    {"SqliteInMemory",
     [] { return std::unique_ptr<Factory>(std::make_unique<SqliteFactory>(false)); }},
    {"SqliteFile", [] { return std::unique_ptr<Factory>(std::make_unique<SqliteFactory>(true)); }},
};

INSTANTIATE_TEST_SUITE_P(Stores, StoreContract, testing::ValuesIn(kinds),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace holdpoint::store
