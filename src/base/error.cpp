#include "base/error.h"

namespace holdpoint {

std::string_view to_string(ErrorCode code) {
    switch (code) {
        case ErrorCode::invalid_argument:
            return "invalid_argument";
        case ErrorCode::unauthenticated:
            return "unauthenticated";
        case ErrorCode::permission_denied:
            return "permission_denied";
        case ErrorCode::not_found:
            return "not_found";
        case ErrorCode::method_not_allowed:
            return "method_not_allowed";
        case ErrorCode::conflict:
            return "conflict";
        case ErrorCode::expired:
            return "expired";
        case ErrorCode::too_large:
            return "too_large";
        case ErrorCode::unsupported_media_type:
            return "unsupported_media_type";
        case ErrorCode::refused:
            return "refused";
        case ErrorCode::rate_limited:
            return "rate_limited";
        case ErrorCode::unavailable:
            return "unavailable";
        case ErrorCode::internal:
            return "internal";
    }
    return "internal";
}

}  // namespace holdpoint
