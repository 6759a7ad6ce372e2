#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <holdpoint/feedback.h>

namespace holdpoint::agent::feedback {

/// How people changed one argument of a tool, as far as they agree.
struct Preference {
    std::string tool, argument;
    Json before, after;  ///< null `after`: they left it out
    int times = 1;       ///< in a row, to this very value
    std::string by;      ///< who did so last
};

/// What modifications say about arguments, newest first. A later change of the same argument takes
/// the place of an earlier one.
std::vector<Preference> preferences(const std::vector<Feedback>& history);

/// A tool that people keep refusing.
struct Reluctance {
    std::string tool;
    int rejections = 0;
    int people = 0;
};

/// Tools with at least `rejections_min` rejections that still count.
std::vector<Reluctance> reluctances(const std::vector<Feedback>& history, int rejections_min = 3);

/// What the next prompt says about the session, in at most `bytes_max` bytes: guidance,
/// corrections, what to avoid, what people prefer, what they keep refusing. Newest first; every
/// kind gets its turn before any gets a second one, and what found no room is counted. Empty where
/// there is nothing to say or no room for it. Texts stay on one line, with what does not show made
/// visible, so that no argument can pass for a line of its own.
std::string advice_text(const std::vector<Feedback>& history, std::size_t bytes_max);

}  // namespace holdpoint::agent::feedback
