#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "policy/backtest.h"
#include "store/store.h"

namespace holdpoint::service {

/// A piece of the past for trying a policy on, newest first.
struct HistoryPage {
    std::vector<policy::PastCall> calls;
    std::int64_t next_before_row = 0;  ///< 0: that was all
};

/// Small pages, so that nobody waits for somebody who looks back. What cannot be read any more is
/// left out.
Result<HistoryPage> read_history(store::Transaction& tx, std::optional<Timestamp> since,
                                 std::int64_t before_row, int limit);

}  // namespace holdpoint::service
