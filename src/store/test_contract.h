#pragma once

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
#include "store/store.h"

/// What the tests of the store's promises share: a store of each kind, and requests to put into it.
/// For one test program; it names things freely.

namespace holdpoint::store {

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

inline constexpr Timestamp start{1'800'000'000'000};

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
        // One finds requests where they are filed, the other mostly before they are.
        if (folder_.empty()) options.unfiled_max = 3;
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

    /// Part of the test's name, which must be the same in every run.
    friend void PrintTo(const Made& made, std::ostream* out) { *out << made.name; }
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

inline Principal person(const std::string& name, Role role, std::vector<std::string> groups) {
    return {PrincipalId::fresh(start), name, role, std::move(groups), "", "", false, start};
}

inline core::Decision decision_of(const PrincipalId& person, core::DecisionKind kind) {
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
inline Request full_request(Request request) {
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

inline void expect_same(const core::Decision& a, const core::Decision& b) {
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

inline void expect_same(const core::Timing& a, const core::Timing& b) {
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
    EXPECT_EQ(a.shifted_ms, b.shifted_ms);
}

inline void expect_same(const Request& a, const Request& b) {
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

inline const Made kinds[] = {
    {"SqliteInMemory",
     [] { return std::unique_ptr<Factory>(std::make_unique<SqliteFactory>(false)); }},
    {"SqliteFile", [] { return std::unique_ptr<Factory>(std::make_unique<SqliteFactory>(true)); }},
};

}  // namespace holdpoint::store
