#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "core/request.h"

/// Decisions that wait a few seconds before they take effect, so that their author can take them
/// back. The rules, all of which fail closed:
/// - Held decisions of several people stand side by side; each takes effect at its own time, and
///   whatever settles the request ends the others.
/// - A stop (reject, defer, abort) that is held keeps everything else waiting: nothing is released
///   over an objection that is already recorded.
/// - None reaches the deadline. Should the server sleep over it, a stop still counts and everything
///   else is void: the agent may already have moved on.
namespace holdpoint::core {

/// How long before the deadline a held decision takes effect at the latest.
inline constexpr std::int64_t hold_margin_ms = 2000;

/// Until when a decision made now can be held; nothing when it must take effect at once, because
/// the deadline is too close.
std::optional<Timestamp> hold_until(const Request& request, std::int64_t hold_ms, Timestamp now);

/// Whether it says no: reject, defer or abort.
bool stops(const Held& held);

/// When this held decision takes effect.
Timestamp effective_at(const Request& request, const Held& held);

/// Records the decision, to take effect at `until`; in place of an earlier one of the same person
/// that is still held; conflict when that one says the same. Refused like decide(), as if it took
/// effect now.
Result<Step> hold(Request request, const DecisionCommand& command, const Actor& person,
                  Timestamp until, Timestamp now);

/// Takes the person's held decision back; conflict when there is none.
Result<Step> undo(Request request, const Actor& person, Timestamp now);

/// The held decision that takes effect now, if there is one; the earliest first.
const Held* due_hold(const Request& request, Timestamp now);

/// Lets the person's held decision take effect. What does not fit the request any more is void; the
/// request then waits as if it had never been made, and an event says why.
Step release_hold(Request request, const PrincipalId& by, Timestamp now);

/// Makes the person's held decision void.
Step drop_hold(Request request, const PrincipalId& by, const std::string& because, Timestamp now);

/// Makes void whatever is still held when the deadline passes.
void drop_late_holds(Step& step, Timestamp now);

}  // namespace holdpoint::core
