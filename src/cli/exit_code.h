#pragma once

#include "base/error.h"
#include "core/words.h"

namespace holdpoint::cli {

/// What the process ends with. Scripts depend on these numbers: `holdpoint request … && deploy`
/// must run `deploy` exactly when something was released.
enum class ExitCode {
    fine = 0,          ///< released, answered, or the command did what it says
    failed = 1,        ///< anything without a number of its own
    usage = 2,         ///< the command line or a value in it is wrong
    not_released = 3,  ///< rejected, denied, deferred, aborted, skipped, cancelled, still pending
    expired = 4,       ///< nobody decided in time
    unreachable = 5,   ///< no server, or one that cannot answer now
    interrupted = 130  ///< Ctrl-C; a request that was sent goes on waiting
};

ExitCode exit_code(ErrorCode code);

/// For a settled request without a release; what was released is `fine` whatever the word.
ExitCode exit_code(core::Outcome outcome);

}  // namespace holdpoint::cli
