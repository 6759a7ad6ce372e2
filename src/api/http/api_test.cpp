// The door as callers see it. What is proved here runs under the sanitizers too.

#include <atomic>
#include <set>

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

TEST_F(ApiTest, D8_of_two_who_race_one_gets_a_conflict_with_what_stands) {
    const std::string id = propose();
    std::atomic<int> won = 0, lost = 0;
    std::vector<std::thread> people;
    for (const std::string& key : {ann_, ben_})
        people.emplace_back([&, key] {
            const ClientResponse answer = decide(key, id);
            if (answer.status == 200) ++won;
            if (answer.status == 409 &&
                parsed(answer.body).at("error").at("request").at("outcome").as_string() ==
                    "approved")
                ++lost;
        });
    for (std::thread& person : people) person.join();
    EXPECT_EQ(won, 1);
    EXPECT_EQ(lost, 1);
}

TEST_F(ApiTest, D8_a_decision_after_the_deadline_gets_410_with_the_request) {
    const std::string id = propose();
    clock_.advance(5 * minute);
    const ClientResponse late = decide(ann_, id);
    EXPECT_EQ(late.status, 410);
    EXPECT_EQ(code_of(late), "expired");
    EXPECT_EQ(parsed(late.body).at("error").at("request").at("outcome").as_string(), "expired");
    EXPECT_EQ(text_at(get(agent_, "/v1/requests/" + id), "outcome"), "expired");
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

TEST_F(ApiTest, the_store_thread_and_the_loop_work_under_load) {
    std::atomic<int> released = 0, failed = 0;
    std::vector<std::thread> clients;
    for (int c = 0; c < 3; ++c)
        clients.emplace_back([&] {
            TestClient agent(port_), person(port_);
            for (int i = 0; i < 25; ++i) {
                const ClientResponse made = agent.request(
                    "POST", "/v1/requests", R"({"action":{"tool":"t"}})", headers(agent_));
                if (made.status != 201) {
                    ++failed;
                    continue;
                }
                const std::string id = text_at(made, "id");
                auto waiting = ask(agent_, "/v1/requests/" + id + "?wait=60");
                const ClientResponse decided =
                    person.request("POST", "/v1/requests/" + id + "/decision",
                                   R"({"decision":"approve"})", headers(ann_));
                const ClientResponse woken = waiting->read_response();
                if (decided.status == 200 && woken.status == 200 &&
                    text_at(woken, "outcome") == "approved")
                    ++released;
            }
        });
    for (std::thread& client : clients) client.join();
    EXPECT_EQ(failed, 0);
    EXPECT_EQ(released, 75);
}

TEST_F(ApiTest, X1_every_route_asks_for_its_role) {
    const std::string id = propose();
    for (const Api::Route& route : Api::routes()) {
        std::string path(route.path);
        if (const std::size_t brace = path.find('{'); brace != std::string::npos)
            path.replace(brace, 4, id);
        for (const auto& [key, role] : {std::pair{agent_, Role::agent},
                                        {ann_, Role::approver},
                                        {auditor_, Role::auditor},
                                        {admin_, Role::admin}}) {
            if (auth::may(role, route.need)) continue;
            const ClientResponse answer =
                call(key, route.method, path, route.method == "POST" ? "{}" : "");
            EXPECT_EQ(answer.status, 403)
                << route.method << " " << path << " as " << to_string(role);
            EXPECT_EQ(code_of(answer), "permission_denied");
        }
        if (route.need == auth::Need::nothing) continue;
        TestClient nobody(port_);
        const ClientResponse answer = nobody.request(route.method, path);
        EXPECT_EQ(answer.status, 401) << route.method << " " << path;
        EXPECT_EQ(answer.header("WWW-Authenticate"), "Bearer");
    }
    EXPECT_EQ(text_at(get(agent_, "/v1/requests/" + id), "state"), "pending");
}

TEST_F(ApiTest, X1_another_agents_request_does_not_exist) {
    const std::string id = propose();
    EXPECT_EQ(get(other_agent_, "/v1/requests/" + id).status, 404);
    EXPECT_EQ(get(other_agent_, "/v1/requests/" + id + "?wait=1").status, 404);
    EXPECT_EQ(get(other_agent_, "/v1/requests/" + id + "/events").status, 404);
    EXPECT_EQ(post(other_agent_, "/v1/requests/" + id + "/cancel", "{}").status, 404);
    EXPECT_EQ(post(other_agent_, "/v1/requests/" + id + "/report", R"({"success":true})").status,
              404);
    EXPECT_EQ(parsed(get(other_agent_, "/v1/requests").body).at("requests").as_array().size(), 0u);
    EXPECT_EQ(get(auditor_, "/v1/requests/" + id).status, 200);
}

TEST_F(ApiTest, the_same_idempotency_key_gives_the_same_request) {
    const std::string_view body = R"({"action":{"tool":"t"}})";
    const Headers key{{"Idempotency-Key", "k-1"}};
    const ClientResponse first = call(agent_, "POST", "/v1/requests", body, key);
    const ClientResponse second = call(agent_, "POST", "/v1/requests", body, key);
    EXPECT_EQ(first.status, 201);
    EXPECT_EQ(second.status, 200);
    EXPECT_EQ(second.header("Idempotency-Replayed"), "true");
    EXPECT_EQ(text_at(first, "id"), text_at(second, "id"));
    const ClientResponse other =
        call(agent_, "POST", "/v1/requests", R"({"action":{"tool":"u"}})", key);
    EXPECT_EQ(other.status, 422);
    EXPECT_EQ(field_of(other), "Idempotency-Key");
    for (const std::string& bad : {std::string(), std::string(256, 'x'), std::string("a b")})
        EXPECT_EQ(call(agent_, "POST", "/v1/requests", body, {{"Idempotency-Key", bad}}).status,
                  400)
            << bad;
}

TEST_F(ApiTest, W1_wrong_calls_get_precise_answers) {
    const std::string id = propose();
    EXPECT_EQ(get(agent_, "/v1/nothing").status, 404);
    const ClientResponse method = call(agent_, "DELETE", "/v1/requests");
    EXPECT_EQ(method.status, 405);
    EXPECT_EQ(method.header("Allow"), "POST, GET");
    EXPECT_EQ(get(agent_, "/v1/requests/nonsense").status, 404);
    EXPECT_EQ(field_of(get(agent_, "/v1/requests?colour=red")), "colour");
    EXPECT_EQ(field_of(get(agent_, "/v1/requests?limit=0")), "limit");
    EXPECT_EQ(field_of(get(agent_, "/v1/requests/" + id + "?wait=x")), "wait");
    EXPECT_EQ(post(agent_, "/v1/requests", "{").status, 400);
    EXPECT_EQ(field_of(post(agent_, "/v1/requests", R"({"action":{"tool":1}})")), "action.tool");
    TestClient plain(port_);
    EXPECT_EQ(plain
                  .request("POST", "/v1/requests", "{}",
                           {{"Authorization", "Bearer " + agent_}, {"Content-Type", "text/plain"}})
                  .status,
              415);
    EXPECT_EQ(field_of(decide(ann_, id, R"({"decision":"maybe"})")), "decision");
    EXPECT_EQ(decide(ann_, id, R"({"decision":"defer"})").status, 422);
    EXPECT_EQ(decide(ann_, id, R"({"decision":"approve","digest":"sha256:00"})").status, 409);
    EXPECT_EQ(post(agent_, "/v1/requests/" + id + "/report", R"({"success":true})").status, 422);
}

TEST_F(ApiTest, D7_a_file_of_the_allowed_size_reaches_the_agent) {
    const std::string id =
        propose(R"({"kind":"input","input":{"question":"Send the scan","type":"file"}})");
    const std::string content(128 * 1024 / 3 * 4, 'A');
    const ClientResponse answer =
        decide(ann_, id,
               R"({"decision":"answer","answer":{"name":"scan.pdf","content_base64":")" + content +
                   R"("}})");
    ASSERT_EQ(answer.status, 200) << answer.body.substr(0, 300);
    const json::value body = [&] {
        json::Limits limits;
        limits.string_bytes_max = limits.bytes_max = 1024 * 1024;
        return *json::parse(get(agent_, "/v1/requests/" + id).body, limits);
    }();
    EXPECT_EQ(body.at("decision").at("answer").at("content_base64").as_string().size(),
              content.size());
}

