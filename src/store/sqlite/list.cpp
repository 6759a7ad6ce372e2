#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>

#include "store/sqlite/rows.h"
#include "store/sqlite/transaction.h"

// How a list finds its index. Every index ends with the row number, and so does every drawer of
// `filed`: an equality on the columns before it plus a range of rows is a search that yields the
// rows newest first, without sorting. What is not filed yet is one more such range. Where a
// filter leaves an index column open (a risk, but any outcome and kind), the statement is a UNION
// ALL of one search for each value that occurs; SQLite merges those lazily by row. INDEXED BY
// takes the choice away from the planner, which knows nothing about our data. Where several
// drawers could serve, each is counted up to a bound, and the one with the fewest entries is taken:
// a tool that nobody used is found at once, however busy the agent.
namespace holdpoint::store::sqlite {
namespace {

constexpr int limit_max = 10'000;
constexpr int due_looks_max = 256;
constexpr std::size_t merge_max = 400;  // SQLite takes up to 500 parts
constexpr std::int64_t few_rows = 64;   // not worth looking for fewer
/// Reading past this many times `skip_max` rows is still better than not knowing how many.
constexpr std::int64_t known_factor = 10;

struct Source {
    std::string from;                // `request h INDEXED BY …`
    std::vector<std::string> parts;  // one condition for each search that is merged
    bool is_filed = false;           // the unfiled rows have to be looked at as well
};
using MakeSource = std::function<Source(BuiltQuery&)>;

/// Whether a request that stands so can have been released, or not released.
bool can_be(bool is_released, const Standing& standing) {
    if (standing.outcome == 0) return !is_released;
    const auto outcome = static_cast<core::Outcome>(standing.outcome - 1);
    if (outcome == core::Outcome::expired) return true;
    const bool is_allowing = outcome == core::Outcome::allowed ||
                             outcome == core::Outcome::approved ||
                             outcome == core::Outcome::modified;
    // Of what allows, only a question releases nothing.
    if (is_allowing && static_cast<core::Kind>(standing.kind) == core::Kind::input) return true;
    return is_allowing == is_released;
}

/// The standings that a filter lets through and that occur.
std::vector<std::size_t> matching_standings(const ListFilter& filter, const Tally& tally) {
    std::vector<std::size_t> places;
    for (std::size_t place = 0; place < standing_count; ++place) {
        if (tally.count(place) == 0) continue;
        const Standing standing = standing_at(place);
        if (filter.state && (standing.outcome == 0) != (*filter.state == core::State::pending))
            continue;
        if (filter.outcome && standing.outcome != static_cast<int>(*filter.outcome) + 1) continue;
        if (filter.risk && standing.risk != static_cast<int>(*filter.risk)) continue;
        if (filter.kind && standing.kind != static_cast<int>(*filter.kind)) continue;
        if (filter.is_released && !can_be(*filter.is_released, standing)) continue;
        places.push_back(place);
    }
    return places;
}

bool has_standing(const ListFilter& filter) {
    return filter.state || filter.outcome || filter.risk || filter.kind || filter.is_released;
}

Source by_standing(BuiltQuery& query, const std::vector<std::size_t>& places) {
    Source source{"request h INDEXED BY request_standing", {}};
    for (const std::size_t place : places) {
        const Standing standing = standing_at(place);
        // Values as parameters: the text, and so the prepared statement, depends on their number.
        const int outcome = query.add(std::int64_t{standing.outcome});
        const int risk = query.add(std::int64_t{standing.risk});
        const int kind = query.add(std::int64_t{standing.kind});
        source.parts.push_back(
            fmt::format("h.outcome=?{} AND h.risk=?{} AND h.kind=?{}", outcome, risk, kind));
    }
    return source;
}

Source from_drawers() { return {"filed f CROSS JOIN request h ON h.row=f.row", {}, true}; }

Source by_requester(BuiltQuery& query, const ListFilter& filter,
                    const std::vector<std::int64_t>& refs) {
    Source source = from_drawers();
    for (const std::int64_t ref : refs) {
        const int requester = query.add(ref);
        for (const Drawer drawer : {Drawer::pending_of, Drawer::settled_of}) {
            const bool is_pending = drawer == Drawer::pending_of;
            if (filter.state && (*filter.state == core::State::pending) != is_pending) continue;
            if (filter.outcome && is_pending) continue;
            source.parts.push_back(
                fmt::format("f.drawer={} AND f.value=?{}", drawer_number(drawer), requester));
        }
    }
    return source;
}

/// The drawers of what the filter names, besides the standing; the most telling first.
std::vector<MakeSource> narrow_sources(const ListFilter& filter,
                                       const std::optional<std::vector<std::int64_t>>& refs) {
    std::vector<MakeSource> sources;
    const auto add = [&](Drawer drawer, const std::optional<std::string>& value) {
        // What is empty is not filed.
        if (!value || value->empty()) return;
        sources.push_back([drawer, &value](BuiltQuery& query) {
            Source source = from_drawers();
            source.parts.push_back(fmt::format("f.drawer={} AND f.value=?{}", drawer_number(drawer),
                                               query.add(*value)));
            return source;
        });
    };
    add(Drawer::task, filter.task);
    add(Drawer::thread, filter.thread);
    add(Drawer::session, filter.session);
    add(Drawer::user, filter.user);
    if (refs && refs->size() * 2 <= merge_max)
        sources.push_back([&](BuiltQuery& query) { return by_requester(query, filter, *refs); });
    add(Drawer::tool, filter.tool);
    return sources;
}

/// Reads rows of the source between ?1 and ?2.
void append_searches(BuiltQuery& query, const Source& source, std::string_view rest) {
    const std::string_view row = source.is_filed ? "f.row" : "h.row";
    for (std::size_t i = 0; i < source.parts.size(); ++i) {
        if (i > 0) query.sql += " UNION ALL ";
        query.sql += fmt::format("SELECT {0} AS row FROM {1} WHERE {2} AND {0}>=?1 AND {0}<?2{3}",
                                 row, source.from, source.parts[i], rest);
    }
}

/// Counts what is filed between ?1 and ?2, up to ?3. The few unfiled rows are the same for all.
void append_count(BuiltQuery& query, const Source& source) {
    query.sql = "SELECT count(*) FROM (";
    for (std::size_t i = 0; i < source.parts.size(); ++i) {
        if (i > 0) query.sql += " UNION ALL ";
        query.sql += fmt::format("SELECT 1 FROM filed f WHERE {} AND f.row>=?1 AND f.row<?2",
                                 source.parts[i]);
    }
    query.sql += " LIMIT ?3)";
}

}  // namespace

std::string SqliteTransaction::conditions(BuiltQuery& query, const ListFilter& filter,
                                          const std::vector<std::int64_t>* requesters) {
    std::string sql;
    const auto equal = [&](std::string_view column, auto value) {
        sql += fmt::format(" AND +h.{}=?{}", column, query.add(std::move(value)));
    };
    const auto number = [](auto word) { return static_cast<std::int64_t>(word); };
    if (filter.state) equal("state", number(*filter.state));
    if (filter.outcome) equal("outcome", number(*filter.outcome) + 1);
    if (filter.risk) equal("risk", number(*filter.risk));
    if (filter.kind) equal("kind", number(*filter.kind));
    if (filter.is_released) equal("is_released", number(*filter.is_released));
    if (filter.session) equal("session", *filter.session);
    if (filter.thread) equal("thread", *filter.thread);
    if (filter.task) equal("task", *filter.task);
    if (filter.user) equal("user", *filter.user);
    if (filter.tool) equal("tool", *filter.tool);
    if (filter.batch) equal("batch", filter.batch->ulid);
    if (requesters) {
        sql += " AND +h.requester IN (";
        for (std::size_t i = 0; i < requesters->size(); ++i)
            sql += fmt::format("{}?{}", i > 0 ? "," : "", query.add((*requesters)[i]));
        sql += ')';
    }
    if (filter.snoozed && !filter.snoozed->is_snoozed) {
        const int person = query.add(filter.snoozed->person.ulid);
        sql += fmt::format(
            " AND NOT EXISTS(SELECT 1 FROM snooze z WHERE z.principal=?{} AND z.request=h.row"
            " AND z.until>?{})",
            person, query.add(filter.snoozed->now.ms));
    }
    if (filter.since) sql += fmt::format(" AND h.created_at>=?{}", query.add(filter.since->ms));
    if (filter.until) sql += fmt::format(" AND h.created_at<?{}", query.add(filter.until->ms));
    return sql;
}

Result<BuiltQuery> SqliteTransaction::build_list(const ListQuery& list) {
    const ListFilter& filter = list.filter;
    const Result<std::optional<std::vector<std::int64_t>>> refs = requesters_of(filter);
    if (!refs) return refs.error();
    const Result<RowRange> range = row_range(list);
    if (!range) return range.error();
    const std::vector<std::size_t> places = matching_standings(filter, tally_);
    if (places.empty() || (*refs && (*refs)->empty()) || range->first >= range->end)
        return BuiltQuery{};

    BuiltQuery query;
    query.add(range->first);
    query.add(range->end);
    query.add(std::int64_t{std::clamp(list.limit, 1, limit_max)} + 1);
    std::int64_t matching = 0;
    for (const std::size_t place : places) matching += tally_.count(place);

    // Few rows of that standing, or few others in between: reading past them bounds the work.
    const bool is_rare = has_standing(filter) && matching <= setup_.skip_max;
    const bool is_most = tally_.total() - matching <= setup_.skip_max;
    Source source{"request h NOT INDEXED", {"1"}};
    if (filter.snoozed && filter.snoozed->is_snoozed) {
        const int person = query.add(filter.snoozed->person.ulid);
        source = {"snooze z CROSS JOIN request h ON h.row=z.request",
                  {fmt::format("z.principal=?{} AND z.until>?{}", person,
                               query.add(filter.snoozed->now.ms))}};
    } else if (filter.batch) {
        source = {
            "request h INDEXED BY request_batch",
            {fmt::format("h.batch=?{} AND h.batch IS NOT NULL", query.add(filter.batch->ulid))}};
    } else {
        const std::vector<MakeSource> narrow = narrow_sources(filter, *refs);
        const MakeSource* best = nullptr;
        std::int64_t fewest = is_rare ? matching : setup_.skip_max;
        const bool has_choice = narrow.size() + (has_standing(filter) ? 1 : 0) > 1;
        for (std::size_t i = 0; has_choice && i < narrow.size() && fewest > few_rows; ++i) {
            BuiltQuery probe;
            probe.add(range->first);
            probe.add(range->end);
            probe.add(fewest);
            append_count(probe, narrow[i](probe));
            const Result<std::int64_t> count = number_of(probe);
            if (!count) return count.error();
            if (*count >= fewest) continue;
            fewest = *count;
            best = &narrow[i];
        }
        // None is small. How many stand so is known, how many a drawer holds is not; only those of
        // agents know the state.
        const bool is_known = has_standing(filter) && matching <= known_factor * setup_.skip_max &&
                              !(*refs && filter.state == core::State::pending);
        if (best)
            source = (*best)(query);
        else if (is_rare || is_known || (narrow.empty() && has_standing(filter) && !is_most))
            source = by_standing(query, places);
        else if (!narrow.empty())
            source = narrow.front()(query);
    }

    const std::string rest = conditions(query, filter, *refs ? &**refs : nullptr);
    append_searches(query, source, rest);
    const std::int64_t unfiled_first = std::max(range->first, filing_.filed_up_to() + 1);
    if (source.is_filed && unfiled_first < range->end)
        query.sql += fmt::format(
            " UNION ALL SELECT h.row AS row FROM request h NOT INDEXED"
            " WHERE h.row>=?{} AND h.row<?2{}",
            query.add(unfiled_first), rest);
    query.sql += list.after_row ? " ORDER BY row LIMIT ?3" : " ORDER BY row DESC LIMIT ?3";
    return query;
}

Result<BuiltQuery> SqliteTransaction::build_events(const EventSpan& span, const ListFilter& filter,
                                                   int limit) {
    const Result<std::optional<std::vector<std::int64_t>>> refs = requesters_of(filter);
    if (!refs) return refs.error();
    BuiltQuery query;
    const bool is_never = filter.state == core::State::pending && filter.outcome;
    if (is_never || (*refs && (*refs)->empty())) return query;
    query.add(span.after);
    query.add(std::int64_t{std::clamp(limit, 1, limit_max)});
    query.add(span.up_to);
    // CROSS JOIN keeps the order of the tables: events first.
    query.sql =
        "SELECT e.seq, e.kind, e.at, e.actor, e.via, e.address, e.detail, e.previous, e.request"
        " FROM event e CROSS JOIN request h ON h.row=e.request WHERE e.seq>?1 AND e.seq<=?3";
    // What changes with time is asked of the event; how it ended never changes once it has.
    ListFilter rest = filter;
    rest.state.reset();
    rest.risk.reset();
    if (filter.state || filter.outcome) {
        const bool is_over = filter.outcome || *filter.state == core::State::settled;
        query.sql += fmt::format(" AND e.kind {}IN ({},{})", is_over ? "" : "NOT ",
                                 static_cast<int>(core::EventKind::settled),
                                 static_cast<int>(core::EventKind::reported));
    }
    if (filter.risk)
        query.sql += fmt::format(" AND coalesce(e.risk,h.risk)=?{}",
                                 query.add(static_cast<std::int64_t>(*filter.risk)));
    query.sql += conditions(query, rest, *refs ? &**refs : nullptr);
    query.sql += " ORDER BY e.seq LIMIT ?2";
    return query;
}

Result<ListPage> SqliteTransaction::list(const ListQuery& list) {
    const Result<BuiltQuery> query = build_list(list);
    if (!query) return query.error();
    ListPage page;
    if (query->sql.empty()) return page;

    const auto limit = static_cast<std::size_t>(std::clamp(list.limit, 1, limit_max));
    Using row(bound(*query));
    while (row->step()) {
        if (page.requests.size() == limit) {
            (list.after_row ? page.next_after_row : page.next_before_row) =
                page.requests.back()->row;
            break;
        }
        Result<RequestPointer> request = load_row(row->number(0));
        if (!request) return request.error();
        page.requests.push_back(std::move(*request));
    }
    return or_failed(std::move(page));
}

Result<std::vector<std::shared_ptr<const core::Request>>> SqliteTransaction::batch(
    const BatchId& id) {
    std::vector<RequestPointer> requests;
    Using row(
        database_.cached("SELECT row FROM request INDEXED BY request_batch"
                         " WHERE batch=?1 AND batch IS NOT NULL ORDER BY row"));
    row->bind(1, id.ulid);
    while (row->step()) {
        Result<RequestPointer> request = load_row(row->number(0));
        if (!request) return request.error();
        requests.push_back(std::move(*request));
    }
    return or_failed(std::move(requests));
}

Result<std::vector<RequestId>> SqliteTransaction::pending_in_session(const PrincipalId& agent,
                                                                     const std::string& session) {
    return waiting_in_session(agent, session, {std::numeric_limits<std::int64_t>::max()});
}

Result<std::vector<RequestId>> SqliteTransaction::due_in_session(const PrincipalId& agent,
                                                                 const std::string& session,
                                                                 Timestamp now) {
    // Hardly anything is ever due, wherever it is; only after a standstill there may be more than
    // the session has.
    std::vector<RequestId> ids;
    int looks = 0;
    {
        Using row(database_.cached(
            "SELECT id, session=?2 AND requester IN (SELECT ref FROM requester WHERE agent_id=?1)"
            " FROM request INDEXED BY request_next WHERE state=0 AND next_at<=?3 LIMIT ?4"));
        row->bind(1, agent.ulid);
        row->bind(2, session);
        row->bind(3, now);
        row->bind(4, std::int64_t{due_looks_max});
        for (; row->step(); ++looks)
            if (row->number(1) != 0 && !read_id(row->blob(0), ids.emplace_back().ulid))
                return Error{ErrorCode::internal, "a stored request id cannot be read"};
        if (database_.fault() != 0) return failed();
    }
    if (looks == due_looks_max) return waiting_in_session(agent, session, now);
    return ids;
}

std::string SqliteTransaction::waiting_statement(bool is_by_agent) {
    constexpr std::string_view rest =
        " WHERE +h.state=0 AND +h.session=?2 AND +h.next_at<=?3"
        " AND +h.requester IN (SELECT ref FROM requester WHERE agent_id=?1)";
    // The plus takes the column's affinity away: SQLite does not search `value`, which has none,
    // for something it would have to compare as a number.
    const std::string filed =
        is_by_agent ? fmt::format(
                          "requester a CROSS JOIN filed f CROSS JOIN request h ON a.agent_id=?1"
                          " AND f.drawer={} AND f.value=+a.ref AND h.row=f.row",
                          drawer_number(Drawer::pending_of))
                    : fmt::format(
                          "filed f CROSS JOIN request h ON f.drawer={} AND f.value=?2"
                          " AND h.row=f.row",
                          drawer_number(Drawer::session));
    return fmt::format(
        "SELECT h.id, h.row FROM {}{}"
        " UNION ALL SELECT h.id, h.row FROM request h NOT INDEXED{} AND h.row>?4",
        filed, rest, rest);
}

Result<std::vector<RequestId>> SqliteTransaction::waiting_in_session(const PrincipalId& agent,
                                                                     const std::string& session,
                                                                     Timestamp next_by) {
    // Whichever is bounded: the agent's pending requests, or the session's.
    const bool is_by_agent = session.empty() || tally_.pending_of(agent.ulid) <= setup_.skip_max;
    Using row(database_.cached(waiting_statement(is_by_agent)));
    row->bind(1, agent.ulid);
    row->bind(2, session);
    row->bind(3, next_by);
    row->bind(4, filing_.filed_up_to());
    std::vector<std::pair<std::int64_t, RequestId>> found;
    while (row->step()) {
        RequestId id;
        const std::string_view bytes = row->blob(0);
        if (bytes.size() != id.ulid.bytes.size())
            return Error{ErrorCode::internal, "a stored request id cannot be read"};
        std::ranges::copy(bytes, id.ulid.bytes.begin());
        found.emplace_back(row->number(1), id);
    }
    std::ranges::sort(found);
    std::vector<RequestId> ids;
    for (const auto& item : found) ids.push_back(item.second);
    return or_failed(std::move(ids));
}

Result<std::optional<std::vector<std::int64_t>>> SqliteTransaction::requesters_of(
    const ListFilter& filter) {
    if (!filter.agent && !filter.agent_id) return std::optional<std::vector<std::int64_t>>{};
    std::string sql = "SELECT ref FROM requester WHERE 1";
    if (filter.agent_id) sql += " AND agent_id=?1";
    if (filter.agent) sql += " AND name=?2";
    Using row(database_.cached(sql));
    if (filter.agent_id) row->bind(1, filter.agent_id->ulid);
    if (filter.agent) row->bind(2, *filter.agent);
    std::vector<std::int64_t> refs;
    while (row->step()) refs.push_back(row->number(0));
    if (database_.fault() != 0) return failed();
    return std::optional{std::move(refs)};
}

/// The first row that may have been created at or after that time: no earlier row was, give or
/// take `disorder_ms`, which the caller adds. Rows ascend with time, so twenty looks find it among
/// a million and creating needs no index on the time.
Result<std::int64_t> SqliteTransaction::first_row_since(std::int64_t created_at) {
    std::int64_t low = 1, high = tally_.numbers().last_row + 1;
    while (low < high) {
        const std::int64_t middle = low + (high - low) / 2;
        Using look(created_from_);
        look->bind(1, middle);
        if (!look->step()) {
            if (database_.fault() != 0) return failed();
            high = middle;
        } else if (look->number(1) >= created_at) {
            high = middle;
        } else {
            low = look->number(0) + 1;
        }
    }
    return low;
}

Result<SqliteTransaction::RowRange> SqliteTransaction::row_range(const ListQuery& query) {
    RowRange range{
        query.after_row ? *query.after_row + 1 : 0,
        query.before_row > 0 ? query.before_row : std::numeric_limits<std::int64_t>::max()};
    const std::int64_t disorder_ms = tally_.numbers().disorder_ms;
    if (query.filter.since) {
        const Result<std::int64_t> first = first_row_since(query.filter.since->ms - disorder_ms);
        if (!first) return first.error();
        range.first = std::max(range.first, *first);
    }
    if (query.filter.until) {
        const Result<std::int64_t> end = first_row_since(query.filter.until->ms + disorder_ms);
        if (!end) return end.error();
        range.end = std::min(range.end, *end);
    }
    return range;
}

Statement& SqliteTransaction::bound(const BuiltQuery& query) {
    Statement& statement = database_.cached(query.sql);
    for (std::size_t i = 0; i < query.values.size(); ++i)
        std::visit([&](const auto& value) { statement.bind(static_cast<int>(i) + 1, value); },
                   query.values[i]);
    return statement;
}

Result<std::int64_t> SqliteTransaction::number_of(const BuiltQuery& query) {
    Using row(bound(query));
    if (!row->step()) return failed();
    return row->number(0);
}

}  // namespace holdpoint::store::sqlite
