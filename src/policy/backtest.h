#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/json.h"
#include "policy/evaluate.h"

namespace holdpoint::policy {

/// A call as it was, and what became of it.
struct PastCall {
    std::string id;  ///< of the request
    Call call;
    core::VerdictKind verdict = core::VerdictKind::hold;
    std::optional<core::Outcome> outcome;  ///< nothing while it is pending
    std::int64_t waited_ms = 0;            ///< from the request to its end, where people decided
    std::string by;
};

/// A call that would be judged otherwise.
struct Changed {
    std::string id;
    std::string tool;
    core::VerdictKind before = core::VerdictKind::hold;
    core::VerdictKind after = core::VerdictKind::hold;
    std::optional<core::Outcome> outcome;
    std::string rule;     ///< of the new verdict
    std::string because;  ///< of the new verdict
};

/// What a policy would have done with the past.
struct Backtest {
    std::size_t calls = 0;
    std::size_t prompts_before = 0;
    std::size_t prompts_after = 0;
    std::size_t prompts_saved = 0;  ///< held then, passing or denied now
    std::size_t prompts_added = 0;
    double minutes_saved = 0;  ///< that people's answers took, of the prompts saved
    std::vector<Changed> changed;
    /// Above all: what people refused or changed, and this policy would let pass.
    std::vector<Changed> dangerous;
    /// What people approved and this policy would deny.
    std::vector<Changed> now_denied;
};

/// Plays the calls in their order. Counters are counted anew from what was released then; grants
/// and trust are left out, so the result errs towards more prompts.
Backtest backtest(const Policy& policy, std::span<const PastCall> calls);

/// The dangerous cases that nobody has acknowledged; a policy is only put in force without any.
std::vector<Changed> unacknowledged(const Backtest& result, std::span<const std::string> ids);

json::object to_json(const Backtest& result);
std::string backtest_text(const Backtest& result);

}  // namespace holdpoint::policy
