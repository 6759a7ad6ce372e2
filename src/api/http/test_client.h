#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/http/http.h"

namespace holdpoint::http::test {

struct ClientResponse {
    int status = 0;  ///< 0: the connection ended or nothing came in time
    std::vector<std::pair<std::string, std::string>> headers;
    std::string body;

    std::string_view header(std::string_view name) const {
        for (const auto& [key, value] : headers) {
            if (equal_ignoring_case(key, name)) return value;
        }
        return {};
    }
    bool has_header(std::string_view name) const {
        for (const auto& [key, value] : headers) {
            if (equal_ignoring_case(key, name)) return true;
        }
        return false;
    }
};

struct ClientEvent {
    std::string id;
    std::string event;
    std::string data;
};

/// A blocking HTTP client for tests, close to the bytes: what is sent is what the test wrote.
/// Every read gives up after a few seconds, so a broken server fails a test instead of hanging it.
class TestClient {
  public:
    struct Target {
        std::uint16_t port = 0;
        bool is_tls = false;
        std::string address = "127.0.0.1";
        int receive_buffer_bytes = 0;  ///< 0: the system's
    };

    explicit TestClient(std::uint16_t port) : TestClient(Target{.port = port}) {}

    explicit TestClient(const Target& target) {
        const bool is_v6 = target.address.find(':') != std::string::npos;
        socket_ = ::socket(is_v6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        const timeval timeout{.tv_sec = 5, .tv_usec = 0};
        ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
        ::setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout);
        const int on = 1;
        ::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        if (target.receive_buffer_bytes > 0) {
            ::setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &target.receive_buffer_bytes,
                         sizeof target.receive_buffer_bytes);
        }
        is_connected_ = is_v6 ? connect_v6(target) : connect_v4(target);
        if (is_connected_ && target.is_tls) start_tls();
    }
    ~TestClient() { close(); }
    TestClient(TestClient&& other) noexcept
        : socket_(std::exchange(other.socket_, -1)),
          is_connected_(other.is_connected_),
          context_(std::move(other.context_)),
          tls_(std::move(other.tls_)),
          buffer_(std::move(other.buffer_)),
          body_(std::move(other.body_)),
          is_chunked_(other.is_chunked_) {}
    TestClient& operator=(TestClient&&) = delete;

    bool is_connected() const { return is_connected_; }

    bool send(std::string_view bytes) {
        while (!bytes.empty()) {
            const ssize_t sent =
                tls_ ? SSL_write(tls_.get(), bytes.data(), static_cast<int>(bytes.size()))
                     : ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
            if (sent <= 0) return false;
            bytes.remove_prefix(static_cast<std::size_t>(sent));
        }
        return true;
    }

    /// Writes a request with Host and Content-Length and reads the answer.
    ClientResponse request(std::string_view method, std::string_view target,
                           std::string_view body = {},
                           const std::vector<std::pair<std::string, std::string>>& headers = {}) {
        std::string text = std::string(method) + " " + std::string(target) + " HTTP/1.1\r\n";
        text += "Host: localhost\r\n";
        for (const auto& [name, value] : headers) text += name + ": " + value + "\r\n";
        if (!body.empty()) text += "Content-Length: " + std::to_string(body.size()) + "\r\n";
        text += "\r\n";
        text += body;
        if (!send(text)) return {};
        return read_response(method == "HEAD");
    }
    ClientResponse get(std::string_view target) { return request("GET", target); }
    ClientResponse post(std::string_view target, std::string_view body) {
        return request("POST", target, body);
    }

    /// Reads one whole response; without length or chunks, up to the end of the connection.
    ClientResponse read_response(bool is_head = false) {
        ClientResponse response = read_head();
        if (response.status == 0 || response.status < 200 || is_head || response.status == 204 ||
            response.status == 304) {
            return response;
        }
        if (is_chunked_) {
            while (read_chunk(response.body)) {
            }
            return response;
        }
        if (!response.has_header("Content-Length")) {
            while (fill()) {
            }
            response.body = std::exchange(buffer_, {});
            return response;
        }
        const auto size =
            std::strtoull(std::string(response.header("Content-Length")).c_str(), nullptr, 10);
        while (buffer_.size() < size) {
            if (!fill()) return {};
        }
        response.body = take(size);
        return response;
    }

