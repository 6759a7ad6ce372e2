#pragma once

#include <string>

#include "core/request.h"

namespace holdpoint::core {

/// What everything that lasts counts from: the time of asking, moved with the deadlines where an
/// operator accepted a clock that was set.
Timestamp counted_from(const Request& request);

/// When the timer must look at this pending request next.
Timestamp next_wake(const Request& request);

/// Ends a pending request, once: writes outcome, release and the sentence for the agent, and adds
/// the event and the effect to `step`. Whether it is released follows from outcome and timeout
/// action alone.
void settle(Step& step, Outcome outcome, const Actor& actor, Timestamp now, JsonText detail = {});

/// Whether its end is the end of the whole run: a person's abort, or a timeout that aborts.
bool has_ended_run(const Request& request);

/// Seats the votes anew after the requirement changed. If they are enough now, releases what they
/// approved; the latest of them is the decision. Somebody whose vote found no place before may have
/// one among those who are asked now.
void release_if_complete(Step& step, const Actor& actor, Timestamp now);

/// Adds an event by this actor to the step.
void note(Step& step, EventKind kind, const Actor& actor, Timestamp now, JsonText detail = {});

/// The actor that stands for time passing.
const Actor& timer_actor();

/// The sentence that goes back to the model: what happened, and what to do now.
std::string message_for(const Request& request);

}  // namespace holdpoint::core
