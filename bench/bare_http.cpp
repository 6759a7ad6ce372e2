// The least an HTTP server on one epoll thread can do: reads a request by its Content-Length and
// answers 201 with a fixed body. What `load create` gets from it is the ceiling for everything
// that speaks HTTP/1.1 on this machine with this driver.
//
//   bare_http PORT

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <unordered_map>

namespace {

constexpr std::string_view answer =
    "HTTP/1.1 201 Created\r\nContent-Type: application/json\r\nContent-Length: 38\r\n\r\n"
    R"({"id":"req_01J0000000000000000000000"})";

/// Bytes of the first whole request in `in`; 0 if there is none yet.
std::size_t request_size(std::string_view in) {
    const std::size_t head = in.find("\r\n\r\n");
    if (head == in.npos) return 0;
    const std::size_t field = in.find("Content-Length: ");
    const std::size_t body = field < head ? std::strtoul(in.data() + field + 16, nullptr, 10) : 0;
    return in.size() >= head + 4 + body ? head + 4 + body : 0;
}

/// False when the connection is over.
bool serve(int connection, std::string& in) {
    std::array<char, 65536> buffer;
    const ssize_t count = recv(connection, buffer.data(), buffer.size(), 0);
    if (count <= 0) return false;
    in.append(buffer.data(), static_cast<std::size_t>(count));
    while (const std::size_t size = request_size(in)) {
        in.erase(0, size);
        if (send(connection, answer.data(), answer.size(), MSG_NOSIGNAL) < 0) return false;
    }
    return true;
}

int listen_on(int port) {
    const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int on = 1;
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const bool is_bound =
        bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
    if (!is_bound || listen(listener, 1024) != 0) {
        std::perror("bare_http");
        std::exit(1);
    }
    return listener;
}

}  // namespace

int main(int argc, char** argv) {
    const int listener = listen_on(argc > 1 ? std::atoi(argv[1]) : 7499);
    const int epoll = epoll_create1(EPOLL_CLOEXEC);
    std::unordered_map<int, std::string> connections;
    const auto watch = [epoll](int fd) {
        epoll_event event{};
        event.events = EPOLLIN;
        event.data.fd = fd;
        epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
    };
    watch(listener);
    std::array<epoll_event, 256> events;
    while (true) {
        const int count = epoll_wait(epoll, events.data(), events.size(), -1);
        for (int i = 0; i < count; ++i) {
            const int fd = events[static_cast<std::size_t>(i)].data.fd;
            if (fd != listener && serve(fd, connections[fd])) continue;
            if (fd != listener) {
                connections.erase(fd);
                close(fd);
                continue;
            }
            const int connection = accept(listener, nullptr, nullptr);
            const int on = 1;
            setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
            watch(connection);
        }
    }
}
