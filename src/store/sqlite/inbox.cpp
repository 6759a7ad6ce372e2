// What the inbox keeps for people: passkeys, push subscriptions, what they put off.

#include <fmt/format.h>

#include "store/sqlite/codec.h"
#include "store/sqlite/rows.h"
#include "store/sqlite/transaction.h"

namespace holdpoint::store::sqlite {
namespace {

Result<Passkey> read_passkey(Statement& row) {
    Passkey passkey;
    if (!read_id(row.blob(0), passkey.id.ulid) || !read_id(row.blob(1), passkey.principal.ulid))
        return damaged("passkey");
    passkey.credential = row.blob(2);
    passkey.public_key = row.blob(3);
    passkey.counter = row.number(4);
    passkey.name = row.text(5);
    if (Result<void> read = decode(row.text(6), passkey.transports); !read) return read.error();
    passkey.is_backed_up = row.number(7) != 0;
    passkey.created_at = {row.number(8)};
    passkey.last_used_at = read_time(row, 9);
    return passkey;
}

Result<PushSubscription> read_push(Statement& row) {
    PushSubscription push;
    if (!read_id(row.blob(0), push.id.ulid) || !read_id(row.blob(1), push.principal.ulid))
        return damaged("push subscription");
    push.endpoint = row.text(2);
    push.public_key = row.blob(3);
    push.secret = row.blob(4);
    push.name = row.text(5);
    push.created_at = {row.number(6)};
    push.last_sent_at = read_time(row, 7);
    if (!read_id(row.blob(8), push.session.ulid)) return damaged("push subscription");
    return push;
}

constexpr const char* passkey_columns =
    "SELECT id, principal, credential, public_key, counter, name, transports, is_backed_up,"
    " created_at, last_used_at FROM passkey";
constexpr const char* push_columns =
    "SELECT id, principal, endpoint, public_key, secret, name, created_at, last_sent_at,"
    " session FROM push_subscription";

}  // namespace

Result<std::optional<Passkey>> SqliteTransaction::find_passkey(const std::string& credential) {
    Using row(database_.cached(std::string(passkey_columns) + " WHERE credential=?1"));
    row->bind_blob(1, credential);
    Result<std::optional<Passkey>> found = one<Passkey>(*row, read_passkey);
    return found ? or_failed(std::move(*found)) : found;
}

Result<std::optional<Passkey>> SqliteTransaction::find_passkey(const PasskeyId& id) {
    Using row(database_.cached(std::string(passkey_columns) + " WHERE id=?1"));
    row->bind(1, id.ulid);
    Result<std::optional<Passkey>> found = one<Passkey>(*row, read_passkey);
    return found ? or_failed(std::move(*found)) : found;
}

Result<std::vector<Passkey>> SqliteTransaction::passkeys_of(const PrincipalId& principal) {
    Using row(database_.cached(std::string(passkey_columns) + " WHERE principal=?1 ORDER BY id"));
    row->bind(1, principal.ulid);
    Result<std::vector<Passkey>> found = every<Passkey>(*row, read_passkey);
    return found ? or_failed(std::move(*found)) : found;
}

Result<void> SqliteTransaction::save_passkey(const Passkey& passkey) {
    const std::string transports = encode(passkey.transports);
    Statement& statement = database_.cached(
        "INSERT INTO passkey(id, principal, credential, public_key, counter, name, transports,"
        " is_backed_up, created_at, last_used_at) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)"
        " ON CONFLICT(id) DO UPDATE SET counter=excluded.counter, name=excluded.name,"
        " is_backed_up=excluded.is_backed_up, last_used_at=excluded.last_used_at");
    Using save(statement);
    save->bind(1, passkey.id.ulid);
    save->bind(2, passkey.principal.ulid);
    save->bind_blob(3, passkey.credential);
    save->bind_blob(4, passkey.public_key);
    save->bind(5, passkey.counter);
    save->bind(6, passkey.name);
    save->bind(7, transports);
    save->bind(8, std::int64_t{passkey.is_backed_up});
    save->bind(9, passkey.created_at);
    bind_time(statement, 10, passkey.last_used_at);
    save->step();
    if (database_.fault() != 0) return failed();
    return {};
}

Result<void> SqliteTransaction::drop_passkey(const PasskeyId& id) {
    Using drop(database_.cached("DELETE FROM passkey WHERE id=?1"));
    drop->bind(1, id.ulid);
    drop->step();
    if (database_.fault() != 0) return failed();
    return {};
}

Result<std::optional<PushSubscription>> SqliteTransaction::find_push(const PushSubscriptionId& id) {
    Using row(database_.cached(std::string(push_columns) + " WHERE id=?1"));
    row->bind(1, id.ulid);
    Result<std::optional<PushSubscription>> found = one<PushSubscription>(*row, read_push);
    return found ? or_failed(std::move(*found)) : found;
}

Result<std::optional<PushSubscription>> SqliteTransaction::find_push(const std::string& endpoint) {
    Using row(database_.cached(std::string(push_columns) + " WHERE endpoint=?1"));
    row->bind(1, endpoint);
    Result<std::optional<PushSubscription>> found = one<PushSubscription>(*row, read_push);
    return found ? or_failed(std::move(*found)) : found;
}

Result<std::vector<PushSubscription>> SqliteTransaction::push_subscriptions(
    const std::optional<PrincipalId>& principal) {
    Using row(database_.cached(std::string(push_columns) +
                               (principal ? " WHERE principal=?1 ORDER BY id" : " ORDER BY id")));
    if (principal) row->bind(1, principal->ulid);
    Result<std::vector<PushSubscription>> found = every<PushSubscription>(*row, read_push);
    return found ? or_failed(std::move(*found)) : found;
}

bool SqliteTransaction::has_push() {
    if (!has_push_) {
        Using row(database_.cached("SELECT 1 FROM push_subscription LIMIT 1"));
        has_push_ = row->step();
    }
    return *has_push_;
}

Result<void> SqliteTransaction::save_push(const PushSubscription& push) {
    has_push_.reset();
    Statement& statement = database_.cached(
        "INSERT INTO push_subscription(id, principal, endpoint, public_key, secret, name,"
        " created_at, last_sent_at, session) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)"
        " ON CONFLICT(id) DO UPDATE SET principal=excluded.principal, session=excluded.session,"
        " public_key=excluded.public_key, secret=excluded.secret, name=excluded.name,"
        " last_sent_at=excluded.last_sent_at");
    Using save(statement);
    save->bind(1, push.id.ulid);
    save->bind(2, push.principal.ulid);
    save->bind(3, push.endpoint);
    save->bind_blob(4, push.public_key);
    save->bind_blob(5, push.secret);
    save->bind(6, push.name);
    save->bind(7, push.created_at);
    bind_time(statement, 8, push.last_sent_at);
    save->bind(9, push.session.ulid);
    save->step();
    if (database_.fault() != 0) return failed();
    return {};
}

Result<void> SqliteTransaction::note_push_sent(const PushSubscription& as_sent, Timestamp now) {
    Using note(
        database_.cached("UPDATE push_subscription SET last_sent_at=?1 WHERE id=?2 AND"
                         " principal=?3 AND session=?4 AND public_key=?5 AND secret=?6"));
    note->bind(1, now);
    note->bind(2, as_sent.id.ulid);
    note->bind(3, as_sent.principal.ulid);
    note->bind(4, as_sent.session.ulid);
    note->bind_blob(5, as_sent.public_key);
    note->bind_blob(6, as_sent.secret);
    note->step();
    if (database_.fault() != 0) return failed();
    return {};
}

Result<void> SqliteTransaction::drop_push(const PushSubscriptionId& id) {
    has_push_.reset();
    Using drop(database_.cached("DELETE FROM push_subscription WHERE id=?1"));
    drop->bind(1, id.ulid);
    drop->step();
    if (database_.fault() != 0) return failed();
    return {};
}

Result<void> SqliteTransaction::save_snooze(const PrincipalId& person, const RequestId& id,
                                            std::optional<Timestamp> until) {
    const Result<RequestPointer> request = load(id);
    if (!request) return request.error();
    Using save(database_.cached(
        until ? "INSERT INTO snooze(principal, request, until) VALUES(?1, ?2, ?3)"
                " ON CONFLICT(principal, request) DO UPDATE SET until=excluded.until"
              : "DELETE FROM snooze WHERE principal=?1 AND request=?2"));
    save->bind(1, person.ulid);
    save->bind(2, (*request)->row);
    if (until) save->bind(3, *until);
    save->step();
    if (database_.fault() != 0) return failed();
    return {};
}

Result<std::vector<Transaction::Snooze>> SqliteTransaction::snoozes_of(const PrincipalId& person,
                                                                       Timestamp now) {
    std::vector<Snooze> snoozes;
    Using row(
        database_.cached("SELECT request, until FROM snooze WHERE principal=?1 AND until>?2"
                         " ORDER BY request"));
    row->bind(1, person.ulid);
    row->bind(2, now);
    while (row->step()) snoozes.push_back({row->number(0), Timestamp{row->number(1)}});
    return or_failed(std::move(snoozes));
}

Result<int> SqliteTransaction::drop_snoozes_before(Timestamp now) {
    Using drop(database_.cached("DELETE FROM snooze WHERE until<=?1"));
    drop->bind(1, now);
    drop->step();
    if (database_.fault() != 0) return failed();
    return static_cast<int>(database_.changes());
}

Result<std::vector<std::shared_ptr<const core::Request>>> SqliteTransaction::similar(
    const core::Request& request, int looks_max, int limit) {
    std::vector<RequestPointer> found;
    if (request.tool.empty()) return found;
    // The drawer of the tool is there for lists; a bound on the looks spares one for agent and
    // tool.
    Using row(database_.cached(
        fmt::format("SELECT row FROM (SELECT f.row AS row, h.requester AS requester"
                    " FROM filed f CROSS JOIN request h ON h.row=f.row"
                    " WHERE f.drawer={} AND f.value=?1 AND f.row<?2"
                    " UNION ALL SELECT h.row, h.requester FROM request h NOT INDEXED"
                    " WHERE h.row>?6 AND h.row<?2 AND +h.tool=?1 ORDER BY row DESC LIMIT ?3)"
                    " WHERE requester IN (SELECT ref FROM requester WHERE agent_id=?4) LIMIT ?5",
                    drawer_number(Drawer::tool))));
    row->bind(1, request.tool);
    row->bind(2, request.row);
    row->bind(3, std::int64_t{looks_max});
    row->bind(4, request.agent_id.ulid);
    row->bind(5, std::int64_t{limit});
    row->bind(6, filing_.filed_up_to());
    while (row->step()) {
        Result<RequestPointer> one_before = load_row(row->number(0));
        if (!one_before) return one_before.error();
        found.push_back(std::move(*one_before));
    }
    return or_failed(std::move(found));
}

}  // namespace holdpoint::store::sqlite
