#include "store/sqlite/transaction.h"

#include <sqlite3.h>

#include "base/assert.h"

namespace holdpoint::store::sqlite {
namespace {

// The columns in the order read_request() reads them. A missing body must be noticed, not skipped.
#define REQUEST_COLUMNS                                                                           \
    "SELECT h.row, h.id, h.version, h.kind, h.state, h.outcome, h.risk, h.requester,"             \
    " h.created_at, h.expires_at, h.next_at, h.settled_at, h.vote_count, h.last_event,"           \
    " h.timeout_taken, h.is_released, h.batch, h.session, h.thread, h.task, h.user, h.tool,"      \
    " h.requirement, h.timing, h.decision, h.message, h.report,"                                  \
    " b.owner, b.digest, b.headline, b.verdict, b.risk_detail, b.subject, b.proposed, b.context," \
    " b.suggested, b.metadata, h.held FROM request h LEFT JOIN body b ON b.row=h.row WHERE "

}  // namespace

SqliteTransaction::SqliteTransaction(Database& database, Setup setup)
    : database_(database),
      setup_(std::move(setup)),
      tally_(database),
      filing_(database, tally_, setup_.unfiled_max),
      begin_(database.prepare("BEGIN IMMEDIATE")),
      commit_(database.prepare("COMMIT")),
      rollback_(database.prepare("ROLLBACK")),
      savepoint_(database.prepare("SAVEPOINT attempt")),
      keep_attempt_(database.prepare("RELEASE attempt")),
      undo_attempt_(database.prepare("ROLLBACK TO attempt")),
      load_by_id_(database.prepare(REQUEST_COLUMNS "h.id=?1")),
      load_by_row_(database.prepare(REQUEST_COLUMNS "h.row=?1")),
      insert_head_(database.prepare(
          "INSERT INTO request(row, id, version, kind, state, outcome, risk, requester,"
          " created_at, expires_at, next_at, settled_at, vote_count, last_event, timeout_taken,"
          " is_released, batch, session, thread, task, user, tool, requirement, timing, decision,"
          " message, report) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14,"
          " ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26, ?27)")),
      insert_body_(database.prepare(
          "INSERT INTO body(row, owner, digest, headline, verdict, risk_detail, subject, proposed,"
          " context, suggested, metadata) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)")),
      update_body_(database.prepare(
          "UPDATE body SET owner=?2, digest=?3, headline=?4, verdict=?5, risk_detail=?6,"
          " subject=?7, proposed=?8, context=?9, suggested=?10, metadata=?11 WHERE row=?1")),
      votes_(database.prepare("SELECT person, decision, groups, place FROM vote WHERE request=?1")),
      insert_vote_(database.prepare("INSERT INTO vote(request, person, place, decision, groups)"
                                    " VALUES(?1, ?2, ?3, ?4, ?5)")),
      delete_votes_(database.prepare("DELETE FROM vote WHERE request=?1")),
      insert_event_(database.prepare(
          "INSERT INTO event(seq, request, previous, kind, at, actor, via, address, detail, risk)"
          " VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)")),
      event_by_seq_(database.prepare(
          "SELECT seq, kind, at, actor, via, address, detail, previous, request FROM event"
          " WHERE seq=?1")),
      insert_outbox_(
          database.prepare("INSERT INTO outbox(channel, about, request, due_at, attempts)"
                           " VALUES(?1, ?2, ?3, ?4, 0)")),
      created_from_(database.prepare(
          "SELECT row, created_at FROM request WHERE row>=?1 ORDER BY row LIMIT 1")),
      due_(database.prepare("SELECT id FROM request INDEXED BY request_next"
                            " WHERE state=0 AND next_at<=?1 ORDER BY next_at, row LIMIT ?2")),
      next_due_(database.prepare("SELECT next_at FROM request INDEXED BY request_next"
                                 " WHERE state=0 AND next_at>=?1 ORDER BY next_at LIMIT 1")),
      oldest_pending_(database.prepare(
          "SELECT h.created_at FROM request h INDEXED BY request_standing"
          " WHERE h.outcome=0 AND h.risk=?1 AND h.kind=?2 ORDER BY h.row LIMIT 1")),
      requester_by_name_(
          database.prepare("SELECT ref FROM requester WHERE agent_id=?1 AND name=?2")),
      requester_by_ref_(database.prepare("SELECT agent_id, name FROM requester WHERE ref=?1")),
      insert_requester_(database.prepare("INSERT INTO requester(agent_id, name) VALUES(?1, ?2)")) {}

std::vector<std::string> SqliteTransaction::fixed_statements() {
    std::vector<std::string> texts;
    for (const Statement* statement :
         {&load_by_id_, &load_by_row_, &update_body_, &votes_, &delete_votes_, &event_by_seq_,
          &created_from_, &due_, &next_due_, &oldest_pending_, &requester_by_name_,
          &requester_by_ref_, &update_statement(false, false), &update_statement(false, true),
          &update_statement(true, false), &update_statement(true, true)})
        texts.push_back(statement->sql());
    for (const bool is_by_agent : {true, false}) texts.push_back(waiting_statement(is_by_agent));
    return texts;
}

bool SqliteTransaction::begin() {
    changes_.clear();
    database_.trim_cache();
    return begin_.run();
}

void SqliteTransaction::begin_job() { changes_at_start_ = database_.total_changes(); }

bool SqliteTransaction::has_written() const {
    return database_.total_changes() != changes_at_start_;
}

bool SqliteTransaction::commit() {
    if (!tally_.flush() || !commit_.run()) return false;
    tally_.accepted();
    return true;
}

/// Their rows may have been part of what is rolled back.
void SqliteTransaction::forget_rows() {
    recent_.clear();
    requester_refs_.clear();
    requesters_.clear();
    tools_seen_.clear();
    has_push_.reset();
}

bool SqliteTransaction::rollback() {
    forget_rows();
    changes_.clear();
    tally_.dropped();
    return !database_.is_in_transaction() || rollback_.run();
}

Result<void> SqliteTransaction::attempt(const std::function<Result<void>()>& work) {
    if (!savepoint_.run()) return failed();
    const Tally::Mark mark = tally_.mark();
    const std::size_t changes = changes_.size();
    Result<void> done = work();
    if (done) {
        if (!keep_attempt_.run()) return failed();
        return done;
    }
    forget_rows();
    tally_.rewind(mark);
    changes_.erase(changes_.begin() + static_cast<std::ptrdiff_t>(changes), changes_.end());
    // After some failures SQLite has rolled back by itself; the fault then fails the use case.
    const bool is_undone =
        database_.is_in_transaction() && undo_attempt_.run() && keep_attempt_.run();
    if (!is_undone && database_.fault() == 0) database_.note_fault(SQLITE_ABORT);
    return done;
}

Error SqliteTransaction::failed() const {
    const int code = database_.fault() & 0xff;
    if (code == SQLITE_FULL)
        return {ErrorCode::unavailable,
                "the disk is full and nothing was changed; try again once there is space", "", 5};
    if (code == SQLITE_CONSTRAINT)
        return {ErrorCode::conflict, "the store already holds another record in this place"};
    return {ErrorCode::unavailable, "the store could not answer; nothing was changed"};
}

}  // namespace holdpoint::store::sqlite
