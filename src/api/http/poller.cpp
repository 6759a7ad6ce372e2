#include "api/http/poller.h"

#include <unistd.h>

#include "base/assert.h"

namespace holdpoint::http {

Poller::Poller() : epoll_(::epoll_create1(EPOLL_CLOEXEC)) { HOLDPOINT_ASSERT(epoll_ >= 0); }

Poller::~Poller() { ::close(epoll_); }

void Poller::change(int socket, Connection& connection, std::uint32_t from, std::uint32_t to) {
    if (from == to) return;
    epoll_event event{};
    event.events = to;
    event.data.ptr = &connection;
    const int operation = from == 0 ? EPOLL_CTL_ADD : to == 0 ? EPOLL_CTL_DEL : EPOLL_CTL_MOD;
    // Adding fails only for want of kernel memory or by the user's limit on watches; a connection
    // that hears nothing more is closed by its deadline.
    ::epoll_ctl(epoll_, operation, socket, &event);
}

void Poller::forget(const Connection& connection) {
    for (std::size_t i = at_; i < end_; ++i)
        if (ready_[i].data.ptr == &connection) ready_[i].data.ptr = nullptr;
}

}  // namespace holdpoint::http