TEST_F(ApiTest, D3_a_plan_does_not_become_the_arguments_of_an_action) {
    const std::string id = propose();
    const ClientResponse answer =
        decide(ann_, id, R"({"decision":"modify","plan":{"title":"t","steps":[{"action":"a"}]}})");
    EXPECT_EQ(answer.status, 422);
    EXPECT_EQ(field_of(answer), "plan");
    EXPECT_EQ(decide(ann_, id, R"({"decision":"modify","arguments":{"amount":1}})").status, 200);
}

TEST_F(ApiTest, Q9_several_decisions_are_judged_one_by_one) {
    const std::string a = propose(), b = propose();
    const ClientResponse answer =
        post(ann_, "/v1/decisions",
             R"({"decisions":[{"id":")" + a + R"(","decision":"approve"},{"id":")" + b +
                 R"(","decision":"nonsense"},{"id":"req_x","decision":"approve"},{"id":")" + a +
                 R"(","decision":"reject"}]})");
    ASSERT_EQ(answer.status, 200) << answer.body;
    const json::value body = parsed(answer.body);
    EXPECT_EQ(body.at("results").at(0).at("status"), 200);
    EXPECT_EQ(body.at("results").at(1).at("status"), 400);
    EXPECT_EQ(body.at("results").at(2).at("status"), 404);
    EXPECT_EQ(body.at("results").at(3).at("status"), 409);
    EXPECT_EQ(text_at(get(ann_, "/v1/requests/" + b), "state"), "pending");
}

