#include "api/http/http.h"

#include <algorithm>

#include "base/ascii.h"

namespace holdpoint::http {

bool equal_ignoring_case(std::string_view a, std::string_view b) {
    return a.size() == b.size() && std::ranges::equal(a, b, {}, ascii::lower, ascii::lower);
}

std::string_view Request::name_of(const Field& field) const {
    return std::string_view(head_).substr(field.name_at, field.name_size);
}

std::string_view Request::value_of(const Field& field) const {
    return std::string_view(head_).substr(field.value_at, field.value_size);
}

void Request::replace_host(std::size_t at, std::size_t size) {
    for (Field& field : fields_) {
        if (!equal_ignoring_case(name_of(field), "Host")) continue;
        field.value_at = static_cast<std::uint16_t>(at);
        field.value_size = static_cast<std::uint16_t>(size);
    }
}

std::string_view Request::header(std::string_view name) const {
    for (const Field& field : fields_) {
        if (equal_ignoring_case(name_of(field), name)) return value_of(field);
    }
    return {};
}

std::string_view Request::last_header(std::string_view name) const {
    for (auto field = fields_.rbegin(); field != fields_.rend(); ++field) {
        if (equal_ignoring_case(name_of(*field), name)) return value_of(*field);
    }
    return {};
}

std::size_t Request::header_count(std::string_view name) const {
    return static_cast<std::size_t>(std::count_if(
        fields_.begin(), fields_.end(),
        [&](const Field& field) { return equal_ignoring_case(name_of(field), name); }));
}

std::string_view reason(int status) {
    switch (status) {
        case 100:
            return "Continue";
        case 200:
            return "OK";
        case 201:
            return "Created";
        case 202:
            return "Accepted";
        case 204:
            return "No Content";
        case 301:
            return "Moved Permanently";
        case 302:
            return "Found";
        case 303:
            return "See Other";
        case 304:
            return "Not Modified";
        case 307:
            return "Temporary Redirect";
        case 308:
            return "Permanent Redirect";
        case 400:
            return "Bad Request";
        case 401:
            return "Unauthorized";
        case 403:
            return "Forbidden";
        case 404:
            return "Not Found";
        case 405:
            return "Method Not Allowed";
        case 406:
            return "Not Acceptable";
        case 408:
            return "Request Timeout";
        case 409:
            return "Conflict";
        case 410:
            return "Gone";
        case 411:
            return "Length Required";
        case 412:
            return "Precondition Failed";
        case 413:
            return "Content Too Large";
        case 414:
            return "URI Too Long";
        case 415:
            return "Unsupported Media Type";
        case 417:
            return "Expectation Failed";
        case 421:
            return "Misdirected Request";
        case 422:
            return "Unprocessable Content";
        case 425:
            return "Too Early";
        case 426:
            return "Upgrade Required";
        case 428:
            return "Precondition Required";
        case 429:
            return "Too Many Requests";
        case 431:
            return "Request Header Fields Too Large";
        case 500:
            return "Internal Server Error";
        case 501:
            return "Not Implemented";
        case 502:
            return "Bad Gateway";
        case 503:
            return "Service Unavailable";
        case 504:
            return "Gateway Timeout";
        case 505:
            return "HTTP Version Not Supported";
        default:
            return "Unknown";
    }
}

}  // namespace holdpoint::http
