#pragma once

#include <string>

#include "core/proposal.h"
#include "policy/policy.h"
#include "service/judge.h"
#include "store/store.h"

namespace holdpoint::wire {

/// A grant with its story and its standing at this moment: `active`, `expired`, `used_up`, `ended`.
std::string to_json(const store::GrantRecord& record, const std::string& policy_version,
                    Timestamp now);

/// What policy would say to a proposal: verdict, risk, requirement and times.
std::string to_json(const core::Verdict& verdict);

/// The policy in force: name, version, text, where it came from, warnings.
struct PolicySummary {
    const policy::Policy& policy;
    std::string_view origin;  ///< `file`, `store` or `flags`
    bool with_text = true;
};
std::string to_json(const PolicySummary& summary);

std::string to_json(const store::PolicyVersion& version, bool is_in_force, bool with_text);

}  // namespace holdpoint::wire
