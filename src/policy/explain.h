#pragma once

#include "base/json.h"
#include "policy/evaluate.h"

namespace holdpoint::policy {

/// The decision record: what was decided and why, down to the values that conditions read.
///
///     {"kind", "rule", "gate", "risk", "because", "policy", "approvals": [["finance", 2]],
///      "matched": [{"id", "line", "effect", "kind", "hard"}], "values": {"args.amount": 900.5},
///      "near": [{"id", "effect", "first_false": "args.amount <= 50"}],
///      "shell": {"opaque", "reason", "position"} or null, "factors": […], "consequences": […],
///      "headline", "grant", "cost"}
///
/// `matched` names everything that took part, also what was waived; `near` the rules whose
/// condition was false, with its first part that was. Made by a second, tracing run of the same
/// evaluation.
json::object explain(const Policy& policy, const Call& call, const StateView& state,
                     Workspace& workspace);

/// The record in a few lines for a terminal.
std::string explain_text(const json::object& record);

}  // namespace holdpoint::policy
