// Connections over time: deadlines, answers that come later, streams, and the end of the server.

#include <malloc.h>

#include "api/http/test_server.h"

namespace holdpoint::http {
namespace {

// --- deadlines ----------------------------------------------------------------------------------

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

}  // namespace
}  // namespace holdpoint::http
