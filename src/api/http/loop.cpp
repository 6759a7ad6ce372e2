#include "api/http/loop.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <spdlog/spdlog.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/post.hpp>
#include <cerrno>

#include "api/auth/address.h"

namespace holdpoint::http {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;
using std::chrono::milliseconds;

namespace {

constexpr std::size_t read_buffer_bytes = 64 * 1024;
constexpr std::size_t spares_max = 8;
constexpr std::size_t spare_buffer_bytes_max = 256 * 1024;
constexpr std::size_t accepts_per_event_max = 64;
/// Files that the rest of the process needs: database, logs, outgoing connections.
constexpr std::size_t reserved_files = 128;
/// Connections over the limit that still get a 503 instead of a closed door.
constexpr std::size_t refusals_max = 64;
constexpr milliseconds accept_retry{100};

std::string default_error_body(int, std::string_view code, std::string_view message) {
    // Both are literals of the engine and need no escaping.
    std::string body = R"({"error":{"code":")";
    body.append(code).append(R"(","message":")").append(message).append(R"("}})");
    return body;
}

std::size_t connections_possible(std::size_t wanted) {
    rlimit files{};
    if (::getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur == RLIM_INFINITY) return wanted;
    const auto available = static_cast<std::size_t>(files.rlim_cur);
    const std::size_t possible =
        available > 2 * reserved_files ? available - reserved_files : available / 2;
    return std::min(wanted, possible);
}

/// An IPv4 client of an IPv6 socket is shown as what it is.
std::string address_text(const sockaddr_storage& address) {
    char text[INET6_ADDRSTRLEN] = {};
    if (address.ss_family == AF_INET) {
        const auto& v4 = reinterpret_cast<const sockaddr_in&>(address);
        ::inet_ntop(AF_INET, &v4.sin_addr, text, sizeof text);
    } else {
        const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address);
        if (IN6_IS_ADDR_V4MAPPED(&v6.sin6_addr)) {
            ::inet_ntop(AF_INET, v6.sin6_addr.s6_addr + 12, text, sizeof text);
        } else {
            ::inet_ntop(AF_INET6, &v6.sin6_addr, text, sizeof text);
        }
    }
    return text;
}

bool is_loopback(std::string_view address) {
    return address.starts_with("127.") || address == "::1";
}

/// Set on the listening socket; Linux hands all of these on to accepted ones, which saves system
/// calls for each. Keep-alive probes find waiting clients whose machine is gone.
void set_inherited_options(int descriptor) {
    const auto set = [&](int level, int name, int value) {
        ::setsockopt(descriptor, level, name, &value, sizeof value);
    };
    set(IPPROTO_TCP, TCP_NODELAY, 1);
    set(SOL_SOCKET, SO_KEEPALIVE, 1);
    set(IPPROTO_TCP, TCP_KEEPIDLE, 60);
    set(IPPROTO_TCP, TCP_KEEPINTVL, 15);
    set(IPPROTO_TCP, TCP_KEEPCNT, 4);
}

}  // namespace

Loop::Loop(asio::io_context& io, Options options, Handler handler)
    : io_(io),
      options_(options),
      handler_(std::move(handler)),
      read_buffer_(read_buffer_bytes),
      deadlines_(0, options.tick.count()),
      events_(io),
      tick_timer_(io),
      stop_timer_(io) {
    if (!options_.error_body) options_.error_body = &default_error_body;
    options_.connections_max = connections_possible(options_.connections_max);
}

Loop::~Loop() {
    stopped_ = nullptr;
    close_all(true);
    events_.release();  // the poller's to close
}

// --- certificates -------------------------------------------------------------------------------

Result<void> Loop::use_certificate(std::string certificate_file, std::string key_file) {
    Result<TlsContext> loaded = TlsContext::load(certificate_file, key_file);
    if (!loaded) return loaded.error();
    tls_ = std::move(*loaded);
    certificate_file_ = std::move(certificate_file);
    key_file_ = std::move(key_file);
    return {};
}

Result<void> Loop::reload_certificate() {
    if (!tls_)
        return Error{.code = ErrorCode::invalid_argument, .message = "no certificate in use"};
    return use_certificate(certificate_file_, key_file_);
}

// --- accepting ----------------------------------------------------------------------------------

