#include <algorithm>

#include "base/assert.h"
#include "store/sqlite/codec.h"
#include "store/sqlite/rows.h"
#include "store/sqlite/transaction.h"

namespace holdpoint::store::sqlite {
namespace {

constexpr std::size_t requesters_max = 10'000;
constexpr std::string_view push_channel = "push";

Error damaged_request() {
    return {ErrorCode::internal,
            "a stored request cannot be read; restart with `holdpoint serve --check-store`"};
}

/// A number outside its enumeration is damage; it must not become some other word.
template <class Word>
bool read_code(std::int64_t number, int count, Word& out) {
    if (number < 0 || number >= count) return false;
    out = static_cast<Word>(number);
    return true;
}

void bind_json(Statement& statement, int at, const core::JsonText& json) {
    if (json.is_null())
        statement.bind_null(at);
    else
        statement.bind(at, json.text);
}

template <class T>
std::string encode_if(const std::optional<T>& value) {
    return value ? encode(*value) : std::string{};
}

void bind_if(Statement& statement, int at, const std::string& text) {
    if (text.empty())
        statement.bind_null(at);
    else
        statement.bind(at, text);
}

bool is_same(const core::VerdictRecord& a, const core::VerdictRecord& b) {
    return a.kind == b.kind && a.rule == b.rule && a.gate == b.gate && a.because == b.because &&
           a.policy == b.policy;
}

bool has_same_body(const core::Request& a, const core::Request& b) {
    return a.owner == b.owner && a.digest == b.digest && a.headline == b.headline &&
           is_same(a.verdict, b.verdict) && a.risk_detail == b.risk_detail &&
           a.subject == b.subject && a.proposed == b.proposed && a.context == b.context &&
           a.suggested == b.suggested && a.metadata == b.metadata;
}

}  // namespace

Result<std::shared_ptr<const core::Request>> SqliteTransaction::load(const RequestId& id) {
    if (const Seen* known = recent_.find(id)) return known->request;
    Using row(load_by_id_);
    row->bind(1, id.ulid);
    if (!row->step()) {
        if (database_.fault() != 0) return failed();
        return Error{ErrorCode::not_found, "request `" + id.text() + "` not found"};
    }
    Result<Seen> read = read_request(load_by_id_);
    if (!read) return read.error();
    RequestPointer request = read->request;
    recent_.put(std::move(*read));
    return request;
}

Result<std::shared_ptr<const core::Request>> SqliteTransaction::load_row(std::int64_t number) {
    Using row(load_by_row_);
    row->bind(1, number);
    if (!row->step()) return database_.fault() != 0 ? failed() : damaged_request();
    const Result<Seen> read = read_request(load_by_row_);
    if (!read) return read.error();
    return read->request;
}

Result<Seen> SqliteTransaction::read_request(Statement& row) {
    auto request = std::make_shared<core::Request>();
    if (const Result<void> read = read_head(row, *request); !read) return read.error();
    if (const Result<void> read = read_body(row, *request); !read) return read.error();
    const std::int64_t last_event = row.number(13);
    const std::int64_t vote_count = row.number(12);
    if (vote_count > 0) {
        if (const Result<void> read = read_votes(*request); !read) return read.error();
    }
    if (static_cast<std::int64_t>(request->votes.size()) != vote_count) return damaged_request();
    return Seen{std::move(request), last_event, vote_count};
}

Result<void> SqliteTransaction::read_head(Statement& row, core::Request& request) {
    request.row = row.number(0);
    request.version = static_cast<int>(row.number(2));
    const std::int64_t outcome = row.number(5);
    bool is_whole = read_id(row.blob(1), request.id.ulid) &&
                    read_code(row.number(3), kind_count, request.kind) &&
                    read_code(row.number(4), 2, request.state) && outcome >= 0 &&
                    outcome <= outcome_count && read_code(row.number(6), risk_count, request.risk);
    if (!is_whole || (outcome == 0) != (request.state == core::State::pending))
        return damaged_request();
    if (outcome > 0) request.outcome = static_cast<core::Outcome>(outcome - 1);

    const Result<const Requester*> who = requester(row.number(7));
    if (!who) return who.error();
    request.agent_id = (*who)->id;
    request.agent = (*who)->name;

    request.created_at = {row.number(8)};
    request.expires_at = {row.number(9)};
    request.next_at = {row.number(10)};
    if (!row.is_null(11)) request.settled_at = Timestamp{row.number(11)};
    if (!row.is_null(14) && !read_code(row.number(14), 7, request.timeout_taken.emplace()))
        return damaged_request();
    request.is_released = row.number(15) != 0;
    if (!row.is_null(16) && !read_id(row.blob(16), request.batch.emplace().ulid))
        return damaged_request();
    request.session = row.text(17);
    request.thread = row.text(18);
    request.task = row.text(19);
    request.user = row.text(20);
    request.tool = row.text(21);
    request.message_for_agent = row.text(25);
    if (const Result<void> read = decode(row.text(22), request.requirement); !read)
        return read.error();
    if (const Result<void> read = decode(row.text(23), request.timing); !read) return read.error();
    if (!row.is_null(24)) {
        if (const Result<void> read = decode(row.text(24), request.decision.emplace()); !read)
            return read.error();
    }
    if (!row.is_null(37)) {
        if (const Result<void> read = decode(row.text(37), request.holds); !read)
            return read.error();
    }
    if (row.is_null(26)) return {};
    return decode(row.text(26), request.report.emplace());
}

Result<void> SqliteTransaction::read_body(Statement& row, core::Request& request) {
    if (row.is_null(27)) return damaged_request();
    request.owner = row.text(27);
    request.digest = row.text(28);
    request.headline = row.text(29);
    request.risk_detail.text = row.text(31);
    request.subject.text = row.text(32);
    request.proposed.text = row.text(33);
    request.context.text = row.text(34);
    request.suggested.text = row.text(35);
    request.metadata.text = row.text(36);
    return decode(row.text(30), request.verdict);
}

Result<void> SqliteTransaction::read_votes(core::Request& request) {
    std::vector<std::pair<std::int64_t, core::Vote>> found;
    Using row(votes_);
    row->bind(1, request.row);
    while (row->step()) {
        core::Vote vote;
        if (const Result<void> read = decode(row->text(1), vote.decision); !read)
            return read.error();
        if (const Result<void> read = decode(row->text(2), vote.groups); !read) return read.error();
        Ulid person;
        if (!read_id(row->blob(0), person) || person != vote.decision.by_id.ulid)
            return damaged_request();
        found.emplace_back(row->number(3), std::move(vote));
    }
    if (database_.fault() != 0) return failed();
    std::ranges::sort(found, {}, [](const auto& item) { return item.first; });
    for (auto& item : found) request.votes.push_back(std::move(item.second));
    return {};
}

Result<std::shared_ptr<const core::Request>> SqliteTransaction::apply(core::Step step) {
    core::Request& request = step.request;
    const bool is_new = request.row == 0;
    Seen before;
    if (is_new) {
        request.row = ++tally_.numbers().last_row;
    } else {
        const Result<RequestPointer> loaded = load(request.id);
        if (!loaded) return loaded.error();
        before = *recent_.find(request.id);
        HOLDPOINT_ASSERT(before.request->row == request.row);
    }

    std::vector<std::int64_t> seqs;
    std::int64_t last_event = before.last_event;
    for (const core::Event& event : step.events) {
        HOLDPOINT_ASSERT(event.request == request.id);
        const Result<std::int64_t> seq = append_event(event, request, last_event);
        if (!seq) return seq.error();
        last_event = *seq;
        seqs.push_back(*seq);
    }
    const Result<void> written =
        is_new ? insert_request(request, last_event) : update_request(request, before, last_event);
    if (!written) return written.error();
    if (is_new && !filing_.catch_up()) return failed();
    if (const Result<void> queued = append_effects(step, request); !queued) return queued.error();
    count(before.request.get(), request);

    auto stored = std::make_shared<const core::Request>(std::move(request));
    for (std::size_t i = 0; i < seqs.size(); ++i)
        changes_.push_back({{seqs[i], std::move(step.events[i])}, stored});
    recent_.put({stored, last_event, static_cast<std::int64_t>(stored->votes.size())});
    return stored;
}

Result<void> SqliteTransaction::insert_request(core::Request& request, std::int64_t last_event) {
    const Result<std::int64_t> ref = requester_ref(request.agent_id, request.agent);
    if (!ref) return ref.error();
    const Standing standing = standing_of(request);
    const std::string requirement = encode(request.requirement);
    const std::string timing = encode(request.timing);
    const std::string decision = encode_if(request.decision);
    const std::string report = encode_if(request.report);

    Using insert(insert_head_);
    insert->bind(1, request.row);
    insert->bind(2, request.id.ulid);
    insert->bind(3, std::int64_t{request.version});
    insert->bind(4, std::int64_t{standing.kind});
    insert->bind(5, static_cast<std::int64_t>(request.state));
    insert->bind(6, std::int64_t{standing.outcome});
    insert->bind(7, std::int64_t{standing.risk});
    insert->bind(8, *ref);
    insert->bind(9, request.created_at);
    insert->bind(10, request.expires_at);
    insert->bind(11, request.next_at);
    bind_time(insert_head_, 12, request.settled_at);
    insert->bind(13, static_cast<std::int64_t>(request.votes.size()));
    insert->bind(14, last_event);
    if (request.timeout_taken)
        insert->bind(15, static_cast<std::int64_t>(*request.timeout_taken));
    else
        insert->bind_null(15);
    insert->bind(16, std::int64_t{request.is_released});
    if (request.batch)
        insert->bind(17, request.batch->ulid);
    else
        insert->bind_null(17);
    insert->bind(18, request.session);
    insert->bind(19, request.thread);
    insert->bind(20, request.task);
    insert->bind(21, request.user);
    insert->bind(22, request.tool);
    insert->bind(23, requirement);
    insert->bind(24, timing);
    bind_if(insert_head_, 25, decision);
    insert->bind(26, request.message_for_agent);
    bind_if(insert_head_, 27, report);
    insert->step();
    if (database_.fault() != 0) return failed();
    if (const Result<void> written = write_body(insert_body_, request); !written)
        return written.error();
    return write_votes(request, nullptr);
}

Result<void> SqliteTransaction::update_request(const core::Request& request, const Seen& before,
                                               std::int64_t last_event) {
    const core::Request& old = *before.request;
    HOLDPOINT_ASSERT(old.kind == request.kind && old.agent_id == request.agent_id &&
                     old.agent == request.agent);
    const std::string requirement = encode(request.requirement);
    const std::string timing = encode(request.timing);
    const std::string decision = encode_if(request.decision);
    const std::string report = encode_if(request.report);
    const std::string held = request.holds.empty() ? std::string{} : encode(request.holds);
    const Standing standing = standing_of(request);

    Statement& statement =
        update_statement(standing_of(old) != standing, old.next_at != request.next_at);
    Using update(statement);
    update->bind(1, request.row);
    update->bind(2, std::int64_t{request.version} - 1);
    update->bind(3, std::int64_t{request.version});
    update->bind(4, request.expires_at);
    bind_time(statement, 5, request.settled_at);
    update->bind(6, static_cast<std::int64_t>(request.votes.size()));
    update->bind(7, last_event);
    if (request.timeout_taken)
        update->bind(8, static_cast<std::int64_t>(*request.timeout_taken));
    else
        update->bind_null(8);
    update->bind(9, std::int64_t{request.is_released});
    update->bind(10, requirement);
    update->bind(11, timing);
    bind_if(statement, 12, decision);
    update->bind(13, request.message_for_agent);
    bind_if(statement, 14, report);
    update->bind(15, static_cast<std::int64_t>(request.state));
    update->bind(16, std::int64_t{standing.outcome});
    update->bind(17, std::int64_t{standing.risk});
    update->bind(18, request.next_at);
    bind_if(statement, 19, held);
    update->step();
    if (database_.fault() != 0) return failed();
    HOLDPOINT_ASSERT(database_.changes() == 1);

    if (old.state != request.state) {
        HOLDPOINT_ASSERT(request.state == core::State::settled);
        const Result<std::int64_t> ref = requester_ref(request.agent_id, request.agent);
        if (!ref) return ref.error();
        if (!filing_.settle(request, *ref)) return failed();
    }
    if (!has_same_body(old, request)) {
        if (const Result<void> written = write_body(update_body_, request); !written)
            return written.error();
    }
    return write_votes(request, &old);
}

Statement& SqliteTransaction::update_statement(bool is_standing_changed, bool is_next_changed) {
    // An indexed column that is named in SET costs its index a delete and an insert, changed or
    // not; so there is one text for each set of changed columns.
    Statement& statement = updates_[(is_standing_changed ? 2 : 0) + (is_next_changed ? 1 : 0)];
    if (!statement.is_prepared()) {
        std::string sql =
            "UPDATE request SET version=?3, expires_at=?4, settled_at=?5, vote_count=?6,"
            " last_event=?7, timeout_taken=?8, is_released=?9, requirement=?10, timing=?11,"
            " decision=?12, message=?13, report=?14, held=?19";
        if (is_standing_changed) sql += ", state=?15, outcome=?16, risk=?17";
        if (is_next_changed) sql += ", next_at=?18";
        sql += " WHERE row=?1 AND version=?2";
        statement = database_.prepare(sql);
    }
    return statement;
}

Result<void> SqliteTransaction::write_body(Statement& statement, const core::Request& request) {
    const std::string verdict = encode(request.verdict);
    Using write(statement);
    write->bind(1, request.row);
    write->bind(2, request.owner);
    write->bind(3, request.digest);
    write->bind(4, request.headline);
    write->bind(5, verdict);
    bind_json(statement, 6, request.risk_detail);
    bind_json(statement, 7, request.subject);
    bind_json(statement, 8, request.proposed);
    bind_json(statement, 9, request.context);
    bind_json(statement, 10, request.suggested);
    bind_json(statement, 11, request.metadata);
    write->step();
    if (database_.fault() != 0) return failed();
    HOLDPOINT_ASSERT(database_.changes() == 1);
    return {};
}

Result<void> SqliteTransaction::write_votes(const core::Request& request,
                                            const core::Request* before) {
    const std::size_t stored = before ? before->votes.size() : 0;
    if (request.votes.empty() && stored == 0) return {};
    const auto is_kept = [&](std::size_t i) {
        return i < request.votes.size() && request.votes[i].groups == before->votes[i].groups &&
               encode(request.votes[i].decision) == encode(before->votes[i].decision);
    };
    std::size_t kept = 0;
    while (kept < stored && is_kept(kept)) ++kept;
    if (kept < stored) {
        delete_votes_.bind(1, request.row);
        if (!delete_votes_.run()) return failed();
        kept = 0;
    }
    for (std::size_t i = kept; i < request.votes.size(); ++i) {
        const core::Vote& vote = request.votes[i];
        const std::string decision = encode(vote.decision);
        const std::string groups = encode(vote.groups);
        insert_vote_.bind(1, request.row);
        insert_vote_.bind(2, vote.decision.by_id.ulid);
        insert_vote_.bind(3, static_cast<std::int64_t>(i));
        insert_vote_.bind(4, decision);
        insert_vote_.bind(5, groups);
        if (!insert_vote_.run()) return failed();
    }
    return {};
}

/// The one way into the event log, in the order of `seq`, inside the transaction of the change it
/// tells of. This is where the event's leaf of the audit tree is sealed.
Result<std::int64_t> SqliteTransaction::append_event(const core::Event& event,
                                                     const core::Request& request,
                                                     std::int64_t previous) {
    const std::int64_t seq = ++tally_.numbers().last_event;
    Using insert(insert_event_);
    insert->bind(1, seq);
    insert->bind(2, request.row);
    insert->bind(3, previous);
    insert->bind(4, static_cast<std::int64_t>(event.kind));
    insert->bind(5, event.at);
    insert->bind(6, event.actor);
    insert->bind(7, event.via);
    insert->bind(8, event.address);
    bind_json(insert_event_, 9, event.detail);
    insert->bind(10, static_cast<std::int64_t>(request.risk));
    insert->step();
    if (database_.fault() != 0) return failed();
    return seq;
}

Result<void> SqliteTransaction::append_effects(const core::Step& step,
                                               const core::Request& request) {
    const Timestamp due_at = step.events.empty() ? request.created_at : step.events.back().at;
    for (const core::Effect& effect : step.effects) {
        HOLDPOINT_ASSERT(effect.request == request.id);
        for (const std::string& channel : setup_.channels) {
            if (channel == push_channel && !has_push()) continue;
            insert_outbox_.bind(1, channel);
            insert_outbox_.bind(2, static_cast<std::int64_t>(effect.about));
            insert_outbox_.bind(3, request.row);
            insert_outbox_.bind(4, due_at);
            if (!insert_outbox_.run()) return failed();
        }
    }
    return {};
}

void SqliteTransaction::count(const core::Request* before, const core::Request& after) {
    Tally::Numbers& numbers = tally_.numbers();
    if (!before) {
        const std::int64_t created_at = after.created_at.ms;
        numbers.disorder_ms = std::max(numbers.disorder_ms, numbers.created_max - created_at);
        numbers.created_max = std::max(numbers.created_max, created_at);
        tally_.enter(standing_of(after), after.agent_id.ulid);
        return;
    }
    const Standing from = standing_of(*before), to = standing_of(after);
    if (from == to) return;
    tally_.leave(from, before->agent_id.ulid);
    tally_.enter(to, after.agent_id.ulid);
    const bool is_settled_now = from.outcome == 0 && to.outcome != 0;
    if (!is_settled_now || !after.decision || after.timeout_taken) return;
    ++numbers.decision_count;
    numbers.decision_ms_total += after.settled_at.value_or(after.created_at) - after.created_at;
}

Result<std::int64_t> SqliteTransaction::requester_ref(const PrincipalId& id,
                                                      const std::string& name) {
    requester_key_.assign(reinterpret_cast<const char*>(id.ulid.bytes.data()), 16);
    requester_key_ += name;
    const auto known = requester_refs_.find(requester_key_);
    if (known != requester_refs_.end()) return known->second;

    if (requester_refs_.size() >= requesters_max) requester_refs_.clear();
    Using find(requester_by_name_);
    find->bind(1, id.ulid);
    find->bind(2, name);
    if (find->step()) return requester_refs_[requester_key_] = find->number(0);
    if (database_.fault() != 0) return failed();
    insert_requester_.bind(1, id.ulid);
    insert_requester_.bind(2, name);
    if (!insert_requester_.run()) return failed();
    return requester_refs_[requester_key_] = database_.last_row();
}

Result<const SqliteTransaction::Requester*> SqliteTransaction::requester(std::int64_t ref) {
    const auto known = requesters_.find(ref);
    if (known != requesters_.end()) return &known->second;
    if (requesters_.size() >= requesters_max) requesters_.clear();
    Using find(requester_by_ref_);
    find->bind(1, ref);
    if (!find->step()) return database_.fault() != 0 ? failed() : damaged_request();
    Requester found;
    if (!read_id(find->blob(0), found.id.ulid)) return damaged_request();
    found.name = find->text(1);
    return &(requesters_[ref] = std::move(found));
}

}  // namespace holdpoint::store::sqlite
