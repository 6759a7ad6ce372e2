#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "api/http/http.h"

namespace holdpoint::http {

struct ReaderLimits {
    std::size_t head_bytes_max = 16 * 1024;  ///< request line and headers; at most 65,535
    std::size_t target_bytes_max = 8 * 1024;
    std::size_t headers_max = 100;
    std::size_t body_bytes_max = 256 * 1024;
};

/// Why a request was refused. The texts are literals.
struct ReadError {
    int status = 0;
    std::string_view code;
    std::string_view message;
};

/// Turns bytes into one request at a time, without sockets or clocks.
///
/// The head is collected up to its blank line and then parsed whole by Beast; the body framing is
/// our own. So the result does not depend on how the bytes were split on their way, which is what
/// request smuggling lives on. Refused: Content-Length together with Transfer-Encoding or given
/// twice, any transfer coding but `chunked`, folded headers, bare LF or CR, a missing or second
/// Host, every target but origin-form and absolute-form (whose host then counts), and content
/// codings (a compressed body hides its size).
class RequestReader {
  public:
    enum class Status { need_more, complete, failed };

    explicit RequestReader(const ReaderLimits& limits);

    /// Takes bytes up to the end of the current request and returns how many.
    std::size_t put(std::string_view bytes);

    Status status() const { return status_; }
    /// Why, once failed.
    const ReadError& error() const { return error_; }
    /// The head is complete and accepted; a body may still be on its way.
    bool is_head_done() const { return state_ != State::head; }
    /// Bytes of a request that is not complete yet.
    std::size_t held() const { return request_.head_.size() + request_.body.size(); }
    /// True once, if the client waits for `100 Continue` before it sends the body.
    bool take_expectation();

    // Valid once the head is done.
    bool is_keep_alive() const { return is_keep_alive_; }
    bool is_http_1_0() const { return is_http_1_0_; }

    /// The request, once complete. Call reset() before reading the next one.
    Request take() { return std::move(request_); }
    void reset();

  private:
    /// Where the next byte belongs. `chunk_*` follow RFC 9112 §7.1 token by token.
    enum class State : std::uint8_t {
        head,
        body,
        chunk_size,
        chunk_extension,
        chunk_size_lf,
        chunk_data,
        chunk_data_cr,
        chunk_data_lf,
        trailer_start,
        trailer,
        trailer_lf,
        end_lf,
        done,
    };

    std::size_t put_head(std::string_view bytes);
    std::size_t put_body(std::string_view bytes);
    std::size_t put_chunk_data(std::string_view bytes);
    void put_chunk_framing(char c);
    void put_chunk_size(char c);
    void put_trailer(char c);
    bool accept_line();
    void parse_head();
    void check_head();
    void choose_framing();
    void finish();
    void fail(int status, std::string_view code, std::string_view message);
    void refuse(std::string_view message) { fail(400, "invalid_argument", message); }

    ReaderLimits limits_;
    ReadError error_;
    Request request_;
    std::string target_;
    std::size_t line_bytes_ = 0;     ///< of the current head line so far
    std::size_t lines_ = 0;          ///< complete head lines, the request line included
    std::uint64_t remaining_ = 0;    ///< of the body or of the chunk
    std::size_t framing_bytes_ = 0;  ///< chunk extensions and trailers: bounded, then dropped
    std::uint8_t size_digits_ = 0;
    char line_first_ = 0;
    char last_ = 0;
    State state_ = State::head;
    Status status_ = Status::need_more;
    bool skipped_empty_line_ = false;
    bool is_keep_alive_ = false;
    bool is_http_1_0_ = false;
    bool expects_continue_ = false;
};

}  // namespace holdpoint::http
