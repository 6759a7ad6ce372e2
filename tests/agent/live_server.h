#pragma once

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>

#include "agent/http.h"
#include "tests/agent/people.h"

namespace holdpoint::test {

struct Folder {
    std::string path = std::filesystem::temp_directory_path() / "holdpoint-library-XXXXXX";
    Folder() {
        if (!mkdtemp(path.data())) throw std::runtime_error("no temporary folder");
    }
    ~Folder() { std::filesystem::remove_all(path); }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
};

/// A real server in a process of its own, on a free port of this machine.
class LiveServer {
  public:
    explicit LiveServer(std::string policy = {}) : policy_(std::move(policy)) {
        if (!policy_.empty()) std::ofstream(folder_.path + "/policy.yaml") << policy_;
        start();
    }
    ~LiveServer() { end(SIGTERM); }
    LiveServer(const LiveServer&) = delete;
    LiveServer& operator=(const LiveServer&) = delete;

    /// At the same address as before, with the same store.
    void start() {
        const std::string data = folder_.path + "/data";
        const std::string port = url_.empty() ? "0" : url_.substr(url_.rfind(':') + 1);
        const std::string policy = folder_.path + "/policy.yaml";
        const char* arguments[] = {LIVE_SERVER, data.c_str(), port.c_str(),
                                   policy_.empty() ? nullptr : policy.c_str(), nullptr};
        int ends[2];
        int alive[2];
        if (::pipe2(ends, O_CLOEXEC) != 0 || ::pipe2(alive, O_CLOEXEC) != 0)
            throw std::runtime_error("no pipe");
        process_ = ::fork();
        if (process_ == 0) {
            ::dup2(alive[0], STDIN_FILENO);
            ::dup2(ends[1], STDOUT_FILENO);
            ::execv(LIVE_SERVER, const_cast<char**>(arguments));
            ::_exit(127);
        }
        ::close(ends[1]);
        ::close(alive[0]);
        alive_ = alive[1];
        std::string url;
        char byte = 0;
        while (::read(ends[0], &byte, 1) == 1) url += byte;
        ::close(ends[0]);
        if (process_ < 0 || url.empty()) throw std::runtime_error("the server did not start");
        url_ = url;
    }
    /// As a machine that loses its power.
    void kill() { end(SIGKILL); }

    const std::string& url() const { return url_; }
    std::string new_key(const std::string& role, const std::string& name) {
        const Json key =
            as_admin("POST", "/v1/keys", Json::object({{"role", role}, {"name", name}}).dump());
        return key["key"].text_or("");
    }
    /// Returns once somebody waits for an answer: they know what they wait for.
    void await_waiter() {
        while (as_admin("GET", "/v1/stats")["waiters"].integer().value_or(0) == 0)
            std::this_thread::yield();
    }

  private:
    Json as_admin(const std::string& method, const std::string& path, std::string body = {}) {
        std::string admin;
        std::getline(std::ifstream(folder_.path + "/data/admin.key"), admin);
        agent::HttpEngine engine;
        const Result<agent::HttpReply> reply = engine.call(
            {.method = method,
             .url = url_ + path,
             .headers = {"Authorization: Bearer " + admin, "Content-Type: application/json"},
             .body = std::move(body)});
        if (!reply || reply->status >= 300) throw std::runtime_error("no answer to " + path);
        return *Json::parse(reply->body);
    }
    void end(int signal) {
        if (process_ <= 0) return;
        ::kill(process_, signal);
        ::waitpid(process_, nullptr, 0);
        process_ = -1;
        ::close(alive_);
    }

    Folder folder_;
    const std::string policy_;
    std::string url_;
    pid_t process_ = -1;
    int alive_ = -1;  ///< closed with this process
};

}  // namespace holdpoint::test
