#include "api/http/response_writer.h"

#include <algorithm>
#include <charconv>

namespace holdpoint::http {

namespace {

bool is_name(std::string_view text) {
    return !text.empty() && std::all_of(text.begin(), text.end(),
                                        [](char c) { return c > 0x20 && c < 0x7f && c != ':'; });
}

bool is_value(std::string_view text) {
    return std::all_of(text.begin(), text.end(), [](char c) {
        return (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f) || c == '\t';
    });
}

void append_number(std::string& out, std::size_t number, int base = 10) {
    char digits[24];
    const auto end = std::to_chars(digits, digits + sizeof digits, number, base).ptr;
    out.append(digits, end);
}

void append_field(std::string& out, std::string_view name, std::string_view value) {
    out.append(name).append(": ").append(value).append("\r\n");
}

}  // namespace

std::string_view ResponseWriter::date() {
    // The coarse clock costs a few nanoseconds; its 4 ms do not show in whole seconds.
    std::timespec now{};
    ::clock_gettime(CLOCK_REALTIME_COARSE, &now);
    if (now.tv_sec != date_second_) {
        date_second_ = now.tv_sec;
        static constexpr const char* days[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
        static constexpr const char* months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                 "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
        std::tm utc{};
        ::gmtime_r(&now.tv_sec, &utc);
        // strftime's %a and %b follow the locale, HTTP does not.
        char format[] = "Xxx, %d Xxx %Y %H:%M:%S GMT";
        std::copy_n(days[utc.tm_wday], 3, format);
        std::copy_n(months[utc.tm_mon], 3, format + 8);
        date_size_ = std::strftime(date_, sizeof date_, format, &utc);
    }
    return {date_, date_size_};
}

bool ResponseWriter::write(std::string& out, const Response& response,
                           const WriteOptions& options) {
    bool has_cache_control = false;
    for (const auto& [name, value] : response.headers) {
        if (!is_name(name) || !is_value(value)) return false;
        has_cache_control = has_cache_control || equal_ignoring_case(name, "Cache-Control");
    }
    if (!is_value(response.content_type)) return false;

    const bool may_have_body =
        response.status >= 200 && response.status != 204 && response.status != 304;
    const bool sends_body =
        may_have_body && !options.is_head_request && options.framing == Framing::length;
    out.reserve(out.size() + 256 + (sends_body ? response.body.size() : 0));
    out.append("HTTP/1.1 ");
    append_number(out, static_cast<std::size_t>(response.status));
    out.append(" ").append(reason(response.status)).append("\r\n");
    append_field(out, "Date", date());
    if (may_have_body && !response.content_type.empty()) {
        append_field(out, "Content-Type", response.content_type);
    }
    if (may_have_body && options.framing == Framing::length) {
        out.append("Content-Length: ");
        append_number(out, response.body.size());
        out.append("\r\n");
    }
    if (options.framing == Framing::chunked) out.append("Transfer-Encoding: chunked\r\n");
    out.append("X-Content-Type-Options: nosniff\r\n");
    if (!has_cache_control) out.append("Cache-Control: no-store\r\n");
    if (options.is_last) {
        out.append("Connection: close\r\n");
    } else if (options.is_http_1_0) {
        out.append("Connection: keep-alive\r\n");
    }
    for (const auto& [name, value] : response.headers) append_field(out, name, value);
    out.append("\r\n");
    if (sends_body) out.append(response.body);
    return true;
}

void ResponseWriter::write_chunk(std::string& out, std::string_view bytes) {
    if (bytes.empty()) return;  // an empty chunk would end the stream
    append_number(out, bytes.size(), 16);
    out.append("\r\n").append(bytes).append("\r\n");
}

}  // namespace holdpoint::http