Result<std::uint16_t> Loop::listen(const Server::Listen& where) {
    error_code error;
    const auto failure = [&](std::string_view what) {
        return Error{.code = ErrorCode::unavailable,
                     .message = std::string(what) + " `" + where.address + "` port " +
                                std::to_string(where.port) + ": " + error.message()};
    };
    if (where.is_tls && !tls_) {
        return Error{.code = ErrorCode::invalid_argument, .message = "TLS needs a certificate"};
    }
    const auto address = asio::ip::make_address(where.address, error);
    if (error) {
        return Error{.code = ErrorCode::invalid_argument,
                     .message = "`" + where.address + "` is not an IP address"};
    }
    const tcp::endpoint endpoint(address, where.port);
    auto listener = std::make_unique<Listener>(Acceptor(io_), Timer(io_), where.is_tls);
    Acceptor& acceptor = listener->acceptor;
    acceptor.open(endpoint.protocol(), error);
    if (!error) acceptor.set_option(Acceptor::reuse_address(true), error);
    if (!error && address.is_v6()) acceptor.set_option(asio::ip::v6_only(false), error);
    if (!error) acceptor.bind(endpoint, error);
    if (error) return failure("cannot listen on");
    set_inherited_options(acceptor.native_handle());
    acceptor.listen(asio::socket_base::max_listen_connections, error);
    if (!error) acceptor.non_blocking(true, error);
    if (error) return failure("cannot listen on");
    const tcp::endpoint bound = acceptor.local_endpoint(error);
    if (error) return failure("cannot listen on");

    if (!std::exchange(is_listening_, true)) {
        events_.assign(poller_.descriptor(), error);
        if (error) return failure("cannot wait for clients of");
        wait_for_events();
    }
    listeners_.push_back(std::move(listener));
    wait_for_clients(*listeners_.back());
    return bound.port();
}

void Loop::wait_for_events() {
    events_.async_wait(Descriptor::wait_read, [weak = weak_from_this()](error_code error) {
        const std::shared_ptr<Loop> loop = weak.lock();
        if (!loop || error) return;
        loop->poller_.poll(
            [](Connection& connection, std::uint32_t events) { connection.on_ready(events); });
        loop->wait_for_events();
    });
}

void Loop::wait_for_clients(Listener& listener) {
    listener.acceptor.async_wait(Acceptor::wait_read,
                                 [weak = weak_from_this(), &listener](error_code error) {
                                     const std::shared_ptr<Loop> loop = weak.lock();
                                     if (!loop || error || loop->is_stopping_) return;
                                     loop->accept_some(listener);
                                 });
}

void Loop::accept_some(Listener& listener) {
    for (std::size_t count = 0; count < accepts_per_event_max; ++count) {
        if (accept_one(listener)) continue;
        if (errno == EAGAIN || errno == EWOULDBLOCK) break;
        if (errno == EINTR || errno == ECONNABORTED || errno == EPROTO) continue;
        // Out of files or memory: the socket stays readable, so trying again at once would spin.
        spdlog::warn("http: cannot accept a connection: {}",
                     error_code(errno, boost::system::system_category()).message());
        listener.retry.expires_after(accept_retry);
        listener.retry.async_wait([weak = weak_from_this(), &listener](error_code error) {
            const std::shared_ptr<Loop> loop = weak.lock();
            if (loop && !error && !loop->is_stopping_) loop->wait_for_clients(listener);
        });
        return;
    }
    wait_for_clients(listener);
}

/// False with errno set if there was none to take.
bool Loop::accept_one(Listener& listener) {
    sockaddr_storage address{};
    socklen_t size = sizeof address;
    const int descriptor =
        ::accept4(listener.acceptor.native_handle(), reinterpret_cast<sockaddr*>(&address), &size,
                  SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (descriptor < 0) return false;
    admit(listener, descriptor, address_text(address));
    return true;
}

void Loop::admit(Listener& listener, int descriptor, const std::string& address) {
    const bool is_limited = options_.connections_per_peer_max > 0 &&
                            (options_.is_loopback_limited || !is_loopback(address));
    const std::string network = is_limited ? auth::network_of(address) : std::string();
    const auto found = is_limited ? networks_.find(network) : networks_.end();
    const std::size_t of_network = found == networks_.end() ? 0 : found->second;
    const bool is_over_peer_limit = is_limited && of_network >= options_.connections_per_peer_max;
    const bool is_refused = connections_.size() >= options_.connections_max || is_over_peer_limit;
    if (is_refused) ++statistics_.refused;
    // A refusal over TLS would cost a handshake: the wrong price at this moment.
    const bool may_explain =
        !listener.is_tls && connections_.size() < options_.connections_max + refusals_max &&
        (!is_over_peer_limit || of_network < options_.connections_per_peer_max + refusals_max);
    if (is_refused && !may_explain) {
        ::close(descriptor);
        return;
    }
    Transport transport(descriptor, listener.is_tls ? tls_->start_session(descriptor) : nullptr);
    if (listener.is_tls && !transport.is_tls()) return;

    Peer& peer = *peers_.try_emplace(address).first;
    ++peer.second.connections;
    if (is_limited) {
        peer.second.network = &*networks_.try_emplace(network, 0).first;
        ++peer.second.network->second;
    }
    const ConnectionPtr connection(new Connection(*this, std::move(transport), peer));
    connection->slot = connections_.size();
    connections_.push_back(connection);
    ++statistics_.open;
    ++statistics_.accepted;
    if (is_refused) {
        connection->refuse();
    } else {
        connection->start();
    }
}

void Loop::remove(Connection& connection) {
    Peer& peer = connection.peer();
    if (Network* const network = peer.second.network; network && --network->second == 0)
        networks_.erase(networks_.find(network->first));
    if (--peer.second.connections == 0) peers_.erase(peers_.find(peer.first));
    const std::size_t slot = connection.slot;
    connections_.back()->slot = slot;
    connections_[slot] = std::move(connections_.back());
    connections_.pop_back();
    --statistics_.open;
    finish_stop_if_empty();
}

// --- deadlines ----------------------------------------------------------------------------------

std::int64_t Loop::uptime_ms() const {
    return std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now() - epoch_)
        .count();
}

