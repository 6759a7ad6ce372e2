// Policy here, people there: the interface that asks another Holdpoint, in this process or a
// server.
#include <atomic>

#include "tests/agent/worlds.h"

namespace holdpoint::test {
namespace {

using namespace std::chrono_literals;

class RemotePeople : public testing::TestWithParam<std::string> {
  protected:
    Holdpoint local(std::deque<Decision> answers) {
        if (GetParam() == "embedded")
            world_ = std::make_unique<EmbeddedWorld>(std::move(answers));
        else
            world_ = std::make_unique<ServerWorld>(std::move(answers));
        EmbeddedOptions options;
        options.human = make_remote(world_->open());
        return opened(std::move(options));
    }
    std::unique_ptr<World> world_;
};

INSTANTIATE_TEST_SUITE_P(, RemotePeople, testing::Values("embedded", "server"),
                         [](const auto& info) { return info.param; });

TEST_P(RemotePeople, H1_their_decisions_count_here) {
    Holdpoint holdpoint = local({approve(), reject("not today"), modify(Json::object({{"n", 2}})),
                                 answer("blue"), abort_run("enough")});
    const Action action{.tool = "t", .arguments = Json::object({{"n", 1}})};
    const Got<Release> approved = holdpoint.request(action);
    ASSERT_TRUE(approved) << approved.error().message;
    EXPECT_EQ(holdpoint.find(approved->request_id)->decision->by, "ann");
    const Got<Release> rejected = holdpoint.request(action);
    EXPECT_EQ(why(rejected), Why::rejected);
    EXPECT_NE(rejected.error().message.find("not today"), std::string::npos);
    EXPECT_EQ(holdpoint.request(action)->arguments.dump(), R"({"n":2})");
    EXPECT_EQ(holdpoint.ask({.question = "Which?"})->text(), "blue");
    EXPECT_EQ(why(holdpoint.request(action)), Why::aborted);
}

TEST_P(RemotePeople, T5_their_silence_is_no_consent_here) {
    Holdpoint holdpoint = local({});
    Action action{.tool = "t"};
    action.asking.timeout = 1s;
    EXPECT_EQ(why(holdpoint.request(action)), Why::expired);
}

TEST_P(RemotePeople, X6_what_policy_there_denies_is_rejected_here) {
    EXPECT_EQ(why(local({}).request({.tool = "drop"})), Why::rejected);
}

TEST(RemotePeopleAsked, H1_asking_twice_asks_once) {
    People people;
    people.will({.kind = DecisionKind::approve, .by = "ann"});
    people.will({.kind = DecisionKind::approve, .by = "ann"});
    EmbeddedOptions options;
    options.human = make_remote(opened(people));
    options.groups = {{"finance", {"ann", "bob"}}};
    options.gates = {
        {.name = "pay", .type = GateType::tool_execution, .approvers = {{"finance", 2}}}};
    // One approval is not enough here, and nobody there is asked for the same a second time.
    Action action{.tool = "pay"};
    action.asking.timeout = std::chrono::seconds(1);
    EXPECT_EQ(why(opened(options).request(action)), Why::expired);
    EXPECT_EQ(people.asked().size(), 1U);
}

TEST(RemotePeopleAsked, H1_what_is_critical_here_is_confirmed_there) {
    std::atomic<int> asked = 0;
    EmbeddedOptions there;
    there.human = make_callback({.approval = [&](const Request& request, const std::stop_token&) {
        ++asked;
        Decision decision = approve();
        decision.confirm = request.confirm;
        return std::optional(decision);
    }});
    EmbeddedOptions here;
    here.human = make_remote(opened(there));
    here.gates = {{.name = "all", .type = GateType::tool_execution, .risk = RiskLevel::critical}};
    const Got<Release> release = opened(here).request({.tool = "drop"});
    ASSERT_TRUE(release) << release.error().message;
    EXPECT_EQ(asked, 1);
}

TEST(RemotePeopleAsked, H1_a_refusal_there_counts_here_also_without_the_reason_that_is_asked_for) {
    People people;
    people.will({.kind = DecisionKind::reject});
    EmbeddedOptions options;
    options.human = make_remote(opened(people));
    options.gates = {{.name = "all", .type = GateType::tool_execution, .is_reason_required = true}};
    EXPECT_EQ(why(opened(options).request({.tool = "t"})), Why::rejected);
    EXPECT_EQ(people.asked().size(), 1U);
}

TEST(RemotePeopleGone, X6_nobody_there_is_nobody_here) {
    People people;
    people.leave();
    EmbeddedOptions options;
    options.human = make_remote(opened(people));
    EXPECT_EQ(why(opened(options).request({.tool = "t"})), Why::unavailable);
}

TEST(RemotePeopleGone, X6_a_server_that_is_gone_is_nobody_here) {
    Folder folder;
    LiveServer server;
    Result<Holdpoint> remote = Holdpoint::connect({.url = server.url(),
                                                   .key = server.new_key("agent", "bot"),
                                                   .unreachable_after = 200ms,
                                                   .state = folder.path});
    ASSERT_TRUE(remote);
    server.kill();
    EmbeddedOptions options;
    options.human = make_remote(*remote);
    EXPECT_EQ(why(opened(options).request({.tool = "t"})), Why::unavailable);
}

TEST(RemotePeopleGone, X6_a_server_whose_policy_asks_nobody_has_not_answered_for_a_person) {
    EmbeddedOptions easy;
    easy.gates = {{.name = "none", .type = GateType::specific_tools, .tools = {"never"}}};
    easy.tools = {{.name = "t"}};
    EmbeddedOptions options;
    options.human = make_remote(opened(easy));
    EXPECT_EQ(why(opened(options).request({.tool = "t"})), Why::unavailable);
}

}  // namespace
}  // namespace holdpoint::test
