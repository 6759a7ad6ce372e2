#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "core/request.h"
#include "store/sqlite/database.h"
#include "store/sqlite/tally.h"

namespace holdpoint::store::sqlite {

/// What requests are found by besides where they stand. The numbers are in the file.
enum class Drawer {
    pending_of = 1,  ///< the requester, of what waits
    settled_of = 2,  ///< the requester, of what has ended
    session = 3,
    thread = 4,
    task = 5,
    user = 6,
    tool = 7,
};

constexpr std::int64_t drawer_number(Drawer drawer) { return static_cast<std::int64_t>(drawer); }

/// The drawer of a text column of `request`, and its name there.
struct TextDrawer {
    Drawer drawer;
    std::string_view column;
};
inline constexpr TextDrawer text_drawers[] = {{Drawer::task, "task"},
                                              {Drawer::thread, "thread"},
                                              {Drawer::session, "session"},
                                              {Drawer::user, "user"},
                                              {Drawer::tool, "tool"}};

/// Keeps `filed`, where requests are found by agent, session and the like.
///
/// As indexes of `request` these would cost every request a page of the log each, since requests
/// that come together seldom have their agent or session in common. So they are filed some
/// hundred at a time, sorted: until then they are the unfiled rows, everything after
/// `Tally::Numbers::filed_up_to`, which a search reads as they are. Both are changed in the
/// transaction of the requests themselves.
class Filing {
  public:
    /// At most so many requests stay unfiled.
    Filing(Database& database, Tally& tally, std::int64_t unfiled_max);

    /// Files the oldest of what is unfiled if it is too much. Comes after every new request. False
    /// on failure.
    bool catch_up();

    /// Files everything that is unfiled, however much it is. False on failure.
    bool file_all();

    /// Follows a request that has ended. False on failure.
    bool settle(const core::Request& request, std::int64_t requester);

    std::int64_t filed_up_to() const { return tally_.numbers().filed_up_to; }

  private:
    bool file_up_to(std::int64_t row);

    Database& database_;
    Tally& tally_;
    const std::int64_t unfiled_max_;
    Statement move_, put_;
};

/// Looks for filed requests without an entry where they should have one, and for entries without a
/// request, and files all anew if there are any. SQLite cannot know that they belong together.
Result<void> check_filing(Database& database);

}  // namespace holdpoint::store::sqlite
