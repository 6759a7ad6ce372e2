#include "api/auth/authenticator.h"

#include "api/auth/secrets.h"
#include "api/http/request_reader.h"
#include "service/identity.h"
#include "service/test_store.h"

namespace holdpoint::auth {
namespace {

using namespace core::test;
using store::Role;

class Authentication : public service::test::StoreTest {
  protected:
    Authentication() { make({}); }

    void make(Authenticator::Options options) {
        authenticator_ = std::make_unique<Authenticator>(*store_, clock_, options);
    }

    static http::Request request(const std::string& headers, const std::string& method = "GET") {
        http::RequestReader reader({});
        const std::string text =
            method + " /v1/me HTTP/1.1\r\nHost: holdpoint.test\r\n" + headers + "\r\n";
        reader.put(text);
        EXPECT_EQ(reader.status(), http::RequestReader::Status::complete) << text;
        http::Request request = reader.take();
        request.peer = "192.0.2.1";
        return request;
    }
    Result<Caller> authenticate(const http::Request& request) {
        std::optional<Result<Caller>> answer;
        authenticator_->authenticate(
            request, [&](Result<Caller> caller) { answer.emplace(std::move(caller)); });
        EXPECT_TRUE(pump_until([&] { return answer.has_value(); }));
        return std::move(*answer);
    }
    Result<Caller> authenticate(const std::string& headers, const std::string& method = "GET") {
        const http::Request made = request(headers, method);
        return authenticate(made);
    }
    ErrorCode failure(const std::string& headers, const std::string& method = "GET") {
        const Result<Caller> caller = authenticate(headers, method);
        return caller ? ErrorCode::internal : caller.error().code;
    }

    Secret key_of(const std::string& name, Role role = Role::approver) {
        const Secret secret = new_key(role);
        service::KeySpec spec;
        spec.role = role;
        spec.name = name;
        store::Key key;
        key.id = KeyId::fresh(start);
        key.hash = secret.hash;
        key.hint = secret.hint;
        key_id_ = key.id;
        get([&](store::Transaction& tx) {
            return service::create_key(tx, spec, key, PrincipalId::fresh(start), start);
        });
        return secret;
    }
    Secret session_of(const std::string& name) {
        add_person(name);
        const Secret token = new_token();
        store::Session session;
        session.id = SessionId::fresh(start);
        session.hash = token.hash;
        session.principal = id_of(name);
        session.csrf = "the-csrf-token";
        session.created_at = start;
        session.expires_at = start + 60 * minute;
        EXPECT_TRUE(run([&](store::Transaction& tx) { return tx.save_session(session); }));
        return token;
    }
    static std::string bearer(const Secret& key) {
        return "Authorization: Bearer " + key.text + "\r\n";
    }
    static std::string cookie(const Secret& token) {
        return "Cookie: theme=dark; holdpoint_session=" + token.text + "\r\n";
    }
    void revoke() {
        ASSERT_TRUE(
            run([&](store::Transaction& tx) { return service::revoke_key(tx, key_id_, start); }));
    }

