// The door as callers see it. What is proved here runs under the sanitizers too.

#include <atomic>

#include "api/http/test_api.h"

namespace holdpoint::api {
namespace {

using namespace test;

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

TEST_F(ApiTest, a_query_that_cannot_be_read_keeps_nobody_from_a_page) {
    TestClient client(port_);
    const auto ask = [&](const char* path) {
        return client.request("GET", path, {}, {{"Accept", "text/html"}});
    };
    for (const char* query : {"?q=100%", "?q=%00", "?q=%ff&a=b"}) {
        EXPECT_EQ(ask((std::string("/") + query).c_str()).status, 200) << query;
        const ClientResponse lost = ask((std::string("/nonsense") + query).c_str());
        EXPECT_EQ(lost.status, 404) << query;
        EXPECT_EQ(lost.header("Content-Type"), "text/html; charset=utf-8") << query;
        EXPECT_EQ(ask((std::string("/v1/requests") + query).c_str()).status, 400) << query;
    }
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
