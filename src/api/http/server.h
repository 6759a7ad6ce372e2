#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "api/http/http.h"
#include "api/http/request_reader.h"
#include "base/result.h"

namespace boost::asio {
class io_context;
}

namespace holdpoint::http {

class Loop;

struct Options {
    ReaderLimits limits;
    /// From accept, and afterwards from the first byte of a request, to the end of its head.
    std::chrono::milliseconds head_timeout{10'000};
    std::chrono::milliseconds body_timeout{30'000};
    std::chrono::milliseconds idle_timeout{120'000};
    std::chrono::milliseconds write_timeout{30'000};  ///< without a byte taken by the reader
    std::chrono::milliseconds linger_timeout{1'000};  ///< for a client to read a final error
    std::chrono::milliseconds tick{50};               ///< resolution of all of these
    /// Lowered at start to what the limit on open files allows.
    std::size_t connections_max = 20'000;
    /// Of one address, or of one IPv6 network (/64); 0: no limit. Loopback is not limited: agents
    /// of this machine and a proxy in front come from there, all of them.
    std::size_t connections_per_peer_max = 2'000;
    bool is_loopback_limited = false;  ///< for tests
    /// What unfinished calls may hold together on connections that nobody has vouched for with
    /// Exchange::trust(); further bytes of such calls get 503.
    std::size_t strangers_bytes_max = 64 * 1024 * 1024;
    std::size_t pipelined_max = 16;  ///< requests of one connection before others get their turn
    std::size_t stream_bytes_max = 1024 * 1024;  ///< a reader further behind is cut off
    ErrorBody error_body = nullptr;              ///< null: `{"error":{"code":…,"message":…}}`
};

struct Statistics {
    std::size_t open = 0;     ///< connections
    std::size_t parked = 0;   ///< connections whose request waits for its answer
    std::size_t streams = 0;  ///< connections that carry a stream
    std::uint64_t accepted = 0;
    std::uint64_t refused = 0;  ///< connections over a limit
    std::uint64_t requests = 0;
    std::uint64_t errors = 0;  ///< requests answered by the engine itself
    std::uint64_t bytes_in = 0;
    std::uint64_t bytes_out = 0;
};

/// An HTTP/1.1 server on somebody else's loop.
///
/// Everything, this class included, belongs to the one thread that runs the io_context: there are
/// no locks. The requests of one connection are handled one after the other, so that answers
/// keep their order and effects too. A connection that waits for its answer holds neither parser
/// nor buffer.
class Server {
  public:
    struct Listen {
        std::string address = "127.0.0.1";  ///< IPv4 or IPv6, numeric; `::` takes both
        std::uint16_t port = 0;             ///< 0: any free one
        bool is_tls = false;                ///< needs use_certificate() first
    };

    /// `io` must outlive the server.
    Server(boost::asio::io_context& io, Options options, Handler handler);
    /// Drops every connection; no callback of an exchange or stream is called any more.
    ~Server();
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    /// Reads PEM files; later connections use them.
    Result<void> use_certificate(std::string certificate_file, std::string key_file);
    /// Reads the same files again. On failure the old certificate stays in use.
    Result<void> reload_certificate();

    /// Opens a listening socket and returns its port. May be called several times.
    Result<std::uint16_t> listen(const Listen& where);

    /// Stops accepting, closes idle connections and streams, lets requests in progress finish,
    /// and cuts off what is left after `deadline`. Then calls `done`, once, from the loop.
    void stop(std::chrono::milliseconds deadline, std::move_only_function<void()> done);

    const Statistics& statistics() const;

  private:
    std::shared_ptr<Loop> loop_;
};

}  // namespace holdpoint::http