    ManualClock clock_{start};
    KeyId key_id_;
    std::unique_ptr<Authenticator> authenticator_;
};

TEST_F(Authentication, X1_a_key_names_the_caller) {
    const Result<Caller> caller = authenticate(bearer(key_of("bot", Role::agent)));
    ASSERT_TRUE(caller);
    EXPECT_EQ(caller->actor.name, "bot");
    EXPECT_TRUE(caller->actor.is_agent);
    EXPECT_EQ(caller->role, Role::agent);
    EXPECT_EQ(caller->actor.address, "192.0.2.1");
    EXPECT_FALSE(caller->is_cookie);
}

TEST_F(Authentication, no_credential_and_bad_ones_are_unauthenticated) {
    EXPECT_EQ(failure(""), ErrorCode::unauthenticated);
    for (const char* value : {"Basic YTpi", "Bearer", "Bearer ", "Bearer hp_agent_short",
                              "hp_agent_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
                              "Bearer hp_agent_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"})
        EXPECT_EQ(failure(std::string("Authorization: ") + value + "\r\n"),
                  ErrorCode::unauthenticated)
            << value;
}

TEST_F(Authentication, X1_two_credentials_are_refused) {
    const Secret key = key_of("bot", Role::agent);
    const Secret token = session_of("ann");
    EXPECT_EQ(failure(bearer(key) + cookie(token)), ErrorCode::invalid_argument);
    EXPECT_EQ(failure(bearer(key) + bearer(key)), ErrorCode::invalid_argument);
    EXPECT_EQ(failure("Cookie: holdpoint_session=a; holdpoint_session=b\r\n"),
              ErrorCode::invalid_argument);
    EXPECT_TRUE(authenticate(bearer(key) + "Cookie: theme=dark\r\n"))
        << "other cookies do not matter";
}

TEST_F(Authentication, X1_a_key_is_no_cookie_and_a_session_no_key) {
    const Secret key = key_of("bot", Role::agent);
    ASSERT_TRUE(authenticate(bearer(key)));
    EXPECT_EQ(failure(cookie(key)), ErrorCode::unauthenticated) << "also while it is remembered";
    const Secret token = session_of("ann");
    ASSERT_TRUE(authenticate(cookie(token)));
    EXPECT_EQ(failure("Authorization: Bearer " + token.text + "\r\n"), ErrorCode::unauthenticated);
}

TEST_F(Authentication, a_cookie_reads_without_and_changes_only_with_the_csrf_token) {
    const Secret token = session_of("ann");
    const Result<Caller> reading = authenticate(cookie(token));
    ASSERT_TRUE(reading);
    EXPECT_TRUE(reading->is_cookie);
    EXPECT_EQ(reading->actor.via, "browser");
    EXPECT_EQ(failure(cookie(token), "POST"), ErrorCode::permission_denied);
    EXPECT_EQ(failure(cookie(token) + "X-Holdpoint-CSRF: wrong-csrf-tok\r\n", "POST"),
              ErrorCode::permission_denied);
    EXPECT_EQ(failure(cookie(token), "DELETE"), ErrorCode::permission_denied);
    EXPECT_TRUE(authenticate(cookie(token) + "X-Holdpoint-CSRF: the-csrf-token\r\n", "POST"));
}

TEST_F(Authentication, a_cookie_from_another_site_is_refused) {
    const std::string good = cookie(session_of("ann")) + "X-Holdpoint-CSRF: the-csrf-token\r\n";
    for (const char* header :
         {"Origin: https://evil.test", "Origin: null", "Origin: http://holdpoint.test.evil",
          "Origin: http://holdpoint.test:81", "Sec-Fetch-Site: cross-site",
          "Sec-Fetch-Site: same-site", "Sec-Fetch-Site: none"})
        EXPECT_EQ(failure(good + header + "\r\n", "POST"), ErrorCode::permission_denied) << header;
    for (const char* header : {"Origin: http://holdpoint.test", "Origin: https://holdpoint.test",
                               "Sec-Fetch-Site: same-origin"})
        EXPECT_TRUE(authenticate(good + header + "\r\n", "POST")) << header;
}

TEST_F(Authentication, keys_need_no_csrf_token) {
    EXPECT_TRUE(authenticate(bearer(key_of("ann")) + "Origin: https://else.test\r\n", "POST"));
}

TEST_F(Authentication, over_tls_only_the_host_cookie_counts) {
    const Secret token = session_of("ann");
    http::Request secure = request(cookie(token));
    secure.is_tls = true;
    const Result<Caller> plain_name = authenticate(secure);
    ASSERT_FALSE(plain_name);
    EXPECT_EQ(plain_name.error().code, ErrorCode::unauthenticated);
    http::Request hosted = request("Cookie: __Host-holdpoint_session=" + token.text + "\r\n");
    hosted.is_tls = true;
    EXPECT_TRUE(authenticate(hosted));
}

TEST_F(Authentication, a_credential_ends_with_its_time_even_if_it_is_remembered) {
    const Secret token = session_of("ann");
    ASSERT_TRUE(authenticate(cookie(token)));
    clock_.advance(60 * minute + -1000);
    ASSERT_TRUE(authenticate(cookie(token)));
    clock_.advance(1000);
    EXPECT_EQ(failure(cookie(token)), ErrorCode::unauthenticated);
}

TEST_F(Authentication, what_is_known_is_remembered_for_seconds_and_forgotten_on_demand) {
    const Secret key = key_of("ann");
    ASSERT_TRUE(authenticate(bearer(key)));
    revoke();
    EXPECT_TRUE(authenticate(bearer(key))) << "the store is not asked each time";
    authenticator_->forget();
    EXPECT_EQ(failure(bearer(key)), ErrorCode::unauthenticated);
}

TEST_F(Authentication, without_forget_a_revoked_key_dies_within_seconds) {
    const Secret key = key_of("ann");
    ASSERT_TRUE(authenticate(bearer(key)));
    revoke();
    clock_.advance(5000);
    EXPECT_EQ(failure(bearer(key)), ErrorCode::unauthenticated);
}

TEST_F(Authentication, X4_guessing_is_stopped_and_known_callers_are_not) {
    Authenticator::Options options;
    options.failures = {0.1, 3};
    make(options);
    const Secret good = key_of("ann");
    ASSERT_TRUE(authenticate(bearer(good)));
    for (int i = 0; i < 3; ++i)
        EXPECT_EQ(failure(bearer(new_key(Role::agent))), ErrorCode::unauthenticated);
    const Result<Caller> blocked = authenticate(bearer(new_key(Role::agent)));
    ASSERT_FALSE(blocked);
    EXPECT_EQ(blocked.error().code, ErrorCode::rate_limited);
    EXPECT_GT(blocked.error().retry_after_s, 0);
    EXPECT_TRUE(authenticate(bearer(good))) << "who is known to be good is not locked out";
    authenticator_->forget();
    EXPECT_TRUE(authenticate(bearer(good))) << "nor who has to be looked up first";
    http::Request elsewhere = request(bearer(new_key(Role::agent)));
    elsewhere.peer = "192.0.2.99";
    EXPECT_EQ(authenticate(elsewhere).error().code, ErrorCode::unauthenticated)
        << "other addresses are counted apart";
    clock_.advance(10'000);
    EXPECT_EQ(failure(bearer(new_key(Role::agent))), ErrorCode::unauthenticated);
}

TEST_F(Authentication, a_call_without_any_credential_is_no_guess) {
    Authenticator::Options options;
    options.failures = {0.1, 1};
    make(options);
    for (int i = 0; i < 5; ++i) EXPECT_EQ(failure(""), ErrorCode::unauthenticated);
}

TEST_F(Authentication, X4_calls_are_limited_per_key_address_and_browser) {
    Authenticator::Options options;
    options.per_key = {1, 2};
    make(options);
    const Secret key = key_of("ann");
    EXPECT_TRUE(authenticate(bearer(key)));
    EXPECT_TRUE(authenticate(bearer(key)));
    EXPECT_EQ(failure(bearer(key)), ErrorCode::rate_limited);

    options = {};
    options.per_address = {1, 1};
    make(options);
    EXPECT_EQ(failure(""), ErrorCode::unauthenticated);
    EXPECT_EQ(failure(""), ErrorCode::rate_limited);

    options = {};
    options.per_cookie = {1, 1};
    make(options);
    const Result<Caller> browser = authenticate(cookie(session_of("ben")));
    const Result<Caller> script = authenticate(bearer(key_of("cleo")));
    ASSERT_TRUE(browser && script);
    EXPECT_FALSE(authenticator_->check_change(*browser));
    const std::optional<Error> refused = authenticator_->check_change(*browser);
    ASSERT_TRUE(refused);
    EXPECT_EQ(refused->code, ErrorCode::rate_limited);
    EXPECT_TRUE(authenticate(cookie(session_of("ben")))) << "reading is not limited";
    for (int i = 0; i < 5; ++i)
        EXPECT_FALSE(authenticator_->check_change(*script)) << "a key has its own limits";
}

TEST_F(Authentication, X4_a_key_decides_only_so_fast) {
    Authenticator::Options options;
    options.decisions_per_key = {1, 2};
    make(options);
    const Result<Caller> ann = authenticate(bearer(key_of("ann")));
    const Result<Caller> ben = authenticate(bearer(key_of("ben")));
    ASSERT_TRUE(ann && ben);
    EXPECT_FALSE(authenticator_->check_decision(*ann));
    EXPECT_FALSE(authenticator_->check_decision(*ann));
    const std::optional<Error> refused = authenticator_->check_decision(*ann);
    ASSERT_TRUE(refused);
    EXPECT_EQ(refused->code, ErrorCode::rate_limited);
    EXPECT_EQ(refused->retry_after_s, 1);
    EXPECT_FALSE(authenticator_->check_decision(*ben)) << "each key by itself";
    const Result<Caller> browser = authenticate(cookie(session_of("cleo")));
    ASSERT_TRUE(browser);
    for (int i = 0; i < 5; ++i)
        EXPECT_FALSE(authenticator_->check_decision(*browser)) << "a browser has its own limit";

    options.decisions_per_key = {0, 1};
    make(options);
    for (int i = 0; i < 5; ++i)
        EXPECT_FALSE(authenticator_->check_decision(*ann)) << "switched off";
}

TEST_F(Authentication, X4_every_decision_of_a_call_is_counted) {
    Authenticator::Options options;
    options.decisions_per_key = {10, 20};
    make(options);
    const Result<Caller> ann = authenticate(bearer(key_of("ann")));
    ASSERT_TRUE(ann);
    EXPECT_FALSE(authenticator_->check_decision(*ann));
    authenticator_->count_more_decisions(*ann, 99);
    const std::optional<Error> refused = authenticator_->check_decision(*ann);
    ASSERT_TRUE(refused);
    EXPECT_EQ(refused->retry_after_s, 9) << "80 too many, and one for the next";
    const Result<Caller> browser = authenticate(cookie(session_of("cleo")));
    ASSERT_TRUE(browser);
    authenticator_->count_more_decisions(*browser, 99);
    EXPECT_FALSE(authenticator_->check_decision(*browser)) << "a browser has its own limit";
}

TEST_F(Authentication, a_recheck_tells_whether_a_credential_is_still_good) {
    const Result<Caller> caller = authenticate(bearer(key_of("ann")));
    ASSERT_TRUE(caller);
    const auto is_good = [&] {
        std::optional<bool> answer;
        authenticator_->recheck(caller->credential, caller->is_cookie,
                                [&](bool good) { answer = good; });
        EXPECT_TRUE(pump_until([&] { return answer.has_value(); }));
        return *answer;
    };
    EXPECT_TRUE(is_good());
    revoke();
    EXPECT_FALSE(is_good());
}

}  // namespace
}  // namespace holdpoint::auth
