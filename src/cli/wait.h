#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cli/app.h"
#include "cli/resource.h"
#include "cli/terminal.h"

namespace holdpoint::cli {

/// How long to wait for an outcome: nothing means for ever.
using Patience = std::optional<std::int64_t>;  // seconds

/// Waits until `request` is settled or patience ends, across lost connections and restarts of the
/// server. Returns it as it stands then. Fails when interrupted, or when asking again is no use.
Answer<Request> wait_for_outcome(Session& session, Request request, Patience patience_s,
                                 const Interrupt& interrupt);

/// What a gate prints: the released value (or the whole resource) on stdout, the sentence for the
/// agent on stderr.
ExitCode report_outcome(const Session& session, const Request& request);

/// Reads the value of `--wait[=DURATION]`: `forever` or a duration.
Result<Patience> parse_patience(const std::string& text);

/// Tells how to go on after Ctrl-C; the request itself is untouched.
ExitCode report_interrupt(const Session& session, const std::string& id);

}  // namespace holdpoint::cli
