#pragma once

#include <optional>
#include <string>

#include "core/request.h"

namespace holdpoint::core {

/// What an agent asks, checked at the door but not yet judged.
struct Proposal {
    Kind kind = Kind::action;
    JsonText subject;
    std::string tool;
    std::string headline;
    std::string session, thread, task, user;
    std::optional<RiskLevel> risk;  ///< the agent's claim; it can only raise the level
    JsonText risk_detail;
    JsonText context, suggested, metadata;

    // What the agent asks about time; nothing here can release anything.
    std::optional<std::int64_t> timeout_ms;
    std::optional<TimeoutAction> on_timeout;
    std::optional<std::int64_t> remind_every_ms;
    std::optional<int> reminders_max;
    std::optional<std::int64_t> escalate_after_ms;
    std::string escalate_to;
    std::optional<int> retries_max;

    std::optional<Requirement> requirement;  ///< asked in addition to policy's
};

/// What policy answers: the verdict, and for a hold what it takes and how long it lasts.
struct Verdict {
    VerdictRecord record;
    RiskLevel risk = RiskLevel::medium;
    Requirement requirement;
    Timing timing;
    std::string headline = {};  ///< from the operator's template; empty keeps the plain one
    JsonText risk_detail = {};  ///< assessed here; null keeps what the agent says
};

}  // namespace holdpoint::core
