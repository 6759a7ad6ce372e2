#include <limits>

#include "base/assert.h"
#include "store/sqlite/codec.h"
#include "store/sqlite/rows.h"
#include "store/sqlite/transaction.h"

namespace holdpoint::store::sqlite {
namespace {

Result<StoredEvent> read_event(Statement& row, const RequestId& request) {
    StoredEvent stored;
    stored.seq = row.number(0);
    const std::int64_t kind = row.number(1);
    if (kind < 0 || kind >= core::event_kind_count) return damaged("event");
    stored.event.kind = static_cast<core::EventKind>(kind);
    stored.event.request = request;
    stored.event.at = {row.number(2)};
    stored.event.actor = row.text(3);
    stored.event.via = row.text(4);
    stored.event.address = row.text(5);
    stored.event.detail.text = row.text(6);
    return stored;
}

Result<Key> read_key(Statement& row) {
    Key key;
    if (!read_id(row.blob(0), key.id.ulid) || !read_id(row.blob(1), key.principal.ulid))
        return damaged("key");
    key.hash = row.blob(2);
    key.hint = row.text(3);
    key.created_at = {row.number(4)};
    key.expires_at = read_time(row, 5);
    key.revoked_at = read_time(row, 6);
    return key;
}

Result<Session> read_session(Statement& row) {
    Session session;
    session.hash = row.blob(0);
    if (!read_id(row.blob(1), session.principal.ulid)) return damaged("session");
    session.is_link = row.number(2) != 0;
    session.csrf = row.text(3);
    session.created_at = {row.number(4)};
    session.expires_at = {row.number(5)};
    session.address = row.text(6);
    if (!read_id(row.blob(7), session.id.ulid)) return damaged("session");
    session.last_seen_at = {row.number(8)};
    session.user_agent = row.text(9);
    return session;
}

Result<Principal> read_principal(Statement& row) {
    Principal principal;
    const std::optional<Role> role = parse_role(row.text(2));
    if (!role || !read_id(row.blob(0), principal.id.ulid)) return damaged("principal");
    principal.role = *role;
    principal.name = row.text(1);
    principal.owner = row.text(3);
    principal.password_hash = row.text(4);
    principal.is_disabled = row.number(5) != 0;
    principal.created_at = {row.number(6)};
    if (const Result<void> read = decode(row.text(7), principal.groups); !read) return read.error();
    return principal;
}

constexpr const char* principal_columns =
    "SELECT id, name, role, owner, password_hash, is_disabled, created_at, groups FROM principal";
constexpr const char* key_columns =
    "SELECT id, principal, hash, hint, created_at, expires_at, revoked_at FROM key";
constexpr const char* session_columns =
    "SELECT hash, principal, is_link, csrf, created_at, expires_at, address, id, last_seen_at,"
    " user_agent FROM session";

}  // namespace

// ---- deadlines

Result<std::vector<RequestId>> SqliteTransaction::due(Timestamp now, int limit) {
    std::vector<RequestId> ids;
    Using row(due_);
    row->bind(1, now);
    row->bind(2, std::int64_t{limit});
    while (row->step())
        if (!read_id(row->blob(0), ids.emplace_back().ulid)) return damaged("request id");
    return or_failed(std::move(ids));
}

Result<std::optional<Timestamp>> SqliteTransaction::next_due() {
    std::optional<Timestamp> next;
    Using row(next_due_);
    row->bind(1, std::numeric_limits<std::int64_t>::min());
    if (row->step()) next = Timestamp{row->number(0)};
    return or_failed(next);
}

Result<void> SqliteTransaction::look_again(const RequestId& id, Timestamp at) {
    recent_.clear();
    Using update(database_.cached("UPDATE request SET next_at=?2 WHERE id=?1"));
    update->bind(1, id.ulid);
    update->bind(2, at);
    update->step();
    if (database_.fault() != 0) return failed();
    return {};
}

/// `$[12]` is Timing::shifted_ms: see encode().
Result<void> SqliteTransaction::shift_deadlines(std::int64_t ms) {
    recent_.clear();
    Using update(
        database_.cached("UPDATE request INDEXED BY request_standing SET next_at=next_at+?1,"
                         " expires_at=expires_at+?1, version=version+1, timing=CASE"
                         " WHEN json_valid(timing) THEN json_set(timing, '$[12]',"
                         " coalesce(json_extract(timing, '$[12]'), 0)+?1) ELSE timing END"
                         " WHERE outcome=0"));
    update->bind(1, ms);
    update->step();
    if (database_.fault() != 0) return failed();
    return shift_holds(ms);
}

/// What is held moves with the deadline. There are only ever a few seconds' worth of them.
Result<void> SqliteTransaction::shift_holds(std::int64_t ms) {
    std::vector<std::pair<std::int64_t, std::string>> changed;
    {
        Using row(
            database_.cached("SELECT row, held FROM request INDEXED BY request_standing"
                             " WHERE outcome=0 AND held IS NOT NULL"));
        while (row->step()) {
            std::vector<core::Held> holds;
            if (Result<void> read = decode(row->text(1), holds); !read) return read;
            for (core::Held& held : holds) held.until = held.until + ms;
            changed.emplace_back(row->number(0), encode(holds));
        }
        if (database_.fault() != 0) return failed();
    }
    Statement& update = database_.cached("UPDATE request SET held=?2 WHERE row=?1");
    for (const auto& [row, held] : changed) {
        update.bind(1, row);
        update.bind(2, held);
        if (!update.run()) return failed();
    }
    return {};
}

// ---- events

Result<std::vector<Change>> SqliteTransaction::events(const EventSpan& span,
                                                      const ListFilter& filter, int limit) {
    const Result<BuiltQuery> query = build_events(span, filter, limit);
    if (!query) return query.error();
    std::vector<Change> changes;
    if (query->sql.empty()) return changes;

    std::unordered_map<std::int64_t, RequestPointer> loaded;
    Using row(bound(*query));
    Statement& events = *row;
    while (events.step()) {
        RequestPointer& request = loaded[events.number(8)];
        if (!request) {
            const Result<RequestPointer> read = load_row(events.number(8));
            if (!read) return read.error();
            request = *read;
        }
        Result<StoredEvent> event = read_event(events, request->id);
        if (!event) return event.error();
        changes.push_back({std::move(*event), request});
    }
    return or_failed(std::move(changes));
}

Result<std::vector<StoredEvent>> SqliteTransaction::events_of(const RequestId& id) {
    const Result<RequestPointer> loaded = load(id);
    if (!loaded) return loaded.error();
    std::vector<StoredEvent> events;
    for (std::int64_t seq = recent_.find(id)->last_event; seq > 0;) {
        Using row(event_by_seq_);
        row->bind(1, seq);
        if (!row->step()) return database_.fault() != 0 ? failed() : damaged("event");
        // The chain only ever leads back, within one request; anything else would never end.
        const std::int64_t previous = row->number(7);
        if (previous >= seq || row->number(8) != (*loaded)->row) return damaged("event");
        Result<StoredEvent> event = read_event(event_by_seq_, id);
        if (!event) return event.error();
        events.push_back(std::move(*event));
        seq = previous;
    }
    return std::vector<StoredEvent>(std::make_move_iterator(events.rbegin()),
                                    std::make_move_iterator(events.rend()));
}

Result<std::int64_t> SqliteTransaction::last_event() { return tally_.numbers().last_event; }

// ---- idempotency

Result<std::optional<IdempotencyRecord>> SqliteTransaction::find_idempotent(
    const PrincipalId& principal, const std::string& key) {
    Using row(
        database_.cached("SELECT body_hash, requests, at FROM idempotency"
                         " WHERE principal=?1 AND key=?2"));
    row->bind(1, principal.ulid);
    row->bind(2, key);
    if (!row->step()) return or_failed(std::optional<IdempotencyRecord>{});
    IdempotencyRecord record{principal, key, std::string{row->blob(0)}, {}, {row->number(2)}};
    std::string_view ids = row->blob(1);
    if (ids.size() % 16 != 0) return damaged("idempotency record");
    for (; !ids.empty(); ids.remove_prefix(16))
        read_id(ids.substr(0, 16), record.requests.emplace_back().ulid);
    return std::optional{std::move(record)};
}

Result<void> SqliteTransaction::remember(const IdempotencyRecord& record) {
    std::string ids;
    for (const RequestId& id : record.requests)
        ids.append(reinterpret_cast<const char*>(id.ulid.bytes.data()), id.ulid.bytes.size());
    Using insert(
        database_.cached("INSERT INTO idempotency(principal, key, body_hash, requests, at)"
                         " VALUES(?1, ?2, ?3, ?4, ?5)"));
    insert->bind(1, record.principal.ulid);
    insert->bind(2, record.key);
    insert->bind_blob(3, record.body_hash);
    insert->bind_blob(4, ids);
    insert->bind(5, record.at);
    insert->step();
    if (database_.fault() != 0) return failed();
    return {};
}

Result<int> SqliteTransaction::forget_idempotent(Timestamp before, int limit) {
    // Rows ascend with time, so the oldest come first and an index on the time is not needed. The
    // bound on the rows looked at keeps one that is out of order from costing a scan.
    Using drop(database_.cached(
        "DELETE FROM idempotency WHERE row IN (SELECT row FROM (SELECT row, at FROM idempotency"
        " WHERE row>=?3 ORDER BY row LIMIT ?2) WHERE at<?1)"));
    drop->bind(1, before);
    drop->bind(2, std::int64_t{limit});
    drop->bind(3, std::numeric_limits<std::int64_t>::min());
    drop->step();
    if (database_.fault() != 0) return failed();
    return static_cast<int>(database_.changes());
}

// ---- principals, keys, sessions

Result<std::optional<Principal>> SqliteTransaction::find_principal(const PrincipalId& id) {
    Using row(database_.cached(std::string(principal_columns) + " WHERE id=?1"));
    row->bind(1, id.ulid);
    Result<std::optional<Principal>> found = one<Principal>(*row, read_principal);
    return found ? or_failed(std::move(*found)) : found;
}

Result<std::optional<Principal>> SqliteTransaction::find_principal(const std::string& name) {
    Using row(database_.cached(std::string(principal_columns) + " WHERE name=?1"));
    row->bind(1, name);
    Result<std::optional<Principal>> found = one<Principal>(*row, read_principal);
    return found ? or_failed(std::move(*found)) : found;
}

Result<std::vector<Principal>> SqliteTransaction::principals() {
    Using row(database_.cached(std::string(principal_columns) + " ORDER BY id"));
    Result<std::vector<Principal>> found = every<Principal>(*row, read_principal);
    return found ? or_failed(std::move(*found)) : found;
}

Result<void> SqliteTransaction::save_principal(const Principal& principal) {
    const std::string groups = encode(principal.groups);
    Using save(database_.cached(
        "INSERT INTO principal(id, name, role, owner, password_hash, is_disabled, created_at,"
        " groups) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT(id) DO UPDATE SET"
        " name=excluded.name, role=excluded.role, owner=excluded.owner,"
        " password_hash=excluded.password_hash, is_disabled=excluded.is_disabled,"
        " created_at=excluded.created_at, groups=excluded.groups"));
    save->bind(1, principal.id.ulid);
    save->bind(2, principal.name);
    save->bind(3, to_string(principal.role));
    save->bind(4, principal.owner);
    save->bind(5, principal.password_hash);
    save->bind(6, std::int64_t{principal.is_disabled});
    save->bind(7, principal.created_at);
    save->bind(8, groups);
    save->step();
    if (database_.fault() != 0) return failed();

    Statement& drop = database_.cached("DELETE FROM member WHERE principal=?1");
    drop.bind(1, principal.id.ulid);
    if (!drop.run()) return failed();
    Statement& add = database_.cached(
        "INSERT OR IGNORE INTO member(name, principal)"
        " VALUES(?1, ?2)");
    for (const std::string& group : principal.groups) {
        add.bind(1, group);
        add.bind(2, principal.id.ulid);
        if (!add.run()) return failed();
    }
    return {};
}

Result<bool> SqliteTransaction::is_group(const std::string& group) {
    Using row(
        database_.cached("SELECT 1 FROM member m CROSS JOIN principal p ON p.id=m.principal"
                         " WHERE m.name=?1 AND p.is_disabled=0"
                         " AND p.role IN ('approver', 'admin') LIMIT 1"));
    row->bind(1, group);
    const bool is_one = row->step();
    return or_failed(is_one);
}

Result<std::optional<Key>> SqliteTransaction::find_key(const std::string& hash) {
    Using row(database_.cached(std::string(key_columns) + " WHERE hash=?1"));
    row->bind_blob(1, hash);
    Result<std::optional<Key>> found = one<Key>(*row, read_key);
    return found ? or_failed(std::move(*found)) : found;
}

Result<std::optional<Key>> SqliteTransaction::find_key(const KeyId& id) {
    Using row(database_.cached(std::string(key_columns) + " WHERE id=?1"));
    row->bind(1, id.ulid);
    Result<std::optional<Key>> found = one<Key>(*row, read_key);
    return found ? or_failed(std::move(*found)) : found;
}

Result<std::vector<Key>> SqliteTransaction::keys() {
    Using row(database_.cached(std::string(key_columns) + " ORDER BY id"));
    Result<std::vector<Key>> found = every<Key>(*row, read_key);
    return found ? or_failed(std::move(*found)) : found;
}

Result<void> SqliteTransaction::save_key(const Key& key) {
    Statement& statement = database_.cached(
        "INSERT INTO key(id, principal, hash, hint, created_at, expires_at, revoked_at)"
        " VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT(id) DO UPDATE SET"
        " principal=excluded.principal, hash=excluded.hash, hint=excluded.hint,"
        " created_at=excluded.created_at, expires_at=excluded.expires_at,"
        " revoked_at=excluded.revoked_at");
    Using save(statement);
    save->bind(1, key.id.ulid);
    save->bind(2, key.principal.ulid);
    save->bind_blob(3, key.hash);
    save->bind(4, key.hint);
    save->bind(5, key.created_at);
    bind_time(statement, 6, key.expires_at);
    bind_time(statement, 7, key.revoked_at);
    save->step();
    if (database_.fault() != 0) return failed();
    return {};
}

Result<std::optional<Session>> SqliteTransaction::find_session(const std::string& hash) {
    Using row(database_.cached(std::string(session_columns) + " WHERE hash=?1"));
    row->bind_blob(1, hash);
    Result<std::optional<Session>> found = one<Session>(*row, read_session);
    return found ? or_failed(std::move(*found)) : found;
}

Result<std::optional<Session>> SqliteTransaction::find_session(const SessionId& id) {
    Using row(database_.cached(std::string(session_columns) + " WHERE id=?1"));
    row->bind(1, id.ulid);
    Result<std::optional<Session>> found = one<Session>(*row, read_session);
    return found ? or_failed(std::move(*found)) : found;
}

Result<std::vector<Session>> SqliteTransaction::sessions_of(const PrincipalId& principal) {
    Using row(
        database_.cached(std::string(session_columns) + " WHERE principal=?1 ORDER BY created_at"));
    row->bind(1, principal.ulid);
    Result<std::vector<Session>> found = every<Session>(*row, read_session);
    return found ? or_failed(std::move(*found)) : found;
}

Result<void> SqliteTransaction::save_session(const Session& session) {
    Using save(database_.cached(
        "INSERT INTO session(hash, principal, is_link, csrf, created_at, expires_at, address, id,"
        " last_seen_at, user_agent) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)"
        " ON CONFLICT(hash) DO UPDATE SET principal=excluded.principal, is_link=excluded.is_link,"
        " csrf=excluded.csrf, created_at=excluded.created_at, expires_at=excluded.expires_at,"
        " address=excluded.address, id=excluded.id, last_seen_at=excluded.last_seen_at,"
        " user_agent=excluded.user_agent"));
    save->bind_blob(1, session.hash);
    save->bind(2, session.principal.ulid);
    save->bind(3, std::int64_t{session.is_link});
    save->bind(4, session.csrf);
    save->bind(5, session.created_at);
    save->bind(6, session.expires_at);
    save->bind(7, session.address);
    save->bind(8, session.id.ulid);
    save->bind(9, session.last_seen_at);
    save->bind(10, session.user_agent);
    save->step();
    if (database_.fault() != 0) return failed();
    return {};
}

Result<void> SqliteTransaction::touch_session(const std::string& hash, Timestamp now) {
    Using touch(database_.cached("UPDATE session SET last_seen_at=?2 WHERE hash=?1"));
    touch->bind_blob(1, hash);
    touch->bind(2, now);
    touch->step();
    if (database_.fault() != 0) return failed();
    return {};
}

Result<void> SqliteTransaction::drop_session(const std::string& hash) {
    has_push_.reset();  // what the session asked for goes with it
    Using drop(database_.cached("DELETE FROM session WHERE hash=?1"));
    drop->bind_blob(1, hash);
    drop->step();
    if (database_.fault() != 0) return failed();
    return {};
}

Result<void> SqliteTransaction::drop_sessions_of(const PrincipalId& principal) {
    has_push_.reset();  // what the session asked for goes with it
    Using drop(database_.cached("DELETE FROM session WHERE principal=?1"));
    drop->bind(1, principal.ulid);
    drop->step();
    if (database_.fault() != 0) return failed();
    return {};
}

Result<int> SqliteTransaction::drop_sessions_before(Timestamp now) {
    has_push_.reset();  // what the session asked for goes with it
    Using drop(database_.cached("DELETE FROM session WHERE expires_at<=?1"));
    drop->bind(1, now);
    drop->step();
    if (database_.fault() != 0) return failed();
    return static_cast<int>(database_.changes());
}

// ---- outbox

Result<std::vector<OutboxRow>> SqliteTransaction::outbox_due(Timestamp now, int limit,
                                                             const IsWanted& is_wanted) {
    std::vector<OutboxRow> due;
    Using row(
        database_.cached("SELECT o.id, o.channel, o.about, h.id, o.due_at, o.attempts, o.target"
                         " FROM outbox o"
                         " INDEXED BY outbox_due CROSS JOIN request h ON h.row=o.request"
                         " WHERE o.due_at<=?1 ORDER BY o.due_at, o.id"));
    row->bind(1, now);
    while (static_cast<int>(due.size()) < limit && row->step()) {
        OutboxRow item;
        item.id = row->number(0);
        item.channel = row->text(1);
        const std::int64_t about = row->number(2);
        if (about < 0 || about >= core::event_kind_count ||
            !read_id(row->blob(3), item.effect.request.ulid))
            return damaged("message");
        item.effect.about = static_cast<core::EventKind>(about);
        item.due_at = {row->number(4)};
        item.attempts = static_cast<int>(row->number(5));
        item.target = row->blob(6);
        if (is_wanted(item)) due.push_back(std::move(item));
    }
    return or_failed(std::move(due));
}

Result<void> SqliteTransaction::outbox_sent(std::int64_t id) {
    Using drop(database_.cached("DELETE FROM outbox WHERE id=?1"));
    drop->bind(1, id);
    drop->step();
    if (database_.fault() != 0) return failed();
    return {};
}

Result<void> SqliteTransaction::outbox_retry(std::int64_t id, Timestamp due_at) {
    Using update(database_.cached("UPDATE outbox SET attempts=attempts+1, due_at=?2 WHERE id=?1"));
    update->bind(1, id);
    update->bind(2, due_at);
    update->step();
    if (database_.fault() != 0) return failed();
    return {};
}

Result<void> SqliteTransaction::outbox_split(std::int64_t id,
                                             const std::vector<std::string>& targets) {
    Statement& add = database_.cached(
        "INSERT INTO outbox(channel, about, request, due_at, attempts, target)"
        " SELECT channel, about, request, due_at, 0, ?2 FROM outbox WHERE id=?1");
    for (const std::string& target : targets) {
        add.bind(1, id);
        add.bind_blob(2, target);
        if (!add.run()) return failed();
    }
    return outbox_sent(id);
}

// ---- counters and settings

Result<std::int64_t> SqliteTransaction::pending_count(const PrincipalId& agent) {
    return or_failed(tally_.pending_of(agent.ulid));
}

Result<Counters> SqliteTransaction::counters() {
    Counters counters;
    counters.pending = tally_.pending();
    for (int outcome = 1; outcome <= outcome_count; ++outcome)
        counters.by_outcome.emplace_back(static_cast<core::Outcome>(outcome - 1), 0);
    for (std::size_t place = 0; place < standing_count; ++place) {
        const Standing standing = standing_at(place);
        if (standing.outcome > 0)
            counters.by_outcome[static_cast<std::size_t>(standing.outcome - 1)].second +=
                tally_.count(place);
        if (standing.outcome > 0 || tally_.count(place) == 0) continue;
        Using row(oldest_pending_);
        row->bind(1, std::int64_t{standing.risk});
        row->bind(2, std::int64_t{standing.kind});
        if (!row->step()) continue;
        const Timestamp created_at{row->number(0)};
        if (!counters.oldest_pending || created_at < *counters.oldest_pending)
            counters.oldest_pending = created_at;
    }
    counters.decision_count = tally_.numbers().decision_count;
    counters.decision_ms_total = tally_.numbers().decision_ms_total;
    return or_failed(std::move(counters));
}

Result<std::optional<std::string>> SqliteTransaction::setting(const std::string& name) {
    std::optional<std::string> value;
    Using row(database_.cached("SELECT value FROM setting WHERE name=?1"));
    row->bind(1, name);
    if (row->step()) value.emplace(row->text(0));
    return or_failed(std::move(value));
}

Result<void> SqliteTransaction::set_setting(const std::string& name, const std::string& value) {
    Using save(
        database_.cached("INSERT INTO setting(name, value) VALUES(?1, ?2)"
                         " ON CONFLICT(name) DO UPDATE SET value=excluded.value"));
    save->bind(1, name);
    save->bind(2, value);
    save->step();
    if (database_.fault() != 0) return failed();
    return {};
}

}  // namespace holdpoint::store::sqlite
