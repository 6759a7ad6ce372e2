#pragma once

#include <sys/epoll.h>

#include <array>
#include <cstddef>
#include <cstdint>

namespace holdpoint::http {

class Connection;

/// Which sockets are ready. An epoll set of its own, which the io_context watches as one
/// descriptor: a socket is registered once instead of for every request, and those that became
/// ready together are handled together.
///
/// Level-triggered: whoever leaves a socket ready must also take back its interest. One thread.
class Poller {
  public:
    Poller();
    ~Poller();
    Poller(const Poller&) = delete;
    Poller& operator=(const Poller&) = delete;

    int descriptor() const { return epoll_; }

    /// Interest is EPOLLIN, EPOLLOUT, both or none. Without any, a socket is not in the set:
    /// otherwise one that broke would be reported for ever.
    void change(int socket, Connection& connection, std::uint32_t from, std::uint32_t to);

    /// Calls `on_ready(Connection&, std::uint32_t events)` for what is ready now, up to a bound
    /// after which others have their turn. A callback may close any connection.
    template <class OnReady>
    void poll(OnReady&& on_ready) {
        const int count = ::epoll_wait(epoll_, ready_.data(), static_cast<int>(ready_.size()), 0);
        end_ = count > 0 ? static_cast<std::size_t>(count) : 0;
        for (at_ = 0; at_ < end_; ++at_) {
            const epoll_event event = ready_[at_];
            if (event.data.ptr) on_ready(*static_cast<Connection*>(event.data.ptr), event.events);
        }
        at_ = end_ = 0;
    }

    /// The connection is about to go: what is known to be ready of it is forgotten.
    void forget(const Connection& connection);

  private:
    int epoll_;
    std::array<epoll_event, 128> ready_{};
    std::size_t at_ = 0, end_ = 0;  ///< of what poll() is handling
};

}  // namespace holdpoint::http
