// What policies remember: sums, grants, trust, known tools and the texts that were in force.

#include <cstring>

#include "policy/extend.h"
#include "store/sqlite/codec.h"
#include "store/sqlite/grant_codec.h"
#include "store/sqlite/transaction.h"

namespace holdpoint::store::sqlite {
namespace {

constexpr std::size_t tools_seen_max = 100'000;

constexpr const char* grant_columns =
    "SELECT detail, request, created_at, uses, ended_at, ended_by FROM policy_grant WHERE ";

Result<GrantRecord> read_grant(Statement& row) {
    Result<policy::Grant> grant = decode_grant(row.text(0));
    if (!grant) return grant.error();
    GrantRecord record;
    record.grant = std::move(*grant);
    const std::string_view request = row.blob(1);
    if (request.size() != record.request.ulid.bytes.size())
        return Error{ErrorCode::internal, "a stored grant cannot be read"};
    std::memcpy(record.request.ulid.bytes.data(), request.data(), request.size());
    record.created_at = {row.number(2)};
    record.uses = static_cast<int>(row.number(3));
    if (!row.is_null(4)) record.ended_at = Timestamp{row.number(4)};
    record.ended_by = row.text(5);
    return record;
}

std::string tool_key(const PrincipalId& agent, const std::string& tool) {
    std::string key(reinterpret_cast<const char*>(agent.ulid.bytes.data()), 16);
    key += tool;
    return key;
}

PolicyVersion read_version(Statement& row) {
    std::vector<std::string> texts = policy::split_texts(row.text(3));
    PolicyVersion version{std::string(row.text(0)),
                          std::move(texts.front()),
                          std::string(row.text(1)),
                          Timestamp{row.number(2)},
                          {}};
    version.above.assign(std::make_move_iterator(texts.begin() + 1),
                         std::make_move_iterator(texts.end()));
    return version;
}

}  // namespace

Result<policy::SlidingSum> SqliteTransaction::sum(const std::string& name, const std::string& key) {
    Using row(
        database_.cached("SELECT bucket, running, older, older_until, running_until"
                         " FROM policy_sum WHERE name=?1 AND key=?2"));
    row->bind(1, name);
    row->bind(2, key);
    policy::SlidingSum sum;
    if (row->step())
        sum = {row->number(0), row->real(1), row->real(2), Timestamp{row->number(3)},
               Timestamp{row->number(4)}};
    return or_failed(sum);
}

Result<void> SqliteTransaction::save_sum(const std::string& name, const std::string& key,
                                         const policy::SlidingSum& sum) {
    Using save(database_.cached(
        "INSERT INTO policy_sum(name, key, bucket, running, older, older_until,"
        " running_until) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7)"
        " ON CONFLICT(name, key) DO UPDATE SET bucket=excluded.bucket,"
        " running=excluded.running, older=excluded.older,"
        " older_until=excluded.older_until, running_until=excluded.running_until"));
    save->bind(1, name);
    save->bind(2, key);
    save->bind(3, sum.bucket);
    save->bind_real(4, sum.running);
    save->bind_real(5, sum.older);
    save->bind(6, sum.older_until);
    save->bind(7, sum.running_until);
    save->step();
    if (database_.fault() != 0) return failed();
    return {};
}

Result<int> SqliteTransaction::forget_sums(Timestamp before, int limit) {
    Using forget(
        database_.cached("DELETE FROM policy_sum WHERE (name, key) IN (SELECT name, key"
                         " FROM policy_sum WHERE running_until<?1 LIMIT ?2)"));
    forget->bind(1, before);
    forget->bind(2, std::int64_t{limit});
    forget->step();
    return or_failed(static_cast<int>(database_.changes()));
}

Result<std::optional<GrantRecord>> SqliteTransaction::find_grant(const std::string& id) {
    Using row(database_.cached(std::string(grant_columns) + "id=?1"));
    row->bind(1, id);
    std::optional<GrantRecord> found;
    if (row->step()) {
        Result<GrantRecord> record = read_grant(*row);
        if (!record) return record.error();
        found = std::move(*record);
    }
    return or_failed(std::move(found));
}

Result<std::vector<GrantRecord>> SqliteTransaction::grants(const GrantFilter& filter) {
    std::string sql = grant_columns;
    sql += filter.alive_at ? "ended_at IS NULL AND expires_at>?1" : "(?1 IS NULL OR 1)";
    if (filter.agent) sql += " AND agent=?2";
    if (filter.tool) sql += " AND tool=?3";
    sql += " ORDER BY row DESC LIMIT ?4";
    Using row(database_.cached(sql));
    if (filter.alive_at)
        row->bind(1, *filter.alive_at);
    else
        row->bind_null(1);
    if (filter.agent) row->bind(2, *filter.agent);
    if (filter.tool) row->bind(3, *filter.tool);
    row->bind(4, std::int64_t{filter.limit});
    std::vector<GrantRecord> found;
    while (row->step()) {
        Result<GrantRecord> record = read_grant(*row);
        if (!record) return record.error();
        found.push_back(std::move(*record));
    }
    return or_failed(std::move(found));
}

Result<void> SqliteTransaction::save_grant(const GrantRecord& record) {
    const std::string detail = encode(record.grant);
    Using save(
        database_.cached("INSERT INTO policy_grant(id, agent, tool, request, created_at,"
                         " expires_at, uses, ended_at, ended_by, detail)"
                         " VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)"
                         " ON CONFLICT(id) DO UPDATE SET expires_at=excluded.expires_at,"
                         " uses=excluded.uses, ended_at=excluded.ended_at,"
                         " ended_by=excluded.ended_by, detail=excluded.detail"));
    save->bind(1, record.grant.id);
    save->bind(2, record.grant.agent);
    save->bind(3, record.grant.tool);
    save->bind(4, record.request.ulid);
    save->bind(5, record.created_at);
    save->bind(6, record.grant.expires_at);
    save->bind(7, std::int64_t{record.uses});
    if (record.ended_at)
        save->bind(8, *record.ended_at);
    else
        save->bind_null(8);
    save->bind(9, record.ended_by);
    save->bind(10, detail);
    save->step();
    if (database_.fault() != 0) return failed();
    return {};
}

Result<std::optional<policy::TrustEntry>> SqliteTransaction::find_trust(const std::string& key) {
    Using row(
        database_.cached("SELECT approvals, approvers, last_at, policy, asked, excludes_requester,"
                         " takes_code FROM policy_trust WHERE key=?1"));
    row->bind(1, key);
    std::optional<policy::TrustEntry> found;
    if (row->step()) {
        policy::TrustEntry entry;
        entry.key = key;
        entry.approvals = static_cast<int>(row->number(0));
        if (const Result<void> read = decode(row->text(1), entry.approvers); !read)
            return read.error();
        entry.last_at = {row->number(2)};
        entry.policy = row->text(3);
        entry.asked = {std::string(row->text(4)), row->number(5) != 0, row->number(6) != 0};
        found = std::move(entry);
    }
    return or_failed(std::move(found));
}

Result<void> SqliteTransaction::save_trust(const policy::TrustEntry& entry) {
    const std::string approvers = encode(entry.approvers);
    Using save(
        database_.cached("INSERT INTO policy_trust(key, approvals, approvers, last_at, policy,"
                         " asked, excludes_requester, takes_code)"
                         " VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)"
                         " ON CONFLICT(key) DO UPDATE SET approvals=excluded.approvals,"
                         " approvers=excluded.approvers, last_at=excluded.last_at,"
                         " policy=excluded.policy, asked=excluded.asked,"
                         " excludes_requester=excluded.excludes_requester,"
                         " takes_code=excluded.takes_code"));
    save->bind(1, entry.key);
    save->bind(2, std::int64_t{entry.approvals});
    save->bind(3, approvers);
    save->bind(4, entry.last_at);
    save->bind(5, entry.policy);
    save->bind(6, entry.asked.people);
    save->bind(7, std::int64_t{entry.asked.excludes_requester});
    save->bind(8, std::int64_t{entry.asked.takes_code});
    save->step();
    if (database_.fault() != 0) return failed();
    return {};
}

bool SqliteTransaction::is_known_tool(const PrincipalId& agent, const std::string& tool) {
    return tools_seen_.contains(tool_key(agent, tool));
}

Result<bool> SqliteTransaction::note_tool(const PrincipalId& agent, const std::string& tool) {
    std::string key = tool_key(agent, tool);
    if (tools_seen_.contains(key)) return true;
    Using note(database_.cached("INSERT OR IGNORE INTO tool_seen(agent, tool) VALUES(?1, ?2)"));
    note->bind(1, agent.ulid);
    note->bind(2, tool);
    note->step();
    if (database_.fault() != 0) return failed();
    if (tools_seen_.size() >= tools_seen_max) tools_seen_.clear();
    tools_seen_.insert(std::move(key));
    return database_.changes() == 0;
}

Result<std::vector<PolicyVersion>> SqliteTransaction::policy_versions(int limit) {
    Using row(
        database_.cached("SELECT version, by, at, '' FROM policy_version"
                         " ORDER BY at DESC, row DESC LIMIT ?1"));
    row->bind(1, std::int64_t{limit});
    std::vector<PolicyVersion> found;
    while (row->step()) found.push_back(read_version(*row));
    return or_failed(std::move(found));
}

Result<std::optional<PolicyVersion>> SqliteTransaction::find_policy(const std::string& version) {
    Using row(
        database_.cached("SELECT version, by, at, text FROM policy_version WHERE version=?1"));
    row->bind(1, version);
    std::optional<PolicyVersion> found;
    if (row->step()) found = read_version(*row);
    return or_failed(std::move(found));
}

Result<void> SqliteTransaction::save_policy(const PolicyVersion& policy) {
    const std::string text = policy::join_texts(policy.text, policy.above);
    Using save(
        database_.cached("INSERT INTO policy_version(version, by, at, text) VALUES(?1, ?2, ?3, ?4)"
                         " ON CONFLICT(version) DO UPDATE SET by=excluded.by, at=excluded.at"));
    save->bind(1, policy.version);
    save->bind(2, policy.by);
    save->bind(3, policy.at);
    save->bind(4, text);
    save->step();
    if (database_.fault() != 0) return failed();
    return {};
}

}  // namespace holdpoint::store::sqlite
