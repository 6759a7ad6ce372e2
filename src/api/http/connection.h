#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "api/http/http.h"
#include "api/http/request_reader.h"
#include "api/http/transport.h"
#include "base/timer_wheel.h"

namespace holdpoint::http {

class Connection;
class ExchangeHandle;
class Loop;
class StreamHandle;

using ConnectionPtr = boost::intrusive_ptr<Connection>;

/// How many connections a network has open; see auth::network_of().
using Network = std::pair<const std::string, std::size_t>;

/// An address that has connections open. The nodes live in the loop's tables.
struct PeerCount {
    std::size_t connections = 0;
    Network* network = nullptr;  ///< null where it is not limited
};
using Peer = std::pair<const std::string, PeerCount>;

/// One client's connection, from accept to close.
///
/// Every event (readable, writable, answered, a deadline) does its work and ends in settle(), which
/// sends what can be sent and decides what to wait for next. Reading never happens inside an
/// answer: the loop's read buffer may be in use further up the stack.
///
/// While its request waits for an answer, or while it carries a stream, a connection owns nothing
/// but this object: it is kept small for the sake of a hundred thousand of them.
class Connection final
    : public boost::intrusive_ref_counter<Connection, boost::thread_unsafe_counter>,
      public TimerNode {
  public:
    Connection(Loop& loop, Transport transport, Peer& peer);

    void start();
    /// Answers 503 and closes, whatever the client asks.
    void refuse();
    /// The socket is ready, or broken: epoll's events.
    void on_ready(std::uint32_t events);
    /// The armed deadline has passed.
    void expire();
    /// Closes the stream, or the connection if it is idle; a request in progress may finish.
    void wind_down();
    /// Closes at once. With `is_silent` nobody is called back.
    void close(bool is_silent = false);

    // For the handles that a request handler holds.
    void answer(Response response);
    std::shared_ptr<Stream> start_stream(Response head);
    void drop_exchange();
    void trust() { is_trusted_ = true; }
    void send(std::string_view bytes);
    void close_stream();
    std::size_t queued() const { return out_.size() - sent_; }

    std::size_t slot = 0;  ///< where the loop keeps it
    Peer& peer() const { return *peer_; }

  private:
    /// What the deadline is for.
    enum class Phase : std::uint8_t { none, idle, head, body, write, linger };

    void on_readable();
    void on_peer_closed();
    void on_writable();
    void resume();
    void process(std::string_view bytes);
    bool process_one(std::string_view& bytes);
    void dispatch();
    void call_handler(Request request, std::shared_ptr<Exchange> exchange);
    void fail(int status, std::string_view code, std::string_view message);
    bool write_response(const Response& response, bool is_stream);
    void keep(std::string_view bytes);

    void settle();
    bool flush();
    void wait_for_output();
    void finish();
    void drain();
    void wait_readable();
    void wait_writable();
    void update_interest();
    void post_resume();
    void set_phase(Phase phase);
    void end_parking();
    bool book_unfinished();
    void release_reader();
    void end_stream();

    bool may_process() const;
    std::size_t room_for_pending() const;

    Loop* loop_;  ///< valid until closed
    Peer* peer_;  ///< likewise
    Transport transport_;
    std::unique_ptr<RequestReader> reader_;  ///< while a request is being read
    std::unique_ptr<std::string> pending_;   ///< bytes of later requests, not yet looked at
    std::string out_;                        ///< what the socket did not take yet
    std::size_t sent_ = 0;                   ///< of out_
    ExchangeHandle* exchange_ = nullptr;     ///< the request being answered
    StreamHandle* stream_ = nullptr;
    std::uint32_t booked_ = 0;  ///< bytes of an unfinished call, in the loop's budget for strangers
    Phase phase_ = Phase::none;
    bool is_closed_ : 1 = false;
    bool is_peer_closed_ : 1 = false;  ///< nothing more will be read
    bool must_close_ : 1 = false;      ///< after the answer in progress
    bool must_linger_ : 1 = false;     ///< unread input would turn close() into a reset
    bool is_lingering_ : 1 = false;
    bool is_processing_ : 1 = false;
    bool is_parked_ : 1 = false;
    bool is_resume_posted_ : 1 = false;
    bool is_waiting_readable_ : 1 = false;
    bool is_waiting_writable_ : 1 = false;
    bool is_polled_readable_ : 1 = false;  ///< what the poller knows of the two above
    bool is_polled_writable_ : 1 = false;
    bool is_in_event_ : 1 = false;          ///< the poller is told once, at the end
    bool wants_read_to_write_ : 1 = false;  ///< TLS only
    bool is_head_request_ : 1 = false;
    bool is_http_1_0_ : 1 = false;
    bool is_chunked_ : 1 = false;
    bool is_trusted_ : 1 = false;
};

/// The exchange a handler holds. Outlives the connection if the handler keeps it.
class ExchangeHandle final : public Exchange, public std::enable_shared_from_this<ExchangeHandle> {
  public:
    ExchangeHandle(ConnectionPtr connection, boost::asio::io_context& io)
        : connection_(std::move(connection)), io_(&io) {}
    ~ExchangeHandle() override;

    void respond(Response response) override;
    std::shared_ptr<Stream> start_stream(Response head) override;
    void trust() override;
    void on_abandon(std::move_only_function<void()> callback) override;
    bool is_open() const override { return connection_ != nullptr; }

    /// The client went away; it may still be able to read.
    void abandon();
    /// The connection is gone.
    void detach() { connection_.reset(); }

  private:
    ConnectionPtr connection_;  ///< null once answered or gone
    boost::asio::io_context* io_;
    std::move_only_function<void()> abandoned_;
    bool is_abandoned_ = false;
};

class StreamHandle final : public Stream {
  public:
    StreamHandle(ConnectionPtr connection, boost::asio::io_context& io)
        : connection_(std::move(connection)), io_(&io) {}
    ~StreamHandle() override;

    void send(std::string_view bytes) override;
    void close() override;
    void on_close(std::move_only_function<void()> callback) override;
    std::size_t queued() const override;

    void detach(bool is_silent);

  private:
    void post_closed();

    ConnectionPtr connection_;  ///< null once closed
    boost::asio::io_context* io_;
    std::move_only_function<void()> closed_;
};

}  // namespace holdpoint::http
