#include "store/sqlite/sqlite.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <condition_variable>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <thread>

#include "base/assert.h"
#include "store/sqlite/database.h"
#include "store/sqlite/filing.h"
#include "store/sqlite/log_room.h"
#include "store/sqlite/migrations.h"
#include "store/sqlite/transaction.h"

namespace holdpoint::store::sqlite {
namespace {

constexpr std::chrono::milliseconds idle_after{50};

/// What a failed statement means for the store.
enum class Damage {
    job,      ///< this job asked for something impossible; the others are fine
    no_room,  ///< the disk is full; nothing was changed
    unclear,  ///< nothing was changed, the reason is unknown (memory, …)
    disk,     ///< what is on the disk is unknown: the process must end
};

Damage damage_of(int code) {
    switch (code & 0xff) {
        case SQLITE_CONSTRAINT:
        case SQLITE_TOOBIG:
            return Damage::job;
        case SQLITE_FULL:
            return Damage::no_room;
        case SQLITE_IOERR:
        case SQLITE_CORRUPT:
        case SQLITE_NOTADB:
            return Damage::disk;
        default:
            return Damage::unclear;
    }
}

Error unavailable(std::string message) {
    return {ErrorCode::unavailable, std::move(message), "", 1};
}

void end_process(const std::string&) {
    spdlog::default_logger()->flush();
    std::_Exit(70);
}

/// The store of sqlite.h. Public members may be called from any thread; everything below `// the
/// store's thread` runs there only.
class SqliteStore final : public Store {
  public:
    SqliteStore(Options options, std::unique_ptr<Database> database)
        : options_(std::move(options)),
          listener_(std::make_shared<const Listener>(std::move(options_.listener))),
          database_(std::move(database)) {}

    ~SqliteStore() override { HOLDPOINT_ASSERT(!thread_.joinable()); }

    Result<void> start() {
        transaction_ = std::make_unique<SqliteTransaction>(
            *database_, SqliteTransaction::Setup{.channels = options_.channels,
                                                 .unfiled_max = options_.unfiled_max});
        if (database_->fault() != 0 || !transaction_->load_tally())
            return unavailable(fmt::format(
                "the counters in `{}` cannot be read: {}; start with --check-store, and "
                "if that does not help restore the last backup",
                options_.path, database_->fault_message()));
        sqlite3_wal_hook(database_->handle(), &SqliteStore::on_wal, this);
        // A batch may begin just below the limit; and what is written by another file layer is
        // that layer's to keep.
        const bool has_log = options_.path != ":memory:" && options_.vfs.empty();
        log_room_ =
            std::make_unique<LogRoom>(has_log ? options_.path + "-wal" : std::string(),
                                      std::int64_t{options_.checkpoint_busy_pages} * 9 / 8 * 4120);
        thread_ = std::thread([this] { work(); });
        return {};
    }

    void enqueue(std::unique_ptr<Job> job) override {
        const char* refusal = nullptr;
        bool must_wake = false;
        {
            const std::lock_guard lock(mutex_);
            if (is_stopping_)
                refusal = "the store is stopping; nothing was changed";
            else if (queue_.size() >= options_.queue_max)
                refusal = "too many calls are waiting for the store; nothing was changed";
            else {
                must_wake = queue_.empty();
                queue_.push_back(std::move(job));
            }
        }
        if (refusal) return refuse(std::move(job), refusal);
        if (must_wake) wake_.notify_one();
    }

    void stop() override {
        {
            const std::lock_guard lock(mutex_);
            is_stopping_ = true;
        }
        wake_.notify_one();
        if (thread_.joinable()) thread_.join();
    }

  private:
    struct Answer {
        std::unique_ptr<Job> job;
        std::optional<Error> failure;
    };
    using Answers = std::vector<Answer>;

    static int on_wal(void* self, sqlite3*, const char*, int pages) {
        static_cast<SqliteStore*>(self)->log_pages_ = pages;
        return SQLITE_OK;
    }

    void refuse(std::unique_ptr<Job> job, const char* why) {
        options_.executor([job = std::move(job), why]() mutable { job->done(unavailable(why)); });
    }

    // ---- the store's thread

