#include "agent/feedback/log.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include <array>
#include <optional>

#include <fmt/format.h>

namespace holdpoint::agent::feedback {
namespace {

/// "hpfb", so that no other database is taken for ours.
constexpr int application_id = 0x68706662;
constexpr int version = 1;

constexpr const char* schema = R"(
CREATE TABLE feedback (
    id INTEGER PRIMARY KEY,
    session TEXT NOT NULL,
    kind TEXT NOT NULL,
    request TEXT NOT NULL,
    tool TEXT NOT NULL,
    before TEXT NOT NULL,
    after TEXT NOT NULL,
    text TEXT NOT NULL,
    by TEXT NOT NULL,
    at TEXT NOT NULL,
    lifted_by TEXT NOT NULL DEFAULT '',
    lifted_at TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX feedback_by_session ON feedback (session, id);
CREATE UNIQUE INDEX feedback_once ON feedback (session, request, kind)
    WHERE request <> '' AND kind <> 'correction';
)";

constexpr auto kinds = std::to_array({FeedbackKind::rejection, FeedbackKind::modification,
                                      FeedbackKind::guidance, FeedbackKind::correction});

std::optional<FeedbackKind> kind_of(std::string_view word) {
    for (const FeedbackKind kind : kinds) {
        if (to_string(kind) == word) return kind;
    }
    return std::nullopt;
}

Error failed(sqlite3* db, std::string_view what) {
    return {ErrorCode::unavailable, fmt::format("feedback file: {}: {}", what,
                                                db != nullptr ? sqlite3_errmsg(db) : "no memory")};
}

/// A prepared statement; texts are copied.
class Query {
  public:
    Query(sqlite3* db, const char* sql) { sqlite3_prepare_v2(db, sql, -1, &handle_, nullptr); }
    ~Query() { sqlite3_finalize(handle_); }
    Query(const Query&) = delete;
    Query& operator=(const Query&) = delete;

    Query& text(std::string_view value) {
        sqlite3_bind_text(handle_, ++bound_, value.data(), static_cast<int>(value.size()),
                          SQLITE_TRANSIENT);
        return *this;
    }
    Query& number(std::int64_t value) {
        sqlite3_bind_int64(handle_, ++bound_, value);
        return *this;
    }
    /// SQLITE_ROW, SQLITE_DONE or what went wrong.
    int step() { return handle_ != nullptr ? sqlite3_step(handle_) : SQLITE_ERROR; }
    std::int64_t number_at(int column) const { return sqlite3_column_int64(handle_, column); }
    std::string text_at(int column) const {
        const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(handle_, column));
        return bytes != nullptr ? bytes : "";
    }

  private:
    sqlite3_stmt* handle_ = nullptr;
    int bound_ = 0;
};

Result<std::int64_t> pragma(sqlite3* db, const char* sql) {
    Query query(db, sql);
    if (query.step() != SQLITE_ROW) return failed(db, "cannot be read");
    return query.number_at(0);
}

Result<void> execute(sqlite3* db, const std::string& sql) {
    if (sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
        return failed(db, "cannot be written");
    }
    return {};
}

Result<Json> json_at(const Query& query, int column) {
    const std::string text = query.text_at(column);
    if (text.empty()) return Json();
    return Json::parse(text);
}

/// A row that cannot be read is an error: feedback that gets lost would be asked for again.
Result<Feedback> read_row(const Query& query, const std::string& session) {
    const std::optional<FeedbackKind> kind = kind_of(query.text_at(1));
    const Result<Json> before = json_at(query, 4);
    const Result<Json> after = json_at(query, 5);
    if (!kind || !before || !after) {
        return Error{ErrorCode::unavailable,
                     fmt::format("feedback file: row {} cannot be read", query.number_at(0))};
    }
    return Feedback{.request_id = query.text_at(2),
                    .kind = *kind,
                    .tool = query.text_at(3),
                    .text = query.text_at(6),
                    .before = *before,
                    .after = *after,
                    .by = query.text_at(7),
                    .at = query.text_at(8),
                    .session = session,
                    .id = query.number_at(0),
                    .lifted_by = query.text_at(9)};
}

std::string text_of(const Json& json) { return json.is_null() ? std::string() : json.dump(); }

}  // namespace

