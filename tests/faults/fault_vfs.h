#pragma once

#include <cstdint>
#include <string>
#include <string_view>

/// A file layer for SQLite that loses, lies and fails on request, for tests and the crash harness.
namespace holdpoint::faults {

/// The name to open a database with.
inline constexpr const char* vfs_name = "holdpoint-faults";

/// Read by install(): `volatile`, `nosync`, `nosync=5`, `fail=sync:3:ioerr`,
/// `fail=write:10:full:forever`, several of them separated by commas.
inline constexpr const char* environment_name = "HOLDPOINT_TEST_FAULTS";

enum class Mode {
    faithful,  ///< everything goes to the real file at once
    /// Writes and truncations stay in this process until the file is synced: a killed process
    /// then leaves what a power cut leaves.
    until_sync,
    no_sync,  ///< the same, but a sync is answered and not done: the fault a harness must find
};

enum class Operation { write, sync, truncate };

struct Failure {
    Operation operation = Operation::write;
    int nth = 1;               ///< counted from now; 1 is the next one
    int code = 0;              ///< what SQLite is told, e.g. SQLITE_FULL or SQLITE_IOERR_FSYNC
    bool is_for_ever = false;  ///< or only that once
    std::string suffix = {};   ///< only files whose name ends so: `-wal`, `.db`; empty is all
};

/// Registers the layer on top of the system's and applies the environment variable. `as_default`
/// makes SQLite use it for every file opened without a name. May be called again.
/// Fails the process on an environment variable that it does not understand: a harness that
/// believes to test faults must not run without them.
void install(bool as_default = false);

// All of these may be called from any thread, while files are open.

/// Modes apply to files when they are opened. `sync_every` is for no_sync: every so many syncs
/// one is really done; 0 is never.
void set_mode(Mode mode, int sync_every = 0);
void fail(const Failure& failure);
void clear_failures();
/// Everything faithful again, and every write that was not synced forgotten, as after a power cut.
void reset();
/// Reads the text of the environment variable. False if it makes no sense.
bool configure(std::string_view text);

/// Calls since the process began, failed ones included.
std::int64_t count(Operation operation);

}  // namespace holdpoint::faults
