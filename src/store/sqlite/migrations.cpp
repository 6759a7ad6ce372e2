#include "store/sqlite/migrations.h"

#include <fmt/format.h>

#include <array>

#include "store/sqlite/filing.h"

namespace holdpoint::store::sqlite {
namespace {

// Notes on the shape (version 7 moved six of the indexes into `filed`):
// - `request` holds what changes and what is searched; `body` holds the texts that hardly ever
//   change. A decision then rewrites about 300 bytes, and the requests of one moment share pages.
// - Enumerations are their numbers. `outcome` is 0 while pending and one more than the
//   enumeration afterwards, so that one index finds every standing.
// - The row number is the last part of every index: all lists, newest first, are index searches.
// - Columns that are often empty have partial indexes and cost nothing then.
// - `previous` chains the events of one request from its `last_event` back; an index on the
//   request would cost one more page per event.
constexpr const char* version_1 = R"(
CREATE TABLE request(
  row INTEGER PRIMARY KEY,
  id BLOB NOT NULL,
  version INTEGER NOT NULL,
  kind INTEGER NOT NULL,
  state INTEGER NOT NULL,
  outcome INTEGER NOT NULL,
  risk INTEGER NOT NULL,
  requester INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  next_at INTEGER NOT NULL,
  settled_at INTEGER,
  vote_count INTEGER NOT NULL,
  last_event INTEGER NOT NULL,
  timeout_taken INTEGER,
  is_released INTEGER NOT NULL,
  batch BLOB,
  session TEXT NOT NULL,
  thread TEXT NOT NULL,
  task TEXT NOT NULL,
  user TEXT NOT NULL,
  tool TEXT NOT NULL,
  requirement TEXT NOT NULL,
  timing TEXT NOT NULL,
  decision TEXT,
  message TEXT NOT NULL,
  report TEXT
) STRICT;
CREATE UNIQUE INDEX request_id ON request(id);
CREATE INDEX request_standing ON request(outcome, risk, kind);
CREATE INDEX request_next ON request(next_at) WHERE state = 0;
CREATE INDEX request_requester ON request(requester, state);
CREATE INDEX request_session ON request(session) WHERE session <> '';
CREATE INDEX request_thread ON request(thread) WHERE thread <> '';
CREATE INDEX request_task ON request(task) WHERE task <> '';
CREATE INDEX request_user ON request(user) WHERE user <> '';
CREATE INDEX request_tool ON request(tool) WHERE tool <> '';
CREATE INDEX request_batch ON request(batch) WHERE batch IS NOT NULL;

CREATE TABLE body(
  row INTEGER PRIMARY KEY,
  owner TEXT NOT NULL,
  digest TEXT NOT NULL,
  headline TEXT NOT NULL,
  verdict TEXT NOT NULL,
  risk_detail TEXT,
  subject TEXT,
  proposed TEXT,
  context TEXT,
  suggested TEXT,
  metadata TEXT
) STRICT;

CREATE TABLE requester(
  ref INTEGER PRIMARY KEY,
  agent_id BLOB NOT NULL,
  name TEXT NOT NULL,
  UNIQUE(agent_id, name)
) STRICT;
CREATE INDEX requester_name ON requester(name);

CREATE TABLE vote(
  request INTEGER NOT NULL,
  person BLOB NOT NULL,
  place INTEGER NOT NULL,
  decision TEXT NOT NULL,
  groups TEXT NOT NULL,
  PRIMARY KEY(request, person)
) STRICT, WITHOUT ROWID;

CREATE TABLE event(
  seq INTEGER PRIMARY KEY,
  request INTEGER NOT NULL,
  previous INTEGER NOT NULL,
  kind INTEGER NOT NULL,
  at INTEGER NOT NULL,
  actor TEXT NOT NULL,
  via TEXT NOT NULL,
  address TEXT NOT NULL,
  detail TEXT
) STRICT;

CREATE TABLE outbox(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  channel TEXT NOT NULL,
  about INTEGER NOT NULL,
  request INTEGER NOT NULL,
  due_at INTEGER NOT NULL,
  attempts INTEGER NOT NULL
) STRICT;
CREATE INDEX outbox_due ON outbox(due_at);

CREATE TABLE idempotency(
  row INTEGER PRIMARY KEY,
  principal BLOB NOT NULL,
  key TEXT NOT NULL,
  body_hash BLOB NOT NULL,
  requests BLOB NOT NULL,
  at INTEGER NOT NULL,
  UNIQUE(principal, key)
) STRICT;

CREATE TABLE principal(
  id BLOB PRIMARY KEY NOT NULL,
  name TEXT NOT NULL UNIQUE,
  role TEXT NOT NULL,
  owner TEXT NOT NULL,
  password_hash TEXT NOT NULL,
  is_disabled INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  groups TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE member(
  name TEXT NOT NULL,
  principal BLOB NOT NULL,
  PRIMARY KEY(name, principal)
) STRICT, WITHOUT ROWID;
CREATE INDEX member_principal ON member(principal);

CREATE TABLE key(
  id BLOB PRIMARY KEY NOT NULL,
  principal BLOB NOT NULL REFERENCES principal(id),
  hash BLOB NOT NULL UNIQUE,
  hint TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER,
  revoked_at INTEGER
) STRICT, WITHOUT ROWID;

CREATE TABLE session(
  hash BLOB PRIMARY KEY NOT NULL,
  principal BLOB NOT NULL REFERENCES principal(id),
  is_link INTEGER NOT NULL,
  csrf TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  address TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX session_principal ON session(principal);
CREATE INDEX session_expires ON session(expires_at);

CREATE TABLE standing(
  outcome INTEGER NOT NULL,
  risk INTEGER NOT NULL,
  kind INTEGER NOT NULL,
  count INTEGER NOT NULL,
  PRIMARY KEY(outcome, risk, kind)
) STRICT, WITHOUT ROWID;
CREATE TABLE agent_pending(
  agent_id BLOB PRIMARY KEY NOT NULL,
  count INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE counter(
  one INTEGER PRIMARY KEY CHECK(one = 1),
  last_row INTEGER NOT NULL,
  last_event INTEGER NOT NULL,
  created_max INTEGER NOT NULL,
  disorder_ms INTEGER NOT NULL,
  decision_count INTEGER NOT NULL,
  decision_ms_total INTEGER NOT NULL
) STRICT;
INSERT INTO counter VALUES(1, 0, 0, 0, 0, 0, 0);

CREATE TABLE setting(name TEXT PRIMARY KEY NOT NULL, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE run(one INTEGER PRIMARY KEY CHECK(one = 1), state TEXT NOT NULL) STRICT;
INSERT INTO run VALUES(1, 'clean');
)";

// What policies remember, and a requirement's sixth part: whether it asks for a code. A sum, a
// grant and an entry of trust are read by their whole key inside the transaction that submits.
constexpr const char* version_2 = R"(
UPDATE request SET requirement = substr(requirement, 1, length(requirement) - 1) || ',false]';

CREATE TABLE policy_sum(
  name TEXT NOT NULL,
  key TEXT NOT NULL,
  bucket INTEGER NOT NULL,
  running REAL NOT NULL,
  older REAL NOT NULL,
  older_until INTEGER NOT NULL,
  running_until INTEGER NOT NULL,
  PRIMARY KEY(name, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX policy_sum_age ON policy_sum(running_until);

CREATE TABLE policy_grant(
  row INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  agent TEXT NOT NULL,
  tool TEXT NOT NULL,
  request BLOB NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  uses INTEGER NOT NULL,
  ended_at INTEGER,
  ended_by TEXT NOT NULL,
  detail TEXT NOT NULL
) STRICT;
CREATE INDEX policy_grant_of ON policy_grant(agent, tool) WHERE ended_at IS NULL;

CREATE TABLE policy_trust(
  key TEXT PRIMARY KEY NOT NULL,
  approvals INTEGER NOT NULL,
  approvers TEXT NOT NULL,
  last_at INTEGER NOT NULL,
  policy TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE tool_seen(
  agent BLOB NOT NULL,
  tool TEXT NOT NULL,
  PRIMARY KEY(agent, tool)
) STRICT, WITHOUT ROWID;

CREATE TABLE policy_version(
  row INTEGER PRIMARY KEY,
  version TEXT NOT NULL UNIQUE,
  by TEXT NOT NULL,
  at INTEGER NOT NULL,
  text TEXT NOT NULL
) STRICT;
CREATE INDEX policy_version_at ON policy_version(at);
)";

// The inbox: decisions that are held, browsers that are signed in, passkeys, push subscriptions and
// what people put off. A held decision stands in the request's row, where the timer finds it by
// `next_at`; a column that is added is null in the rows that are there, and costs them nothing.
constexpr const char* version_3 = R"(
ALTER TABLE request ADD COLUMN held TEXT;
ALTER TABLE outbox ADD COLUMN target BLOB;

ALTER TABLE session ADD COLUMN id BLOB NOT NULL DEFAULT x'';
ALTER TABLE session ADD COLUMN last_seen_at INTEGER NOT NULL DEFAULT 0;
ALTER TABLE session ADD COLUMN user_agent TEXT NOT NULL DEFAULT '';
UPDATE session SET id=randomblob(16), last_seen_at=created_at;
CREATE UNIQUE INDEX session_id ON session(id);

CREATE TABLE passkey(
  id BLOB PRIMARY KEY NOT NULL,
  principal BLOB NOT NULL REFERENCES principal(id),
  credential BLOB NOT NULL UNIQUE,
  public_key BLOB NOT NULL,
  counter INTEGER NOT NULL,
  name TEXT NOT NULL,
  transports TEXT NOT NULL,
  is_backed_up INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  last_used_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX passkey_principal ON passkey(principal);

CREATE TABLE push_subscription(
  id BLOB PRIMARY KEY NOT NULL,
  principal BLOB NOT NULL REFERENCES principal(id),
  endpoint TEXT NOT NULL UNIQUE,
  public_key BLOB NOT NULL,
  secret BLOB NOT NULL,
  name TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  last_sent_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX push_subscription_principal ON push_subscription(principal);

CREATE TABLE snooze(
  principal BLOB NOT NULL,
  request INTEGER NOT NULL,
  until INTEGER NOT NULL,
  PRIMARY KEY(principal, request)
) STRICT, WITHOUT ROWID;
CREATE INDEX snooze_until ON snooze(until);
)";

// A push subscription belongs to the session that asked for it and goes with it. Those that are
// there have none: who made them, and whether that credential is still good, nobody can say any
// more, so that they go too.
constexpr const char* version_4 = R"(
DROP TABLE push_subscription;
CREATE TABLE push_subscription(
  id BLOB PRIMARY KEY NOT NULL,
  principal BLOB NOT NULL REFERENCES principal(id),
  session BLOB NOT NULL REFERENCES session(id) ON DELETE CASCADE,
  endpoint TEXT NOT NULL UNIQUE,
  public_key BLOB NOT NULL,
  secret BLOB NOT NULL,
  name TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  last_sent_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX push_subscription_principal ON push_subscription(principal);
CREATE INDEX push_subscription_session ON push_subscription(session);
)";

// The risk that a request had when something happened to it: a change may raise it, and a stream
// that asks for a risk must find later what it would have been told then. In the rows that are
// there it is null, which means the request's own.
constexpr const char* version_5 = R"(
ALTER TABLE event ADD COLUMN risk INTEGER;
)";

// Whom the approvals that build trust were asked of. Those in the rows that are there are taken for
// anybody's, and so stand in for no certain people.
constexpr const char* version_6 = R"(
ALTER TABLE policy_trust ADD COLUMN asked TEXT NOT NULL DEFAULT '';
ALTER TABLE policy_trust ADD COLUMN excludes_requester INTEGER NOT NULL DEFAULT 0;
ALTER TABLE policy_trust ADD COLUMN takes_code INTEGER NOT NULL DEFAULT 0;
)";

// What requests are found by, out of six indexes into one table that is filled some hundred
// requests at a time (filing.h). Each old index is read in its order, which is that of the new
// table; an ORDER BY would sort all requests of an agent in memory.
constexpr const char* version_7 = R"(
CREATE TABLE filed(
  drawer INTEGER NOT NULL,
  value ANY NOT NULL,
  row INTEGER NOT NULL,
  PRIMARY KEY(drawer, value, row)
) STRICT, WITHOUT ROWID;
INSERT INTO filed SELECT 1, requester, row FROM request INDEXED BY request_requester WHERE state=0;
INSERT INTO filed SELECT 2, requester, row FROM request INDEXED BY request_requester WHERE state<>0;
INSERT INTO filed SELECT 3, session, row FROM request INDEXED BY request_session WHERE session<>'';
INSERT INTO filed SELECT 4, thread, row FROM request INDEXED BY request_thread WHERE thread<>'';
INSERT INTO filed SELECT 5, task, row FROM request INDEXED BY request_task WHERE task<>'';
INSERT INTO filed SELECT 6, user, row FROM request INDEXED BY request_user WHERE user<>'';
INSERT INTO filed SELECT 7, tool, row FROM request INDEXED BY request_tool WHERE tool<>'';
ALTER TABLE counter ADD COLUMN filed_up_to INTEGER NOT NULL DEFAULT 0;
UPDATE counter SET filed_up_to=last_row;
DROP INDEX request_requester;
DROP INDEX request_session;
DROP INDEX request_thread;
DROP INDEX request_task;
DROP INDEX request_user;
DROP INDEX request_tool;
)";

constexpr std::array all{version_1, version_2, version_3, version_4,
                         version_5, version_6, version_7};

}  // namespace

std::span<const char* const> migrations() { return all; }

Result<void> check_owner(Database& database, const std::string& path) {
    const Result<std::int64_t> tables = database.query_number("SELECT count(*) FROM sqlite_master");
    if (!tables) return tables.error();
    const Result<std::int64_t> owner = database.query_number("PRAGMA application_id");
    if (!owner) return owner.error();
    const Result<std::int64_t> version = database.query_number("PRAGMA user_version");
    if (!version) return version.error();

    const bool is_empty = *tables == 0 && *owner == 0;
    if (is_empty) return {};
    if (*owner != application_id)
        return Error{ErrorCode::unavailable,
                     fmt::format("`{}` is a database of another program; name another file or "
                                 "another data directory",
                                 path)};
    if (*version > static_cast<std::int64_t>(all.size()))
        return Error{ErrorCode::unavailable,
                     fmt::format("`{}` was written by a newer version (schema {}, this program "
                                 "knows {}); run that version, or restore the backup made before "
                                 "the upgrade",
                                 path, *version, all.size())};
    return {};
}

Result<void> migrate(Database& database, const std::string& path) {
    const Result<std::int64_t> version = database.query_number("PRAGMA user_version");
    if (!version) return version.error();
    const bool is_old = *version < static_cast<std::int64_t>(all.size());
    for (std::size_t next = static_cast<std::size_t>(*version); next < all.size(); ++next) {
        const std::string sql =
            fmt::format("BEGIN IMMEDIATE;{}PRAGMA application_id={};PRAGMA user_version={};COMMIT;",
                        all[next], application_id, next + 1);
        if (const Result<void> done = database.execute(sql); !done)
            return Error{ErrorCode::unavailable,
                         fmt::format("cannot bring `{}` to schema {}: {}; nothing was changed",
                                     path, next + 1, done.error().message)};
    }
    if (!is_old) return {};
    // An index that had lost an entry was copied as it was.
    if (const Result<void> filed = check_filing(database); !filed) return filed;
    return database.copy_log();
}

}  // namespace holdpoint::store::sqlite
