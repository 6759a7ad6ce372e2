#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "agent/backend.h"
#include "agent/blocking.h"
#include "base/clock.h"
#include "server/embedded_loop.h"
#include "server/human_desk.h"
#include "service/decide.h"
#include "service/policy_in_force.h"
#include "store/store.h"

namespace holdpoint::server {

/// The engine of Holdpoint::embedded(); see embedded.h.
class Embedded : public agent::Backend {
  public:
    explicit Embedded(const EmbeddedOptions& options) : options_(options) {}
    ~Embedded() override;

    Result<void> open();

    void propose(Json body, bool is_batch, std::string key, Until until, Done done) override;
    void wait(std::string id, std::chrono::milliseconds at_most, Until until, Done done) override;
    void read(std::string id, Done done) override;
    void cancel(std::string id, std::string reason, Done done) override;
    void report(std::string id, Json body, Done done) override;
    void decide(std::string id, Json body, std::string by, Done done) override;
    void list(std::string session, Done done) override;
    Result<void> events(const EventFilter& filter, const Holdpoint::OnEvent& on_event,
                        const std::stop_token& stop) override;
    Result<std::uint64_t> declare(const std::vector<ToolFacts>& tools) override;
    void undeclare(std::uint64_t number) override;
    void notify(const Notification& notification) override;
    bool is_remote() const override { return false; }

  private:
    struct Waiting {
        std::uint64_t number;
        Done done;
    };
    /// Somebody who listens to events. Where more wait than `changes_max` they are forgotten, and
    /// the listener reads them from the store.
    struct Listening {
        static constexpr std::size_t changes_max = 1000;
        std::mutex mutex;
        std::condition_variable_any is_changed;
        std::deque<store::Change> changes;            // guarded by mutex
        std::optional<std::int64_t> forgotten_after;  // guarded by mutex; from here on
        bool is_closed = false;                       // guarded by mutex
    };

    core::Actor actor(const std::string& name, bool is_agent) const;
    std::vector<store::Principal> people() const;
    void on_commit(const std::vector<store::Change>& changes);
    void finish_waits(const RequestId& id, const Result<Json>& answer);
    void let_time_pass();
    void wake_at(Timestamp due);
    Result<void> renew_policy();
    void give_up(const std::string& id, const std::string& why);
    void answer_decided(const Result<service::Decided>& decided, Done& done);

    /// Runs one use case and blocks for its answer; not from the loop's thread.
    template <class Work>
    auto ask(Work work) {
        using Answer = std::invoke_result_t<Work&, store::Transaction&>;
        return agent::blocking<Answer>(
            [&](auto done) { store_->run(std::move(work), std::move(done)); });
    }

    const EmbeddedOptions options_;
    std::unique_ptr<SteadyClock> clock_;
    std::unique_ptr<service::PolicyInForce> policy_;
    std::mutex tools_mutex_;
    std::map<std::uint64_t, std::vector<ToolFacts>> declared_;  // guarded by tools_mutex_
    std::uint64_t last_declared_ = 0;                           // guarded by tools_mutex_
    core::Actor agent_;
    std::unique_ptr<store::Store> store_;
    std::unique_ptr<HumanDesk> desk_;

    // The loop's thread only.
    std::unordered_multimap<RequestId, Waiting, RequestId::Hash> waiting_;
    std::uint64_t last_number_ = 0;
    std::optional<Timestamp> due_at_;
    bool is_letting_time_pass_ = false;

    std::mutex listening_mutex_;
    std::vector<std::shared_ptr<Listening>> listening_;  // guarded by listening_mutex_

    std::atomic<bool> is_closing_ = false;
    EmbeddedLoop loop_;
};

/// The resource of a request, as the REST API gives it.
Json resource_of(const core::Request& request);

}  // namespace holdpoint::server
