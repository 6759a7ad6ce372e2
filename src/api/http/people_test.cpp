// What people sign in with, and what is left of it afterwards.

#include "api/http/test_api.h"
#include "base/sha256.h"
#include "service/push/p256.h"
#include "service/push/token.h"

namespace holdpoint::api {
namespace {

using namespace test;
using webpush::KeyPair;

class PeopleTest : public ApiTest {
  protected:
    PeopleTest() {
        on_loop([this] { api_->set_push({KeyPair::generate().public_point(), "key"}); });
    }
    /// A browser in which this person has just signed in: the headers of its calls.
    Headers sign_in(const std::string& name) {
        const std::string url =
            text_at(post(admin_, "/v1/links", R"({"name":")" + name + R"("})"), "url");
        TestClient browser(port_);
        const ClientResponse session = browser.request(
            "POST", "/v1/session", R"({"link":")" + url.substr(url.find('#') + 1) + R"("})",
            {{"Content-Type", "application/json"}});
        EXPECT_EQ(session.status, 201) << session.body;
        const std::string set_cookie(session.header("Set-Cookie"));
        return {{"Cookie", set_cookie.substr(0, set_cookie.find(';'))},
                {"X-Holdpoint-CSRF", text_at(session, "csrf")},
                {"Content-Type", "application/json"}};
    }
    ClientResponse send(const Headers& who, std::string_view method, std::string_view target,
                        std::string_view body = {}) {
        return TestClient(port_).request(method, target, body, who);
    }
    ClientResponse sign_in_as(const std::string& name, const std::string& password) {
        return send({{"Content-Type", "application/json"}}, "POST", "/v1/session",
                    R"({"name":")" + name + R"(","password":")" + password + R"("})");
    }
    /// The token of a message to this person about this request, as the server seals it.
    std::string token(const std::string& name, const std::string& id, Timestamp expires_at) {
        const std::string session =
            std::string(parsed(get(admin_, "/v1/sessions?user=" + name).body)
                            .at("sessions")
                            .at(0)
                            .at("id")
                            .as_string());
        const std::string person = text_at(get(name == "ann" ? ann_ : ben_, "/v1/me"), "id");
        return webpush::seal(
            {*PrincipalId::parse(person), *SessionId::parse(session), *RequestId::parse(id),
             text_at(get(agent_, "/v1/requests/" + id), "digest"), expires_at},
            "key");
    }
    ClientResponse press(const std::string& token) {
        return send({{"Content-Type", "application/json"}}, "POST", "/v1/push/decision",
                    R"({"token":")" + token + R"(","decision":"approve"})");
    }
    /// Hashing for all of them would only take time.
    void forget_stuck_but_one() {
        on_loop([this] { stuck_.erase(stuck_.begin() + 1, stuck_.end()); });
    }
    std::string state_of(const std::string& id) {
        return text_at(get(agent_, "/v1/requests/" + id), "state");
    }
};

const std::string subscription =
    R"({"subscription":{"endpoint":"https://push.example.com/1","keys":{"p256dh":")"
    "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
    R"(","auth":"BTBZMqHH6r4Tts7J_aSIgg"}}})";

TEST_F(PeopleTest, X1_a_key_subscribes_to_no_messages) {
    for (const std::string& key : {ann_, admin_, auditor_})
        EXPECT_EQ(post(key, "/v1/push/subscriptions", subscription).status, 403);
    EXPECT_EQ(send(sign_in("ann"), "POST", "/v1/push/subscriptions", subscription).status, 201);
}

TEST_F(PeopleTest, X1_a_key_does_not_become_a_password) {
    const std::string path = "/v1/users/ann/password", body = R"({"password":"a way back in"})";
    const ClientResponse keyed = post(ann_, path, body);
    EXPECT_EQ(keyed.status, 403) << keyed.body;
    EXPECT_EQ(post(ann_, path, R"({"password":"a way back in","current":""})").status, 403);
    EXPECT_EQ(sign_in_as("ann", "a way back in").status, 401);
    const Headers open_browser = sign_in("ann");
    clock_.advance(16 * minute);
    EXPECT_EQ(send(open_browser, "POST", path, body).status, 403) << "signed in long ago";
    EXPECT_EQ(send(sign_in("ann"), "POST", path, body).status, 200);
    EXPECT_EQ(sign_in_as("ann", "a way back in").status, 201);
    EXPECT_EQ(post(admin_, "/v1/users/ben/password", body).status, 200) << "an admin gives one";
}

TEST_F(PeopleTest, X4_guesses_that_come_together_are_counted_before_they_are_looked_at) {
    set_pool_stuck(true);
    std::vector<std::unique_ptr<TestClient>> guessers;
    const auto guess = [&](int i) {
        guessers.push_back(std::make_unique<TestClient>(port_));
        const std::string body =
            R"({"name":"nobody-)" + std::to_string(i) + R"(","password":"wrong"})";
        guessers.back()->send(
            "POST /v1/session HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
            "Content-Length: " +
            std::to_string(body.size()) + "\r\n\r\n" + body);
    };
    for (int i = 0; i < 20; ++i) guess(i);
    ASSERT_TRUE(eventually([this] { return stuck_.size() == 20; }));
    const ClientResponse more = sign_in_as("one-more", "wrong");
    EXPECT_EQ(more.status, 429) << "none of them is known to be wrong yet";
    EXPECT_TRUE(more.has_header("Retry-After"));
    forget_stuck_but_one();
    set_pool_stuck(false);
    EXPECT_EQ(guessers.front()->read_response().status, 401);
}

