#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/request.h"

namespace holdpoint::core {

/// What a person wants done with a request.
struct DecisionCommand {
    DecisionKind kind = DecisionKind::reject;
    std::string digest;  ///< what the person saw; empty when the door did not ask for it
    std::string note;
    std::string reason;
    std::string guidance;
    std::string target;                              ///< escalate: `group:NAME` or a person
    JsonText replacement;                            ///< modify
    std::optional<Kind> replacement_kind;            ///< of what kind of request; unset: of this
    std::optional<std::vector<int>> approved_steps;  ///< approve a plan in part
    JsonText answer;                                 ///< answer; canonical, not yet checked
    std::string confirm;                             ///< the code, where the request asks for it
    bool must_be_as_proposed = false;                ///< the door cannot say what the person saw
};

/// Applies one person's decision to a pending request; the deadline has not passed (see expire.h).
/// Fails with conflict when it is settled, was changed since the person looked, or the same person
/// said the same before; with permission_denied when this person has no place in it; with refused
/// when the decision does not fit the request. The request is then as it was.
Result<Step> decide(Request request, const DecisionCommand& command, const Actor& person,
                    Timestamp now);

/// Ends a pending request because a sibling in the same run was aborted.
Step abort_with(Request request, const Decision& decision, const RequestId& cause,
                const Actor& person, Timestamp now);

}  // namespace holdpoint::core
