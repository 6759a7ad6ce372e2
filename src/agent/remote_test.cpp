#include "agent/remote.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>

#include "agent/blocking.h"

namespace holdpoint::agent {
namespace {

using namespace std::chrono_literals;

/// Breaks its first connection off after a while, and answers the second.
class RestartedServer {
  public:
    explicit RestartedServer(std::chrono::milliseconds breaks_after)
        : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof address;
        auto* const raw = reinterpret_cast<sockaddr*>(&address);
        if (::bind(listener_, raw, size) != 0 || ::listen(listener_, 8) != 0 ||
            ::getsockname(listener_, raw, &size) != 0)
            throw std::runtime_error("no port");
        port_ = ntohs(address.sin_port);
        thread_ = std::thread([this, breaks_after] {
            const int first = ::accept(listener_, nullptr, nullptr);
            std::this_thread::sleep_for(breaks_after);
            ::close(first);
            const int second = ::accept(listener_, nullptr, nullptr);
            if (second < 0) return;
            char asked[4096];
            (void)!::recv(second, asked, sizeof asked, 0);
            const std::string answer =
                "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 14\r\n"
                "Connection: close\r\n\r\n{\"id\":\"req_1\"}";
            ::send(second, answer.data(), answer.size(), MSG_NOSIGNAL);
            ::close(second);
        });
    }
    RestartedServer(const RestartedServer&) = delete;
    RestartedServer& operator=(const RestartedServer&) = delete;
    ~RestartedServer() {
        ::shutdown(listener_, SHUT_RDWR);
        thread_.join();
        ::close(listener_);
    }
    std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }

  private:
    int listener_;
    int port_ = 0;
    std::thread thread_;
};

TEST(Remote, S1_patience_with_a_server_begins_when_it_fails_not_when_it_was_asked) {
    RestartedServer server(600ms);
    // It held the long poll for longer than it may be away, which it was not.
    const Result<std::unique_ptr<Backend>> remote =
        make_remote_backend({.url = server.url(), .key = "k", .unreachable_after = 300ms});
    ASSERT_TRUE(remote);
    const Result<Json> settled = blocking<Result<Json>>(
        [&](Backend::Done done) { (*remote)->wait("req_1", 20s, std::nullopt, std::move(done)); });
    ASSERT_TRUE(settled) << settled.error().message;
    EXPECT_EQ((*settled)["id"].text(), "req_1");
}

}  // namespace
}  // namespace holdpoint::agent
