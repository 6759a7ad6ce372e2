#pragma once

#include <string>
#include <vector>

#include "core/proposal.h"

namespace holdpoint::policy {

/// The policy of a server without a policy file: two lists of tools, and what holds for the rest.
struct Builtin {
    std::vector<std::string> require;  ///< these tools always wait for a person
    std::vector<std::string> allow;    ///< these pass, unless `require` names them too
    core::VerdictKind otherwise = core::VerdictKind::hold;
    bool is_disabled = false;  ///< master switch: everything passes and is still recorded
    core::RiskLevel risk = core::RiskLevel::medium;
    core::Requirement requirement;
    core::Timing timing;
};

/// The one place where a proposal meets policy. A real engine replaces what is behind this call;
/// whatever it cannot judge, it holds.
core::Verdict evaluate(const Builtin& policy, const core::Proposal& proposal);

}  // namespace holdpoint::policy
