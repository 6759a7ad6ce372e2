#include "api/http/request_reader.h"

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>

#include "api/http/target.h"
#include "base/assert.h"

namespace holdpoint::http {

namespace beast = boost::beast;
using beast::error_code;
using beast::http::field;

namespace {

/// Room for the method, two spaces, the version and the line end.
constexpr std::size_t request_line_extra = 48;
constexpr std::size_t framing_bytes_max = 4096;
constexpr std::size_t chunk_size_digits_max = 8;

bool is_text(char c) { return (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f) || c == '\t'; }

int hex_value(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

/// A name or address with an optional port. Userinfo, paths and lists in Host are how one program
/// is made to see another site than the next.
bool is_host(std::string_view value) {
    return !value.empty() && std::all_of(value.begin(), value.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '.' || c == '-' || c == '_' || c == ':' || c == '[' || c == ']';
    });
}

std::string_view message_for(const error_code& problem) {
    using beast::http::error;
    if (problem == error::bad_method) return "malformed method";
    if (problem == error::bad_target) return "malformed request target";
    if (problem == error::bad_field) return "malformed header name";
    if (problem == error::bad_value) return "malformed header value";
    if (problem == error::bad_content_length) return "malformed Content-Length";
    if (problem == error::multiple_content_length) return "more than one Content-Length";
    if (problem == error::bad_transfer_encoding) return "malformed Transfer-Encoding";
    if (problem == error::bad_line_ending) return "lines must end with CRLF";
    return "malformed request";
}

}  // namespace

/// Beast's parser over a complete head; keeps offsets instead of copies. Its body half stays
/// unused.
class HeadParser final : public beast::http::basic_parser<true> {
  public:
    HeadParser(Request& request, std::string& target) : request_(request), target_(target) {
        header_limit(UINT32_MAX);
        body_limit(boost::none);
    }

    error_code parse() {
        error_code error;
        put(boost::asio::buffer(request_.head_), error);
        return error;
    }

    int version = 0;
    std::size_t target_at = 0;  ///< in the head

  private:
    void on_request_impl(beast::http::verb, beast::string_view method, beast::string_view target,
                         int http_version, error_code&) override {
        request_.method.assign(method.data(), method.size());
        target_.assign(target.data(), target.size());
        target_at = static_cast<std::size_t>(target.data() - request_.head_.data());
        version = http_version;
    }
    void on_field_impl(field, beast::string_view name, beast::string_view value,
                       error_code&) override {
        const auto offset = [&](const char* at) {
            return static_cast<std::uint16_t>(at - request_.head_.data());
        };
        request_.fields_.push_back({offset(name.data()), static_cast<std::uint16_t>(name.size()),
                                    offset(value.data()),
                                    static_cast<std::uint16_t>(value.size())});
    }
    void on_response_impl(int, beast::string_view, int, error_code&) override {}
    void on_header_impl(error_code&) override {}
    void on_body_init_impl(const boost::optional<std::uint64_t>&, error_code&) override {}
    std::size_t on_body_impl(beast::string_view, error_code&) override { return 0; }
    void on_chunk_header_impl(std::uint64_t, beast::string_view, error_code&) override {}
    std::size_t on_chunk_body_impl(std::uint64_t, beast::string_view, error_code&) override {
        return 0;
    }
    void on_finish_impl(error_code&) override {}

