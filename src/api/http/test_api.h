#pragma once

#include <gtest/gtest.h>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "api/http/api.h"
#include "api/http/server.h"
#include "api/http/test_client.h"
#include "api/wire/errors.h"
#include "core/test_requests.h"
#include "policy/builtin.h"
#include "store/sqlite/sqlite.h"

/// The whole door in one process: real sockets, the real store on its own thread, the loop on
/// another.
namespace holdpoint::api::test {

using http::test::ClientEvent;
using http::test::ClientResponse;
using http::test::TestClient;
using namespace core::test;
using store::Role;
using Headers = std::vector<std::pair<std::string, std::string>>;

inline constexpr std::string_view site_pages[] = {"/", "/r/{id}", "/healthz"};
inline constexpr std::pair<std::string_view, std::string_view> site_headers[] = {
    {"Content-Security-Policy", "default-src 'none'"}};
inline constexpr SiteFile site_files[] = {
    {"/index.html", "text/html; charset=utf-8", "no-cache", "aa", "<p>page</p>"},
    {"/assets/a.js", "text/javascript", "max-age=1, immutable", "bb", "plain script", "BR", "GZ"}};
inline const Site test_site{site_pages, site_headers, site_files};

class ApiTest : public testing::Test {
  protected:
    template <class Work>
    auto on_loop(Work work) {
        std::packaged_task<decltype(work())()> task(std::move(work));
        auto result = task.get_future();
        boost::asio::post(io_, [&task] { task(); });
        return result.get();
    }

    ApiTest() {
        store::sqlite::Options options;
        options.path = ":memory:";
        options.executor = [this](std::move_only_function<void()> function) {
            boost::asio::post(io_, std::move(function));
        };
        options.listener = [this](const std::vector<store::Change>& changes) {
            if (api_) api_->on_commit(changes);
        };
        store_ = std::move(*store::sqlite::open_sqlite(std::move(options)));
        const auto offload = [this](std::move_only_function<void()> work,
                                    std::move_only_function<void()> then) {
            if (is_pool_stuck_) return stuck_.push_back({std::move(work), std::move(then)});
            work();
            boost::asio::post(io_, std::move(then));
        };
        ApiOptions api_options;
        api_options.pending_max = 500;
        api_options.site = &test_site;
        api_ = std::make_unique<Api>(*store_, clock_, policy_, offload, api_options);
        api_->set_ready(true);
        http::Options http_options;
        http_options.error_body = wire::engine_error;
        server_ = std::make_unique<http::Server>(
            io_, http_options,
            [this](http::Request&& request, std::shared_ptr<http::Exchange> exchange) {
                api_->handle(std::move(request), std::move(exchange));
            });
        port_ = *server_->listen({});
        thread_ = std::thread([this] { io_.run(); });
        admin_ = make_key(Role::admin, "root");
        agent_ = make_key(Role::agent, "bot");
        other_agent_ = make_key(Role::agent, "other-bot");
        ann_ = make_key(Role::approver, "ann");
        ben_ = make_key(Role::approver, "ben");
        auditor_ = make_key(Role::auditor, "audrey");
    }

    ~ApiTest() override {
        // The store answers through the loop, so it goes while the loop still runs.
        store_->stop();
        on_loop([this] {
            server_.reset();
            api_.reset();
        });
        guard_.reset();
        io_.stop();
        thread_.join();
    }

