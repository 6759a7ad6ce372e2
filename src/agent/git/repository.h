#pragma once

#include <cstddef>
#include <set>
#include <string>

#include "agent/git/message.h"
#include "base/result.h"

namespace holdpoint::agent::git {

struct CommitOptions {
    std::string repository;  ///< its working tree
    std::string name = {}, email = {};
    std::string working_directory = {};  ///< where relative paths begin; empty: the repository
    bool owns_working_tree = false;
    std::size_t missed = 0;  ///< for the trailer
};

/// Makes one commit on the current branch and answers its id. A decision is a commit without
/// changes; an action brings the files it names, or everything where the working tree is the
/// agent's own. What somebody else has staged stays staged and is not committed. Files outside of
/// the working tree, behind a symbolic link, ignored, or below `.git` are left out. Runs no hooks
/// and no filters of the repository's own.
///
/// Fails with conflict where a later try may succeed (somebody holds a lock or has just committed),
/// with unavailable for a repository that cannot be used as it is: missing, bare, read-only, a
/// detached head, a merge under way, no identity. Nothing is half done: either the commit exists or
/// at most its files are staged. Blocks on the disk; one thread at a time for each repository.
Result<std::string> commit(const Entry& entry, const CommitOptions& options);

/// What marks a decision in a history: its subject and its request.
std::string mark_of(const Entry& entry);
/// The marks of the newest commits of the current branch, at most `commits_max`.
Result<std::set<std::string>> marks_in_history(const CommitOptions& options,
                                               std::size_t commits_max);

}  // namespace holdpoint::agent::git