TEST_F(ApiTest, S2_a_list_is_paged_newest_first_without_gaps) {
    std::vector<std::string> made;
    for (int i = 0; i < 7; ++i) made.insert(made.begin(), propose());
    std::vector<std::string> seen;
    std::string cursor;
    for (int page = 0; page < 4; ++page) {
        const ClientResponse answer =
            get(ann_, "/v1/requests?limit=3" + (cursor.empty() ? "" : "&cursor=" + cursor));
        const json::value body = parsed(answer.body);
        for (const json::value& request : body.at("requests").as_array())
            seen.emplace_back(request.at("id").as_string());
        if (body.at("next_cursor").is_null()) break;
        cursor = std::string(body.at("next_cursor").as_string());
        propose();  // what comes meanwhile does not shift the pages
    }
    EXPECT_EQ(seen, made);
}

TEST_F(ApiTest, W2_the_routes_of_older_clients_take_the_same_road) {
    const std::string a = propose(), b = propose(), c = propose();
    const json::value list = parsed(get(ann_, "/api/approvals").body);
    ASSERT_EQ(list.as_array().size(), 3u);
    EXPECT_EQ(list.at(0).at("id").as_string(), a) << "oldest first";
    EXPECT_EQ(list.at(0).at("toolName").as_string(), "refund");
    const json::value pending = parsed(get(ann_, "/api/approvals/pending").body);
    EXPECT_EQ(pending.at(0).at("eventIdToWaitFor").as_string(), "approval-" + a);

    const ClientResponse modified =
        post(ann_, "/api/approvals/" + a + "/approve", R"({"modifiedArguments":{"amount":1}})");
    EXPECT_EQ(modified.status, 200);
    EXPECT_EQ(parsed(modified.body).at("request").at("outcome").as_string(), "modified");
    EXPECT_EQ(parsed(modified.body).at("request").at("decision").at("via").as_string(), "alias");
    const ClientResponse rejected =
        call(ann_, "POST", "/api/approvals/" + b + "/reject?reason=no%20way");
    EXPECT_EQ(rejected.status, 200);
    EXPECT_EQ(parsed(rejected.body).at("request").at("decision").at("reason").as_string(),
              "no way");
    const ClientResponse approved =
        post(ann_, "/api/agent/approve",
             R"({"approvalId":")" + c + R"(","approved":true,"reason":"fine"})");
    EXPECT_EQ(parsed(approved.body).at("success"), true);
    EXPECT_EQ(post(ann_, "/api/approvals/" + a + "/approve", "{}").status, 409);
    EXPECT_EQ(parsed(get(ann_, "/api/approvals/pending?status=denied").body).as_array().size(), 1u);
    EXPECT_EQ(parsed(get(ann_, "/api/approvals/pending?status=approved").body).as_array().size(),
              2u);
}

