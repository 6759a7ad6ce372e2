#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "core/request.h"

namespace holdpoint::core {

/// Whether anybody who may decide can fill a place in the line.
bool is_anybody(const RequirementLine& line);

/// How many people it takes.
int places_of(const Requirement& requirement);

/// Whether a person of this name and these groups can fill a place in the line.
bool is_in_line(const RequirementLine& line, const std::string& name,
                const std::vector<std::string>& groups);

/// Whether this person is kept out of the request because it was asked for them, or because the
/// agent's key is theirs.
bool is_excluded(const Request& request, const std::string& name);

/// Whether a person of this name and these groups has a place in the request as it stands. That
/// they may decide at all is for the caller to know.
bool has_place(const Request& request, const std::string& name,
               const std::vector<std::string>& groups);

/// At the highest level a click is not enough, whoever said that it is so high. A question is
/// answered, not approved, so no code stands with it.
void confirm_if_critical(Request& request);

/// Whether a decision of this kind counts towards release.
bool approves(DecisionKind kind);

/// Whether somebody's rejection stands, though it was not enough to end it.
bool has_rejection(const Request& request);

/// Seats the approving votes in the lines, each person in one place, as many as possible, and
/// writes the result into `have`. True when every place is taken.
bool seat_votes(Requirement& requirement, const std::vector<Vote>& votes);

/// What the agent may add to what policy asks: it can only become harder to pass.
void tighten(Requirement& requirement, const Requirement& asked);

/// Puts the target in the place of everybody who is still missing, one seat for each. `refused`
/// when several are missing and the target is one person; the requirement is then as it was.
Result<void> redirect(Requirement& requirement, const std::string& target);

/// The same for the lines that this person could fill; the places of others stay theirs. `refused`
/// also when nobody is missing in those.
Result<void> redirect(Requirement& requirement, const std::string& target, const Actor& person);

/// The line of an escalation target: `group:NAME` or a person's name.
RequirementLine line_for(const std::string& target);

}  // namespace holdpoint::core
