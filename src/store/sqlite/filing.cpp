#include "store/sqlite/filing.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <string>

namespace holdpoint::store::sqlite {
namespace {

/// So many are filed at once. Where no two have anything in common each takes a page of every
/// drawer, and nobody is answered meanwhile; what is decided quickly is not filed before.
constexpr std::int64_t filed_at_once = 512;

/// The drawer in which a request is found by its agent, as SQL over the columns of `request`.
std::string agents_drawer() {
    return fmt::format("iif(state=0,{},{})", drawer_number(Drawer::pending_of),
                       drawer_number(Drawer::settled_of));
}

/// All of them are filed anew so many at a time: they are sorted in memory.
constexpr std::int64_t refiled_at_once = 100'000;

/// How many entries there should be and are not, plus how many there are too many. Where the mark
/// up to which they are filed is none, all are.
Result<std::int64_t> count_astray(Database& database) {
    std::string missing;
    std::string expected;
    const auto add = [&](const std::string& drawer, std::string_view column) {
        const char* plus = missing.empty() ? "" : "+";
        missing += fmt::format(
            "{0}sum({1}<>'' AND NOT EXISTS(SELECT 1 FROM filed f WHERE f.drawer={2} AND"
            " f.value=+h.{1} AND f.row=h.row))",
            plus, column, drawer);
        expected += fmt::format("{}sum({}<>'')", plus, column);
    };
    add(agents_drawer(), "requester");
    for (const TextDrawer& each : text_drawers)
        add(std::to_string(drawer_number(each.drawer)), each.column);
    return database.query_number(
        fmt::format("SELECT coalesce({}+abs({}-(SELECT count(*) FROM filed)),"
                    " (SELECT count(*) FROM filed))"
                    " +(SELECT iif(filed_up_to BETWEEN 0 AND last_row, 0, 1+last_row) FROM counter)"
                    " FROM request h WHERE row<=(SELECT filed_up_to FROM counter)",
                    missing, expected));
}

}  // namespace

Filing::Filing(Database& database, Tally& tally, std::int64_t unfiled_max)
    : database_(database),
      tally_(tally),
      unfiled_max_(unfiled_max),
      move_(database.prepare(
          fmt::format("UPDATE OR REPLACE filed SET drawer={} WHERE drawer={} AND value=?1"
                      " AND row=?2",
                      drawer_number(Drawer::settled_of), drawer_number(Drawer::pending_of)))),
      put_(database.prepare(fmt::format("INSERT OR IGNORE INTO filed(drawer, value, row)"
                                        " VALUES({}, ?1, ?2)",
                                        drawer_number(Drawer::settled_of)))) {}

bool Filing::catch_up() {
    const Tally::Numbers& numbers = tally_.numbers();
    if (numbers.last_row - numbers.filed_up_to <= unfiled_max_) return true;
    return file_up_to(std::max(numbers.last_row - unfiled_max_,
                               std::min(numbers.last_row, numbers.filed_up_to + filed_at_once)));
}

bool Filing::file_all() {
    const Tally::Numbers& numbers = tally_.numbers();
    while (numbers.filed_up_to < numbers.last_row)
        if (!file_up_to(std::min(numbers.last_row, numbers.filed_up_to + refiled_at_once)))
            return false;
    return true;
}

bool Filing::file_up_to(std::int64_t row) {
    Tally::Numbers& numbers = tally_.numbers();
    // In the order of the table, so that the requests of one session share its page. A requester is
    // a number, and never equal to the empty text.
    const auto file = [&](const std::string& drawer, std::string_view column) {
        Statement& statement = database_.cached(fmt::format(
            "INSERT OR IGNORE INTO filed(drawer, value, row) SELECT {0}, {1}, row FROM request"
            " WHERE row>?1 AND row<=?2 AND {1}<>'' ORDER BY 1, 2, 3",
            drawer, column));
        statement.bind(1, numbers.filed_up_to);
        statement.bind(2, row);
        return statement.run();
    };
    if (!file(agents_drawer(), "requester")) return false;
    for (const TextDrawer& each : text_drawers)
        if (!file(std::to_string(drawer_number(each.drawer)), each.column)) return false;
    numbers.filed_up_to = row;
    return true;
}

bool Filing::settle(const core::Request& request, std::int64_t requester) {
    if (request.row > filed_up_to()) return true;
    const auto run = [&](Statement& statement) {
        statement.bind(1, requester);
        statement.bind(2, request.row);
        return statement.run();
    };
    if (!run(move_)) return false;
    if (database_.changes() == 1) return true;
    // Only damage takes an entry away. The request itself is right, and gets a new one.
    spdlog::error("{} was not filed under its agent; start with --check-store", request.id.text());
    return run(put_);
}

Result<void> check_filing(Database& database) {
    const Result<std::int64_t> astray = count_astray(database);
    if (!astray) return astray.error();
    if (*astray == 0) return {};
    spdlog::warn(
        "{} entries of the lists by agent, session and the like are astray; they are made"
        " anew",
        *astray);
    // What cannot be read leaves the transaction open, and the file as it was: nothing is started.
    if (const Result<void> cleared = database.execute(
            "BEGIN IMMEDIATE; DELETE FROM filed; UPDATE counter SET filed_up_to=0");
        !cleared)
        return cleared;
    Tally tally(database);
    Filing filing(database, tally, 0);
    if (!tally.load() || !filing.file_all() || !tally.flush())
        return Error{ErrorCode::unavailable, database.fault_message()};
    if (const Result<void> kept = database.execute("COMMIT"); !kept) return kept;
    return database.copy_log();
}

}  // namespace holdpoint::store::sqlite
