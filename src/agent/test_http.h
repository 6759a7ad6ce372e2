#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

/// A server for tests that says whatever it is told to say.
namespace holdpoint::agent {

/// Answers one connection after the other with what it was given, and keeps what it was sent.
class CannedServer {
  public:
    explicit CannedServer(std::vector<std::string> answers) : answers_(std::move(answers)) {
        listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof address;
        if (bind(listener_, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
            listen(listener_, 8) != 0 ||
            getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) != 0)
            throw std::runtime_error("no port");
        port_ = ntohs(address.sin_port);
        thread_ = std::thread([this] { serve(); });
    }
    ~CannedServer() {
        shutdown(listener_, SHUT_RDWR);
        thread_.join();
        close(listener_);
    }
    std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
    std::vector<std::string> received;  ///< read it after the calls

  private:
    void serve() {
        for (const std::string& answer : answers_) {
            const int connection = accept(listener_, nullptr, nullptr);
            if (connection < 0) return;
            received.push_back(read_request(connection));
            send(connection, answer.data(), answer.size(), MSG_NOSIGNAL);
            close(connection);
        }
    }
    static std::string read_request(int connection) {
        std::string text;
        char bytes[4096];
        for (;;) {
            const ssize_t count = recv(connection, bytes, sizeof bytes, 0);
            if (count <= 0) return text;
            text.append(bytes, static_cast<std::size_t>(count));
            const std::size_t head = text.find("\r\n\r\n");
            const std::size_t length = text.find("Content-Length: ");
            if (head == std::string::npos) continue;
            if (length == std::string::npos) return text;
            if (text.size() >= head + 4 + std::stoul(text.substr(length + 16))) return text;
        }
    }

    std::vector<std::string> answers_;
    int listener_ = -1;
    int port_ = 0;
    std::thread thread_;
};

inline std::string reply(int status, const std::string& type, const std::string& body) {
    return "HTTP/1.1 " + std::to_string(status) + " X\r\nContent-Type: " + type +
           "\r\nContent-Length: " + std::to_string(body.size()) + "\r\nConnection: close\r\n\r\n" +
           body;
}

}  // namespace holdpoint::agent
