#pragma once

#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "core/proposal.h"

namespace holdpoint::wire {

/// One proposal; errors name the field below `path` (empty at the top).
Result<core::Proposal> parse_proposal(const json::value& body, std::string_view path);

/// `{"requests": […], …}`: at most a hundred, with defaults for session, thread, task and user.
Result<std::vector<core::Proposal>> parse_batch(const json::value& body);

inline constexpr std::size_t batch_max = 100;

}  // namespace holdpoint::wire