    Request& request_;
    std::string& target_;
};

RequestReader::RequestReader(const ReaderLimits& limits) : limits_(limits) {
    HOLDPOINT_ASSERT(limits.head_bytes_max <= UINT16_MAX);
}

void RequestReader::reset() {
    request_ = Request{};
    target_.clear();
    line_bytes_ = lines_ = framing_bytes_ = 0;
    remaining_ = 0;
    size_digits_ = 0;
    line_first_ = last_ = 0;
    state_ = State::head;
    status_ = Status::need_more;
    skipped_empty_line_ = is_keep_alive_ = is_http_1_0_ = expects_continue_ = false;
}

bool RequestReader::take_expectation() { return std::exchange(expects_continue_, false); }

void RequestReader::fail(int status, std::string_view code, std::string_view message) {
    status_ = Status::failed;
    error_ = {status, code, message};
    request_ = Request{};
}

void RequestReader::finish() {
    state_ = State::done;
    status_ = Status::complete;
}

std::size_t RequestReader::put(std::string_view bytes) {
    std::size_t taken = 0;
    while (taken < bytes.size() && status_ == Status::need_more) {
        const std::string_view rest = bytes.substr(taken);
        if (state_ == State::head) {
            taken += put_head(rest);
        } else if (state_ == State::body) {
            taken += put_body(rest);
        } else if (state_ == State::chunk_data) {
            taken += put_chunk_data(rest);
        } else {
            put_chunk_framing(rest.front());
            ++taken;
        }
    }
    return taken;
}

/// Takes whole lines up to the blank one. Every check here looks only at bytes up to the end of
/// the line or the limit it concerns, so the first fault wins however the bytes were split.
std::size_t RequestReader::put_head(std::string_view bytes) {
    const std::size_t request_line_max = limits_.target_bytes_max + request_line_extra;
    std::size_t begin = 0;
    std::size_t taken = 0;
    while (taken < bytes.size()) {
        std::size_t room = limits_.head_bytes_max - (request_.head_.size() + taken - begin);
        if (lines_ == 0) room = std::min(room, request_line_max - line_bytes_);
        const std::string_view part = bytes.substr(taken, room);
        const std::size_t line_feed = part.find('\n');
        const std::size_t used = line_feed == std::string_view::npos ? part.size() : line_feed + 1;
        const char before = used >= 2 ? part[used - 2] : last_;
        if (line_bytes_ == 0) line_first_ = part.front();
        line_bytes_ += used;
        last_ = part[used - 1];
        taken += used;

        if (line_feed != std::string_view::npos) {
            if (before != '\r') {
                refuse("lines must end with CRLF");
                return taken;
            }
            if (line_bytes_ == 2 && lines_ == 0) {
                // RFC 9112 §2.2: old clients send an empty line after a body. One is forgiven.
                if (std::exchange(skipped_empty_line_, true)) {
                    refuse("malformed request line");
                    return taken;
                }
                request_.head_.clear();
                begin = taken;
                line_bytes_ = 0;
                continue;
            }
            if (line_bytes_ == 2) {
                request_.head_.append(bytes.substr(begin, taken - begin));
                parse_head();
                return taken;
            }
            if (!accept_line()) return taken;
        }
        if (used == room) {
            if (lines_ == 0) {
                fail(414, "too_large", "the request target is too long");
            } else {
                fail(431, "too_large", "the request head is too large");
            }
            return taken;
        }
    }
    request_.head_.append(bytes.substr(begin, taken - begin));
    return taken;
}

bool RequestReader::accept_line() {
    if (lines_ > 0 && (line_first_ == ' ' || line_first_ == '\t')) {
        refuse("folded headers are not accepted");
        return false;
    }
    if (lines_ > limits_.headers_max) {
        fail(431, "too_large", "too many headers");
        return false;
    }
    ++lines_;
    line_bytes_ = 0;
    return true;
}

void RequestReader::parse_head() {
    request_.fields_.reserve(lines_);
    HeadParser parser(request_, target_);
    const error_code error = parser.parse();
    if (error == beast::http::error::bad_version) {
        return fail(505, "refused", "only HTTP/1.0 and HTTP/1.1 are spoken here");
    }
    if (error || !parser.is_header_done()) return refuse(message_for(error));
    is_http_1_0_ = parser.version == 10;
    is_keep_alive_ = parser.keep_alive();
    if (target_.size() > limits_.target_bytes_max) {
        return fail(414, "too_large", "the request target is too long");
    }
    const SplitTarget target = split_target(target_, request_.method);
    if (target.authority_size > 0)
        request_.replace_host(parser.target_at + target.authority_at, target.authority_size);
    if (const std::string_view fault = read_target(target.rest, request_); !fault.empty()) {
        return refuse(fault);
    }
    check_head();
    if (status_ != Status::failed) choose_framing();
}

void RequestReader::check_head() {
    const std::size_t hosts = request_.header_count("Host");
    if (hosts > 1 || (hosts == 0 && !is_http_1_0_)) return refuse("exactly one Host is needed");
    if (hosts == 1 && !is_host(request_.header("Host"))) return refuse("malformed Host");

    const std::size_t codings = request_.header_count("Content-Encoding");
    if (codings > 1 ||
        (codings == 1 && !equal_ignoring_case(request_.header("Content-Encoding"), "identity"))) {
        return fail(415, "unsupported_media_type", "compressed bodies are not accepted");
    }
    if (const std::size_t expectations = request_.header_count("Expect"); expectations > 0) {
        if (expectations > 1 || !equal_ignoring_case(request_.header("Expect"), "100-continue")) {
            return fail(417, "invalid_argument", "the only known expectation is `100-continue`");
        }
        // An HTTP/1.0 client would take the interim answer for the final one.
        expects_continue_ = !is_http_1_0_;
    }
}

void RequestReader::choose_framing() {
    const std::size_t lengths = request_.header_count("Content-Length");
    const std::size_t codings = request_.header_count("Transfer-Encoding");
    if (lengths > 0 && codings > 0) {
        return refuse("Content-Length and Transfer-Encoding exclude each other");
    }
    if (codings > 0) {
        if (codings > 1 || is_http_1_0_ ||
            !equal_ignoring_case(request_.header("Transfer-Encoding"), "chunked")) {
            return refuse("the only known transfer coding is `chunked`");
        }
        state_ = State::chunk_size;
        return;
    }
    if (lengths == 0) return finish();

    const std::string_view length = request_.header("Content-Length");
    if (lengths > 1) return refuse("more than one Content-Length");
    // Eighteen digits cannot overflow, and nobody means more.
    if (length.empty() || length.size() > 18 ||
        !std::all_of(length.begin(), length.end(), [](char c) { return c >= '0' && c <= '9'; })) {
        return refuse("malformed Content-Length");
    }
    for (const char c : length) remaining_ = remaining_ * 10 + static_cast<unsigned>(c - '0');
    if (remaining_ > limits_.body_bytes_max) return fail(413, "too_large", "the body is too large");
    if (remaining_ == 0) return finish();
    state_ = State::body;
}

/// No room is reserved ahead: a declared length is only a claim.
std::size_t RequestReader::put_body(std::string_view bytes) {
    const std::string_view part = bytes.substr(0, remaining_);
    request_.body.append(part);
    remaining_ -= part.size();
    expects_continue_ = false;
    if (remaining_ == 0) finish();
    return part.size();
}

std::size_t RequestReader::put_chunk_data(std::string_view bytes) {
    const std::string_view part = bytes.substr(0, remaining_);
    request_.body.append(part);
    remaining_ -= part.size();
    if (remaining_ == 0) state_ = State::chunk_data_cr;
    return part.size();
}

void RequestReader::put_chunk_framing(char c) {
    expects_continue_ = false;
    switch (state_) {
        case State::chunk_size:
            return put_chunk_size(c);
        case State::chunk_extension:
            if (c == '\r') {
                state_ = State::chunk_size_lf;
            } else if (!is_text(c) || ++framing_bytes_ > framing_bytes_max) {
                refuse("malformed chunk extension");
            }
            return;
        case State::chunk_size_lf:
            if (c != '\n') return refuse("malformed chunk size");
            size_digits_ = 0;
            state_ = remaining_ == 0 ? State::trailer_start : State::chunk_data;
            return;
        case State::chunk_data_cr:
            if (c != '\r') return refuse("a chunk is longer than its size");
            state_ = State::chunk_data_lf;
            return;
        case State::chunk_data_lf:
            if (c != '\n') return refuse("a chunk is longer than its size");
            state_ = State::chunk_size;
            return;
        default:
            return put_trailer(c);
    }
}

/// Digits, then `;` or the line end at once: programs differ on what a space there means.
void RequestReader::put_chunk_size(char c) {
    if (const int digit = hex_value(c); digit >= 0) {
        if (++size_digits_ > chunk_size_digits_max) return refuse("malformed chunk size");
        remaining_ = remaining_ * 16 + static_cast<unsigned>(digit);
        return;
    }
    if (size_digits_ == 0 || (c != ';' && c != '\r')) return refuse("malformed chunk size");
    if (remaining_ > limits_.body_bytes_max - request_.body.size()) {
        return fail(413, "too_large", "the body is too large");
    }
    state_ = c == ';' ? State::chunk_extension : State::chunk_size_lf;
}

/// Trailers are read past and dropped: a header that arrives after the checks must not count.
void RequestReader::put_trailer(char c) {
    switch (state_) {
        case State::trailer_start:
            if (c == '\r') {
                state_ = State::end_lf;
                return;
            }
            state_ = State::trailer;
            [[fallthrough]];
        case State::trailer:
            if (c == '\r') {
                state_ = State::trailer_lf;
            } else if (!is_text(c)) {
                refuse("malformed trailer");
            } else if (++framing_bytes_ > framing_bytes_max) {
                fail(431, "too_large", "the trailers are too large");
            }
            return;
        case State::trailer_lf:
            if (c != '\n') return refuse("malformed trailer");
            state_ = State::trailer_start;
            return;
        case State::end_lf:
            if (c != '\n') return refuse("malformed trailer");
            return finish();
        default:
            HOLDPOINT_ASSERT(false);
    }
}

}  // namespace holdpoint::http