    void work() {
        std::vector<std::unique_ptr<Job>> taken;
        while (take(taken)) {
            for (std::size_t at = 0; at < taken.size(); at += options_.batch_max) {
                const std::size_t size = std::min(options_.batch_max, taken.size() - at);
                run_batch({taken.data() + at, size});
                if (unsaved_pages() > options_.checkpoint_busy_pages) checkpoint();
            }
            taken.clear();
        }
        finish();
    }

    /// Takes whatever came while the last batch was synced: no artificial window. False at the end.
    bool take(std::vector<std::unique_ptr<Job>>& taken) {
        std::unique_lock lock(mutex_);
        const auto has_work = [&] { return !queue_.empty() || is_stopping_; };
        // Callers who wait for their answer leave the queue empty for a moment after every commit;
        // only a real pause is the time to tidy up.
        const bool has_paused = !wake_.wait_for(lock, idle_after, has_work);
        if (has_paused && !is_dead_) {
            lock.unlock();
            tidy_up();
            lock.lock();
        }
        wake_.wait(lock, has_work);
        taken.swap(queue_);
        return !taken.empty();
    }

    void run_batch(std::span<std::unique_ptr<Job>> jobs) {
        if (is_dead_) return answer_all(jobs, dead_error());
        if (run_together(jobs)) return;
        // Somebody wrote and failed, or a constraint was hit: nobody's work may be lost for it.
        for (std::unique_ptr<Job>& job : jobs) {
            if (is_dead_)
                answer_all({&job, 1}, dead_error());
            else
                run_alone(job);
        }
    }

    /// False when the batch was rolled back and each job has to run alone.
    bool run_together(std::span<std::unique_ptr<Job>> jobs) {
        database_->clear_fault();
        bool must_split = false;
        if (transaction_->begin()) {
            for (std::unique_ptr<Job>& job : jobs) {
                const bool is_done = run_job(*job);
                if (database_->fault() != 0) break;
                must_split = !is_done && transaction_->has_written();
                if (must_split) break;
            }
        }
        if (!must_split && database_->fault() == 0 && transaction_->commit()) {
            answer(jobs, transaction_->take_changes());
            return true;
        }
        const int fault = database_->fault();
        undo();
        if (is_dead_) return false;
        switch (fault == 0 ? Damage::job : damage_of(fault)) {
            case Damage::job:
                // Alone it would only fail in the same way again.
                if (jobs.size() > 1 || !must_split) return false;
                answer_all(jobs, std::nullopt);
                return true;
            case Damage::no_room:
                // What one of them needs is no reason to refuse what fits.
                if (jobs.size() > 1) return false;
                [[fallthrough]];
            case Damage::unclear:
                answer_all(jobs, error_of(fault));
                return true;
            case Damage::disk:
                die();
                return false;
        }
        return false;
    }

    void run_alone(std::unique_ptr<Job>& job) {
        database_->clear_fault();
        bool is_done = false;
        if (transaction_->begin()) is_done = run_job(*job);
        const bool may_commit = is_done || !transaction_->has_written();
        if (database_->fault() == 0 && may_commit && transaction_->commit()) {
            answer({&job, 1}, transaction_->take_changes());
            return;
        }
        const int fault = database_->fault();
        undo();
        if (!is_dead_ && fault != 0 && damage_of(fault) == Damage::disk) die();
        if (is_dead_) return answer_all({&job, 1}, dead_error());
        // A job that tells its own failure keeps it; one that overlooked a failed write must not
        // report success.
        if (has_thrown_) return answer_all({&job, 1}, bug_error());
        if (is_done || (fault != 0 && damage_of(fault) != Damage::job))
            return answer_all({&job, 1}, error_of(fault));
        answer_all({&job, 1}, std::nullopt);
    }

    /// True when the job succeeded. An exception is a bug in the job: it fails, the store goes on.
    bool run_job(Job& job) {
        transaction_->begin_job();
        has_thrown_ = false;
        try {
            return job.run(*transaction_).has_value();
        } catch (const std::exception& thrown) {
            spdlog::error("a use case threw: {}", thrown.what());
        }
        // Treated like a refused write: rolled back alone, whatever it had done so far.
        has_thrown_ = true;
        database_->note_fault(SQLITE_CONSTRAINT);
        return false;
    }

