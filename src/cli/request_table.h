#pragma once

#include <vector>

#include "cli/output.h"
#include "cli/resource.h"

namespace holdpoint::cli {

/// Requests as a table for `out`: how risky, how old, how long they may still wait or how they
/// ended.
std::vector<Line> request_table(const Output& out, const std::vector<Request>& requests);

/// What waits, at the foot of the screen, while lines scroll by above it: drawn anew when something
/// changes and as time passes. Only where Output::can_redraw().
class LiveTable {
  public:
    explicit LiveTable(const Output& out) : out_(out) {}

    /// Everything that waits now.
    void set(std::vector<Request> requests);
    /// It came, changed or ended.
    void take(const Request& request);

    /// Takes it off the screen, so that something can be printed.
    void erase();
    void draw();

  private:
    const Output& out_;
    std::vector<Request> waiting_;  // what ends first stands first
    std::vector<int> drawn_;        // the width of each line on the screen
};

}  // namespace holdpoint::cli