TEST_F(ApiTest, a_person_signs_in_with_a_link_and_decides_what_they_saw) {
    const ClientResponse link = post(admin_, "/v1/links", R"({"name":"ann"})");
    ASSERT_EQ(link.status, 201);
    const std::string url = text_at(link, "url");
    const std::string body = R"({"link":")" + url.substr(url.find('#') + 1) + R"("})";
    TestClient browser(port_);
    const Headers json_type{{"Content-Type", "application/json"}};
    const ClientResponse session = browser.request("POST", "/v1/session", body, json_type);
    ASSERT_EQ(session.status, 201) << session.body;
    EXPECT_EQ(browser.request("POST", "/v1/session", body, json_type).status, 401) << "once only";
    const std::string set_cookie(session.header("Set-Cookie"));
    EXPECT_NE(set_cookie.find("HttpOnly; SameSite=Strict"), std::string::npos);
    const std::string cookie = set_cookie.substr(0, set_cookie.find(';'));
    const Headers with{{"Cookie", cookie},
                       {"X-Holdpoint-CSRF", text_at(session, "csrf")},
                       {"Content-Type", "application/json"}};
    EXPECT_EQ(text_at(browser.request("GET", "/v1/session", {}, with), "name"), "ann");

    const std::string id = propose();
    const std::string digest = text_at(get(agent_, "/v1/requests/" + id), "digest");
    const std::string path = "/v1/requests/" + id + "/decision";
    const ClientResponse blind = browser.request("POST", path, R"({"decision":"approve"})", with);
    EXPECT_EQ(blind.status, 400);
    EXPECT_EQ(field_of(blind), "digest") << "a screen must say what it showed";
    const std::string seen = R"({"decision":"approve","digest":")" + digest + R"("})";
    EXPECT_EQ(browser.request("POST", path, seen, {{"Cookie", cookie}, json_type[0]}).status, 403);
    EXPECT_EQ(browser.request("POST", path, seen, with).status, 200);
    EXPECT_EQ(browser.request("DELETE", "/v1/session", {}, with).status, 200);
    EXPECT_EQ(browser.request("GET", "/v1/session", {}, with).status, 401);
}

TEST_F(ApiTest, X1_a_person_who_is_disabled_is_out_at_once) {
    ASSERT_EQ(get(ann_, "/v1/me").status, 200);
    EXPECT_EQ(post(admin_, "/v1/users/ann/disable", "{}").status, 200);
    EXPECT_EQ(get(ann_, "/v1/me").status, 401);
    EXPECT_EQ(post(admin_, "/v1/users/root/disable", "{}").status, 422) << "the last admin stays";
    EXPECT_EQ(post(admin_, "/v1/keys", R"({"role":"admin","name":"bot"})").status, 409);
}

