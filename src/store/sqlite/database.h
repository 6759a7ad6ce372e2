#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

#include "base/id.h"
#include "base/result.h"
#include "base/time.h"

struct sqlite3;
struct sqlite3_stmt;

namespace holdpoint::store::sqlite {

class Database;

/// A prepared statement. Texts and blobs are bound without a copy: they must live until reset().
/// Columns and parameters are numbered as SQLite does, columns from 0 and parameters from 1.
class Statement {
  public:
    Statement() = default;
    Statement(Database& database, sqlite3_stmt* handle) : database_(&database), handle_(handle) {}
    Statement(Statement&& other) noexcept;
    Statement& operator=(Statement&& other) noexcept;
    ~Statement();

    bool is_prepared() const { return handle_ != nullptr; }
    std::string sql() const;

    void bind(int at, std::int64_t number);
    void bind_real(int at, double number);
    void bind(int at, Timestamp time) { bind(at, time.ms); }
    void bind(int at, std::string_view text);
    void bind(int at, const Ulid& id);
    void bind_blob(int at, std::string_view bytes);
    void bind_null(int at);

    /// True when there is a row. False at the end, and on failure, which database.fault() tells.
    bool step();
    /// For statements that answer no rows: runs it and resets. False on failure.
    bool run();
    void reset();

    bool is_null(int column) const;
    std::int64_t number(int column) const;
    double real(int column) const;
    std::string_view text(int column) const;  ///< valid until the next step
    std::string_view blob(int column) const;  ///< valid until the next step

  private:
    Database* database_ = nullptr;
    sqlite3_stmt* handle_ = nullptr;
};

/// Resets a statement at the end of the scope, so that no cursor stays open across a commit.
class Using {
  public:
    explicit Using(Statement& statement) : statement_(statement) {}
    ~Using() { statement_.reset(); }
    Using(const Using&) = delete;
    Using& operator=(const Using&) = delete;
    Statement* operator->() { return &statement_; }
    Statement& operator*() { return statement_; }

  private:
    Statement& statement_;
};

/// The one connection. Used by one thread at a time.
class Database {
  public:
    Database() = default;
    Database(const Database&) = delete;
    Database& operator=(const Database&) = delete;
    ~Database() { close(true); }

    /// Opens without touching the file. `vfs` may be empty.
    Result<void> open(const std::string& path, const std::string& vfs);
    /// `leave_log` closes without copying the write-ahead log: after a failure, and in a file that
    /// is not ours, nothing may be written. The destructor does it that way.
    void close(bool leave_log);

    /// Runs one or more statements; their rows are dropped.
    Result<void> execute(const std::string& sql);
    Result<std::int64_t> query_number(const std::string& sql);
    Result<std::string> query_text(const std::string& sql);
    /// Copies the write-ahead log into the file and empties it: what was written before anybody
    /// waits is not copied while somebody does. Fails only where the disk did: a sync is not tried
    /// again. Where there is no room, the next copy tries again.
    Result<void> copy_log();
    /// A wrong SQL text is a bug and asserts.
    Statement prepare(std::string_view sql);
    /// A statement kept by its text, for texts that are built from a filter.
    Statement& cached(const std::string& sql);
    /// Drops them when there are too many; only while none is in use.
    void trim_cache();

    /// The first failure since clear_fault(): an extended result code, 0 if there was none.
    int fault() const { return fault_; }
    const std::string& fault_message() const { return fault_message_; }
    void clear_fault();
    void note_fault(int code);

    bool is_in_transaction() const;
    std::int64_t changes() const;        ///< rows changed by the last statement
    std::int64_t last_row() const;       ///< the row number of the last insert
    std::int64_t total_changes() const;  ///< rows changed since opening
    sqlite3* handle() { return handle_; }

  private:
    Error error_of(const std::string& doing) const;

    sqlite3* handle_ = nullptr;
    std::unordered_map<std::string, Statement> cache_;
    int fault_ = 0;
    std::string fault_message_;
};

}  // namespace holdpoint::store::sqlite
