#pragma once

#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/posix/basic_stream_descriptor.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "api/http/connection.h"
#include "api/http/poller.h"
#include "api/http/response_writer.h"
#include "api/http/server.h"
#include "api/http/tls.h"
#include "base/timer_wheel.h"

namespace holdpoint::http {

/// What the connections of one server share, and the sockets they come from. Asio's handlers hold
/// it weakly: it may go while they are still queued.
class Loop : public std::enable_shared_from_this<Loop> {
  public:
    Loop(boost::asio::io_context& io, Options options, Handler handler);
    ~Loop();

    Result<void> use_certificate(std::string certificate_file, std::string key_file);
    Result<void> reload_certificate();
    Result<std::uint16_t> listen(const Server::Listen& where);
    void stop(std::chrono::milliseconds deadline, std::move_only_function<void()> done);

    // For connections.
    boost::asio::io_context& io() { return io_; }
    const Options& options() const { return options_; }
    Handler& handler() { return handler_; }
    ResponseWriter& writer() { return writer_; }
    Statistics& statistics() { return statistics_; }
    bool is_stopping() const { return is_stopping_; }
    /// One buffer for all reads: what a connection does not consume at once it copies.
    std::span<char> read_buffer() { return read_buffer_; }
    Response error_response(int status, std::string_view code, std::string_view message) const;
    void arm(Connection& connection, std::chrono::milliseconds timeout);
    void disarm(Connection& connection) { connection.cancel(); }
    Poller& poller() { return poller_; }
    void remove(Connection& connection);
    /// What an unfinished call of a stranger holds, before and now. False if it is too much.
    bool book(std::size_t before, std::size_t now) {
        strangers_bytes_ += now - before;
        return strangers_bytes_ <= options_.strangers_bytes_max;
    }

    // A few spare readers and buffers spare the busy path its allocations.
    std::unique_ptr<RequestReader> take_reader();
    void give_back(std::unique_ptr<RequestReader> reader);
    std::string take_buffer();
    void give_back(std::string buffer);

  private:
    using Executor = boost::asio::io_context::executor_type;
    using Acceptor = boost::asio::basic_socket_acceptor<boost::asio::ip::tcp, Executor>;
    using Timer = boost::asio::basic_waitable_timer<
        std::chrono::steady_clock, boost::asio::wait_traits<std::chrono::steady_clock>, Executor>;
    using Descriptor = boost::asio::posix::basic_stream_descriptor<Executor>;
    struct Listener {
        Acceptor acceptor;
        Timer retry;
        bool is_tls;
    };

    void wait_for_events();
    void wait_for_clients(Listener& listener);
    void accept_some(Listener& listener);
    bool accept_one(Listener& listener);
    void admit(Listener& listener, int descriptor, const std::string& address);
    void start_ticking();
    void wait_for_tick();
    std::int64_t uptime_ms() const;
    void close_all(bool is_silent);
    void finish_stop_if_empty();

    boost::asio::io_context& io_;
    Options options_;
    Handler handler_;
    ResponseWriter writer_;
    Statistics statistics_;
    std::string certificate_file_;
    std::string key_file_;
    std::optional<TlsContext> tls_;
    std::vector<std::unique_ptr<Listener>> listeners_;
    Poller poller_;  // before the connections, which tell it when they go
    std::vector<ConnectionPtr> connections_;
    std::unordered_map<std::string, PeerCount> peers_;
    std::unordered_map<std::string, std::size_t> networks_;  ///< of those that are limited
    std::size_t strangers_bytes_ = 0;
    std::vector<char> read_buffer_;
    std::vector<std::unique_ptr<RequestReader>> spare_readers_;
    std::vector<std::string> spare_buffers_;
    std::chrono::steady_clock::time_point epoch_ = std::chrono::steady_clock::now();
    TimerWheel deadlines_;
    std::int64_t ticked_at_ms_ = 0;
    Descriptor events_;  ///< the poller's, as Asio sees it
    bool is_listening_ = false;
    Timer tick_timer_;
    Timer stop_timer_;
    std::move_only_function<void()> stopped_;
    bool is_ticking_ = false;
    bool is_stopping_ = false;
};

}  // namespace holdpoint::http
