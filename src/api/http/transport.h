#pragma once

#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <cstddef>
#include <span>
#include <string_view>

#include "api/http/tls.h"

namespace holdpoint::http {

/// The concrete executor: the type-erased one is larger and slower.
using Socket =
    boost::asio::basic_stream_socket<boost::asio::ip::tcp, boost::asio::io_context::executor_type>;

/// What came of one non-blocking read or write.
struct IoResult {
    enum class Kind { done, wait_read, wait_write, closed, failed };
    Kind kind = Kind::failed;
    std::size_t bytes = 0;  ///< if done
};

/// A non-blocking socket, with or without TLS. The TLS handshake happens inside the first reads.
class Transport {
  public:
    explicit Transport(Socket socket, SslSession session = nullptr)
        : socket_(std::move(socket)), session_(std::move(session)) {}

    Socket& socket() { return socket_; }
    bool is_tls() const { return session_ != nullptr; }

    IoResult read(std::span<char> into);
    IoResult write(std::string_view bytes);
    /// Bytes are already decrypted and waiting; the socket would not become readable for them.
    bool has_buffered() const;
    /// Tells the other end that nothing more comes, as far as that works at once.
    void shutdown_write();
    /// Reads past what still arrives, below TLS. closed or failed: the other end is done.
    IoResult discard(std::span<char> scratch);
    void close();

  private:
    IoResult tls_outcome(int result);

    Socket socket_;
    SslSession session_;
};

}  // namespace holdpoint::http
