#pragma once

#include <span>
#include <string>
#include <vector>

#include "policy/backtest.h"

namespace holdpoint::policy {

/// A rule that would have saved people from saying yes again, for a person to read. Nothing applies
/// it by itself.
struct Suggestion {
    Rule rule;
    std::string yaml;                   ///< as it would stand in the file
    std::size_t approvals = 0;          ///< that it rests on
    std::vector<std::string> evidence;  ///< ids of some of them
    Backtest result;                    ///< of the policy with this rule, over the same past
};

struct SuggestOptions {
    std::size_t approvals_min = 5;  ///< of one kind, before anything is suggested
    std::size_t approvers_min = 1;  ///< different people among them
    std::size_t values_max = 8;     ///< of one argument, listed one by one
    RiskLevel risk_max = RiskLevel::high;
};

/// The narrowest rules that cover what people kept approving: the values they saw, the amounts up
/// to the highest, the commands word by word. A rule that would also let pass something that people
/// refused or changed is narrowed or dropped; so is one that would save nothing.
std::vector<Suggestion> suggest(const Policy& policy, std::span<const PastCall> calls,
                                const SuggestOptions& options = {});

}  // namespace holdpoint::policy
