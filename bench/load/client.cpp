#include "client.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <utility>

namespace holdpoint::load {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; }

/// The number after `name:` in a header block; names are matched in any case.
std::optional<std::size_t> header_number(std::string_view head, std::string_view name) {
    for (std::size_t line = head.find("\r\n"); line != head.npos;
         line = head.find("\r\n", line + 2)) {
        std::string_view rest = head.substr(line + 2);
        if (rest.size() <= name.size() || rest[name.size()] != ':') continue;
        bool is_same = true;
        for (std::size_t i = 0; i < name.size(); ++i) is_same &= lower(rest[i]) == name[i];
        if (!is_same) continue;
        rest.remove_prefix(name.size() + 1);
        while (!rest.empty() && rest.front() == ' ') rest.remove_prefix(1);
        std::size_t number = 0;
        const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
        if (error != std::errc{}) return std::nullopt;
        return number;
    }
    return std::nullopt;
}

sockaddr_in loopback(int last, std::uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(0x7f000000U + static_cast<std::uint32_t>(last));
    return address;
}

}  // namespace

void fail(const std::string& message) {
    fmt::print(stderr, "load: {}\n", message);
    std::exit(1);
}

Loop::Loop() : epoll_(epoll_create1(EPOLL_CLOEXEC)) {
    if (epoll_ < 0) fail("no epoll");
    // The default slack of 50 us is as long as the gap between two creates at 20,000 a second.
    prctl(PR_SET_TIMERSLACK, 1UL);
}

Loop::~Loop() { close(epoll_); }

void Loop::at(TimePoint when, std::move_only_function<void()> work) {
    timers_.push({when, std::move(work)});
}

void Loop::run() {
    is_running_ = true;
    while (is_running_) {
        run_due();
        if (is_running_) wait();
    }
}

void Loop::run_for(std::chrono::nanoseconds time) {
    at(SteadyTime::now() + time, [this] { stop(); });
    run();
}

void Loop::run_due() {
    while (!timers_.empty() && timers_.top().when <= SteadyTime::now()) {
        std::move_only_function<void()> work = std::move(timers_.top().work);
        timers_.pop();
        work();
        if (!is_running_) return;
    }
}

void Loop::wait() {
    timespec timeout{1, 0};
    if (!timers_.empty()) {
        const auto left = std::chrono::nanoseconds(timers_.top().when - SteadyTime::now()).count();
        timeout.tv_sec = left > 0 ? left / 1'000'000'000 : 0;
        timeout.tv_nsec = left > 0 ? left % 1'000'000'000 : 0;
    }
    std::array<epoll_event, 256> events;
    const int count = epoll_pwait2(epoll_, events.data(), events.size(), &timeout, nullptr);
    if (count < 0 && errno != EINTR) fail(fmt::format("epoll: {}", std::strerror(errno)));
    for (int i = 0; i < count; ++i) static_cast<Connection*>(events[i].data.ptr)->on_readable();
}

Connection::Connection(Loop& loop, std::uint16_t port, int source)
    : loop_(loop), fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    if (fd_ < 0) fail(fmt::format("no socket: {}; raise `ulimit -n`", std::strerror(errno)));
    const int on = 1;
    if (source != 1) {
        setsockopt(fd_, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof on);
        const sockaddr_in from = loopback(source, 0);
        if (bind(fd_, reinterpret_cast<const sockaddr*>(&from), sizeof from) != 0)
            fail(fmt::format("cannot bind: {}", std::strerror(errno)));
    }
    const sockaddr_in to = loopback(1, port);
    if (connect(fd_, reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0)
        fail(fmt::format("cannot connect to port {}: {}", port, std::strerror(errno)));
    setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.ptr = this;
    epoll_ctl(loop_.epoll_, EPOLL_CTL_ADD, fd_, &event);
}

Connection::~Connection() { close(fd_); }

void Connection::send(std::string_view request, OnAnswer on_answer) {
    if (on_answer_) fail("two requests at once on one connection");
    on_answer_ = std::move(on_answer);
    write(request);
}

void Connection::stream(std::string_view request, OnStream on_stream) {
    on_stream_ = std::move(on_stream);
    write(request);
}

int Connection::call(std::string_view request, std::string* body) {
    int status = 0;
    send(request, [&](const Answer& answer) {
        status = answer.status;
        if (body) *body = answer.body;
        loop_.stop();
    });
    loop_.run();
    return status;
}

void Connection::write(std::string_view request) {
    while (!request.empty()) {
        const ssize_t sent =
            ::send(fd_, request.data(), request.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0 && errno == EAGAIN) {
            pollfd room{fd_, POLLOUT, 0};
            poll(&room, 1, 1000);
            continue;
        }
        if (sent < 0) fail(fmt::format("cannot send: {}", std::strerror(errno)));
        request.remove_prefix(static_cast<std::size_t>(sent));
    }
}

void Connection::on_readable() {
    std::array<char, 65536> buffer;
    const ssize_t count = recv(fd_, buffer.data(), buffer.size(), MSG_DONTWAIT);
    const TimePoint at = SteadyTime::now();
    if (count < 0 && errno == EAGAIN) return;
    if (count <= 0) fail("the server closed a connection");
    in_.append(buffer.data(), static_cast<std::size_t>(count));
    if (on_stream_) {
        if (on_stream_(in_, at)) in_.clear();
        return;
    }
    while (take_answer(at)) {
    }
}

bool Connection::take_answer(TimePoint at) {
    const std::size_t head_end = in_.find("\r\n\r\n");
    if (head_end == std::string::npos) return false;
    const std::string_view head(in_.data(), head_end);
    const std::optional<std::size_t> length = header_number(head, "content-length");
    if (!length) fail(fmt::format("an answer without a length: {}", head));
    const std::size_t end = head_end + 4 + *length;
    if (in_.size() < end) return false;
    if (!on_answer_) fail("an answer nobody asked for");

    Answer answer;
    std::from_chars(in_.data() + sizeof "HTTP/1.1", in_.data() + head_end, answer.status);
    const std::string whole = std::exchange(in_, in_.substr(end));
    answer.body = std::string_view(whole).substr(head_end + 4, *length);
    answer.at = at;
    std::exchange(on_answer_, nullptr)(answer);
    return !in_.empty();
}

}  // namespace holdpoint::load
