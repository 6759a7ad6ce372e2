#pragma once

#include <sys/types.h>

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
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

    /// Reads the session's file in `folder`; makes it if there is none. `server` is the address of
    /// the server that the session is with, empty for the engine of this process: on another
    /// server the same name is another session. `unavailable` where the file cannot be written or
    /// another process works in this session.
    Result<void> open(const std::string& folder, const std::string& session,
                      const std::string& server = {});

    /// One call that proposes one thing or a batch. Each thing has a key of its own, so that it is
    /// found again in whatever company it is proposed the next time.
    struct Proposed {
        std::string key;  ///< of the call
        Json body;
        std::vector<std::string> keys;      ///< of the things in it, in order
        std::vector<std::string> ids = {};  ///< of their requests; empty until the answer came
    };
    struct Known {
        Proposed call;
        std::size_t at;  ///< where in the call
    };
    /// The last call that proposed the thing with this key.
    std::optional<Known> find(const std::string& key);
    /// `invalid_argument` for what could not be read again: no UTF-8, too long, too deep.
    Result<void> propose(const Proposed& call);
    Result<void> accepted(const std::string& call_key, const std::vector<std::string>& ids);

    enum class Progress { fresh, begun, finished };
    struct Standing {
        Progress progress = Progress::fresh;
        Json result = {};
    };
    Standing standing(const std::string& id);
    /// Marks the request as begun, if it is fresh, and says what it was before. The mark is on disk
    /// when this returns.
    Result<Standing> begin(const std::string& id);
    /// A result that could not be read again is kept as a sentence that says so.
    Result<void> finish(const std::string& id, const Json& result);

  private:
    Result<void> write(const Json& line, bool must_sync);
    void take(const Json& line);
    void remember(Proposed call);

    std::mutex mutex_;
    int file_ = -1;
    off_t size_ = 0;        // guarded by mutex_; of the whole lines
    bool is_torn_ = false;  // guarded by mutex_; half a line could not be taken back
    std::map<std::string, Proposed> calls_;  // guarded by mutex_; by the key of the call
    std::map<std::string, std::pair<std::string, std::size_t>> things_;  // guarded by mutex_
    std::map<std::string, Standing> standing_;                           // guarded by mutex_
};

}  // namespace holdpoint::agent
