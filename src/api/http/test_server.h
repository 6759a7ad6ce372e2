#pragma once

#include <gtest/gtest.h>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <deque>
#include <future>
#include <map>
#include <thread>

#include "api/http/server.h"
#include "api/http/test_client.h"

namespace holdpoint::http {

using std::chrono::milliseconds;
using test::ClientResponse;
using test::TestClient;

/// A server on its own thread. Handlers run there; `parked` and `streams` belong to it too.
class ServerTest : public testing::Test {
  protected:
    template <class Work>
    auto on_loop(Work work) {
        std::packaged_task<decltype(work())()> task(std::move(work));
        auto result = task.get_future();
        boost::asio::post(io_, [&task] { task(); });
        return result.get();
    }

    ~ServerTest() override {
        if (!thread_.joinable()) return;
        on_loop([this] {
            parked_.clear();
            streams_.clear();
            server_.reset();
        });
        guard_.reset();
        io_.stop();
        thread_.join();
    }

    void start(Options options = {}, Server::Listen where = {}) {
        server_ = std::make_unique<Server>(
            io_, options, [this](Request&& request, std::shared_ptr<Exchange> exchange) {
                handle(std::move(request), std::move(exchange));
            });
        if (where.is_tls) {
            ASSERT_TRUE(server_->use_certificate(certificate_file_, key_file_).has_value());
        }
        const Result<std::uint16_t> port = server_->listen(where);
        ASSERT_TRUE(port.has_value()) << port.error().message;
        port_ = *port;
        thread_ = std::thread([this] { io_.run(); });
    }

    /// Waits until a condition, evaluated on the loop, holds.
    template <class Condition>
    bool eventually(Condition condition) {
        for (int tries = 0; tries < 2000; ++tries) {
            if (on_loop(condition)) return true;
            std::this_thread::sleep_for(milliseconds(1));
        }
        return false;
    }

    Statistics statistics() {
        return on_loop([this] { return server_->statistics(); });
    }

    void handle(Request&& request, std::shared_ptr<Exchange> exchange) {
        handled_.push_back(request.path);
        if (request.path == "/park") {
            exchange->on_abandon([this, key = exchange.get()] {
                ++abandoned_;
                std::erase_if(parked_, [&](const auto& kept) { return kept.get() == key; });
            });
            parked_.push_back(std::move(exchange));
        } else if (request.path == "/hold") {
            parked_.push_back(std::move(exchange));
        } else if (request.path == "/stream") {
            auto stream = exchange->start_stream({.content_type = "text/event-stream"});
            stream->on_close([this] { ++closed_streams_; });
            streams_.push_back(std::move(stream));
        } else if (request.path == "/drop") {
            exchange.reset();
        } else if (request.path == "/throw") {
            throw std::runtime_error("broken handler");
        } else if (request.path == "/split") {
            exchange->respond({.body = "x", .headers = {{"X-Text", "a\r\nSet-Cookie: b"}}});
        } else if (request.path == "/cached") {
            exchange->respond({.body = "x", .headers = {{"Cache-Control", "max-age=60"}}});
        } else if (request.path == "/peer") {
            exchange->respond({.body = request.peer + (request.is_tls ? " tls" : " plain")});
        } else if (request.path == "/wake") {
            const std::shared_ptr<Exchange> other = std::move(parked_.front());
            parked_.pop_front();
            other->respond({.body = "woken"});
            other->respond({.body = "a second answer is ignored"});
            exchange->respond({.body = "done " + request.body});
        } else if (request.path == "/trust") {
            exchange->trust();
            exchange->respond({.body = "known"});
        } else if (request.path == "/empty") {
            exchange->respond({.status = 204});
        } else if (request.path == "/large") {
            exchange->respond({.body = std::string(8 * 1024 * 1024, 'x')});
        } else {
            exchange->respond({.body = request.method + " " + request.path + " " + request.body});
        }
    }

    void answer_parked(std::string body) {
        on_loop([&] {
            const std::shared_ptr<Exchange> exchange = parked_.front();
            parked_.pop_front();
            exchange->respond({.body = std::move(body)});
        });
    }

    boost::asio::io_context io_{1};
    boost::asio::executor_work_guard<boost::asio::io_context::executor_type> guard_{
        io_.get_executor()};
    std::unique_ptr<Server> server_;
    std::uint16_t port_ = 0;
    std::thread thread_;
    std::string certificate_file_;
    std::string key_file_;

    // On the loop only.
    std::deque<std::shared_ptr<Exchange>> parked_;
    std::vector<std::shared_ptr<Stream>> streams_;
    std::vector<std::string> handled_;
    int abandoned_ = 0;
    int closed_streams_ = 0;
};

inline std::string get(std::string_view path) {
    return "GET " + std::string(path) + " HTTP/1.1\r\nHost: a\r\n\r\n";
}

/// Deadlines that a test can wait for.
inline Options fast_options() {
    Options options;
    options.tick = milliseconds(5);
    return options;
}

}  // namespace holdpoint::http
