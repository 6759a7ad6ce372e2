#pragma once

#include <sys/types.h>

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <holdpoint/json.h>
#include <holdpoint/result.h>

namespace holdpoint::agent {

/// What a named session has proposed, begun and finished, on disk: an agent that was killed and
/// started again finds its requests, and nothing that was begun is begun twice. One process at a
/// time. Any thread.
class Journal {
  public:
    Journal() = default;  ///< remembers nothing until it is opened
    ~Journal();
    Journal(const Journal&) = delete;
    Journal& operator=(const Journal&) = delete;

    /// Reads `folder`/<name of the session>.journal; makes it if there is none. `unavailable` where
    /// it cannot be written or another process works in this session.
    Result<void> open(const std::string& folder, const std::string& session);

    struct Proposed {
        Json body;
        std::vector<std::string> ids;  ///< empty until the answer came
    };
    std::optional<Proposed> find(const std::string& key);
    /// `invalid_argument` for what could not be read again: no UTF-8, too long, too deep.
    Result<void> propose(const std::string& key, const Json& body);
    Result<void> accepted(const std::string& key, const std::vector<std::string>& ids);

    enum class Progress { fresh, begun, finished };
    struct Standing {
        Progress progress = Progress::fresh;
        Json result = {};
    };
    /// Marks the request as begun, if it is fresh, and says what it was before. The mark is on disk
    /// when this returns.
    Result<Standing> begin(const std::string& id);
    /// A result that could not be read again is kept as a sentence that says so.
    Result<void> finish(const std::string& id, const Json& result);

  private:
    Result<void> write(const Json& line, bool must_sync);
    void take(const Json& line);

    std::mutex mutex_;
    int file_ = -1;
    off_t size_ = 0;        // guarded by mutex_; of the whole lines
    bool is_torn_ = false;  // guarded by mutex_; half a line could not be taken back
    std::map<std::string, Proposed> proposed_;  // guarded by mutex_
    std::map<std::string, Standing> standing_;  // guarded by mutex_
};

}  // namespace holdpoint::agent