    /// Reads a response head only, as for a stream; read_event() goes on from there.
    ClientResponse read_head() {
        std::size_t end = 0;
        while ((end = buffer_.find("\r\n\r\n")) == std::string::npos) {
            if (!fill()) return {};
        }
        const std::string head = take(end + 4);
        ClientResponse response;
        response.status = std::atoi(head.c_str() + head.find(' '));
        std::size_t at = head.find("\r\n") + 2;
        while (at + 2 < head.size()) {
            const std::size_t line_end = head.find("\r\n", at);
            const std::string line = head.substr(at, line_end - at);
            const std::size_t colon = line.find(": ");
            response.headers.emplace_back(line.substr(0, colon), line.substr(colon + 2));
            at = line_end + 2;
        }
        is_chunked_ = response.header("Transfer-Encoding") == "chunked";
        return response;
    }

    /// The next server-sent event; comments are skipped. Nothing if the stream ended.
    std::optional<ClientEvent> read_event() {
        for (;;) {
            std::size_t end = 0;
            while ((end = body_.find("\n\n")) == std::string::npos) {
                if (!read_body_part()) return std::nullopt;
            }
            const std::string block = body_.substr(0, end + 1);
            body_.erase(0, end + 2);
            ClientEvent event;
            bool is_event = false;
            for (std::size_t at = 0; at < block.size();) {
                const std::size_t line_end = block.find('\n', at);
                const std::string line = block.substr(at, line_end - at);
                at = line_end + 1;
                const std::size_t colon = line.find(':');
                if (colon == 0 || colon == std::string::npos) continue;
                const std::string name = line.substr(0, colon);
                std::string value = line.substr(colon + 1);
                if (value.starts_with(' ')) value.erase(0, 1);
                is_event = true;
                if (name == "id") event.id = value;
                if (name == "event") event.event = value;
                if (name == "data") event.data += event.data.empty() ? value : "\n" + value;
            }
            if (is_event) return event;
        }
    }

    /// True if the server closes without sending anything more.
    bool is_closed_by_server() { return buffer_.empty() && !fill() && !is_timed_out_; }

    void shutdown_write() { ::shutdown(socket_, SHUT_WR); }
    /// Drops the connection with a reset instead of an orderly end.
    void reset() {
        const linger hard{.l_onoff = 1, .l_linger = 0};
        ::setsockopt(socket_, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
        close();
    }
    void close() {
        tls_.reset();
        if (socket_ >= 0) ::close(std::exchange(socket_, -1));
    }
    SSL* tls() { return tls_.get(); }

  private:
    struct Free {
        void operator()(SSL* ssl) const { SSL_free(ssl); }
        void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
    };

    bool connect_v4(const Target& target) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(target.port);
        ::inet_pton(AF_INET, target.address.c_str(), &address.sin_addr);
        return ::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
    }
    bool connect_v6(const Target& target) {
        sockaddr_in6 address{};
        address.sin6_family = AF_INET6;
        address.sin6_port = htons(target.port);
        ::inet_pton(AF_INET6, target.address.c_str(), &address.sin6_addr);
        return ::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
    }
    /// The certificate is not checked: the tests make their own.
    void start_tls() {
        context_.reset(SSL_CTX_new(TLS_client_method()));
        tls_.reset(SSL_new(context_.get()));
        SSL_set_fd(tls_.get(), socket_);
        is_connected_ = SSL_connect(tls_.get()) == 1;
    }

    bool fill() {
        char bytes[16384];
        const ssize_t got = tls_ ? SSL_read(tls_.get(), bytes, sizeof bytes)
                                 : ::recv(socket_, bytes, sizeof bytes, 0);
        is_timed_out_ = got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
        if (got <= 0) return false;
        buffer_.append(bytes, static_cast<std::size_t>(got));
        return true;
    }
    std::string take(std::size_t size) {
        std::string taken = buffer_.substr(0, size);
        buffer_.erase(0, size);
        return taken;
    }
    /// False at the last chunk or the end of the connection.
    bool read_chunk(std::string& into) {
        std::size_t line_end = 0;
        while ((line_end = buffer_.find("\r\n")) == std::string::npos) {
            if (!fill()) return false;
        }
        const std::size_t size = std::strtoull(buffer_.c_str(), nullptr, 16);
        while (buffer_.size() < line_end + 2 + size + 2) {
            if (!fill()) return false;
        }
        into += take(line_end + 2 + size + 2).substr(line_end + 2, size);
        return size > 0;
    }
    bool read_body_part() {
        if (is_chunked_) return read_chunk(body_);
        if (buffer_.empty() && !fill()) return false;
        body_ += std::exchange(buffer_, {});
        return true;
    }

    int socket_ = -1;
    bool is_connected_ = false;
    bool is_timed_out_ = false;
    std::unique_ptr<SSL_CTX, Free> context_;
    std::unique_ptr<SSL, Free> tls_;
    std::string buffer_;  ///< received, not yet looked at
    std::string body_;    ///< of a stream, unwrapped
    bool is_chunked_ = false;
};

}  // namespace holdpoint::http::test
