#pragma once

#include <optional>
#include <string_view>

namespace holdpoint::core {

/// What is asked.
enum class Kind { action, plan, input, confirmation, response };

enum class State { pending, settled };

/// How a request ended. Timeout, rejection and denial are three different words on purpose.
enum class Outcome {
    allowed,    ///< policy let it pass
    denied,     ///< policy refused it
    approved,   ///< people released it as it was proposed
    modified,   ///< people released it with changes
    rejected,   ///< people refused it
    deferred,   ///< people asked for another way
    aborted,    ///< people stopped the whole run
    answered,   ///< the question was answered
    skipped,    ///< nobody answered in time, and the gate says: go on without it
    expired,    ///< nobody answered in time
    cancelled,  ///< the agent withdrew it
};

enum class RiskLevel { low, medium, high, critical };

enum class DecisionKind { approve, reject, modify, defer, escalate, abort, answer };

/// What happens when nobody answers in time.
enum class TimeoutAction { reject, approve, retry, escalate, abort, skip, use_default };

enum class VerdictKind { allow, hold, deny };

/// What happened to a request; each is one row of the event log.
enum class EventKind {
    requested,  ///< stored and waiting for people
    voted,      ///< a decision was recorded, more are needed
    settled,    ///< it ended
    reminded,   ///< people were told again
    escalated,  ///< other people are asked now
    retried,    ///< the deadline passed and people are asked again
    extended,   ///< an approver prolonged the deadline
    reported,   ///< the agent told what happened afterwards
    held,       ///< a decision was recorded that takes effect later
    undone,     ///< such a decision was taken back, or could not take effect any more
};
inline constexpr int event_kind_count = 10;

// The words on the wire, in the store and in the log. `use_default` is written `default`.
std::string_view to_string(Kind);
std::string_view to_string(State);
std::string_view to_string(Outcome);
std::string_view to_string(RiskLevel);
std::string_view to_string(DecisionKind);
std::string_view to_string(TimeoutAction);
std::string_view to_string(VerdictKind);
std::string_view to_string(EventKind);

/// An event's name as streams and notifications carry it: `approval-required`.
std::string_view public_name(EventKind);

/// Reads a word back: `parse_word<Kind>("plan")`.
template <class Word>
std::optional<Word> parse_word(std::string_view text);

}  // namespace holdpoint::core
