#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/proposal.h"
#include "policy/evaluate.h"

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

/// The same as a policy of the one engine: plans, questions and answers go to people, the rest is
/// judged by the lists. Risk, requirement and times of every hold are those of the lists.
std::shared_ptr<const Policy> compose(const Builtin& builtin);

/// Judges a proposal by the lists. Composes the policy first: whoever judges often composes once
/// and asks evaluate(policy, …).
core::Verdict evaluate(const Builtin& policy, const core::Proposal& proposal);

}  // namespace holdpoint::policy
