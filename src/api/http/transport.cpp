#include "api/http/transport.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>

namespace holdpoint::http {

namespace {

IoResult plain_outcome(ssize_t result, IoResult::Kind would_block) {
    if (result > 0) return {IoResult::Kind::done, static_cast<std::size_t>(result)};
    if (result == 0) return {IoResult::Kind::closed};
    if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) return {would_block};
    return {IoResult::Kind::failed};
}

int clamp_to_int(std::size_t size) {
    return static_cast<int>(std::min<std::size_t>(size, INT_MAX));
}

}  // namespace

IoResult Transport::tls_outcome(int result) {
    if (result > 0) return {IoResult::Kind::done, static_cast<std::size_t>(result)};
    switch (SSL_get_error(session_.get(), result)) {
        case SSL_ERROR_WANT_READ:
            return {IoResult::Kind::wait_read};
        case SSL_ERROR_WANT_WRITE:
            return {IoResult::Kind::wait_write};
        case SSL_ERROR_ZERO_RETURN:
            return {IoResult::Kind::closed};
        default:
            ERR_clear_error();
            return {IoResult::Kind::failed};
    }
}

IoResult Transport::read(std::span<char> into) {
    if (!session_) {
        return plain_outcome(::recv(socket_, into.data(), into.size(), MSG_DONTWAIT),
                             IoResult::Kind::wait_read);
    }
    // SSL_get_error looks at the thread's error queue: it must be empty before the call.
    ERR_clear_error();
    return tls_outcome(SSL_read(session_.get(), into.data(), clamp_to_int(into.size())));
}

IoResult Transport::write(std::string_view bytes) {
    if (!session_) {
        return plain_outcome(
            ::send(socket_, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL),
            IoResult::Kind::wait_write);
    }
    ERR_clear_error();
    return tls_outcome(SSL_write(session_.get(), bytes.data(), clamp_to_int(bytes.size())));
}

bool Transport::has_buffered() const { return session_ && SSL_pending(session_.get()) > 0; }

void Transport::shutdown_write() {
    if (session_ && SSL_is_init_finished(session_.get())) {
        ERR_clear_error();
        SSL_shutdown(session_.get());
        ERR_clear_error();
    }
    ::shutdown(socket_, SHUT_WR);
}

IoResult Transport::discard(std::span<char> scratch) {
    return plain_outcome(::recv(socket_, scratch.data(), scratch.size(), MSG_DONTWAIT),
                         IoResult::Kind::wait_read);
}

void Transport::close() {
    session_.reset();
    if (const int open = std::exchange(socket_, -1); open >= 0) ::close(open);
}

}  // namespace holdpoint::http
