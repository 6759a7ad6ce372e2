#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <holdpoint/observer.h>
#include <holdpoint/request.h>

namespace holdpoint {

struct GitOptions {
    /// The working tree of the session's repository; it must exist.
    std::string repository = {};
    /// Whose commits they are; empty: user.name and user.email of the repository.
    std::string name = {}, email = {};
    /// Where relative paths in actions begin; empty: the repository.
    std::string working_directory = {};
    /// The working tree is the agent's alone: whatever changed while an action ran is committed
    /// with it. Otherwise only the files that its arguments name.
    bool owns_working_tree = false;
    std::size_t queue_max = 256;  ///< commits that may wait; what comes beyond is left out
    /// Told, on a thread of ours, what could not be committed and why; spdlog's default otherwise.
    std::function<void(std::string_view)> log = {};
};

/// Writes what happens to a session into its git history: `[Approval] Approved: delete_files
/// (3 files)`, then `[Delete] Deleted 3 files`, with trailers that name the request, its digest and
/// who approved it. Give it to a Holdpoint as observer.
///
/// The history follows what happened and never leads it: commits are made on a thread of their own,
/// in order, and a repository that is missing, locked, read-only, bare, detached, without identity
/// or in the middle of a merge is reported and holds nothing up. The next commit that succeeds says
/// in `Holdpoint-Missed` how many were left out before it. Any thread.
class GitHistory : public Observer {
  public:
    explicit GitHistory(GitOptions options);
    /// Commits what waits, for at most five seconds, and reports the rest as left out.
    ~GitHistory() override;
    GitHistory(const GitHistory&) = delete;
    GitHistory& operator=(const GitHistory&) = delete;

    void on_decided(const Request& request) override;
    void on_ran(const Request& request, const Release& release, const Ran& ran) override;

    /// Waits until everything told so far is committed or given up; false when time ran out first.
    bool flush(std::chrono::milliseconds within = std::chrono::seconds(5));
    /// How many commits were left out since the start.
    std::size_t missed() const;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace holdpoint
