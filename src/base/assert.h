#pragma once

namespace holdpoint {

/// Prints the broken invariant and ends the process. Crashing beats recording a wrong decision.
[[noreturn]] void assertion_failed(const char* what, const char* file, int line);

}  // namespace holdpoint

/// For bugs, never for input; stays on in release builds.
#define HOLDPOINT_ASSERT(condition)                                                      \
    do {                                                                                 \
        if (!(condition)) ::holdpoint::assertion_failed(#condition, __FILE__, __LINE__); \
    } while (false)
