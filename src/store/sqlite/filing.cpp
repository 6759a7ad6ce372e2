#include "store/sqlite/filing.h"

#include <fmt/format.h>

#include <string>

namespace holdpoint::store::sqlite {

Filing::Filing(Database& database, Tally& tally, std::int64_t unfiled_max)
    : database_(database),
      tally_(tally),
      unfiled_max_(unfiled_max),
      move_(database.prepare(
          fmt::format("UPDATE filed SET drawer={} WHERE drawer={} AND value=?1 AND row=?2",
                      drawer_number(Drawer::settled_of), drawer_number(Drawer::pending_of)))) {}

bool Filing::catch_up() {
    Tally::Numbers& numbers = tally_.numbers();
    if (numbers.last_row - numbers.filed_up_to <= unfiled_max_) return true;
    // In the order of the table, so that the requests of one session share its page. A requester is
    // a number, and never equal to the empty text.
    const auto file = [&](const std::string& drawer, std::string_view column) {
        Statement& statement = database_.cached(
            fmt::format("INSERT INTO filed(drawer, value, row) SELECT {0}, {1}, row FROM request"
                        " WHERE row>?1 AND row<=?2 AND {1}<>'' ORDER BY 1, 2, 3",
                        drawer, column));
        statement.bind(1, numbers.filed_up_to);
        statement.bind(2, numbers.last_row);
        return statement.run();
    };
    if (!file(fmt::format("iif(state=0,{},{})", drawer_number(Drawer::pending_of),
                          drawer_number(Drawer::settled_of)),
              "requester"))
        return false;
    for (const TextDrawer& each : text_drawers)
        if (!file(std::to_string(drawer_number(each.drawer)), each.column)) return false;
    numbers.filed_up_to = numbers.last_row;
    return true;
}

bool Filing::settle(const core::Request& request, std::int64_t requester) {
    if (request.row > filed_up_to()) return true;
    move_.bind(1, requester);
    move_.bind(2, request.row);
    return move_.run();
}

}  // namespace holdpoint::store::sqlite