TEST_F(ApiTest, X4_nobody_finds_out_a_password_by_changing_it) {
    ASSERT_EQ(post(admin_, "/v1/users", R"({"name":"carl","password":"correct horse"})").status,
              201);
    const ClientResponse made = post(admin_, "/v1/keys", R"({"role":"approver","name":"carl"})");
    const auto guess = [&] {
        return post(text_at(made, "key"), "/v1/users/carl/password",
                    R"({"password":"battery staple","current":"wrong guess"})")
            .status;
    };
    for (int tries = 0; tries < 5; ++tries) EXPECT_EQ(guess(), 403);
    EXPECT_EQ(guess(), 429);
}

TEST_F(ApiTest, X4_too_many_waiting_requests_get_429) {
    std::string body = R"({"requests":[)";
    for (int k = 0; k < 100; ++k) body += std::string(k ? "," : "") + R"({"action":{"tool":"t"}})";
    body += "]}";
    for (int i = 0; i < 5; ++i) ASSERT_EQ(post(agent_, "/v1/batches", body).status, 201);
    const ClientResponse answer = post(agent_, "/v1/requests", R"({"action":{"tool":"t"}})");
    EXPECT_EQ(answer.status, 429);
    EXPECT_TRUE(answer.has_header("Retry-After"));
}

TEST_F(ApiTest, S5_health_readiness_statistics_and_description_answer) {
    TestClient nobody(port_);
    EXPECT_EQ(nobody.get("/healthz").body, R"({"status":"ok"})");
    EXPECT_EQ(nobody.get("/readyz").body, R"({"status":"ready"})");
    EXPECT_EQ(nobody.get("/openapi.json").status, 200);
    const std::string id = propose();
    clock_.advance(2000);
    decide(ann_, id);
    propose();
    const json::value stats = parsed(get(auditor_, "/v1/stats").body);
    EXPECT_EQ(stats.at("pending"), 1);
    EXPECT_EQ(stats.at("outcomes").at("approved"), 1);
    EXPECT_EQ(stats.at("decided"), 1);
    EXPECT_EQ(stats.at("mean_decision_s"), 2);
}

TEST_F(ApiTest, H6_pages_are_served_in_the_form_that_the_browser_takes) {
    TestClient browser(port_);
    const ClientResponse page = browser.get("/r/req_1?q=x");
    EXPECT_EQ(page.status, 200);
    EXPECT_EQ(page.body, "<p>page</p>");
    EXPECT_EQ(page.header("Content-Type"), "text/html; charset=utf-8");
    EXPECT_EQ(page.header("Cache-Control"), "no-cache");
    EXPECT_EQ(page.header("Content-Security-Policy"), "default-src 'none'");
    EXPECT_EQ(page.header("Vary"), "Accept-Encoding");

    const auto script = [&](Headers headers) {
        return browser.request("GET", "/assets/a.js", {}, std::move(headers));
    };
    const ClientResponse plain = script({});
    EXPECT_EQ(plain.body, "plain script");
    EXPECT_FALSE(plain.has_header("Content-Encoding"));
    const ClientResponse zipped = script({{"Accept-Encoding", "gzip"}});
    EXPECT_EQ(zipped.body, "GZ");
    EXPECT_EQ(zipped.header("Content-Encoding"), "gzip");
    const ClientResponse small = script({{"Accept-Encoding", "gzip, br"}});
    EXPECT_EQ(small.body, "BR");
    EXPECT_EQ(small.header("Content-Encoding"), "br");
    EXPECT_EQ(small.header("Cache-Control"), "max-age=1, immutable");
    EXPECT_NE(small.header("ETag"), zipped.header("ETag"));

    const std::string etag(small.header("ETag"));
    const ClientResponse again = script({{"Accept-Encoding", "br"}, {"If-None-Match", etag}});
    EXPECT_EQ(again.status, 304);
    EXPECT_EQ(again.body, "");
    EXPECT_EQ(again.header("ETag"), etag);
    EXPECT_EQ(script({{"If-None-Match", etag}}).status, 200) << "not in this form";

    const ClientResponse head = browser.request("HEAD", "/assets/a.js", {}, {});
    EXPECT_EQ(head.status, 200);
    EXPECT_EQ(head.header("Content-Length"), "12");
    EXPECT_EQ(head.body, "");
    const ClientResponse posted = browser.request("POST", "/", "{}", {});
    EXPECT_EQ(posted.status, 405);
    EXPECT_EQ(posted.header("Allow"), "GET");
}

