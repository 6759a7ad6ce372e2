#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "service/decide.h"
#include "store/store.h"

namespace holdpoint::service {

inline constexpr std::int64_t snooze_ms_max = 30LL * 86'400'000;
inline constexpr std::size_t snoozes_max = 1000;  ///< of one person at a time

/// Puts the request out of this person's sight until then; nothing brings it back. It waits,
/// reminds and expires all the same, and others see it as before.
Result<Decided> snooze(store::Transaction& tx, const RequestId& id, std::optional<Timestamp> until,
                       const core::Actor& person, Timestamp now);

/// A page of requests, and what of it this person has put off, by row.
struct PersonalPage {
    store::ListPage page;
    std::unordered_map<std::int64_t, Timestamp> snoozed;
};
Result<PersonalPage> personal_list(store::Transaction& tx, const store::ListQuery& query,
                                   const core::Actor& person, Timestamp now);

/// Until when the person has put this request off.
Result<std::optional<Timestamp>> snoozed_until(store::Transaction& tx, const core::Request& request,
                                               const core::Actor& person, Timestamp now);

}  // namespace holdpoint::service