    template <class Condition>
    bool eventually(Condition condition) {
        for (int tries = 0; tries < 5000; ++tries) {
            if (on_loop(condition)) return true;
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        return false;
    }

    std::string make_key(Role role, const std::string& name) {
        const auth::Secret secret = auth::new_key(role);
        service::KeySpec spec;
        spec.role = role;
        spec.name = name;
        store::Key key;
        key.id = KeyId::fresh(start);
        key.hash = secret.hash;
        std::promise<bool> made;
        store_->run(
            [&](store::Transaction& tx) {
                return service::create_key(tx, spec, key, PrincipalId::fresh(start), start);
            },
            [&](Result<service::IssuedKey> issued) { made.set_value(issued.has_value()); });
        EXPECT_TRUE(made.get_future().get());
        return secret.text;
    }

    static Headers headers(const std::string& key, Headers more = {}) {
        more.emplace_back("Authorization", "Bearer " + key);
        more.emplace_back("Content-Type", "application/json");
        return more;
    }
    ClientResponse call(const std::string& key, std::string_view method, std::string_view target,
                        std::string_view body = {}, Headers more = {}) {
        TestClient client(port_);
        return client.request(method, target, body, headers(key, std::move(more)));
    }
    /// Sends a proposal that waits for its own outcome, and does not wait here.
    void propose_and_wait(TestClient& agent) {
        const std::string body = R"({"session":"s","action":{"tool":"refund"}})";
        agent.send("POST /v1/requests?wait=60 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " +
                   agent_ + "\r\nContent-Type: application/json\r\nContent-Length: " +
                   std::to_string(body.size()) + "\r\n\r\n" + body);
    }
    ClientResponse get(const std::string& key, std::string_view target) {
        return call(key, "GET", target);
    }
    ClientResponse post(const std::string& key, std::string_view target, std::string_view body) {
        return call(key, "POST", target, body);
    }
    std::string propose(
        std::string_view body = R"({"action":{"tool":"refund","arguments":{"amount":5}}})") {
        const ClientResponse response = post(agent_, "/v1/requests", body);
        EXPECT_EQ(response.status, 201) << response.body;
        return std::string(parsed(response.body).at("id").as_string());
    }
    ClientResponse decide(const std::string& key, const std::string& id,
                          std::string_view body = R"({"decision":"approve"})") {
        return post(key, "/v1/requests/" + id + "/decision", body);
    }
    static std::string text_at(const ClientResponse& response, std::string_view name) {
        const json::value body = parsed(response.body);
        return std::string(body.at(name).as_string());
    }
    static std::string code_of(const ClientResponse& response) {
        const json::value body = parsed(response.body);
        return std::string(body.at("error").at("code").as_string());
    }
    static std::string field_of(const ClientResponse& response) {
        const json::value body = parsed(response.body);
        const json::value* field = body.at("error").as_object().if_contains("field");
        return field ? std::string(field->as_string()) : "";
    }
    /// A client that has asked and not yet read its answer.
    std::unique_ptr<TestClient> ask(const std::string& key, const std::string& target,
                                    const std::string& more = "") {
        auto client = std::make_unique<TestClient>(port_);
        EXPECT_TRUE(client->send("GET " + target +
                                 " HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + key + "\r\n" +
                                 more + "\r\n"));
        return client;
    }
    std::unique_ptr<TestClient> stream(const std::string& key, const std::string& target,
                                       const std::string& more = "") {
        auto client = ask(key, target, more);
        EXPECT_EQ(client->read_head().status, 200);
        return client;
    }

    /// What blocks does not get its turn any more, or is done now.
    void set_pool_stuck(bool is_stuck) {
        on_loop([this, is_stuck] {
            is_pool_stuck_ = is_stuck;
            for (auto& [work, then] : std::exchange(stuck_, {})) {
                work();
                boost::asio::post(io_, std::move(then));
            }
            return true;
        });
    }

    boost::asio::io_context io_{1};
    boost::asio::executor_work_guard<boost::asio::io_context::executor_type> guard_{
        io_.get_executor()};
    ManualClock clock_{start};
    bool is_pool_stuck_ = false;  // the loop's, like what is stuck
    std::vector<std::pair<std::move_only_function<void()>, std::move_only_function<void()>>> stuck_;
    service::PolicyInForce policy_{policy::compose({})};
    std::unique_ptr<store::Store> store_;
    std::unique_ptr<Api> api_;
    std::unique_ptr<http::Server> server_;
    std::uint16_t port_ = 0;
    std::thread thread_;
    std::string admin_, agent_, other_agent_, ann_, ben_, auditor_;
};

}  // namespace holdpoint::api::test
