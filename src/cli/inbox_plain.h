#pragma once

#include "cli/app.h"

namespace holdpoint::cli {

/// The inbox line by line, for pipes and screen readers: prints what waits and what arrives, with
/// numbers, and reads commands like `approve 2` from stdin.
ExitCode run_plain_inbox(Session& session, const Query& filters);

}  // namespace holdpoint::cli
