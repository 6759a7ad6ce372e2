#include "api/http/server.h"

#include "api/http/test_server.h"

namespace holdpoint::http {
namespace {

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

}  // namespace
}  // namespace holdpoint::http