    /// Rolls back. What made it necessary is remembered for the log.
    void undo() {
        reason_ = database_->fault_message();
        database_->clear_fault();
        if (transaction_->rollback()) return;
        reason_ += "; the rollback failed, too: " + database_->fault_message();
        die();
    }

    Error error_of(int fault) {
        if (damage_of(fault) == Damage::no_room) {
            if (!is_full_)
                spdlog::error("the disk with `{}` is full; writes are refused until there is space",
                              options_.path);
            is_full_ = true;
            return {ErrorCode::unavailable,
                    "the disk is full and nothing was changed; try again once there is space", "",
                    5};
        }
        if (damage_of(fault) == Damage::job)
            return {ErrorCode::internal, "a write was refused by the store; nothing was changed"};
        spdlog::error("the store failed: {}", reason_);
        return unavailable("the store could not answer; nothing was changed");
    }

    // ---- answers

    void answer(std::span<std::unique_ptr<Job>> jobs, std::vector<Change> changes) {
        if (is_full_ && !changes.empty()) {
            spdlog::info("the disk with `{}` takes writes again", options_.path);
            is_full_ = false;
        }
        Answers answers;
        answers.reserve(jobs.size());
        for (std::unique_ptr<Job>& job : jobs) answers.push_back({std::move(job), std::nullopt});
        deliver(std::move(answers), std::move(changes));
    }

    void answer_all(std::span<std::unique_ptr<Job>> jobs, const std::optional<Error>& failure) {
        Answers answers;
        answers.reserve(jobs.size());
        for (std::unique_ptr<Job>& job : jobs) answers.push_back({std::move(job), failure});
        deliver(std::move(answers), {});
    }

    /// One hand-over for each batch: waking the other thread costs more than a job.
    void deliver(Answers answers, std::vector<Change> changes) {
        options_.executor([answers = std::move(answers), changes = std::move(changes),
                           listener = listener_]() mutable {
            if (!changes.empty() && *listener) (*listener)(changes);
            for (Answer& answer : answers) answer.job->done(std::move(answer.failure));
        });
    }

    // ---- the log and the end

    int unsaved_pages() {
        // The log starts again from its beginning once everything in it was copied.
        if (log_pages_ < copied_pages_) copied_pages_ = 0;
        return log_pages_ - copied_pages_;
    }

    void tidy_up() {
        if (unsaved_pages() > options_.checkpoint_idle_pages) checkpoint();
        while (!is_dead_ && is_queue_empty() && log_room_->grow()) {
        }
    }

    bool is_queue_empty() {
        const std::lock_guard lock(mutex_);
        return queue_.empty() && !is_stopping_;
    }

    void checkpoint() {
        int all = 0, copied = 0;
        const int code = sqlite3_wal_checkpoint_v2(database_->handle(), nullptr,
                                                   SQLITE_CHECKPOINT_PASSIVE, &all, &copied);
        copied_pages_ = log_pages_;
        if (code == SQLITE_OK && all >= 0) return;
        if (damage_of(code) == Damage::disk) {
            reason_ = fmt::format("{} (SQLite code {})", sqlite3_errstr(code), code);
            return die();
        }
        // Nothing is lost: the log still holds everything, and the next checkpoint tries again.
        spdlog::error("the write-ahead log of `{}` could not be copied into it: {}", options_.path,
                      sqlite3_errstr(code));
    }

    void die() {
        if (is_dead_) return;
        is_dead_ = true;
        const std::string message = fmt::format(
            "the disk under `{}` failed: {}. Whether the last writes are on it is unknown, so "
            "nothing is retried and the process ends. Check the disk and the system log, then "
            "start again: what was confirmed before is recovered from the write-ahead log",
            options_.path, reason_);
        spdlog::critical(message);
        if (options_.fatal)
            options_.fatal(message);
        else
            end_process(message);
    }

    static Error dead_error() {
        return unavailable("the store's disk failed; whether the last writes are kept is unknown");
    }

    static Error bug_error() {
        return {ErrorCode::internal, "an unexpected error; nothing was changed"};
    }

