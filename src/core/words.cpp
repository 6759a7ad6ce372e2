#include "core/words.h"

#include <array>
#include <cstddef>

namespace holdpoint::core {
namespace {

// One table per enumeration, in the enumeration's order: written and read from the same place.
constexpr std::array<std::string_view, 5> kinds{"action", "plan", "input", "confirmation",
                                                "response"};
constexpr std::array<std::string_view, 2> states{"pending", "settled"};
constexpr std::array<std::string_view, 11> outcomes{"allowed",  "denied",   "approved", "modified",
                                                    "rejected", "deferred", "aborted",  "answered",
                                                    "skipped",  "expired",  "cancelled"};
constexpr std::array<std::string_view, 4> risk_levels{"low", "medium", "high", "critical"};
constexpr std::array<std::string_view, 7> decision_kinds{"approve",  "reject", "modify", "defer",
                                                         "escalate", "abort",  "answer"};
constexpr std::array<std::string_view, 7> timeout_actions{"reject", "approve", "retry",  "escalate",
                                                          "abort",  "skip",    "default"};
constexpr std::array<std::string_view, 3> verdict_kinds{"allow", "hold", "deny"};
constexpr std::array<std::string_view, event_kind_count> event_kinds{
    "requested", "voted",    "settled",  "reminded", "escalated",
    "retried",   "extended", "reported", "held",     "undone"};
constexpr std::array<std::string_view, event_kind_count> public_names{
    "approval-required", "decision-recorded", "request-settled",  "request-reminded",
    "request-escalated", "request-retried",   "request-extended", "tool-result",
    "decision-held",     "decision-undone"};

template <class Word, std::size_t n>
std::optional<Word> find(const std::array<std::string_view, n>& words, std::string_view text) {
    for (std::size_t i = 0; i < n; ++i)
        if (words[i] == text) return static_cast<Word>(i);
    return std::nullopt;
}

}  // namespace

std::string_view to_string(Kind word) { return kinds[static_cast<std::size_t>(word)]; }
std::string_view to_string(State word) { return states[static_cast<std::size_t>(word)]; }
std::string_view to_string(Outcome word) { return outcomes[static_cast<std::size_t>(word)]; }
std::string_view to_string(RiskLevel word) { return risk_levels[static_cast<std::size_t>(word)]; }
std::string_view to_string(DecisionKind word) {
    return decision_kinds[static_cast<std::size_t>(word)];
}
std::string_view to_string(TimeoutAction word) {
    return timeout_actions[static_cast<std::size_t>(word)];
}
std::string_view to_string(VerdictKind word) {
    return verdict_kinds[static_cast<std::size_t>(word)];
}
std::string_view to_string(EventKind word) { return event_kinds[static_cast<std::size_t>(word)]; }
std::string_view public_name(EventKind word) {
    return public_names[static_cast<std::size_t>(word)];
}

template <>
std::optional<Kind> parse_word(std::string_view text) {
    return find<Kind>(kinds, text);
}
template <>
std::optional<State> parse_word(std::string_view text) {
    return find<State>(states, text);
}
template <>
std::optional<Outcome> parse_word(std::string_view text) {
    return find<Outcome>(outcomes, text);
}
template <>
std::optional<RiskLevel> parse_word(std::string_view text) {
    return find<RiskLevel>(risk_levels, text);
}
template <>
std::optional<DecisionKind> parse_word(std::string_view text) {
    return find<DecisionKind>(decision_kinds, text);
}
template <>
std::optional<TimeoutAction> parse_word(std::string_view text) {
    return find<TimeoutAction>(timeout_actions, text);
}
template <>
std::optional<VerdictKind> parse_word(std::string_view text) {
    return find<VerdictKind>(verdict_kinds, text);
}
template <>
std::optional<EventKind> parse_word(std::string_view text) {
    return find<EventKind>(event_kinds, text);
}

}  // namespace holdpoint::core
