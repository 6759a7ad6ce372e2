// A server that is gone, comes back, or cannot be trusted: nothing runs that it did not release.
#include <atomic>
#include <thread>

#include "agent/test_http.h"
#include "tests/agent/worlds.h"

namespace holdpoint::test {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

class ServerGone : public testing::Test {
  protected:
    Holdpoint connected(const std::string& url, const std::string& key,
                        std::chrono::milliseconds unreachable_after) {
        Result<Holdpoint> holdpoint = Holdpoint::connect({.url = url,
                                                          .key = key,
                                                          .unreachable_after = unreachable_after,
                                                          .state = folder_.path});
        if (!holdpoint) throw std::runtime_error(holdpoint.error().message);
        return std::move(*holdpoint);
    }
    /// Calls `then` once the agent's request waits on the server.
    static std::jthread when_asked(Holdpoint person, std::function<void(const Request&)> then) {
        return std::jthread([person, then = std::move(then)]() mutable {
            (void)person.events({.after = 0}, [&](const Event& event) {
                then(event.request);
                return false;
            });
        });
    }
    Folder folder_;
};

TEST_F(ServerGone, X6_a_server_that_dies_while_it_is_waited_for_runs_nothing) {
    LiveServer server;
    Holdpoint holdpoint = connected(server.url(), server.new_key("agent", "bot"), 300ms);
    Holdpoint ann = connected(server.url(), server.new_key("approver", "ann"), 300ms);
    bool has_run = false;
    const std::jthread end = when_asked(ann, [&](const Request&) {
        server.await_waiter();
        server.kill();
    });
    const Got<Done> ran = holdpoint.gate("a", [&](const Json&) { has_run = true; })(Json::object());
    EXPECT_EQ(why(ran), Why::unavailable);
    EXPECT_TRUE(ran.error().request);
    EXPECT_FALSE(has_run);
}

TEST_F(ServerGone, A1_a_deadline_counts_also_while_no_server_answers) {
    LiveServer server;
    Holdpoint holdpoint = connected(server.url(), server.new_key("agent", "bot"), 1h);
    server.kill();
    EXPECT_EQ(why(holdpoint.request({.tool = "a"}, {.deadline = steady_clock::now() + 200ms})),
              Why::stopped);
    std::stop_source stop;
    std::jthread stopper([&] { stop.request_stop(); });
    EXPECT_EQ(why(holdpoint.ask({.question = "Which?"}, {.stop = stop.get_token()})), Why::stopped);
}

TEST_F(ServerGone, S1_a_wait_outlives_a_server_that_comes_back) {
    LiveServer server;
    Holdpoint holdpoint = connected(server.url(), server.new_key("agent", "bot"), 1min);
    Holdpoint ann = connected(server.url(), server.new_key("approver", "ann"), 1min);
    const std::jthread person = when_asked(ann, [&](const Request& request) {
        server.kill();
        server.start();
        const Result<Request> decided =
            ann.decide(request.id, {.kind = DecisionKind::approve, .note = "welcome back"});
        EXPECT_TRUE(decided) << decided.error().message;
    });
    int runs = 0;
    const Got<int> ran = holdpoint.gate("a", [&](const Json&) { return ++runs; })(Json::object());
    ASSERT_TRUE(ran) << ran.error().message;
    EXPECT_EQ(runs, 1);
}

TEST_F(ServerGone, A6_H7_a_stream_goes_on_behind_the_last_event_once_the_server_is_back) {
    LiveServer server;
    Holdpoint holdpoint = connected(server.url(), server.new_key("agent", "bot"), 1min);
    Holdpoint ann = connected(server.url(), server.new_key("approver", "ann"), 1min);
    const std::jthread agent([&] { EXPECT_TRUE(holdpoint.request({.tool = "a"})); });
    std::vector<std::string> heard;
    const Result<void> ended = ann.events({.after = 0}, [&](const Event& event) {
        heard.push_back(event.name);
        if (heard.size() > 1) return false;
        server.kill();
        server.start();
        EXPECT_TRUE(ann.decide(event.request.id, {.kind = DecisionKind::approve}));
        return true;
    });
    ASSERT_TRUE(ended) << ended.error().message;
    EXPECT_EQ(heard, (std::vector<std::string>{"approval-required", "request-settled"}));
}

TEST_F(ServerGone, X6_a_stream_that_stays_broken_ends_with_an_error) {
    LiveServer server;
    Holdpoint holdpoint = connected(server.url(), server.new_key("agent", "bot"), 200ms);
    server.kill();
    const Result<void> ended = holdpoint.events({}, [](const Event&) { return true; });
    ASSERT_FALSE(ended);
    EXPECT_EQ(ended.error().code, ErrorCode::unavailable);
}

TEST_F(ServerGone, X1_a_wrong_key_runs_nothing_and_an_agent_decides_nothing) {
    LiveServer server;
    Holdpoint stranger = connected(server.url(), "hp_nobody", 300ms);
    EXPECT_EQ(why(stranger.request({.tool = "a"})), Why::unavailable);
    const Result<void> heard = stranger.events({}, [](const Event&) { return true; });
    ASSERT_FALSE(heard);
    EXPECT_EQ(heard.error().code, ErrorCode::unauthenticated);

    Holdpoint holdpoint = connected(server.url(), server.new_key("agent", "bot"), 300ms);
    Holdpoint ann = connected(server.url(), server.new_key("approver", "ann"), 300ms);
    const std::jthread person = when_asked(ann, [&](const Request& request) {
        const Result<Request> forged =
            holdpoint.decide(request.id, {.kind = DecisionKind::approve, .by = "ann"});
        ASSERT_FALSE(forged);
        EXPECT_EQ(forged.error().code, ErrorCode::permission_denied);
        EXPECT_TRUE(ann.decide(request.id, reject()));
    });
    EXPECT_EQ(why(holdpoint.request({.tool = "a"})), Why::rejected);
}

/// The resource of a request for `refund`, approved, with a release.
Json approved() {
    return *Json::parse(R"json({
      "id": "req_1", "kind": "action", "state": "settled", "outcome": "approved", "session": "s",
      "agent": "bot", "action": {"tool": "refund", "arguments": {"amount": 5}},
      "headline": "refund", "risk": {"level": "low"}, "verdict": {"kind": "hold"},
      "requirement": {}, "digest": "sha256:aa", "created_at": "x", "expires_at": "x",
      "message_for_agent": "told",
      "release": {"arguments": {"amount": 5}, "digest": "sha256:aa"}})json");
}

