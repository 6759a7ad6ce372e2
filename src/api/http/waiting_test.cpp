// Who waits for an answer, and who listens to the stream: as callers see it. What is proved here
// runs under the sanitizers too.

#include "api/http/test_api.h"
#include "service/expire.h"

namespace holdpoint::api {
namespace {

using namespace test;

TEST_F(ApiTest, S1_the_full_loop_propose_wait_decide_woken) {
    const std::string id = propose();
    auto waiting = ask(agent_, "/v1/requests/" + id + "?wait=60");
    ASSERT_TRUE(eventually([this] { return api_->waiters() == 1; }));
    EXPECT_EQ(decide(ann_, id).status, 200);
    const ClientResponse woken = waiting->read_response();
    EXPECT_EQ(woken.status, 200);
    const json::value body = parsed(woken.body);
    EXPECT_EQ(body.at("outcome").as_string(), "approved");
    EXPECT_EQ(body.at("release").at("arguments").at("amount"), 5);
    EXPECT_TRUE(eventually([this] { return api_->waiters() == 0; }));
}

TEST_F(ApiTest, S1_a_proposal_may_wait_for_its_own_outcome) {
    TestClient agent(port_);
    propose_and_wait(agent);
    ASSERT_TRUE(eventually([this] { return api_->waiters() == 1; }));
    const ClientResponse list = get(ann_, "/v1/requests?session=s");
    const std::string id(parsed(list.body).at("requests").at(0).at("id").as_string());
    ASSERT_EQ(decide(ann_, id, R"({"decision":"reject","reason":"no"})").status, 200);
    const ClientResponse answer = agent.read_response();
    EXPECT_EQ(answer.status, 201);
    EXPECT_EQ(answer.header("Location"), "/v1/requests/" + id);
    EXPECT_EQ(text_at(answer, "outcome"), "rejected");
}

TEST_F(ApiTest, S1_who_waits_after_the_decision_is_answered_at_once) {
    const std::string id = propose();
    decide(ann_, id);
    EXPECT_EQ(text_at(get(agent_, "/v1/requests/" + id + "?wait=60"), "outcome"), "approved");
}

TEST_F(ApiTest, S1_a_wait_that_ends_answers_with_what_is_still_pending) {
    const std::string id = propose();
    auto waiting = ask(agent_, "/v1/requests/" + id + "?wait=1");
    ASSERT_TRUE(eventually([this] { return api_->waiters() == 1; }));
    // It counts as waiting a moment before its timer is set.
    std::int64_t ms = 0;
    ASSERT_TRUE(eventually([this, &ms] {
        api_->on_tick(ms += 60'000);
        return api_->waiters() == 0;
    }));
    const ClientResponse answer = waiting->read_response();
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(text_at(answer, "state"), "pending");
}

TEST_F(ApiTest, X1_a_wait_ends_with_the_key_that_asked_for_it) {
    const ClientResponse made =
        post(admin_, "/v1/keys", R"({"role":"agent","name":"bot","expires_in_s":20})");
    ASSERT_EQ(made.status, 201) << made.body;
    const std::string id = propose();
    auto waiting = ask(text_at(made, "key"), "/v1/requests/" + id + "?wait=60");
    ASSERT_TRUE(eventually([this] { return api_->waiters() == 1; }));
    // Asked after it, and so answered after its timer is set.
    ASSERT_EQ(get(agent_, "/v1/requests/" + id).status, 200);
    on_loop([this] { api_->on_tick(16'000); });
    EXPECT_EQ(on_loop([this] { return api_->waiters(); }), 1U);
    on_loop([this] { api_->on_tick(22'000); });
    EXPECT_TRUE(eventually([this] { return api_->waiters() == 0; }));
    EXPECT_EQ(text_at(waiting->read_response(), "state"), "pending");
}

TEST_F(ApiTest, a_waiter_that_hangs_up_is_forgotten) {
    const std::string id = propose();
    auto waiting = ask(agent_, "/v1/requests/" + id + "?wait=60");
    ASSERT_TRUE(eventually([this] { return api_->waiters() == 1; }));
    waiting->reset();
    EXPECT_TRUE(eventually([this] { return api_->waiters() == 0; }));
    EXPECT_EQ(decide(ann_, id).status, 200);
}

TEST_F(ApiTest, S1_stopping_tells_waiters_to_ask_again) {
    const std::string id = propose();
    auto waiting = ask(agent_, "/v1/requests/" + id + "?wait=60");
    ASSERT_TRUE(eventually([this] { return api_->waiters() == 1; }));
    on_loop([this] { api_->stop(); });
    const ClientResponse answer = waiting->read_response();
    EXPECT_EQ(answer.status, 503);
    EXPECT_TRUE(answer.has_header("Retry-After"));
    EXPECT_EQ(get(agent_, "/readyz").status, 503);
}

TEST_F(ApiTest, Q9_a_wait_for_a_batch_ends_when_the_last_of_it_is_settled) {
    on_loop([this] {
        policy::Builtin lists;
        lists.allow = {"read"};
        policy_.replace(policy::compose(lists));
    });
    const ClientResponse made = post(
        agent_, "/v1/batches",
        R"({"requests":[{"action":{"tool":"read"}},{"action":{"tool":"pay"}},{"action":{"tool":"pay"}}]})");
    ASSERT_EQ(made.status, 201) << made.body;
    const json::value batch = parsed(made.body);
    const std::string id(batch.at("id").as_string());
    EXPECT_EQ(batch.at("requests").at(0).at("outcome").as_string(), "allowed");
    const std::string second(batch.at("requests").at(1).at("id").as_string());
    const std::string third(batch.at("requests").at(2).at("id").as_string());

    auto waiting = ask(agent_, "/v1/batches/" + id + "?wait=60");
    ASSERT_TRUE(eventually([this] { return api_->waiters() == 1; }));
    decide(ann_, second);
    decide(ann_, third, R"({"decision":"reject"})");
    const ClientResponse answer = waiting->read_response();
    ASSERT_EQ(answer.status, 200) << "one that was settled before the wait must not hold it up";
    const json::value settled = parsed(answer.body);
    EXPECT_EQ(settled.at("requests").at(1).at("outcome").as_string(), "approved");
    EXPECT_EQ(settled.at("requests").at(2).at("outcome").as_string(), "rejected");
}

TEST_F(ApiTest, Q9_a_wait_for_a_batch_that_ends_at_that_very_moment_is_not_missed) {
    on_loop([this] {
        policy::Builtin lists;
        lists.allow = {"read"};
        policy_.replace(policy::compose(lists));
    });
    TestClient agent(port_), person(port_);
    for (int i = 0; i < 60; ++i) {
        const ClientResponse made =
            agent.request("POST", "/v1/batches",
                          R"({"requests":[{"action":{"tool":"read"}},{"action":{"tool":"pay"}}]})",
                          headers(agent_));
        const json::value batch = parsed(made.body);
        const std::string pay(batch.at("requests").at(1).at("id").as_string());
        auto waiting =
            ask(agent_, "/v1/batches/" + std::string(batch.at("id").as_string()) + "?wait=60");
        person.request("POST", "/v1/requests/" + pay + "/decision", R"({"decision":"approve"})",
                       headers(ann_));
        const ClientResponse answer = waiting->read_response();
        ASSERT_EQ(answer.status, 200) << "round " << i;
        EXPECT_EQ(parsed(answer.body).at("requests").at(1).at("outcome").as_string(), "approved");
    }
    EXPECT_TRUE(eventually([this] { return api_->waiters() == 0; }));
}

TEST_F(ApiTest, T1_time_alone_wakes_a_waiter) {
    const std::string id = propose();
    auto waiting = ask(agent_, "/v1/requests/" + id + "?wait=60");
    ASSERT_TRUE(eventually([this] { return api_->waiters() == 1; }));
    std::promise<void> passed;
    store_->run(
        [](store::Transaction& tx) {
            return service::expire_due(tx, *policy::compose({}), start + 5 * minute, 10);
        },
        [&](Result<service::Expired>) { passed.set_value(); });
    passed.get_future().get();
    EXPECT_EQ(text_at(waiting->read_response(), "outcome"), "expired");
}

TEST_F(ApiTest, H7_a_stream_tells_what_happens_in_order) {
    auto events = stream(ann_, "/v1/events");
    ASSERT_TRUE(eventually([this] { return api_->streams() == 1; }));
    const std::string id = propose();
    decide(ann_, id);
    post(agent_, "/v1/requests/" + id + "/report", R"({"success":true,"result":{"n":1}})");
    std::int64_t before = 0;
    for (const char* name : {"approval-required", "request-settled", "tool-result"}) {
        std::optional<ClientEvent> event = events->read_event();
        if (event && event->event.empty()) event = events->read_event();  // `retry:` comes first
        ASSERT_TRUE(event) << name;
        EXPECT_EQ(event->event, name);
        const json::value data = parsed(event->data);
        EXPECT_EQ(data.at("request").at("id").as_string(), id);
        EXPECT_EQ(std::to_string(data.at("seq").as_int64()), event->id);
        EXPECT_GT(data.at("seq").as_int64(), before);
        before = data.at("seq").as_int64();
    }
}

TEST_F(ApiTest, H7_a_stream_resumes_after_the_last_event_seen) {
    for (int i = 0; i < 3; ++i) propose();
    for (const std::string& resumed :
         {std::string("/v1/events"), std::string("/v1/events?last_event_id=1")}) {
        const bool is_query = resumed.find('?') != std::string::npos;
        auto events = stream(ann_, resumed, is_query ? "" : "Last-Event-ID: 1\r\n");
        std::vector<std::string> ids;
        while (ids.size() < 2) {
            const std::optional<ClientEvent> event = events->read_event();
            ASSERT_TRUE(event);
            if (!event->event.empty()) ids.push_back(event->id);
        }
        EXPECT_EQ(ids, (std::vector<std::string>{"2", "3"}));
        const std::optional<ClientEvent> beat = events->read_event();
        ASSERT_TRUE(beat) << "what was stored has been told";
        EXPECT_EQ(beat->event, "beat");
        EXPECT_EQ(beat->id, "");
        EXPECT_EQ(beat->data, "{}");
    }
}

TEST_F(ApiTest, H7_who_has_seen_more_than_there_is_hears_what_is_new) {
    // As after a store was restored from a copy: the ids begin again further down.
    propose();
    auto events = stream(ann_, "/v1/events", "Last-Event-ID: 9000\r\n");
    ASSERT_TRUE(eventually([this] { return api_->streams() == 1; }));
    const std::string id = propose();
    std::optional<ClientEvent> event = events->read_event();
    while (event && (event->event.empty() || event->event == "beat")) event = events->read_event();
    ASSERT_TRUE(event);
    EXPECT_EQ(parsed(event->data).at("request").at("id").as_string(), id);
}

TEST_F(ApiTest, H7_a_stream_that_nobody_reads_any_more_is_forgotten) {
    EXPECT_EQ(call(ann_, "HEAD", "/v1/events").status, 200);
    EXPECT_TRUE(eventually([this] { return api_->streams() == 0; }));
    auto events = stream(ann_, "/v1/events", "Last-Event-ID: 0\r\n");
    ASSERT_TRUE(eventually([this] { return api_->streams() == 1; }));
    events->reset();
    EXPECT_TRUE(eventually([this] { return api_->streams() == 0; }));
}

TEST_F(ApiTest, H7_an_agent_hears_of_its_own_requests_only) {
    auto theirs = stream(other_agent_, "/v1/events");
    auto filtered = stream(ann_, "/v1/events?session=wanted");
    ASSERT_TRUE(eventually([this] { return api_->streams() == 2; }));
    propose();
    const std::string wanted = propose(R"({"session":"wanted","action":{"tool":"x"}})");
    const ClientResponse own = post(other_agent_, "/v1/requests", R"({"action":{"tool":"y"}})");
    const auto first = [](TestClient& client) {
        std::optional<ClientEvent> event = client.read_event();
        if (event && event->event.empty()) event = client.read_event();
        return std::string(parsed(event->data).at("request").at("id").as_string());
    };
    EXPECT_EQ(first(*theirs), text_at(own, "id"));
    EXPECT_EQ(first(*filtered), wanted);
}

TEST_F(ApiTest, H7_nothing_is_lost_or_doubled_while_a_stream_catches_up) {
    // Enough for several pages of the replay, with more arriving all the time.
    constexpr int before = 450, during = 60;
    for (int i = 0; i < before; i += 90) {
        std::string body = R"({"requests":[)";
        for (int k = 0; k < 90; ++k)
            body += std::string(k ? "," : "") + R"({"action":{"tool":"t"}})";
        ASSERT_EQ(post(other_agent_, "/v1/batches", body + "]}").status, 201);
    }
    std::thread writer([this] {
        for (int i = 0; i < during / 2; ++i) decide(ann_, propose());
    });
    std::vector<std::unique_ptr<TestClient>> readers;
    for (int i = 0; i < 4; ++i)
        readers.push_back(stream(ann_, "/v1/events", "Last-Event-ID: 0\r\n"));
    for (const auto& reader : readers) {
        std::int64_t expected = 1;
        while (expected <= before + during) {
            const std::optional<ClientEvent> event = reader->read_event();
            ASSERT_TRUE(event) << "the stream ended before event " << expected;
            if (event->event.empty() || event->event == "beat") continue;
            ASSERT_EQ(event->id, std::to_string(expected));
            ++expected;
        }
    }
    writer.join();
}

TEST_F(ApiTest, H7_a_stream_ends_with_its_credential) {
    const ClientResponse made = post(admin_, "/v1/keys", R"({"role":"approver","name":"temp"})");
    ASSERT_EQ(made.status, 201);
    auto events = stream(text_at(made, "key"), "/v1/events");
    ASSERT_TRUE(eventually([this] { return api_->streams() == 1; }));
    EXPECT_EQ(post(admin_, "/v1/keys/" + text_at(made, "id") + "/revoke", "{}").status, 200);
    EXPECT_TRUE(eventually([this] { return api_->streams() == 0; }));
    EXPECT_EQ(get(text_at(made, "key"), "/v1/me").status, 401);
}

TEST_F(ApiTest, H7_a_stream_ends_when_the_time_of_its_credential_does) {
    const ClientResponse made =
        post(admin_, "/v1/keys", R"({"role":"approver","name":"temp","expires_in_s":20})");
    ASSERT_EQ(made.status, 201);
    auto events = stream(text_at(made, "key"), "/v1/events");
    ASSERT_TRUE(eventually([this] { return api_->streams() == 1; }));
    on_loop([this] { api_->on_tick(16'000); });
    EXPECT_EQ(on_loop([this] { return api_->streams(); }), 1U);
    on_loop([this] { api_->on_tick(22'000); });
    EXPECT_TRUE(eventually([this] { return api_->streams() == 0; }));
}

TEST_F(ApiTest, X1_a_revoked_key_that_waits_does_not_get_the_release) {
    const ClientResponse made = post(admin_, "/v1/keys", R"({"role":"agent","name":"bot"})");
    ASSERT_EQ(made.status, 201);
    const std::string id = propose();
    auto stolen = ask(text_at(made, "key"), "/v1/requests/" + id + "?wait=60");
    const ClientResponse theirs =
        post(other_agent_, "/v1/requests", R"({"action":{"tool":"refund"}})");
    auto other = ask(other_agent_, "/v1/requests/" + text_at(theirs, "id") + "?wait=60");
    ASSERT_TRUE(eventually([this] { return api_->waiters() == 2; }));
    EXPECT_EQ(post(admin_, "/v1/keys/" + text_at(made, "id") + "/revoke", "{}").status, 200);
    EXPECT_EQ(stolen->read_response().status, 503);
    EXPECT_EQ(get(text_at(made, "key"), "/v1/requests/" + id + "?wait=60").status, 401);
    EXPECT_EQ(get(agent_, "/v1/requests/" + id).status, 200) << "its other key is still good";
    EXPECT_EQ(on_loop([this] { return api_->waiters(); }), 1U) << "others wait on";
}

TEST_F(ApiTest, S1_who_waits_for_a_new_proposal_is_not_made_to_propose_it_twice) {
    TestClient agent(port_);
    propose_and_wait(agent);
    ASSERT_TRUE(eventually([this] { return api_->waiters() == 1; }));
    on_loop([this] { api_->stop(); });
    const ClientResponse answer = agent.read_response();
    EXPECT_EQ(answer.status, 201) << "it is stored, whatever the server does next";
    EXPECT_EQ(text_at(answer, "state"), "pending");
    EXPECT_TRUE(answer.has_header("Location"));
}

TEST_F(ApiTest, H7_stopping_tells_streams_to_reconnect) {
    auto events = stream(ann_, "/v1/events");
    ASSERT_TRUE(eventually([this] { return api_->streams() == 1; }));
    on_loop([this] { api_->stop(); });
    std::optional<ClientEvent> event = events->read_event();
    if (event && event->event.empty()) event = events->read_event();
    ASSERT_TRUE(event);
    EXPECT_EQ(event->event, "reconnect");
    EXPECT_FALSE(events->read_event());
}

}  // namespace
}  // namespace holdpoint::api
