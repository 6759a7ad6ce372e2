#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <stop_token>
#include <string>
#include <thread>

#include <holdpoint/options.h>

namespace holdpoint::server {

/// Asks the people of an embedding program, one request after the other, on a thread of its own.
class HumanDesk {
  public:
    /// What the desk needs from the engine; all of it blocks.
    struct Engine {
        std::function<Result<Request>(const std::string& id)> read;
        std::function<Result<Request>(const Request& seen, const Decision& decision)> decide;
        /// Withdraws the request: nobody can be asked.
        std::function<void(const std::string& id, const std::string& why)> give_up;
    };

    HumanDesk(std::shared_ptr<HumanInterface> human, WhenUnavailable when_unavailable,
              Engine engine);
    ~HumanDesk() { stop(); }
    HumanDesk(const HumanDesk&) = delete;
    HumanDesk& operator=(const HumanDesk&) = delete;

    /// Puts a pending request before the people; one that is there already is not put twice.
    void ask(const std::string& id);
    /// Time passed, or others are asked now: it is put before the people once more, unless it is
    /// there right now.
    void ask_again(const std::string& id);
    /// It was settled: whoever is being asked about it need not answer any more.
    void settled(const std::string& id);
    void notify(const Notification& notification);
    /// Asks nobody any more and waits until the engine is left alone. What is told later is
    /// ignored.
    void stop();

  private:
    enum class After { done, again_later };

    void run();
    After serve(const std::string& id, const std::stop_token& stop);
    Result<std::optional<Decision>> consult(const Request& request, const std::stop_token& stop);
    After nobody(const std::string& id, const std::string& why);

    const std::shared_ptr<HumanInterface> human_;
    const WhenUnavailable when_unavailable_;
    const Engine engine_;

    std::mutex mutex_;
    std::condition_variable is_changed_;
    std::deque<std::string> queue_;  // guarded by mutex_
    std::set<std::string> known_;    // guarded by mutex_
    std::string current_;            // guarded by mutex_
    std::stop_source asking_;        // guarded by mutex_
    bool is_stopping_ = false;       // guarded by mutex_
    std::thread thread_;
};

}  // namespace holdpoint::server
