#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace holdpoint::http {

/// A complete request: head and body have been read and checked.
struct Request {
    std::string method;  ///< as sent; methods are case-sensitive
    /// Percent-decoded, without the query. Begins with `/` (or is the `*` of OPTIONS); holds no
    /// control character, no backslash, no `.` or `..` segment, and is valid UTF-8: anything else
    /// was answered with 400.
    std::string path;
    /// Decoded, in order, repeated names kept; up to the first that cannot be.
    std::vector<std::pair<std::string, std::string>> query;
    /// What is wrong with the query, and with which parameter where its name can be told. It says
    /// nothing about where the call ends, so that the door can answer it like any other.
    struct QueryFault {
        std::string_view message;  ///< a literal; empty: nothing is wrong
        std::string name;
    };
    QueryFault query_fault;
    std::string body;
    std::string peer;  ///< address of the other end, without port
    bool is_tls = false;

    /// The first value of a header; the name in any case. Empty if absent.
    std::string_view header(std::string_view name) const;
    /// The last value: what a proxy in front has added after whatever the caller sent.
    std::string_view last_header(std::string_view name) const;
    bool has_header(std::string_view name) const { return header_count(name) != 0; }
    /// For headers that must not be sent twice, such as credentials.
    std::size_t header_count(std::string_view name) const;

  private:
    friend class RequestReader;
    friend class HeadParser;

    /// One header as offsets into `head_`: 8 bytes instead of two strings.
    struct Field {
        std::uint16_t name_at, name_size, value_at, value_size;
    };
    std::string_view name_of(const Field& field) const;
    std::string_view value_of(const Field& field) const;
    /// Makes Host say what stands in the head at this place.
    void replace_host(std::size_t at, std::size_t size);

    std::string head_;
    std::vector<Field> fields_;
};

/// An answer. Content-Length, Date, Connection, `X-Content-Type-Options: nosniff` and, unless set
/// here, `Cache-Control: no-store` are added by the engine.
struct Response {
    int status = 200;
    std::string content_type = "application/json";
    std::string body = {};
    std::vector<std::pair<std::string, std::string>> headers = {};
};

/// A server-sent-event stream, or any other body without a known end.
/// Dropping the last reference closes the stream. Network thread only.
class Stream {
  public:
    virtual ~Stream() = default;
    /// Queues bytes; they leave as fast as the reader takes them. A reader that is behind by more
    /// than Options::stream_bytes_max when there is more to say is cut off. Does nothing once the
    /// stream is closed.
    virtual void send(std::string_view bytes) = 0;
    virtual void close() = 0;
    /// Called once, from the loop and never from inside send() or close(), when the stream has
    /// ended from either side. Not called if the stream was dropped or the server destroyed.
    virtual void on_close(std::move_only_function<void()> callback) = 0;
    /// Bytes that the reader has not taken yet.
    virtual std::size_t queued() const = 0;
};

/// One request being answered: exactly one call of respond() or start_stream(); later ones do
/// nothing. May be kept for as long as the answer takes. Dropped unanswered, it answers 500.
/// Network thread only.
class Exchange {
  public:
    virtual ~Exchange() = default;
    virtual void respond(Response response) = 0;
    /// Sends the head now and leaves the body open; the body of `head` is ignored.
    virtual std::shared_ptr<Stream> start_stream(Response head) = 0;
    /// The caller has proved who it is: what its connection sends later is not counted among the
    /// calls of strangers.
    virtual void trust() = 0;
    /// Called at most once, from the loop, when the client goes away before the answer, or has
    /// gone already. A client that only closed its sending side can still read: answering is
    /// allowed, dropping is too.
    /// The callback must not own the exchange, or neither would ever be freed.
    virtual void on_abandon(std::move_only_function<void()> callback) = 0;
    /// Whether an answer could still be sent: false once it was, or the connection is closed.
    virtual bool is_open() const = 0;
};

using Handler = std::move_only_function<void(Request&&, std::shared_ptr<Exchange>)>;

/// Renders an error that the engine itself answers (400, 408, 413, 414, 415, 417, 431, 500, 503,
/// 505) in the form of the API. `code` is a snake_case word, `message` a sentence without secrets.
using ErrorBody = std::string (*)(int status, std::string_view code, std::string_view message);

/// The phrase for the status line; "Unknown" for a status without a name.
std::string_view reason(int status);

/// ASCII, as header names and most header values are compared.
bool equal_ignoring_case(std::string_view a, std::string_view b);

}  // namespace holdpoint::http
