#include "api/http/server.h"

#include <gtest/gtest.h>
#include <malloc.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <array>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <cstdio>
#include <deque>
#include <filesystem>
#include <future>
#include <map>
#include <thread>

#include "api/http/test_client.h"

namespace holdpoint::http {
namespace {

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

std::string get(std::string_view path) {
    return "GET " + std::string(path) + " HTTP/1.1\r\nHost: a\r\n\r\n";
}

// --- plain requests -----------------------------------------------------------------------------

TEST_F(ServerTest, AnswersManyRequestsOnOneConnection) {
    start();
    TestClient client(port_);
    for (int i = 0; i < 5; ++i) {
        const ClientResponse response = client.post("/echo", "body" + std::to_string(i));
        EXPECT_EQ(response.status, 200);
        EXPECT_EQ(response.body, "POST /echo body" + std::to_string(i));
        EXPECT_FALSE(response.has_header("Connection"));
    }
    EXPECT_EQ(statistics().accepted, 1U);
    EXPECT_EQ(statistics().requests, 5U);
}

TEST_F(ServerTest, SendsTheHeadersEveryAnswerNeeds) {
    start();
    TestClient client(port_);
    const ClientResponse response = client.get("/");
    EXPECT_EQ(response.header("Content-Type"), "application/json");
    EXPECT_EQ(response.header("X-Content-Type-Options"), "nosniff");
    EXPECT_EQ(response.header("Cache-Control"), "no-store");
    EXPECT_TRUE(response.header("Date").ends_with(" GMT"));
    EXPECT_EQ(response.header("Date").size(), 29U);
    EXPECT_FALSE(response.has_header("Server"));
    const ClientResponse cached = client.get("/cached");
    EXPECT_EQ(cached.header("Cache-Control"), "max-age=60");
    EXPECT_EQ(std::count_if(cached.headers.begin(), cached.headers.end(),
                            [](const auto& field) { return field.first == "Cache-Control"; }),
              1);
    const ClientResponse empty = client.get("/empty");
    EXPECT_EQ(empty.status, 204);
    EXPECT_FALSE(empty.has_header("Content-Length"));
}

TEST_F(ServerTest, AnswersHeadWithoutBody) {
    start();
    TestClient client(port_);
    const ClientResponse head = client.request("HEAD", "/x");
    EXPECT_EQ(head.header("Content-Length"), "8");
    EXPECT_EQ(client.get("/y").body, "GET /y ");
}

TEST_F(ServerTest, ClosesAfterAnHttp10RequestUnlessAskedToStay) {
    start();
    TestClient staying(port_);
    staying.send("GET /a HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    EXPECT_EQ(staying.read_response().header("Connection"), "keep-alive");
    staying.send("GET /b HTTP/1.0\r\n\r\n");
    const ClientResponse last = staying.read_response();
    EXPECT_EQ(last.header("Connection"), "close");
    EXPECT_EQ(last.body, "GET /b ");
    EXPECT_TRUE(staying.is_closed_by_server());
}

TEST_F(ServerTest, ClosesWhenTheClientAsks) {
    start();
    TestClient client(port_);
    const ClientResponse response = client.request("GET", "/", "", {{"Connection", "close"}});
    EXPECT_EQ(response.header("Connection"), "close");
    EXPECT_TRUE(client.is_closed_by_server());
}

TEST_F(ServerTest, ReadsChunkedBodiesInPieces) {
    start();
    TestClient client(port_);
    const std::string text =
        "POST /c HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
        "3\r\nabc\r\n4\r\ndefg\r\n0\r\n\r\n";
    for (const char c : text) ASSERT_TRUE(client.send(std::string(1, c)));
    EXPECT_EQ(client.read_response().body, "POST /c abcdefg");
}

TEST_F(ServerTest, TellsAWaitingClientToContinue) {
    start();
    TestClient client(port_);
    client.send("POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
    EXPECT_EQ(client.read_response().status, 100);
    client.send("ok");
    EXPECT_EQ(client.read_response().body, "POST / ok");
}

TEST_F(ServerTest, DeliversLargeBodiesAndAnswers) {
    start();
    TestClient client(port_);
    const std::string body(200'000, 'b');
    EXPECT_EQ(client.post("/", body).body, "POST / " + body);
    EXPECT_EQ(client.get("/large").body.size(), 8U * 1024 * 1024);
    EXPECT_EQ(client.get("/after").status, 200);
}

TEST_F(ServerTest, ListensOnIpv6AndNamesThePeer) {
    start({}, {.address = "::1"});
    TestClient client({.port = port_, .address = "::1"});
    ASSERT_TRUE(client.is_connected());
    EXPECT_EQ(client.get("/peer").body, "::1 plain");
}

TEST_F(ServerTest, ShowsAnIpv4ClientOfAnIpv6SocketAsWhatItIs) {
    start({}, {.address = "::"});
    EXPECT_EQ(TestClient(port_).get("/peer").body, "127.0.0.1 plain");
}

TEST_F(ServerTest, SaysWhyItCannotListen) {
    start();
    const auto problem = [this](const Server::Listen& where) {
        const Result<std::uint16_t> port = on_loop([&] { return server_->listen(where); });
        return port ? std::string() : port.error().message;
    };
    EXPECT_NE(problem({.address = "example"}).find("`example` is not an IP address"),
              std::string::npos);
    EXPECT_NE(problem({.port = port_}).find(std::to_string(port_)), std::string::npos);
    EXPECT_EQ(problem({.is_tls = true}), "TLS needs a certificate");
}

// --- pipelining ---------------------------------------------------------------------------------

TEST_F(ServerTest, AnswersPipelinedRequestsInOrder) {
    start();
    TestClient client(port_);
    std::string batch;
    for (int i = 0; i < 100; ++i) batch += get("/" + std::to_string(i));
    client.send(batch);
    for (int i = 0; i < 100; ++i) {
        ASSERT_EQ(client.read_response().body, "GET /" + std::to_string(i) + " ");
    }
}

TEST_F(ServerTest, LaterRequestsWaitForTheAnswerOfTheFirst) {
    start();
    TestClient client(port_);
    client.send(get("/park") + get("/second"));
    ASSERT_TRUE(eventually([this] { return parked_.size() == 1; }));
    EXPECT_EQ(on_loop([this] { return handled_.size(); }), 1U);
    answer_parked("first");
    EXPECT_EQ(client.read_response().body, "first");
    EXPECT_EQ(client.read_response().body, "GET /second ");
}

TEST_F(ServerTest, BoundsWhatItKeepsOfLaterRequests) {
    start();
    TestClient client(port_);
    client.send(get("/hold"));
    ASSERT_TRUE(eventually([this] { return parked_.size() == 1; }));
    std::string flood;
    while (flood.size() < 1'000'000) flood += get("/flood");
    std::thread sender([&] { client.send(flood); });
    ASSERT_TRUE(eventually([this] { return server_->statistics().bytes_in >= 60'000; }));
    // Nothing more may arrive: the rest stays in the kernel's buffers.
    EXPECT_FALSE(on_loop([this] { return server_->statistics().bytes_in > 66'000; }));
    answer_parked("first");
    EXPECT_EQ(client.read_response().body, "first");
    for (std::size_t i = 0; i < flood.size() / get("/flood").size(); ++i) {
        ASSERT_EQ(client.read_response().body, "GET /flood ");
    }
    sender.join();
}

// --- refusals -----------------------------------------------------------------------------------

TEST_F(ServerTest, RefusesWithTheMatchingStatusAndCloses) {
    Options options;
    options.limits.body_bytes_max = 1000;
    start(options);
    const std::map<int, std::string> cases = {
        {400, "GET / HTTP/1.1\r\n\r\n"},
        {413,
         "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1001\r\n\r\n" + std::string(1001, 'x')},
        {414, "GET /" + std::string(9000, 'a') + " HTTP/1.1\r\nHost: a\r\n\r\n"},
        {415, "POST / HTTP/1.1\r\nHost: a\r\nContent-Encoding: gzip\r\nContent-Length: 1\r\n\r\nx"},
        {417, "GET / HTTP/1.1\r\nHost: a\r\nExpect: tea\r\n\r\n"},
        {431, "GET / HTTP/1.1\r\nHost: a\r\nX: " + std::string(20'000, 'a') + "\r\n\r\n"},
        {505, "GET / HTTP/2.0\r\nHost: a\r\n\r\n"},
    };
    for (const auto& [status, text] : cases) {
        TestClient client(port_);
        client.send(text + get("/smuggled"));
        const ClientResponse response = client.read_response();
        EXPECT_EQ(response.status, status);
        EXPECT_EQ(response.header("Connection"), "close");
        EXPECT_TRUE(response.body.starts_with(R"({"error":{"code":")")) << response.body;
        EXPECT_TRUE(client.is_closed_by_server());
    }
    EXPECT_TRUE(on_loop([this] { return handled_.empty(); }));
    EXPECT_EQ(statistics().errors, cases.size());
}

TEST_F(ServerTest, RendersItsErrorsAsTheOwnerSays) {
    Options options;
    options.error_body = [](int status, std::string_view code, std::string_view) {
        return std::to_string(status) + " " + std::string(code);
    };
    start(options);
    TestClient client(port_);
    client.send("GET * HTTP/1.1\r\nHost: a\r\n\r\n");
    EXPECT_EQ(client.read_response().body, "400 invalid_argument");
}

TEST_F(ServerTest, AnswersFiveHundredForABrokenHandler) {
    start();
    TestClient client(port_);
    EXPECT_EQ(client.get("/drop").status, 500);
    EXPECT_EQ(client.get("/throw").status, 500);
    EXPECT_EQ(client.get("/fine").status, 200);
}

TEST_F(ServerTest, NeverSplitsAResponse) {
    start();
    TestClient client(port_);
    const ClientResponse response = client.get("/split");
    EXPECT_EQ(response.status, 500);
    EXPECT_FALSE(response.has_header("Set-Cookie"));
}

TEST_F(ServerTest, TurnsAwayConnectionsOverTheLimit) {
    Options options;
    options.connections_max = 2;
    start(options);
    TestClient first(port_);
    TestClient second(port_);
    EXPECT_EQ(first.get("/").status, 200);
    EXPECT_EQ(second.get("/").status, 200);
    TestClient third(port_);
    const ClientResponse refused = third.get("/");
    EXPECT_EQ(refused.status, 503);
    EXPECT_EQ(refused.header("Retry-After"), "1");
    EXPECT_TRUE(third.is_closed_by_server());
    EXPECT_EQ(statistics().refused, 1U);
    third.close();
    first.close();
    ASSERT_TRUE(eventually([this] { return server_->statistics().open == 1; }));
    EXPECT_EQ(TestClient(port_).get("/").status, 200);
}

TEST_F(ServerTest, LimitsTheConnectionsOfOneAddress) {
    Options options;
    options.connections_per_peer_max = 1;
    options.is_loopback_limited = true;
    start(options);
    TestClient first(port_);
    EXPECT_EQ(first.get("/").status, 200);
    EXPECT_EQ(TestClient(port_).get("/").status, 503);
    first.close();
    ASSERT_TRUE(eventually([this] { return server_->statistics().open == 0; }));
    EXPECT_EQ(TestClient(port_).get("/").status, 200);
}

TEST_F(ServerTest, TellsOneAddressThatItHasEnoughOnlySoOften) {
    Options options;
    options.connections_per_peer_max = 1;
    options.is_loopback_limited = true;
    start(options);
    std::vector<std::unique_ptr<TestClient>> clients;
    for (int i = 0; i < 100; ++i) clients.push_back(std::make_unique<TestClient>(port_));
    ASSERT_TRUE(eventually([this] { return server_->statistics().refused == 99; }));
    EXPECT_LE(statistics().accepted, 65U) << "the rest is closed without a word";
    EXPECT_EQ(clients.front()->get("/").status, 200);
}

TEST_F(ServerTest, DoesNotLimitWhatComesFromThisMachine) {
    Options options;
    options.connections_per_peer_max = 1;
    start(options);
    TestClient first(port_), second(port_);
    EXPECT_EQ(first.get("/").status, 200);
    EXPECT_EQ(second.get("/").status, 200);
}

std::string post_of(std::string_view path, std::size_t size, std::size_t sent) {
    return "POST " + std::string(path) +
           " HTTP/1.1\r\nHost: a\r\nContent-Length: " + std::to_string(size) + "\r\n\r\n" +
           std::string(sent, 'x');
}

TEST_F(ServerTest, StrangersTogetherHoldOnlySoMuchOfUnfinishedCalls) {
    Options options;
    options.strangers_bytes_max = 60'000;
    start(options);
    TestClient first(port_), second(port_), third(port_);
    ASSERT_TRUE(first.send(post_of("/", 50'000, 49'000)));
    ASSERT_TRUE(eventually([this] { return server_->statistics().bytes_in > 49'000; }));
    ASSERT_TRUE(second.send(post_of("/", 50'000, 30'000)));
    const ClientResponse refused = second.read_response();
    EXPECT_EQ(refused.status, 503);
    EXPECT_EQ(refused.header("Retry-After"), "1");
    EXPECT_EQ(third.post("/", "what comes whole is answered").status, 200);
    ASSERT_TRUE(first.send(std::string(1'000, 'x')));
    EXPECT_EQ(first.read_response().status, 200);
    ASSERT_TRUE(third.send(post_of("/", 50'000, 49'000)));
    ASSERT_TRUE(third.send(std::string(1'000, 'x')));
    EXPECT_EQ(third.read_response().status, 200) << "there is room again";
}

TEST_F(ServerTest, WhoHasGoneHoldsNothingMore) {
    Options options;
    options.strangers_bytes_max = 60'000;
    start(options);
    for (int i = 0; i < 5; ++i) {
        TestClient client(port_);
        ASSERT_TRUE(client.send(post_of("/", 50'000, 40'000)));
        ASSERT_TRUE(eventually([this, i] {
            return server_->statistics().bytes_in > 40'000U * (static_cast<unsigned>(i) + 1);
        }));
        client.close();
        ASSERT_TRUE(eventually([this] { return server_->statistics().open == 0; }));
    }
    EXPECT_EQ(statistics().errors, 0U);
}

TEST_F(ServerTest, WhoIsKnownIsNoStranger) {
    Options options;
    options.strangers_bytes_max = 10'000;
    start(options);
    TestClient known(port_);
    EXPECT_EQ(known.get("/trust").status, 200);
    ASSERT_TRUE(known.send(post_of("/", 50'000, 40'000)));
    ASSERT_TRUE(eventually([this] { return server_->statistics().bytes_in > 40'000; }));
    ASSERT_TRUE(known.send(std::string(10'000, 'x')));
    EXPECT_EQ(known.read_response().status, 200);
}

// --- deadlines ----------------------------------------------------------------------------------

Options fast_options() {
    Options options;
    options.tick = milliseconds(5);
    return options;
}

TEST_F(ServerTest, CutsOffASlowHead) {
    Options options = fast_options();
    options.head_timeout = milliseconds(60);
    start(options);
    TestClient client(port_);
    client.send("GET / HTTP/1.1\r\nHost:");
    EXPECT_EQ(client.read_response().status, 408);
    EXPECT_TRUE(client.is_closed_by_server());
    TestClient silent(port_);
    EXPECT_TRUE(silent.is_closed_by_server());
}

TEST_F(ServerTest, CutsOffASlowBody) {
    Options options = fast_options();
    options.body_timeout = milliseconds(60);
    start(options);
    TestClient client(port_);
    client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc");
    EXPECT_EQ(client.read_response().status, 408);
    EXPECT_TRUE(client.is_closed_by_server());
}

TEST_F(ServerTest, ClosesIdleConnectionsButNotWaitingOnes) {
    Options options = fast_options();
    options.idle_timeout = milliseconds(60);
    options.head_timeout = milliseconds(60);
    start(options);
    TestClient waiting(port_);
    waiting.send(get("/park"));
    TestClient idle(port_);
    EXPECT_EQ(idle.get("/").status, 200);
    EXPECT_TRUE(idle.is_closed_by_server());
    ASSERT_TRUE(eventually([this] { return parked_.size() == 1; }));
    std::this_thread::sleep_for(milliseconds(100));
    answer_parked("late");
    EXPECT_EQ(waiting.read_response().body, "late");
}

TEST_F(ServerTest, AnIdleConnectionLivesLongerThanTheHeadTimeout) {
    Options options = fast_options();
    options.head_timeout = milliseconds(50);
    start(options);
    TestClient client(port_);
    EXPECT_EQ(client.get("/").status, 200);
    std::this_thread::sleep_for(milliseconds(120));
    EXPECT_EQ(client.get("/").status, 200);
}

TEST_F(ServerTest, CutsOffAReaderThatStalls) {
    Options options = fast_options();
    options.write_timeout = milliseconds(60);
    start(options);
    TestClient client({.port = port_, .receive_buffer_bytes = 4096});
    client.send(get("/large"));
    EXPECT_TRUE(eventually([this] { return server_->statistics().requests == 1; }));
    EXPECT_TRUE(eventually([this] { return server_->statistics().open == 0; }));
}

// --- waiting and streams ------------------------------------------------------------------------

TEST_F(ServerTest, AnswersAWaitingRequestLater) {
    start();
    TestClient client(port_);
    client.send(get("/park"));
    ASSERT_TRUE(eventually([this] { return server_->statistics().parked == 1; }));
    answer_parked("now");
    EXPECT_EQ(client.read_response().body, "now");
    EXPECT_EQ(statistics().parked, 0U);
    EXPECT_EQ(client.get("/next").body, "GET /next ");
    EXPECT_EQ(on_loop([this] { return abandoned_; }), 0);
}

TEST_F(ServerTest, NoticesThatAWaitingClientWentAway) {
    start();
    TestClient orderly(port_);
    TestClient broken(port_);
    orderly.send(get("/park"));
    broken.send(get("/park"));
    ASSERT_TRUE(eventually([this] { return parked_.size() == 2; }));
    orderly.close();
    broken.reset();
    ASSERT_TRUE(eventually([this] { return abandoned_ == 2; }));
    ASSERT_TRUE(eventually([this] { return server_->statistics().open == 0; }));
    EXPECT_EQ(statistics().parked, 0U);
}

TEST_F(ServerTest, StillAnswersAClientThatOnlyStoppedSending) {
    start();
    TestClient client(port_);
    client.send(get("/hold"));
    client.shutdown_write();
    ASSERT_TRUE(eventually([this] { return parked_.size() == 1; }));
    answer_parked("after all");
    EXPECT_EQ(client.read_response().body, "after all");
    EXPECT_TRUE(client.is_closed_by_server());
}

TEST_F(ServerTest, AnAnswerAfterTheClientLeftDoesNothing) {
    start();
    {
        TestClient client(port_);
        client.send(get("/hold"));
        ASSERT_TRUE(eventually([this] { return parked_.size() == 1; }));
        client.reset();
    }
    ASSERT_TRUE(eventually([this] { return server_->statistics().open == 0; }));
    on_loop([this] {
        parked_.front()->respond({});
        const auto stream = parked_.front()->start_stream({});
        stream->on_close([this] { ++closed_streams_; });
        stream->send("nobody");
    });
    EXPECT_TRUE(eventually([this] { return closed_streams_ == 1; }));
}

TEST_F(ServerTest, AnswersOneConnectionFromTheHandlerOfAnother) {
    start();
    TestClient waiting(port_);
    waiting.send(get("/park") + get("/behind"));
    ASSERT_TRUE(eventually([this] { return parked_.size() == 1; }));
    TestClient waking(port_);
    // What follows in the same packet must survive the work done for the other connection.
    waking.send("POST /wake HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx" + get("/then"));
    EXPECT_EQ(waking.read_response().body, "done x");
    EXPECT_EQ(waking.read_response().body, "GET /then ");
    EXPECT_EQ(waiting.read_response().body, "woken");
    EXPECT_EQ(waiting.read_response().body, "GET /behind ");
}

TEST_F(ServerTest, TellsALateAskerThatTheClientHasGoneAlready) {
    start();
    TestClient client(port_);
    client.send(get("/hold"));
    ASSERT_TRUE(eventually([this] { return parked_.size() == 1; }));
    client.close();
    // With nobody asking to be told, the exchange stays: the client may have stopped sending only.
    std::this_thread::sleep_for(milliseconds(20));
    EXPECT_EQ(statistics().parked, 1U);
    on_loop([this] {
        parked_.front()->on_abandon([this] {
            ++abandoned_;
            parked_.clear();
        });
        EXPECT_EQ(abandoned_, 0);
    });
    EXPECT_TRUE(eventually([this] { return abandoned_ == 1; }));
    EXPECT_TRUE(eventually([this] { return server_->statistics().open == 0; }));
}

TEST_F(ServerTest, SurvivesAClientThatClosesDuringTheAnswer) {
    start();
    for (int i = 0; i < 5; ++i) {
        TestClient client({.port = port_, .receive_buffer_bytes = 4096});
        client.send(get("/large") + get("/large"));
        client.read_head();
    }
    EXPECT_TRUE(eventually([this] { return server_->statistics().open == 0; }));
    EXPECT_EQ(TestClient(port_).get("/").status, 200);
}

TEST_F(ServerTest, StreamsEventsUntilClosed) {
    start();
    TestClient client(port_);
    client.send(get("/stream"));
    const ClientResponse head = client.read_head();
    EXPECT_EQ(head.header("Content-Type"), "text/event-stream");
    EXPECT_EQ(head.header("Transfer-Encoding"), "chunked");
    on_loop([this] {
        streams_[0]->send("id: 1\nevent: made\ndata: a\ndata: b\n\n");
        streams_[0]->send(": heartbeat\n\n");
        streams_[0]->send("data: c\n\n");
    });
    const auto first = client.read_event();
    ASSERT_TRUE(first.has_value());
    EXPECT_EQ(first->id, "1");
    EXPECT_EQ(first->event, "made");
    EXPECT_EQ(first->data, "a\nb");
    EXPECT_EQ(client.read_event()->data, "c");
    EXPECT_EQ(statistics().streams, 1U);
    on_loop([this] { streams_[0]->close(); });
    EXPECT_FALSE(client.read_event().has_value());
    EXPECT_TRUE(eventually([this] { return closed_streams_ == 1; }));
    EXPECT_EQ(statistics().streams, 0U);
    EXPECT_TRUE(eventually([this] { return server_->statistics().open == 0; }));
}

TEST_F(ServerTest, StreamsToHttp10UpToTheEnd) {
    start();
    TestClient client(port_);
    client.send("GET /stream HTTP/1.0\r\n\r\n");
    EXPECT_FALSE(client.read_head().has_header("Transfer-Encoding"));
    on_loop([this] {
        streams_[0]->send("data: x\n\n");
        streams_.clear();
    });
    EXPECT_EQ(client.read_event()->data, "x");
    EXPECT_FALSE(client.read_event().has_value());
}

TEST_F(ServerTest, NoticesThatAStreamReaderWentAway) {
    start();
    TestClient client(port_);
    client.send(get("/stream"));
    client.read_head();
    client.close();
    EXPECT_TRUE(eventually([this] { return closed_streams_ == 1; }));
    EXPECT_EQ(statistics().open, 0U);
    on_loop([this] { streams_[0]->send("nobody"); });
}

TEST_F(ServerTest, CutsOffAStreamReaderThatFallsTooFarBehind) {
    Options options;
    options.stream_bytes_max = 100'000;
    start(options);
    TestClient client({.port = port_, .receive_buffer_bytes = 4096});
    client.send(get("/stream"));
    client.read_head();
    const std::string event(10'000, 'e');
    std::size_t queued_max = 0;
    for (int i = 0; i < 1000 && on_loop([this] { return closed_streams_; }) == 0; ++i) {
        on_loop([&] {
            streams_[0]->send(event);
            queued_max = std::max(queued_max, streams_[0]->queued());
        });
    }
    EXPECT_TRUE(eventually([this] { return closed_streams_ == 1; }));
    EXPECT_GT(queued_max, 50'000U);
    EXPECT_LE(queued_max, 110'000U);
}

TEST_F(ServerTest, ASlowReaderGetsEverythingWithinTheBound) {
    start();
    TestClient client({.port = port_, .receive_buffer_bytes = 4096});
    client.send(get("/stream"));
    client.read_head();
    on_loop([this] {
        for (int i = 0; i < 50; ++i) {
            streams_[0]->send("data: " + std::to_string(i) + std::string(10'000, '.') + "\n\n");
        }
    });
    for (int i = 0; i < 50; ++i) {
        const auto event = client.read_event();
        ASSERT_TRUE(event.has_value());
        ASSERT_TRUE(event->data.starts_with(std::to_string(i) + "."));
    }
    EXPECT_EQ(on_loop([this] { return streams_[0]->queued(); }), 0U);
}

constexpr bool is_sanitized =
#if defined(__has_feature)
    __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
    false;
#endif

TEST_F(ServerTest, AThousandWaitingConnectionsCostLittleMemoryEach) {
    start();
    std::deque<TestClient> clients;
    const auto connect_all = [&] {
        for (int i = 0; i < 1000; ++i) {
            clients.emplace_back(port_);
            ASSERT_TRUE(clients.back().send(get("/hold")));
        }
        ASSERT_TRUE(eventually([this] { return server_->statistics().parked == 1000; }));
    };
    // Once for tables and pools that stay, once to count.
    connect_all();
    on_loop([this] { parked_.clear(); });
    for (TestClient& client : clients) ASSERT_EQ(client.read_response().status, 500);
    clients.clear();
    ASSERT_TRUE(eventually([this] { return server_->statistics().open == 0; }));

    const auto in_use = [this] { return on_loop([] { return ::mallinfo2().uordblks; }); };
    const std::size_t before = in_use();
    connect_all();
    // The clients share the process; theirs is one object each, counted here as well.
    const std::size_t of_clients = 1000 * sizeof(TestClient);
    const std::size_t each = (in_use() - before - of_clients) / 1000;
    RecordProperty("bytes_per_waiting_connection", static_cast<int>(each));
    if (!is_sanitized) {
        EXPECT_LE(each, 600U);
    }
    on_loop([this] {
        for (const auto& exchange : parked_) exchange->respond({.body = "done"});
        parked_.clear();
    });
    for (TestClient& client : clients) ASSERT_EQ(client.read_response().body, "done");
}

// --- stopping -----------------------------------------------------------------------------------

TEST_F(ServerTest, StopsGracefully) {
    start();
    TestClient idle(port_);
    EXPECT_EQ(idle.get("/").status, 200);
    TestClient fresh(port_);
    TestClient waiting(port_);
    waiting.send(get("/park"));
    ASSERT_TRUE(eventually([this] { return parked_.size() == 1; }));
    TestClient sending(port_);
    const std::uint64_t bytes_before = statistics().bytes_in;
    const std::string late_head = "POST /late HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n";
    sending.send(late_head);
    ASSERT_TRUE(eventually(
        [&] { return server_->statistics().bytes_in == bytes_before + late_head.size(); }));
    TestClient stream(port_);
    stream.send(get("/stream"));
    EXPECT_EQ(stream.read_head().status, 200);
    ASSERT_TRUE(eventually([this] { return server_->statistics().open == 5; }));

    std::promise<void> stopped;
    auto is_stopped = stopped.get_future();
    on_loop([&] { server_->stop(milliseconds(5000), [&] { stopped.set_value(); }); });
    EXPECT_TRUE(idle.is_closed_by_server());
    EXPECT_TRUE(fresh.is_closed_by_server());
    EXPECT_FALSE(stream.read_event().has_value());
    EXPECT_FALSE(TestClient(port_).is_connected());
    sending.send("ok");
    const ClientResponse late = sending.read_response();
    EXPECT_EQ(late.body, "POST /late ok");
    EXPECT_EQ(late.header("Connection"), "close");
    EXPECT_EQ(is_stopped.wait_for(milliseconds(0)), std::future_status::timeout);
    answer_parked("last words");
    EXPECT_EQ(waiting.read_response().body, "last words");
    EXPECT_EQ(is_stopped.wait_for(milliseconds(2000)), std::future_status::ready);
    EXPECT_EQ(on_loop([this] { return closed_streams_; }), 1);
}

TEST_F(ServerTest, StopCutsOffWhatOutlastsTheDeadline) {
    start();
    TestClient client(port_);
    client.send(get("/park"));
    ASSERT_TRUE(eventually([this] { return parked_.size() == 1; }));
    std::promise<void> stopped;
    on_loop([&] { server_->stop(milliseconds(30), [&] { stopped.set_value(); }); });
    EXPECT_EQ(stopped.get_future().wait_for(milliseconds(2000)), std::future_status::ready);
    EXPECT_TRUE(client.is_closed_by_server());
    EXPECT_EQ(on_loop([this] { return abandoned_; }), 1);
}

TEST_F(ServerTest, MayBeDestroyedWhileRequestsAndStreamsAreOpen) {
    start();
    TestClient waiting(port_);
    waiting.send(get("/park"));
    TestClient stream(port_);
    stream.send(get("/stream"));
    stream.read_head();
    ASSERT_TRUE(eventually([this] { return parked_.size() == 1; }));
    on_loop([this] { server_.reset(); });
    EXPECT_TRUE(waiting.is_closed_by_server());
    on_loop([this] {
        streams_[0]->send("too late");
        parked_.front()->respond({});
    });
    EXPECT_EQ(on_loop([this] { return abandoned_ + closed_streams_; }), 0);
}

// --- TLS ----------------------------------------------------------------------------------------

/// A self-signed certificate for `name`, written with its key into two PEM files.
void write_certificate(const std::string& certificate_file, const std::string& key_file,
                       const std::string& name) {
    EVP_PKEY* key = EVP_EC_gen("P-256");
    X509* certificate = X509_new();
    ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
    X509_gmtime_adj(X509_getm_notBefore(certificate), 0);
    X509_gmtime_adj(X509_getm_notAfter(certificate), 3600);
    X509_set_pubkey(certificate, key);
    X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate), "CN", MBSTRING_ASC,
                               reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
    X509_set_issuer_name(certificate, X509_get_subject_name(certificate));
    X509_sign(certificate, key, EVP_sha256());
    std::FILE* file = std::fopen(certificate_file.c_str(), "w");
    PEM_write_X509(file, certificate);
    std::fclose(file);
    file = std::fopen(key_file.c_str(), "w");
    PEM_write_PrivateKey(file, key, nullptr, nullptr, 0, nullptr, nullptr);
    std::fclose(file);
    X509_free(certificate);
    EVP_PKEY_free(key);
}

std::string subject_seen_by(TestClient& client) {
    X509* certificate = SSL_get1_peer_certificate(client.tls());
    if (certificate == nullptr) return {};
    std::array<char, 64> name{};
    X509_NAME_get_text_by_NID(X509_get_subject_name(certificate), NID_commonName, name.data(),
                              static_cast<int>(name.size()));
    X509_free(certificate);
    return name.data();
}

class TlsServerTest : public ServerTest {
  protected:
    TlsServerTest() {
        std::string pattern = (std::filesystem::temp_directory_path() / "http_tls_XXXXXX").string();
        directory_ = ::mkdtemp(pattern.data());
        certificate_file_ = directory_ / "certificate.pem";
        key_file_ = directory_ / "key.pem";
        write_certificate(certificate_file_, key_file_, "first");
    }
    ~TlsServerTest() override { std::filesystem::remove_all(directory_); }

    TestClient connect() { return TestClient({.port = port_, .is_tls = true}); }

    std::filesystem::path directory_;
};

TEST_F(TlsServerTest, ServesRequestsOfAllSizes) {
    start({}, {.is_tls = true});
    TestClient client = connect();
    ASSERT_TRUE(client.is_connected());
    EXPECT_EQ(client.get("/peer").body, "127.0.0.1 tls");
    const std::string body(200'000, 'b');
    EXPECT_EQ(client.post("/b", body).body, "POST /b " + body);
    EXPECT_EQ(client.get("/large").body.size(), 8U * 1024 * 1024);
    client.send(get("/1") + get("/2"));
    EXPECT_EQ(client.read_response().body, "GET /1 ");
    EXPECT_EQ(client.read_response().body, "GET /2 ");
}

TEST_F(TlsServerTest, AnswersManyPipelinedRequests) {
    start({}, {.is_tls = true});
    TestClient client = connect();
    std::string batch;
    for (int i = 0; i < 2000; ++i) batch += get("/" + std::to_string(i));
    std::thread sender([&] { client.send(get("/hold") + batch); });
    ASSERT_TRUE(eventually([this] { return parked_.size() == 1; }));
    sender.join();
    answer_parked("first");
    EXPECT_EQ(client.read_response().body, "first");
    for (int i = 0; i < 2000; ++i) {
        ASSERT_EQ(client.read_response().body, "GET /" + std::to_string(i) + " ");
    }
}

TEST_F(TlsServerTest, WaitsStreamsAndNoticesTheEnd) {
    start({}, {.is_tls = true});
    TestClient waiting = connect();
    waiting.send(get("/park"));
    ASSERT_TRUE(eventually([this] { return parked_.size() == 1; }));
    answer_parked("woken");
    EXPECT_EQ(waiting.read_response().body, "woken");
    waiting.send(get("/park"));
    TestClient stream = connect();
    stream.send(get("/stream"));
    stream.read_head();
    on_loop([this] { streams_[0]->send("data: x\n\n"); });
    EXPECT_EQ(stream.read_event()->data, "x");
    ASSERT_TRUE(eventually([this] { return parked_.size() == 1; }));
    waiting.close();
    stream.close();
    EXPECT_TRUE(eventually([this] { return abandoned_ == 1 && closed_streams_ == 1; }));
    EXPECT_TRUE(eventually([this] { return server_->statistics().open == 0; }));
}

TEST_F(TlsServerTest, RefusesOldVersionsAndPlainText) {
    start({}, {.is_tls = true});
    TestClient plain(port_);
    plain.send(get("/"));
    EXPECT_NE(plain.read_response().status, 200);
    EXPECT_TRUE(on_loop([this] { return handled_.empty(); }));
    TestClient modern = connect();
    EXPECT_GE(SSL_version(modern.tls()), TLS1_2_VERSION);
}

TEST_F(TlsServerTest, SurvivesAClientThatClosesDuringTheAnswer) {
    start({}, {.is_tls = true});
    for (int i = 0; i < 5; ++i) {
        TestClient client = connect();
        client.send(get("/large") + get("/large"));
        client.read_head();
    }
    EXPECT_TRUE(eventually([this] { return server_->statistics().open == 0; }));
    EXPECT_EQ(connect().get("/").status, 200);
}

TEST_F(TlsServerTest, CutsOffASlowHandshake) {
    Options options = fast_options();
    options.head_timeout = milliseconds(60);
    start(options, {.is_tls = true});
    TestClient silent(port_);
    EXPECT_TRUE(silent.is_closed_by_server());
}

TEST_F(TlsServerTest, TakesANewCertificateForNewConnections) {
    start({}, {.is_tls = true});
    TestClient before = connect();
    EXPECT_EQ(subject_seen_by(before), "first");
    write_certificate(certificate_file_, key_file_, "second");
    ASSERT_TRUE(on_loop([this] { return server_->reload_certificate().has_value(); }));
    TestClient after = connect();
    EXPECT_EQ(subject_seen_by(after), "second");
    EXPECT_EQ(before.get("/").status, 200);
}

TEST_F(TlsServerTest, KeepsTheOldCertificateIfTheNewOneIsBroken) {
    start({}, {.is_tls = true});
    std::filesystem::resize_file(certificate_file_, 40);
    const auto outcome = on_loop([this] { return server_->reload_certificate(); });
    ASSERT_FALSE(outcome.has_value());
    EXPECT_NE(outcome.error().message.find("certificate.pem"), std::string::npos);
    TestClient client = connect();
    EXPECT_EQ(client.get("/").status, 200);
}

TEST_F(TlsServerTest, NamesTheFileThatCannotBeUsed) {
    const auto problem = [&](const std::string& certificate, const std::string& key) {
        Server server(io_, {}, [](Request&&, std::shared_ptr<Exchange>) {});
        const Result<void> outcome = server.use_certificate(certificate, key);
        return outcome ? std::string() : outcome.error().message;
    };
    EXPECT_EQ(problem("/nowhere.pem", key_file_),
              "cannot use certificate `/nowhere.pem`: No such file or directory");
    EXPECT_EQ(problem(certificate_file_, "/nowhere.pem"),
              "cannot use private key `/nowhere.pem`: No such file or directory");
    const std::string other = directory_ / "other.pem";
    write_certificate(directory_ / "unused.pem", other, "other");
    EXPECT_NE(problem(certificate_file_, other).find("other.pem"), std::string::npos);
}

}  // namespace
}  // namespace holdpoint::http
