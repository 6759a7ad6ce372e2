#include "cli/exit_code.h"

namespace holdpoint::cli {

ExitCode exit_code(ErrorCode code) {
    switch (code) {
        case ErrorCode::invalid_argument:
        case ErrorCode::too_large:
            return ExitCode::usage;
        case ErrorCode::expired:
            return ExitCode::expired;
        case ErrorCode::unavailable:
            return ExitCode::unreachable;
        case ErrorCode::unauthenticated:
        case ErrorCode::permission_denied:
        case ErrorCode::not_found:
        case ErrorCode::method_not_allowed:
        case ErrorCode::conflict:
        case ErrorCode::unsupported_media_type:
        case ErrorCode::refused:
        case ErrorCode::rate_limited:
        case ErrorCode::internal:
            return ExitCode::failed;
    }
    return ExitCode::failed;
}

ExitCode exit_code(core::Outcome outcome) {
    switch (outcome) {
        case core::Outcome::answered:
            return ExitCode::fine;
        case core::Outcome::expired:
            return ExitCode::expired;
        // Allowed, approved and modified come with a release. Without one nothing may run.
        case core::Outcome::allowed:
        case core::Outcome::approved:
        case core::Outcome::modified:
        case core::Outcome::denied:
        case core::Outcome::rejected:
        case core::Outcome::deferred:
        case core::Outcome::aborted:
        case core::Outcome::skipped:
        case core::Outcome::cancelled:
            return ExitCode::not_released;
    }
    return ExitCode::not_released;
}

}  // namespace holdpoint::cli