void Log::Close::operator()(sqlite3* db) const { sqlite3_close_v2(db); }

Result<Log> Log::open(const std::string& path) {
    if (!path.empty()) {
        // What people wrote about other people's actions is nobody else's business.
        const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        if (file < 0) {
            return Error{ErrorCode::unavailable,
                         fmt::format("feedback file `{}` cannot be opened", path)};
        }
        ::close(file);
    }
    sqlite3* raw = nullptr;
    const int opened = sqlite3_open_v2(
        path.empty() ? ":memory:" : path.c_str(), &raw,
        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_FULLMUTEX, nullptr);
    Log log{std::unique_ptr<sqlite3, Close>(raw)};
    if (opened != SQLITE_OK) return failed(raw, "cannot be opened");
    sqlite3_busy_timeout(raw, 5000);
    if (Result<void> ready = log.prepare(); !ready) return ready.error();
    return log;
}

Result<void> Log::prepare() {
    sqlite3* db = db_.get();
    if (Result<void> begun = execute(db, "BEGIN IMMEDIATE"); !begun) return begun;
    const Result<std::int64_t> id = pragma(db, "PRAGMA application_id");
    const Result<std::int64_t> tables = pragma(db, "SELECT count(*) FROM sqlite_master");
    const Result<std::int64_t> found = pragma(db, "PRAGMA user_version");
    if (!id || !tables || !found) return failed(db, "cannot be read");
    if (*id != application_id && (*id != 0 || *tables != 0)) {
        return Error{ErrorCode::invalid_argument, "feedback file: is a database of something else"};
    }
    if (*found > version) {
        return Error{ErrorCode::invalid_argument,
                     "feedback file: was written by a later version of holdpoint"};
    }
    if (*found == 0) {
        const std::string sql =
            fmt::format("{}PRAGMA application_id = {}; PRAGMA user_version = {}", schema,
                        application_id, version);
        if (Result<void> made = execute(db, sql); !made) return made;
    }
    if (Result<void> done = execute(db, "COMMIT"); !done) return done;
    return execute(db, "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
}

Result<std::int64_t> Log::add(const Feedback& feedback) {
    Query insert(db_.get(),
                 "INSERT INTO feedback (session, kind, request, tool, before, after, text, "
                 "by, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING id");
    insert.text(feedback.session)
        .text(to_string(feedback.kind))
        .text(feedback.request_id)
        .text(feedback.tool)
        .text(text_of(feedback.before))
        .text(text_of(feedback.after))
        .text(feedback.text)
        .text(feedback.by)
        .text(feedback.at);
    const int stepped = insert.step();
    if (stepped == SQLITE_ROW) {
        const std::int64_t id = insert.number_at(0);
        if (insert.step() != SQLITE_DONE) return failed(db_.get(), "cannot be written");
        return id;
    }
    if (stepped != SQLITE_DONE) return failed(db_.get(), "cannot be written");
    Query first(db_.get(),
                "SELECT id FROM feedback WHERE session = ? AND request = ? AND kind = ?");
    first.text(feedback.session).text(feedback.request_id).text(to_string(feedback.kind));
    if (first.step() != SQLITE_ROW) return failed(db_.get(), "cannot be read");
    return first.number_at(0);
}

Result<void> Log::lift(std::int64_t id, std::string_view by, std::string_view at) {
    Query query(db_.get(),
                "UPDATE feedback SET lifted_by = ?, lifted_at = ? WHERE id = ? AND lifted_by = ''");
    query.text(by).text(at).number(id);
    if (query.step() != SQLITE_DONE) return failed(db_.get(), "cannot be written");
    return {};
}

Result<std::vector<Feedback>> Log::all(const std::string& session) const {
    Query query(db_.get(),
                "SELECT id, kind, request, tool, before, after, text, by, at, lifted_by "
                "FROM feedback WHERE session = ? ORDER BY id");
    query.text(session);
    std::vector<Feedback> rows;
    int stepped = query.step();
    for (; stepped == SQLITE_ROW; stepped = query.step()) {
        Result<Feedback> row = read_row(query, session);
        if (!row) return row.error();
        rows.push_back(std::move(*row));
    }
    if (stepped != SQLITE_DONE) return failed(db_.get(), "cannot be read");
    return rows;
}

}  // namespace holdpoint::agent::feedback
