#pragma once

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/thread_pool.hpp>
#include <chrono>
#include <memory>
#include <optional>

#include "api/auth/secrets.h"
#include "base/clock.h"
#include "notify/outbox_worker.h"
#include "notify/push/push_channel.h"
#include "server/metrics.h"
#include "server/server.h"
#include "service/policy_in_force.h"

namespace holdpoint::server {

/// A server with everything it owns, wired. One network thread runs `io_`; the store and the small
/// blocking pool have threads of their own.
class Running {
  public:
    explicit Running(const Config& config);
    ~Running();

    Result<Started> start();
    /// Until a signal ends it.
    void run();

  private:
    using SteadyTimer =
        boost::asio::basic_waitable_timer<std::chrono::steady_clock,
                                          boost::asio::wait_traits<std::chrono::steady_clock>,
                                          boost::asio::io_context::executor_type>;

    Result<void> open_store();
    Result<void> start_clock();
    Result<void> load_policy();
    void reload_policy();
    Result<void> save_clock();
    Result<std::string> kept_secret(const char* name, const std::string& fresh);
    struct PushSecrets {
        notify::push::KeyPair keys;
        std::string token_key;
    };
    Result<PushSecrets> load_push_secrets();
    std::unique_ptr<notify::Channel> make_push(const PushSecrets& secrets, const Started& started);
    Result<void> finish_admin_key(const std::string& path);
    Result<void> make_first_admin(Started& started);
    Result<void> store_admin_key(const auth::Secret& secret, const auth::Secret& link);
    Result<void> listen(Started& started);
    void on_commit(const std::vector<store::Change>& changes);
    void watch_signals();
    void tick();
    void sleep_until_due();
    void let_time_pass();
    void clean_up();
    /// Drops old records in steps, so that nobody waits for a long transaction.
    void forget_old();
    /// Runs `work` on that pool, then `then` on the loop.
    auth::Offload offload_to(boost::asio::thread_pool& pool);
    void stop();

    /// Runs one use case and waits for it; only while the loop is not running.
    template <class Work>
    std::invoke_result_t<Work&, store::Transaction&> ask(Work work);

    const Config config_;
    boost::asio::io_context io_{1};
    boost::asio::thread_pool blocking_{2};
    /// Calls to push services. Each browser has one under way at most; one that does not answer
    /// holds a thread for ten seconds.
    boost::asio::thread_pool outgoing_{8};
    std::unique_ptr<store::Store> store_;
    std::unique_ptr<SteadyClock> clock_;
    std::unique_ptr<service::PolicyInForce> policy_;
    api::Api::PolicySource policy_source_;
    std::unique_ptr<api::Api> api_;
    std::unique_ptr<http::Server> http_;
    std::unique_ptr<notify::OutboxWorker> outbox_;
    Metrics metrics_;
    boost::asio::signal_set signals_;
    SteadyTimer tick_timer_;
    SteadyTimer due_timer_;
    SteadyTimer clean_timer_;
    std::optional<Timestamp> due_at_;  ///< what due_timer_ sleeps for
    std::int64_t started_ms_ = 0;      ///< of the steady clock
    std::int64_t ticks_ = 0;
    bool is_letting_time_pass_ = false;
    bool has_warned_of_clock_ = false;
    bool is_stopping_ = false;
};

}  // namespace holdpoint::server