    void finish() {
        if (!is_dead_) {
            database_->clear_fault();
            const Result<void> marked = database_->execute("UPDATE run SET state='clean'");
            const int code = sqlite3_wal_checkpoint_v2(
                database_->handle(), nullptr, SQLITE_CHECKPOINT_TRUNCATE, nullptr, nullptr);
            if (!marked || code != SQLITE_OK)
                spdlog::warn(
                    "`{}` was not closed cleanly: {}; start it with --check-store to check it",
                    options_.path, sqlite3_errstr(code));
        }
        transaction_.reset();
        log_room_.reset();
        database_->close(is_dead_);
    }

    Options options_;
    const std::shared_ptr<const Listener> listener_;
    const std::unique_ptr<Database> database_;
    std::unique_ptr<SqliteTransaction> transaction_;
    std::unique_ptr<LogRoom> log_room_;
    int log_pages_ = 0;
    int copied_pages_ = 0;
    bool is_dead_ = false;
    bool has_thrown_ = false;
    bool is_full_ = false;
    std::string reason_;  ///< of the last failure, for the log

    std::mutex mutex_;
    std::condition_variable wake_;
    std::vector<std::unique_ptr<Job>> queue_;  // guarded by mutex_
    bool is_stopping_ = false;                 // guarded by mutex_
    std::thread thread_;
};

// ---- opening

bool is_memory(const Options& options) { return options.path == ":memory:"; }

Error cannot(const std::string& what, const std::string& path) {
    return unavailable(fmt::format("cannot {} `{}`: {}", what, path, std::strerror(errno)));
}

/// SQLite's locks do not hold on network file systems, and two servers on one file would both
/// believe that they decide.
bool is_on_network(int file) {
    struct statfs about{};
    if (fstatfs(file, &about) != 0) return false;
    constexpr unsigned nfs = 0x6969, smb = 0x517B, cifs = 0xFF534D42, smb2 = 0xFE534D42;
    const auto type = static_cast<unsigned>(about.f_type);
    return type == nfs || type == smb || type == cifs || type == smb2;
}

/// Creates the file for its owner only, and makes its name durable. A file that is there may be
/// somebody else's: it is left as it is.
Result<void> prepare_file(const std::string& path) {
    const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0) return cannot("open the database", path);
    const bool is_remote = is_on_network(file);
    const bool is_synced = fsync(file) == 0;
    ::close(file);
    if (is_remote)
        return unavailable(
            fmt::format("`{}` is on a network file system, where locks and syncs "
                        "cannot be relied on; use a local disk, or PostgreSQL",
                        path));
    if (!is_synced) return cannot("sync", path);

    std::filesystem::path parent = std::filesystem::path(path).parent_path();
    if (parent.empty()) parent = ".";
    const int folder = ::open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) return cannot("open the folder", parent);
    const bool is_folder_synced = fsync(folder) == 0;
    ::close(folder);
    if (!is_folder_synced) return cannot("sync the folder", parent);
    return {};
}

/// Turns SQLite's reason into what a person can do about it.
Error explain(const Database& database, const Options& options, const Error& error) {
    switch (database.fault() & 0xff) {
        case SQLITE_BUSY:
            return unavailable(
                fmt::format("`{}` is in use by another process; stop that one, or "
                            "choose another data directory",
                            options.path));
        case SQLITE_NOTADB:
            return unavailable(
                fmt::format("`{}` is not a database; name another file or another "
                            "data directory",
                            options.path));
        case SQLITE_CORRUPT:
            return unavailable(
                fmt::format("`{}` is damaged; keep a copy and restore the last "
                            "backup",
                            options.path));
        default:
            return unavailable(fmt::format("`{}`: {}", options.path, error.message));
    }
}

/// A setting and what it must read back as.
struct Pragma {
    const char* name;
    const char* value;
    const char* answer;
};

Result<void> set_pragma(Database& database, const Options& options, const Pragma& pragma) {
    const Result<void> set =
        database.execute(fmt::format("PRAGMA {}={}", pragma.name, pragma.value));
    if (!set) return explain(database, options, set.error());
    const Result<std::string> now = database.query_text(fmt::format("PRAGMA {}", pragma.name));
    if (!now) return explain(database, options, now.error());
    if (*now != pragma.answer)
        return unavailable(
            fmt::format("`{}`: SQLite answers {} = {} instead of {}; this "
                        "installation cannot keep the store's promises",
                        options.path, pragma.name, *now, pragma.answer));
    return {};
}

