#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <holdpoint/feedback.h>

struct sqlite3;

namespace holdpoint::agent::feedback {

/// Feedback in a small SQLite file of the agent's own. Not in the server's store: an agent that
/// asks on a console or through a callback has none, and corrections belong to no request. One
/// thread at a time; several processes may share the file.
class Log {
  public:
    /// `path` may be empty: in memory. unavailable where it cannot be opened or read,
    /// invalid_argument where it is a file of something else or of a later version.
    static Result<Log> open(const std::string& path);

    /// Stores it durably and answers its id. The same kind of feedback about the same request of
    /// a session is stored once; the id is then that of the first.
    Result<std::int64_t> add(const Feedback& feedback);
    Result<void> lift(std::int64_t id, std::string_view by, std::string_view at);
    /// Oldest first.
    Result<std::vector<Feedback>> all(const std::string& session) const;

  private:
    struct Close {
        void operator()(sqlite3* db) const;
    };
    explicit Log(std::unique_ptr<sqlite3, Close> db) : db_(std::move(db)) {}
    Result<void> prepare();

    std::unique_ptr<sqlite3, Close> db_;
};

}  // namespace holdpoint::agent::feedback
