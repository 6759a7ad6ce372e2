#include "store/sqlite/database.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <mutex>
#include <utility>

#include "base/assert.h"

namespace holdpoint::store::sqlite {
namespace {

constexpr std::size_t cache_max = 256;

/// SQLite's own memory statistics take a lock for every allocation. This has to come before
/// SQLite's first use; if somebody else was first, we only lose the speed.
void configure_library() {
    static std::once_flag once;
    std::call_once(once, [] { sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); });
}

}  // namespace

Statement::Statement(Statement&& other) noexcept
    : database_(other.database_), handle_(std::exchange(other.handle_, nullptr)) {}

Statement& Statement::operator=(Statement&& other) noexcept {
    std::swap(database_, other.database_);
    std::swap(handle_, other.handle_);
    return *this;
}

Statement::~Statement() { sqlite3_finalize(handle_); }

std::string Statement::sql() const {
    const char* text = sqlite3_sql(handle_);
    return text ? text : "";
}

void Statement::bind(int at, std::int64_t number) { sqlite3_bind_int64(handle_, at, number); }

void Statement::bind_real(int at, double number) { sqlite3_bind_double(handle_, at, number); }

void Statement::bind(int at, std::string_view text) {
    // A null pointer would bind NULL, and an empty view may hold one.
    const char* data = text.empty() ? "" : text.data();
    sqlite3_bind_text64(handle_, at, data, text.size(), SQLITE_STATIC, SQLITE_UTF8);
}

void Statement::bind(int at, const Ulid& id) {
    sqlite3_bind_blob(handle_, at, id.bytes.data(), 16, SQLITE_STATIC);
}

void Statement::bind_blob(int at, std::string_view bytes) {
    const char* data = bytes.empty() ? "" : bytes.data();
    sqlite3_bind_blob64(handle_, at, data, bytes.size(), SQLITE_STATIC);
}

void Statement::bind_null(int at) { sqlite3_bind_null(handle_, at); }

bool Statement::step() {
    const int code = sqlite3_step(handle_);
    if (code == SQLITE_ROW) return true;
    if (code != SQLITE_DONE) database_->note_fault(code);
    return false;
}

bool Statement::run() {
    const int code = sqlite3_step(handle_);
    if (code != SQLITE_DONE && code != SQLITE_ROW) database_->note_fault(code);
    sqlite3_reset(handle_);
    return code == SQLITE_DONE || code == SQLITE_ROW;
}

void Statement::reset() { sqlite3_reset(handle_); }

bool Statement::is_null(int column) const {
    return sqlite3_column_type(handle_, column) == SQLITE_NULL;
}

std::int64_t Statement::number(int column) const { return sqlite3_column_int64(handle_, column); }

double Statement::real(int column) const { return sqlite3_column_double(handle_, column); }

std::string_view Statement::text(int column) const {
    const auto* data = reinterpret_cast<const char*>(sqlite3_column_text(handle_, column));
    if (!data) return {};
    return {data, static_cast<std::size_t>(sqlite3_column_bytes(handle_, column))};
}

std::string_view Statement::blob(int column) const {
    const auto* data = static_cast<const char*>(sqlite3_column_blob(handle_, column));
    if (!data) return {};
    return {data, static_cast<std::size_t>(sqlite3_column_bytes(handle_, column))};
}

Result<void> Database::open(const std::string& path, const std::string& vfs) {
    configure_library();
    constexpr int flags =
        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
    const int code =
        sqlite3_open_v2(path.c_str(), &handle_, flags, vfs.empty() ? nullptr : vfs.c_str());
    if (code != SQLITE_OK) {
        const Error error = error_of(fmt::format("cannot open the database `{}`", path));
        close(true);
        return error;
    }
    sqlite3_db_config(handle_, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    sqlite3_db_config(handle_, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
    return {};
}

void Database::close(bool leave_log) {
    if (!handle_) return;
    if (leave_log) sqlite3_db_config(handle_, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
    cache_.clear();
    sqlite3_close_v2(handle_);
    handle_ = nullptr;
}

Result<void> Database::execute(const std::string& sql) {
    const int code = sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr);
    if (code == SQLITE_OK) return {};
    note_fault(code);
    return error_of("the database refused a statement");
}

Result<std::string> Database::query_text(const std::string& sql) {
    sqlite3_stmt* handle = nullptr;
    const int code = sqlite3_prepare_v2(handle_, sql.c_str(), -1, &handle, nullptr);
    if (code != SQLITE_OK) {
        note_fault(code);
        return error_of("the database refused a statement");
    }
    Statement statement(*this, handle);
    if (statement.step()) return std::string{statement.text(0)};
    if (fault_ != 0) return error_of("the database refused a statement");
    return std::string{};
}

Result<std::int64_t> Database::query_number(const std::string& sql) {
    const Result<std::string> text = query_text(sql);
    if (!text) return text.error();
    return text->empty() ? 0 : std::stoll(*text);
}

Result<void> Database::copy_log() {
    const int code =
        sqlite3_wal_checkpoint_v2(handle_, nullptr, SQLITE_CHECKPOINT_TRUNCATE, nullptr, nullptr);
    if ((code & 0xff) != SQLITE_IOERR && (code & 0xff) != SQLITE_CORRUPT) return {};
    note_fault(code);
    return Error{ErrorCode::unavailable,
                 fmt::format("the disk failed: {}; check the disk and the system log, then start "
                             "again",
                             sqlite3_errstr(code))};
}

Statement Database::prepare(std::string_view sql) {
    sqlite3_stmt* handle = nullptr;
    const int code = sqlite3_prepare_v3(handle_, sql.data(), static_cast<int>(sql.size()),
                                        SQLITE_PREPARE_PERSISTENT, &handle, nullptr);
    if (code != SQLITE_OK) {
        note_fault(code);
        // Only a failing disk or lack of memory may stop a statement that we wrote ourselves; it
        // is told when the empty statement is stepped.
        HOLDPOINT_ASSERT((code & 0xff) != SQLITE_ERROR);
    }
    return Statement(*this, handle);
}

Statement& Database::cached(const std::string& sql) {
    const auto found = cache_.find(sql);
    if (found != cache_.end()) return found->second;
    return cache_.emplace(sql, prepare(sql)).first->second;
}

void Database::trim_cache() {
    if (cache_.size() > cache_max) cache_.clear();
}

void Database::clear_fault() {
    fault_ = 0;
    fault_message_.clear();
}

void Database::note_fault(int code) {
    if (fault_ != 0) return;
    fault_ = code;
    // What was noticed by somebody else SQLite knows no more about than its code says.
    const bool is_sqlites = handle_ && (sqlite3_errcode(handle_) & 0xff) == (code & 0xff);
    fault_message_ = fmt::format("{} (SQLite code {})",
                                 is_sqlites ? sqlite3_errmsg(handle_) : sqlite3_errstr(code), code);
}

bool Database::is_in_transaction() const { return sqlite3_get_autocommit(handle_) == 0; }
std::int64_t Database::changes() const { return sqlite3_changes64(handle_); }
std::int64_t Database::last_row() const { return sqlite3_last_insert_rowid(handle_); }
std::int64_t Database::total_changes() const { return sqlite3_total_changes64(handle_); }

Error Database::error_of(const std::string& doing) const {
    return {ErrorCode::unavailable,
            fmt::format("{}: {}", doing, handle_ ? sqlite3_errmsg(handle_) : "out of memory")};
}

}  // namespace holdpoint::store::sqlite