Result<void> configure(Database& database, const Options& options) {
    // Before anything touches the file: no second process, and no shared memory file for the log.
    if (!is_memory(options)) {
        const Result<void> set =
            set_pragma(database, options, {"locking_mode", "EXCLUSIVE", "exclusive"});
        if (!set) return set;
    }
    if (const Result<void> owned = check_owner(database, options.path); !owned)
        return database.fault() != 0 ? explain(database, options, owned.error()) : owned.error();
    if (!is_memory(options) && ::chmod(options.path.c_str(), 0600) != 0)
        return cannot("make private", options.path);

    static constexpr Pragma on_disk[] = {{"journal_mode", "WAL", "wal"}, {"mmap_size", "0", "0"}};
    // A small page cache, with the system's behind it: after every commit that split a page SQLite
    // 3.40 walks through all of its cache, and 64 MiB cost a third of the store's time.
    static constexpr Pragma always[] = {
        {"synchronous", "FULL", "2"},       {"foreign_keys", "ON", "1"},
        {"trusted_schema", "OFF", "0"},     {"cell_size_check", "ON", "1"},
        {"temp_store", "MEMORY", "2"},      {"cache_size", "-8192", "-8192"},
        {"secure_delete", "FAST", "2"},     {"wal_autocheckpoint", "0", "0"},
        {"recursive_triggers", "OFF", "0"},
    };
    if (!is_memory(options)) {
        for (const Pragma& pragma : on_disk)
            if (const Result<void> set = set_pragma(database, options, pragma); !set) return set;
    }
    for (const Pragma& pragma : always)
        if (const Result<void> set = set_pragma(database, options, pragma); !set) return set;
    return {};
}

std::int64_t file_bytes(const std::string& path) {
    std::error_code failed;
    const auto size = std::filesystem::file_size(path, failed);
    return failed ? 0 : static_cast<std::int64_t>(size);
}

/// Looks at the marker of the last run, checks the file if that run did not end well, and marks
/// this one as running.
Result<void> check_last_run(Database& database, const Options& options) {
    const Result<std::string> last = database.query_text("SELECT state FROM run WHERE one=1");
    if (!last) return explain(database, options, last.error());
    const bool is_small = file_bytes(options.path) <= options.check_bytes_max;
    if (*last != "clean" && (is_small || options.check_always))
        spdlog::warn("`{}` was not closed cleanly; it is checked now", options.path);
    else if (*last != "clean")
        spdlog::warn(
            "`{}` was not closed cleanly; it is larger than {} MiB and is not checked, so that the "
            "restart is quick. Restart with --check-store to check it",
            options.path, options.check_bytes_max >> 20);
    if (options.check_always || (*last != "clean" && is_small)) {
        const Result<std::string> found = database.query_text("PRAGMA quick_check(1)");
        if (!found) return explain(database, options, found.error());
        if (*found != "ok")
            return unavailable(
                fmt::format("`{}` is damaged: {}; keep a copy and restore the last "
                            "backup",
                            options.path, *found));
        if (const Result<void> filed = check_filing(database); !filed)
            return explain(database, options, filed.error());
    }
    const Result<void> marked = database.execute("UPDATE run SET state='running'");
    if (!marked) return explain(database, options, marked.error());
    return {};
}

}  // namespace

Result<std::unique_ptr<Store>> open_sqlite(Options options) {
    HOLDPOINT_ASSERT(options.executor && options.batch_max > 0);
    if (!is_memory(options)) {
        if (const Result<void> file = prepare_file(options.path); !file) return file.error();
    }
    auto database = std::make_unique<Database>();
    if (const Result<void> opened = database->open(options.path, options.vfs); !opened)
        return opened.error();
    if (const Result<void> set = configure(*database, options); !set) return set.error();
    if (const Result<void> current = migrate(*database, options.path); !current)
        return explain(*database, options, current.error());
    if (const Result<void> checked = check_last_run(*database, options); !checked)
        return checked.error();

    auto store = std::make_unique<SqliteStore>(std::move(options), std::move(database));
    if (const Result<void> started = store->start(); !started) return started.error();
    return store;
}

}  // namespace holdpoint::store::sqlite
