#pragma once

#include <string>

#include "base/result.h"
#include "core/request.h"

namespace holdpoint::core {

/// The agent withdraws its own pending request. conflict when it is settled.
Result<Step> cancel(Request request, const std::string& reason, const Actor& agent, Timestamp now);

/// An approver gives it more time. conflict when it is settled, permission_denied when this person
/// has no place in it, refused beyond `lifetime_ms_max`.
Result<Step> extend(Request request, std::int64_t ms, const Actor& person, Timestamp now);

/// The agent tells what came of it. refused while pending; conflict when it told something else
/// before. The same report again changes nothing (`events` is then empty).
Result<Step> report(Request request, Report report, const Actor& agent, Timestamp now);

/// A request may wait thirty days, and ninety in all with extensions.
inline constexpr std::int64_t timeout_ms_max = 30LL * 86'400'000;
inline constexpr std::int64_t lifetime_ms_max = 90LL * 86'400'000;

}  // namespace holdpoint::core
