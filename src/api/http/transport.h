#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <utility>

#include "api/http/tls.h"

namespace holdpoint::http {

/// What came of one non-blocking read or write.
struct IoResult {
    enum class Kind { done, wait_read, wait_write, closed, failed };
    Kind kind = Kind::failed;
    std::size_t bytes = 0;  ///< if done
};

/// A non-blocking socket, which it owns, with or without TLS. The TLS handshake happens inside the
/// first reads.
class Transport {
  public:
    explicit Transport(int socket, SslSession session = nullptr)
        : socket_(socket), session_(std::move(session)) {}
    Transport(Transport&& other) noexcept
        : socket_(std::exchange(other.socket_, -1)), session_(std::move(other.session_)) {}
    Transport& operator=(Transport&&) = delete;
    ~Transport() { close(); }

    int socket() const { return socket_; }  ///< -1 once closed
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

    int socket_;
    SslSession session_;
};

}  // namespace holdpoint::http
