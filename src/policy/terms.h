#pragma once

#include <string>
#include <vector>

#include "policy/evaluate.h"

namespace holdpoint::policy {

/// What it takes to settle a held call, merged from everything that requires it: the highest risk,
/// every line of approvers with the highest quorum, the shortest time, the strictest ending, and
/// every demand that anybody makes.
struct Terms {
    std::vector<ApproverLine> lines;  ///< by group; empty: anybody who may decide
    core::Requirement requirement;
    core::Timing timing;
};

/// How strictly it ends when nobody answers; the strictest of several counts. Without a word it
/// counts as a rejection.
int strictness(const Patience& patience);

/// The gate by which it was found; null where there was none.
const Gate* gate_of(const Policy& policy, const Finding& finding);
/// The rule that found it; null where something else did.
const Rule* rule_of(const Policy& policy, const Finding& finding);

/// Who would have to release a call of which this was found, and how.
core::Requirement people_for(const Policy& policy, const Call& call,
                             const std::vector<Finding>& findings);

Terms terms_of(const Policy& policy, const Call& call, const Verdict& verdict);

/// What the verdict is called: a rule's id, or the word for its cause.
std::string rule_name(const Policy& policy, const Verdict& verdict);
std::string gate_name(const Policy& policy, const Verdict& verdict);
/// Why, in a sentence for the agent and for whoever decides.
std::string because(const Policy& policy, const Call& call, const Verdict& verdict);

/// The line that people read first; empty where no template says one.
std::string headline(const Policy& policy, const Call& call, const Verdict& verdict);

/// Factors and consequences in words, with those of risk rules and assessors.
Assessment assessment_of(const Policy& policy, const Call& call, const StateView& state,
                         const Verdict& verdict);

}  // namespace holdpoint::policy