TEST_F(PeopleTest, X4_passwords_that_wait_to_be_hashed_are_bounded) {
    set_pool_stuck(true);
    std::vector<std::unique_ptr<TestClient>> callers;
    for (int i = 0; i < auth::HashQueue::waiting_max; ++i) {
        callers.push_back(std::make_unique<TestClient>(port_));
        const std::string body =
            R"({"name":"new-)" + std::to_string(i) + R"(","password":"long enough"})";
        callers.back()->send("POST /v1/users HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " +
                             admin_ + "\r\nContent-Type: application/json\r\nContent-Length: " +
                             std::to_string(body.size()) + "\r\n\r\n" + body);
    }
    ASSERT_TRUE(eventually([this] { return stuck_.size() == auth::HashQueue::waiting_max; }));
    for (const ClientResponse& refused :
         {sign_in_as("ann", "whatever it is"),
          post(admin_, "/v1/users", R"({"name":"late","password":"long enough"})"),
          post(admin_, "/v1/users/ann/password", R"({"password":"long enough"})")}) {
        EXPECT_EQ(refused.status, 503) << refused.body;
        EXPECT_TRUE(refused.has_header("Retry-After"));
    }
    EXPECT_EQ(get(ann_, "/v1/me").status, 200) << "the rest goes on";
    forget_stuck_but_one();
    set_pool_stuck(false);
    EXPECT_EQ(callers.front()->read_response().status, 201);
}

TEST_F(PeopleTest, X4_who_signs_in_often_is_not_locked_out) {
    ASSERT_EQ(post(admin_, "/v1/users/ann/password", R"({"password":"the right one"})").status,
              200);
    for (int i = 0; i < 6; ++i) EXPECT_EQ(sign_in_as("ann", "the right one").status, 201) << i;
    for (int i = 0; i < 5; ++i) EXPECT_EQ(sign_in_as("ann", "the wrong one").status, 401) << i;
    EXPECT_EQ(sign_in_as("ann", "the right one").status, 429) << "guesses are what is counted";
}

TEST_F(PeopleTest, H8_without_push_there_is_no_key_and_nobody_subscribes) {
    const Headers ann = sign_in("ann");
    EXPECT_EQ(send(ann, "GET", "/v1/push/key").status, 200);
    on_loop([this] { api_->set_push({}); });
    EXPECT_EQ(send(ann, "GET", "/v1/push/key").status, 422);
    const ClientResponse refused = send(ann, "POST", "/v1/push/subscriptions", subscription);
    EXPECT_EQ(refused.status, 422);
    EXPECT_NE(refused.body.find("--notify push"), std::string::npos) << refused.body;
    sign_in("ann");
    EXPECT_EQ(press(token("ann", propose(), start + 10 * minute)).status, 403);
}

TEST_F(PeopleTest, X1_a_message_decides_while_the_session_lives_that_asked_for_it) {
    const Headers ann = sign_in("ann");
    const std::string first = propose(), second = propose(), third = propose();
    const Timestamp later = start + 10 * minute;
    const std::string early = token("ann", first, later), late = token("ann", second, later);
    EXPECT_EQ(press(early).status, 200);
    EXPECT_EQ(send(ann, "DELETE", "/v1/session").status, 200);
    EXPECT_EQ(press(late).status, 403);
    EXPECT_EQ(state_of(second), "pending");

    sign_in("ann");
    const std::string lost = token("ann", third, later);
    EXPECT_EQ(post(admin_, "/v1/users/ann/password", R"({"password":"a new password"})").status,
              200);
    EXPECT_EQ(press(lost).status, 403);
    EXPECT_EQ(state_of(third), "pending");
}

TEST_F(PeopleTest, X1_a_message_does_not_decide_for_somebody_elses_session) {
    sign_in("ben");
    const std::string id = propose();
    const std::string ben = token("ben", id, start + 10 * minute);
    webpush::Token mixed = *webpush::unseal(ben, "key");
    mixed.person = *PrincipalId::parse(text_at(get(ann_, "/v1/me"), "id"));
    EXPECT_EQ(press(webpush::seal(mixed, "key")).status, 403);
    EXPECT_EQ(state_of(id), "pending");
}

TEST_F(PeopleTest, D8_an_old_message_does_not_decide_what_was_extended) {
    sign_in("ann");
    const std::string id = propose();
    const std::string old = token("ann", id, start + 5 * minute);
    ASSERT_EQ(post(ben_, "/v1/requests/" + id + "/extend", R"({"seconds":3600})").status, 200);
    clock_.advance(5 * minute);
    const ClientResponse late = press(old);
    EXPECT_EQ(late.status, 410) << late.body;
    EXPECT_EQ(code_of(late), "expired");
    EXPECT_EQ(state_of(id), "pending");
    EXPECT_EQ(press(token("ann", id, start + 60 * minute)).status, 200) << "the new one does";
}

}  // namespace
}  // namespace holdpoint::api
