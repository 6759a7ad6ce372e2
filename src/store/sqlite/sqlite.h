#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "store/store.h"

namespace holdpoint::store::sqlite {

/// How to open a store.
struct Options {
    /// The database file; created with mode 0600 if there is none. `:memory:` is the same code
    /// without a file, for tests.
    std::string path;
    Store::Executor executor;
    Store::Listener listener;  ///< may be empty
    std::size_t queue_max = 100'000;
    std::size_t batch_max = 512;  ///< jobs that share one transaction
    /// Where effects go: one outbox row for each effect and channel.
    std::vector<std::string> channels;

    /// The write-ahead log is copied into the database when it holds more than this many pages
    /// and nobody waits, and more than that many however busy the store is. Nobody is answered
    /// meanwhile, so these decide the slowest answers: 3 to 5 ms for each 1000 pages.
    int checkpoint_idle_pages = 500;
    int checkpoint_busy_pages = 1000;

    /// So many requests may wait to be filed by agent, session and the like (Filing): lists read
    /// through them.
    std::int64_t unfiled_max = 1024;

    /// After an unclean stop, files up to this size are checked before the first job. Bigger ones
    /// only with `check_always`: a restart must not take longer the more is stored, and this much
    /// takes some twenty milliseconds.
    std::int64_t check_bytes_max = 16LL << 20;
    bool check_always = false;

    std::string vfs;  ///< SQLite's name of the file layer; empty is the system's

    /// Called when the disk failed in a way that leaves the state on it unknown. The default
    /// flushes the log and ends the process with status 70; a replacement that returns leaves a
    /// store that answers everything with unavailable.
    std::function<void(const std::string& message)> fatal;
};

/// The store in one SQLite file: one connection, which no other process can share, and one thread,
/// which the store owns.
///
/// Fails with unavailable and a message that says what to do when the file belongs to another
/// program, to a newer version, to another running process, or is damaged.
/// The store may be used from any thread; stop() must be called before it is destroyed.
Result<std::unique_ptr<Store>> open_sqlite(Options options);

}  // namespace holdpoint::store::sqlite
