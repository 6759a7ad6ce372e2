#include "api/wire/errors.h"

#include "api/wire/request.h"
#include "api/wire/write.h"
#include "core/digest.h"

namespace holdpoint::wire {

int http_status(ErrorCode code) {
    switch (code) {
        case ErrorCode::invalid_argument:
            return 400;
        case ErrorCode::unauthenticated:
            return 401;
        case ErrorCode::permission_denied:
            return 403;
        case ErrorCode::not_found:
            return 404;
        case ErrorCode::method_not_allowed:
            return 405;
        case ErrorCode::conflict:
            return 409;
        case ErrorCode::expired:
            return 410;
        case ErrorCode::too_large:
            return 413;
        case ErrorCode::unsupported_media_type:
            return 415;
        case ErrorCode::refused:
            return 422;
        case ErrorCode::rate_limited:
            return 429;
        case ErrorCode::internal:
            return 500;
        case ErrorCode::unavailable:
            return 503;
    }
    return 500;
}

std::string error_json(const Error& error, const core::Request* request, std::string_view confirm) {
    std::string out = "{\"error\":";
    ObjectWriter writer(out);
    writer.word("code", to_string(error.code));
    writer.text("message", error.message);
    if (!error.field.empty()) writer.text("field", error.field);
    if (!confirm.empty()) writer.word("confirm", confirm);
    if (request) append_request(writer.name("request"), *request);
    writer.close();
    return out + '}';
}

http::Response to_response(const Error& error, const core::Request* request) {
    const bool shows_request =
        request && (error.code == ErrorCode::conflict || error.code == ErrorCode::expired);
    // Alone, or as one of several: `decisions[2].confirm`.
    const bool is_about_code = error.field == "confirm" || error.field.ends_with(".confirm");
    const bool wants_code = request && error.code == ErrorCode::refused && is_about_code;
    http::Response response;
    response.status = http_status(error.code);
    response.body = error_json(error, shows_request ? request : nullptr,
                               wants_code ? core::confirmation_code(request->digest) : "");
    if (error.code == ErrorCode::unauthenticated)
        response.headers.emplace_back("WWW-Authenticate", "Bearer");
    const bool is_temporary =
        error.code == ErrorCode::rate_limited || error.code == ErrorCode::unavailable;
    if (is_temporary)
        response.headers.emplace_back(
            "Retry-After", std::to_string(error.retry_after_s > 0 ? error.retry_after_s : 1));
    return response;
}

std::string engine_error(int status, std::string_view code, std::string_view message) {
    // A body that never comes is malformed to a client; the status says the rest.
    if (status == 408) code = to_string(ErrorCode::invalid_argument);
    std::string out = "{\"error\":";
    ObjectWriter writer(out);
    writer.word("code", code);
    writer.text("message", message);
    writer.close();
    return out + '}';
}

}  // namespace holdpoint::wire
