#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "core/test_requests.h"
#include "policy/builtin.h"
#include "policy/compile.h"
#include "service/decide.h"
#include "service/submit.h"
#include "store/sqlite/sqlite.h"

/// The real store without a file, asked synchronously.
namespace holdpoint::service::test {

using namespace core::test;
using core::RequestPtr;

class StoreTest : public testing::Test {
  protected:
    explicit StoreTest(std::vector<std::string> channels = {}) {
        store::sqlite::Options options;
        options.path = ":memory:";
        options.executor = [this](std::move_only_function<void()> function) {
            const std::lock_guard lock(mutex_);
            posted_.push_back(std::move(function));
            is_posted_.notify_one();
        };
        options.listener = [this](const std::vector<store::Change>& changes) {
            changes_.insert(changes_.end(), changes.begin(), changes.end());
        };
        options.channels = std::move(channels);
        Result<std::unique_ptr<store::Store>> opened =
            store::sqlite::open_sqlite(std::move(options));
        if (!opened) throw std::runtime_error(opened.error().message);
        store_ = std::move(*opened);
    }
    ~StoreTest() override { store_->stop(); }

    /// Runs what the store hands back until the condition holds: this thread is the network thread.
    template <class Condition>
    bool pump_until(Condition condition) {
        const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
        while (!condition()) {
            std::unique_lock lock(mutex_);
            if (!is_posted_.wait_until(lock, deadline, [this] { return !posted_.empty(); }))
                return false;
            std::move_only_function<void()> next = std::move(posted_.front());
            posted_.pop_front();
            lock.unlock();
            next();
        }
        return true;
    }

    /// Runs one use case and waits for its answer.
    template <class Work>
    auto run(Work work) {
        using Answer = std::invoke_result_t<Work&, store::Transaction&>;
        std::optional<Answer> answer;
        store_->run(std::move(work), [&answer](Answer given) { answer.emplace(std::move(given)); });
        if (!pump_until([&answer] { return answer.has_value(); }))
            throw std::runtime_error("the store did not answer");
        return std::move(*answer);
    }
    /// The same for a use case that must succeed.
    template <class Work>
    auto get(Work work) {
        auto answer = run(std::move(work));
        if (!answer) throw std::runtime_error(answer.error().message);
        return std::move(*answer);
    }

    SubmitCall call_with(std::vector<core::Proposal> proposals, Timestamp now = start) {
        SubmitCall call;
        call.proposals = std::move(proposals);
        for (std::size_t i = 0; i < call.proposals.size(); ++i)
            call.ids.push_back(RequestId::fresh(now));
        call.agent = agent();
        call.owner = "olga";
        call.now = now;
        return call;
    }
    Result<Submitted> submit_call(const SubmitCall& call) {
        return run([&](store::Transaction& tx) { return submit(tx, *in_force(), call); });
    }
    RequestPtr submitted(core::Proposal proposal = core::test::proposal(), Timestamp now = start) {
        Result<Submitted> answer = submit_call(call_with({std::move(proposal)}, now));
        if (!answer) throw std::runtime_error(answer.error().message);
        return answer->requests.front();
    }
    Result<Decided> decide_call(const DecideCall& call) {
        return run([&](store::Transaction& tx) { return decide(tx, *in_force(), call); });
    }
    Result<Decided> decide_now(const RequestId& id, core::DecisionKind kind, const core::Actor& by,
                               Timestamp now = start + 1000) {
        DecideCall call{id, command(kind), by, {}, now};
        const Result<RequestPtr> seen = run([&](store::Transaction& tx) { return tx.load(id); });
        if (seen) call.command.digest = (*seen)->digest;
        return decide_call(call);
    }
    RequestPtr load(const RequestId& id) {
        return get([&](store::Transaction& tx) { return tx.load(id); });
    }
    void add_person(const std::string& name, store::Role role = store::Role::approver,
                    std::vector<std::string> groups = {}) {
        store::Principal principal;
        principal.id = id_of(name);
        principal.name = name;
        principal.role = role;
        principal.groups = std::move(groups);
        principal.created_at = start;
        const Result<void> saved =
            run([&](store::Transaction& tx) { return tx.save_principal(principal); });
        if (!saved) throw std::runtime_error(saved.error().message);
    }
    /// Makes a pending request unreadable, as a failing disk would.
    void damage(const RequestId& id) {
        get([&](store::Transaction& tx) -> Result<bool> {
            const Result<RequestPtr> stored = tx.load(id);
            if (!stored) return stored.error();
            core::Step step;
            step.request = **stored;
            step.request.version += 1;
            step.request.timeout_taken = static_cast<core::TimeoutAction>(99);
            if (const Result<RequestPtr> written = tx.apply(std::move(step)); !written)
                return written.error();
            // What the store has in memory is whole; this makes it read again.
            if (const Result<void> read_anew = tx.shift_deadlines(0); !read_anew)
                return read_anew.error();
            return true;
        });
    }
    std::size_t event_count(const RequestId& id) {
        return get([&](store::Transaction& tx) { return tx.events_of(id); }).size();
    }

    /// What judges: the lists in `policy_`, unless a test loads a policy of its own.
    std::shared_ptr<const policy::Policy> in_force() {
        return loaded_ ? loaded_ : policy::compose(policy_);
    }
    void load_policy(std::string_view text) {
        Result<std::shared_ptr<const policy::Policy>> loaded = policy::load(text);
        if (!loaded) throw std::runtime_error(loaded.error().message);
        loaded_ = *loaded;
    }

    policy::Builtin policy_;
    std::shared_ptr<const policy::Policy> loaded_;
    std::vector<store::Change> changes_;
    std::mutex mutex_;
    std::condition_variable is_posted_;
    std::deque<std::move_only_function<void()>> posted_;  // guarded by mutex_
    std::unique_ptr<store::Store> store_;
};

}  // namespace holdpoint::service::test
