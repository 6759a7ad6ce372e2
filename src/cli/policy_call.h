#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"

/// The calls that `policy explain` is asked about.
namespace holdpoint::cli {

struct GivenCall {
    int line = 1;              ///< where it begins
    Result<json::value> json;  ///< what strict JSON makes of it
    /// Whether it was meant as a call. What an agent could have sent is judged even where it is
    /// broken; what only the author of the file can have got wrong is an error.
    bool is_object = false;
};

struct GivenCalls {
    std::vector<GivenCall> calls;
    bool is_lines = false;  ///< one call per line
};

/// Reads one JSON document, or JSON lines: more than one line, and one of them is a call by itself.
GivenCalls read_calls(std::string_view text);

/// Whether this is a fault of the arguments, which is judged, not of the file.
bool is_fault_of_arguments(const Error& error);

/// The verdict on a call that cannot be read: nothing passes unread.
json::object unreadable_verdict(const Error& error, std::string_view policy_version);

}  // namespace holdpoint::cli