TEST_F(ServerGone, X2_X6_what_a_server_says_that_does_not_fit_runs_nothing) {
    const Json good = approved();
    const auto json = [](const Json& body) {
        return agent::reply(201, "application/json", body.dump());
    };
    const Json other = Json::object({{"amount", 5000}});
    struct Case {
        const char* what;
        std::vector<std::string> answers;
        std::optional<Why> why;
    };
    const std::vector<Case> cases = {
        {"as it should be", {json(good), json(good)}, std::nullopt},
        {"no JSON", {agent::reply(200, "application/json", "{")}, Why::broken},
        {"a page", {agent::reply(200, "text/html", "<p>Sign in</p>")}, Why::broken},
        {"a page that is JSON", {agent::reply(200, "text/html", good.dump())}, Why::broken},
        {"nothing", {json(Json::object())}, Why::broken},
        {"no id", {json(good.without("id"))}, Why::broken},
        {"a redirect", {agent::reply(302, "application/json", good.dump())}, Why::broken},
        {"an error", {agent::reply(500, "application/json", good.dump())}, Why::broken},
        {"another digest",
         {json(good.with("release", good["release"].with("digest", "sha256:bb")))},
         Why::broken},
        {"other arguments",
         {json(good.with("release", good["release"].with("arguments", other))
                   .with("action", good["action"].with("arguments", other)))},
         Why::broken},
        {"another tool",
         {json(good.with("action", good["action"].with("tool", "drop")))},
         Why::broken},
        {"rejected, and released all the same",
         {json(good.with("outcome", "rejected"))},
         Why::broken},
        {"approved without a release", {json(good.without("release"))}, Why::broken},
        {"another request when it is waited for",
         {json(good.with("state", "pending").without("outcome").without("release")),
          json(good.with("id", "req_2"))},
         Why::broken}};
    for (const Case& c : cases) {
        agent::CannedServer server(c.answers);
        Holdpoint holdpoint = connected(server.url(), "k", 200ms);
        bool has_run = false;
        const Got<Done> ran = holdpoint.gate(
            "refund", [&](const Json&) { has_run = true; })(Json::object({{"amount", 5}}));
        EXPECT_EQ(has_run, !c.why) << c.what;
        EXPECT_EQ(ran ? std::nullopt : std::optional(ran.error().why), c.why)
            << c.what << ": " << (ran ? "" : ran.error().message);
    }
}

}  // namespace
}  // namespace holdpoint::test