TEST_F(ApiTest, H6_a_person_who_mistypes_an_address_gets_the_page_and_a_program_the_error) {
    TestClient client(port_);
    const auto ask = [&](const char* path, const char* accept, const char* method = "GET") {
        return client.request(method, path, {}, {{"Accept", accept}, {"If-None-Match", "*"}});
    };
    constexpr auto browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
    for (const char* path : {"/nonsense", "/history/", "/v1x", "/assets/b.js", "/r/a/b"}) {
        const ClientResponse page = ask(path, browser);
        EXPECT_EQ(page.status, 404) << path;
        EXPECT_EQ(page.body, "<p>page</p>");
        EXPECT_EQ(page.header("Content-Type"), "text/html; charset=utf-8");
        EXPECT_EQ(page.header("Content-Security-Policy"), "default-src 'none'");
        EXPECT_EQ(page.header("X-Content-Type-Options"), "nosniff");
        EXPECT_EQ(page.header("Cache-Control"), "no-store");
        EXPECT_EQ(page.header("Vary"), "Accept, Accept-Encoding");
        EXPECT_FALSE(page.has_header("ETag")) << "no answer to it is 304";
    }
    const ClientResponse head = ask("/nonsense", browser, "HEAD");
    EXPECT_EQ(head.status, 404);
    EXPECT_EQ(head.header("Content-Length"), "11");

    const auto expect_error = [](const ClientResponse& answer) {
        EXPECT_EQ(answer.status, 404);
        EXPECT_EQ(answer.header("Content-Type"), "application/json");
        EXPECT_EQ(parsed(answer.body).at("error").at("code"), "not_found");
    };
    for (const char* accept : {"", "*/*", "application/json", "text/*", "text/html;q=0, */*"})
        expect_error(ask("/nonsense", accept));
    for (const char* path : {"/v1/nonsense", "/v1/", "/v1", "/api/nonsense", "/api"})
        expect_error(ask(path, browser));
    expect_error(ask("/nonsense", browser, "POST"));
}

TEST_F(ApiTest, no_page_hides_a_route) {
    TestClient nobody(port_);
    EXPECT_EQ(nobody.get("/healthz").body, R"({"status":"ok"})");
    EXPECT_EQ(nobody.request("DELETE", "/healthz", {}, {}).status, 405);
    EXPECT_EQ(nobody.get("/v1/requests").status, 401);
    EXPECT_EQ(nobody.get("/assets/b.js").status, 404);
    EXPECT_EQ(nobody.get("/assets/../assets/a.js").status, 400);
}

TEST_F(ApiTest, L1_the_timeline_of_a_request_tells_who_did_what) {
    const std::string id = propose();
    post(ann_, "/v1/requests/" + id + "/extend", R"({"seconds":60})");
    decide(ben_, id);
    const json::value body = parsed(get(auditor_, "/v1/requests/" + id + "/events").body);
    ASSERT_EQ(body.at("events").as_array().size(), 3u);
    EXPECT_EQ(body.at("events").at(0).at("actor").as_string(), "bot");
    EXPECT_EQ(body.at("events").at(1).at("type").as_string(), "request-extended");
    EXPECT_EQ(body.at("events").at(2).at("actor").as_string(), "ben");
    EXPECT_EQ(body.at("events").at(2).at("address").as_string(), "127.0.0.1");
}

}  // namespace
}  // namespace holdpoint::api