void Loop::arm(Connection& connection, milliseconds timeout) {
    if (!is_ticking_) start_ticking();
    // Part of a tick may have passed since the clock was read, hence one more.
    deadlines_.add(connection, ticked_at_ms_ + (timeout + options_.tick).count());
}

void Loop::start_ticking() {
    is_ticking_ = true;
    ticked_at_ms_ = uptime_ms();
    deadlines_.advance(ticked_at_ms_, [](TimerNode&) {});
    wait_for_tick();
}

/// The clock stands still while nothing is timed: an idle server sleeps.
void Loop::wait_for_tick() {
    tick_timer_.expires_after(options_.tick);
    tick_timer_.async_wait([weak = weak_from_this()](error_code error) {
        const std::shared_ptr<Loop> loop = weak.lock();
        if (!loop || error) return;
        loop->ticked_at_ms_ = loop->uptime_ms();
        loop->deadlines_.advance(loop->ticked_at_ms_,
                                 [](TimerNode& node) { static_cast<Connection&>(node).expire(); });
        loop->is_ticking_ = !loop->deadlines_.is_empty();
        if (loop->is_ticking_) loop->wait_for_tick();
    });
}

// --- stopping -----------------------------------------------------------------------------------

void Loop::stop(milliseconds deadline, std::move_only_function<void()> done) {
    if (is_stopping_) return;
    is_stopping_ = true;
    stopped_ = std::move(done);
    for (const auto& listener : listeners_) {
        error_code ignored;
        listener->acceptor.close(ignored);
        listener->retry.cancel();
    }
    const std::vector<ConnectionPtr> connections = connections_;
    for (const ConnectionPtr& connection : connections) connection->wind_down();
    finish_stop_if_empty();
    if (!stopped_) return;
    stop_timer_.expires_after(deadline);
    stop_timer_.async_wait([weak = weak_from_this()](error_code error) {
        const std::shared_ptr<Loop> loop = weak.lock();
        if (loop && !error) loop->close_all(false);
    });
}

void Loop::close_all(bool is_silent) {
    const std::vector<ConnectionPtr> connections = connections_;
    for (const ConnectionPtr& connection : connections) connection->close(is_silent);
}

void Loop::finish_stop_if_empty() {
    if (!stopped_ || !connections_.empty()) return;
    stop_timer_.cancel();
    events_.release();  // a wait without connections would keep the io_context from ending
    asio::post(io_.get_executor(), [done = std::exchange(stopped_, nullptr)]() mutable { done(); });
}

// --- what connections share ---------------------------------------------------------------------

Response Loop::error_response(int status, std::string_view code, std::string_view message) const {
    Response response;
    response.status = status;
    response.body = options_.error_body(status, code, message);
    return response;
}

std::unique_ptr<RequestReader> Loop::take_reader() {
    if (spare_readers_.empty()) return std::make_unique<RequestReader>(options_.limits);
    std::unique_ptr<RequestReader> reader = std::move(spare_readers_.back());
    spare_readers_.pop_back();
    return reader;
}

void Loop::give_back(std::unique_ptr<RequestReader> reader) {
    if (spare_readers_.size() == spares_max) return;
    reader->reset();
    spare_readers_.push_back(std::move(reader));
}

std::string Loop::take_buffer() {
    if (spare_buffers_.empty()) return {};
    std::string buffer = std::move(spare_buffers_.back());
    spare_buffers_.pop_back();
    return buffer;
}

void Loop::give_back(std::string buffer) {
    if (spare_buffers_.size() == spares_max || buffer.capacity() < 64 ||
        buffer.capacity() > spare_buffer_bytes_max) {
        return;
    }
    buffer.clear();
    spare_buffers_.push_back(std::move(buffer));
}

}  // namespace holdpoint::http
