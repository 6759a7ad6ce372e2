#include <spdlog/spdlog.h>

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <set>
#include <thread>

#include <fmt/format.h>
#include <holdpoint/git.h>

#include "agent/git/message.h"
#include "agent/git/repository.h"

namespace holdpoint {

namespace git = agent::git;

/// The queue and the thread that empties it.
struct GitHistory::State {
    explicit State(GitOptions given) : options(std::move(given)) {
        worker = std::thread([this] { work(); });
    }

    void add(git::Entry entry);
    bool flush(std::chrono::milliseconds within);
    void stop();
    void work();
    void commit(const git::Entry& entry);
    bool is_told(const git::Entry& entry);
    git::CommitOptions commit_options() const;
    Result<std::string> try_commit(const git::Entry& entry);
    bool pause(std::chrono::milliseconds time);
    void leave_out(std::string_view subject, const std::string& why);
    void report(std::string_view text) const;

    const GitOptions options;
    /// Decisions that an earlier process wrote down; read once, by the worker.
    std::optional<std::set<std::string>> told_before;
    std::thread worker;
    mutable std::mutex mutex;
    std::condition_variable changed;
    std::deque<git::Entry> waiting;  // guarded by mutex
    std::size_t added = 0;           // guarded by mutex
    std::size_t finished = 0;        // guarded by mutex; in the order they were added
    std::size_t missed_total = 0;    // guarded by mutex
    std::size_t missed_since = 0;    // guarded by mutex; since the last commit
    bool is_stopping = false;        // guarded by mutex
    bool is_out_of_time = false;     // guarded by mutex
};

namespace {

constexpr int tries_max = 6;
constexpr std::chrono::milliseconds first_pause{20};
constexpr std::chrono::seconds stop_within{5};
constexpr std::size_t history_commits_max = 5000;

}  // namespace

void GitHistory::State::report(std::string_view text) const {
    try {
        if (options.log) return options.log(text);
        spdlog::warn("{}", text);
    } catch (...) {
        // A log that throws must not end the thread, and there is nobody else to tell.
        return;
    }
}

void GitHistory::State::leave_out(std::string_view subject, const std::string& why) {
    {
        const std::scoped_lock lock(mutex);
        ++missed_total;
        ++missed_since;
    }
    report(fmt::format("not in the git history: {}: {}", subject, why));
}

void GitHistory::State::add(git::Entry entry) {
    std::unique_lock lock(mutex);
    if (waiting.size() >= options.queue_max || is_stopping) {
        lock.unlock();
        return leave_out(entry.label, "too many commits are waiting");
    }
    waiting.push_back(std::move(entry));
    ++added;
    changed.notify_all();
}

/// Waits unless time has run out for everything.
bool GitHistory::State::pause(std::chrono::milliseconds time) {
    std::unique_lock lock(mutex);
    return !changed.wait_for(lock, time, [this] { return is_out_of_time; });
}

git::CommitOptions GitHistory::State::commit_options() const {
    return {options.repository,
            options.name,
            options.email,
            options.working_directory,
            options.owns_working_tree,
            0};
}

/// Whether an earlier process wrote this down: one that goes on with a session hears its decisions
/// again.
bool GitHistory::State::is_told(const git::Entry& entry) {
    if (entry.has_run) return false;
    if (!told_before) {
        Result<std::set<std::string>> marks =
            git::marks_in_history(commit_options(), history_commits_max);
        if (!marks) return false;  // committing will say what is wrong
        told_before = std::move(*marks);
    }
    const std::string mark = git::mark_of(entry);
    return !mark.empty() && told_before->contains(mark);
}

Result<std::string> GitHistory::State::try_commit(const git::Entry& entry) {
    git::CommitOptions how = commit_options();
    {
        const std::scoped_lock lock(mutex);
        how.missed = missed_since;
    }
    std::chrono::milliseconds wait = first_pause;
    for (int tries = 1;; ++tries) {
        Result<std::string> id = git::commit(entry, how);
        const bool may_pass = !id && id.error().code == ErrorCode::conflict;
        if (!may_pass || tries == tries_max || !pause(wait)) return id;
        wait *= 2;
    }
}

void GitHistory::State::commit(const git::Entry& entry) {
    std::string why;
    try {
        if (is_told(entry)) return;
        const Result<std::string> id = try_commit(entry);
        if (id) {
            const std::scoped_lock lock(mutex);
            missed_since = 0;
            return;
        }
        why = id.error().message;
    } catch (const std::exception& thrown) {
        why = thrown.what();
    } catch (...) {
        why = "an unknown failure";
    }
    const std::string message = git::commit_message(entry, false, 0);
    leave_out(message.substr(0, message.find('\n')), why);
}

void GitHistory::State::work() {
    std::unique_lock lock(mutex);
    while (true) {
        changed.wait(lock, [this] { return is_stopping || !waiting.empty(); });
        if (waiting.empty()) return;
        const git::Entry entry = std::move(waiting.front());
        waiting.pop_front();
        const bool is_late = is_out_of_time;
        lock.unlock();
        if (is_late) {
            leave_out(entry.label, "the program ended");
        } else {
            commit(entry);
        }
        lock.lock();
        ++finished;
        changed.notify_all();
    }
}

bool GitHistory::State::flush(std::chrono::milliseconds within) {
    std::unique_lock lock(mutex);
    const std::size_t target = added;
    return changed.wait_for(lock, within, [&] { return finished >= target; });
}

void GitHistory::State::stop() {
    const bool is_done = flush(stop_within);
    {
        const std::scoped_lock lock(mutex);
        is_stopping = true;
        is_out_of_time = !is_done;
        changed.notify_all();
    }
    worker.join();
}

GitHistory::GitHistory(GitOptions options) : state_(std::make_unique<State>(std::move(options))) {}

GitHistory::~GitHistory() { state_->stop(); }

void GitHistory::on_decided(const Request& request) {
    for (git::Entry& entry : git::entries_of(request)) state_->add(std::move(entry));
}

void GitHistory::on_ran(const Request& request, const Release& release, const Ran& ran) {
    state_->add(git::entry_of(request, release, ran));
}

bool GitHistory::flush(std::chrono::milliseconds within) { return state_->flush(within); }

std::size_t GitHistory::missed() const {
    const std::scoped_lock lock(state_->mutex);
    return state_->missed_total;
}

}  // namespace holdpoint
