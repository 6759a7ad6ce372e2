#pragma once

#include <algorithm>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <holdpoint/holdpoint.h>

#include "agent/backend.h"
#include "agent/journal.h"

namespace holdpoint::agent {

/// Observers or advisors, in the order they came. Whoever uses it locks.
template <class T>
class Listeners {
  public:
    void add(std::shared_ptr<T> one) {
        const auto found = std::ranges::find(all_, one, &Entry::first);
        if (found != all_.end())
            ++found->second;
        else
            all_.emplace_back(std::move(one), 1);
    }
    void remove(const std::shared_ptr<T>& one) {
        const auto found = std::ranges::find(all_, one, &Entry::first);
        if (found != all_.end() && --found->second == 0) all_.erase(found);
    }
    std::vector<std::shared_ptr<T>> all() const {
        std::vector<std::shared_ptr<T>> all;
        for (const Entry& entry : all_) all.push_back(entry.first);
        return all;
    }

  private:
    using Entry = std::pair<std::shared_ptr<T>, int>;  // and how often it was added
    std::vector<Entry> all_;
};

/// What both kinds of Holdpoint share: proposing, waiting, checking what comes back, beginning at
/// most once. The logic is written once, as coroutines; the blocking forms run them on the thread
/// that asks. Any thread.
class Client {
  public:
    struct Setup {
        Labels labels;
        std::string journal_folder;  ///< empty: in memory only
        Executor resume_on;
        std::string server = {};  ///< its address; empty: in this process
    };
    /// Gives the labels a random session where they have none; opens the journal of a named one.
    static Result<std::shared_ptr<Client>> open(std::unique_ptr<Backend> backend, Setup setup);
    ~Client();

    /// Proposes one thing of any kind and waits until it is settled.
    static Task<Run<Request>> settle(std::shared_ptr<Client> self, Json body, Wait wait,
                                     Executor executor);
    static Task<Run<Release>> request(std::shared_ptr<Client> self, Action action, Wait wait,
                                      Executor executor);
    static Task<std::vector<Run<Release>>> batch(std::shared_ptr<Client> self,
                                                 std::vector<Action> actions, Wait wait,
                                                 Executor executor);
    struct Running {
        Release release;
        Holdpoint::Work work;
        std::function<Spent()> spent = {};
        bool may_repeat = false;  ///< it is neither marked as begun nor as finished
    };
    static Task<Run<Json>> run_released(std::shared_ptr<Client> self, Running running,
                                        Executor executor);

    /// Asks the backend and blocks for the answer.
    Result<Json> ask(const std::function<void(Backend::Done)>& call);

    void add(std::shared_ptr<Observer> observer);
    void add(std::shared_ptr<Advisor> advisor);
    void remove(const std::shared_ptr<Observer>& observer);
    void remove(const std::shared_ptr<Advisor>& advisor);
    std::string advice();

    Backend& backend() { return *backend_; }
    const Labels& labels() const { return labels_; }
    const Executor& resume_on() const { return resume_on_; }

  private:
    Client() = default;

    Json labelled(const Json& body) const;
    std::optional<NotRun> refusal(const Action& action);
    std::string next_key(const Json& body);
    void tell(const std::function<void(Observer&)>& call);
    /// Requests that are being taken back.
    struct Withdrawals {
        std::mutex mutex;
        std::condition_variable is_changed;
        int open = 0;  // guarded by mutex
    };
    static void withdraw(Backend& backend, const std::shared_ptr<Withdrawals>& withdrawals,
                         const std::string& id);
    void withdraw(const std::string& id);
    void remember(const Request& request);
    /// The request that this release is of; it is given once.
    Run<Request> take_released(const Release& release);
    /// Marks it as begun, or says why it must not begin.
    std::optional<NotRun> begin(const Request& request);

    /// One thing to be proposed, under the key by which a later process finds it again.
    struct Proposal {
        std::string key;
        Json body;
    };
    std::optional<NotRun> prepare(const Action& action, std::vector<Proposal>& proposals);
    /// The request of each, or why there is none; what was proposed before is found again.
    static Task<std::vector<Run<Json>>> propose(std::shared_ptr<Client> self,
                                                std::vector<Proposal> proposals, bool is_batch,
                                                Wait wait, Executor executor);
    static Task<Run<std::vector<Json>>> send(std::shared_ptr<Client> self, Journal::Proposed call,
                                             Wait wait, Executor executor);
    static Task<std::optional<Run<Json>>> recall(std::shared_ptr<Client> self, Journal::Known known,
                                                 Wait wait, Executor executor);
    static Task<Run<Request>> settle_one(std::shared_ptr<Client> self, std::vector<Proposal> one,
                                         Wait wait, Executor executor);
    static Task<Run<Request>> wait_for(std::shared_ptr<Client> self, Request request, Wait wait,
                                       Executor executor);

    std::unique_ptr<Backend> backend_;
    Labels labels_;
    Journal journal_;
    Executor resume_on_;
    /// The thread on which coroutines go on, where the embedder names no other.
    struct Resumer {
        RunLoop loop;
        bool is_over = false;  // changed on that thread
        std::thread thread;
    };
    std::shared_ptr<Resumer> resumer_;
    std::shared_ptr<Withdrawals> withdrawals_ = std::make_shared<Withdrawals>();

    std::mutex mutex_;
    std::map<std::string, int> occurrences_;  // guarded by mutex_
    std::map<std::string, Request> settled_;  // guarded by mutex_; until they are run
    Listeners<Observer> observers_;           // guarded by mutex_
    Listeners<Advisor> advisors_;             // guarded by mutex_
};

/// The release of a settled request of this kind, or why there is none; an answer that contradicts
/// itself is `broken`.
Run<Release> released(const Request& request, Kind kind);
/// The same for an action. A release that is not of this very action is `broken`: other arguments
/// count only where a person changed them.
Run<Release> conclude(const Request& request, const Action& action);

/// Why a settled request released nothing.
NotRun not_run(const Request& request);
NotRun not_run(const Error& error);
/// What a journal remembers of an earlier process.
NotRun already_ran(std::optional<Request> request, Json result);
NotRun interrupted(std::optional<Request> request);

}  // namespace holdpoint::agent
