// Policy here, people there: the interface that asks another Holdpoint.
#include "tests/agent/people.h"

namespace holdpoint::test {
namespace {

class RemotePeople : public testing::Test {
  protected:
    Holdpoint local() {
        EmbeddedOptions options;
        options.human = make_remote(opened(people_));
        return opened(std::move(options));
    }
    People people_;
};

TEST_F(RemotePeople, H1_their_decisions_count_here) {
    people_.will({.kind = DecisionKind::approve, .by = "ann"});
    people_.will(reject("not today"));
    people_.will(modify(Json::object({{"n", 2}})));
    people_.will(answer("blue"));
    Holdpoint holdpoint = local();
    const Action action{.tool = "t", .arguments = Json::object({{"n", 1}})};
    const Got<Release> approved = holdpoint.request(action);
    ASSERT_TRUE(approved) << approved.error().message;
    EXPECT_EQ(holdpoint.find(approved->request_id)->decision->by, "ann");
    const Got<Release> rejected = holdpoint.request(action);
    EXPECT_EQ(why(rejected), Why::rejected);
    EXPECT_NE(rejected.error().message.find("not today"), std::string::npos);
    EXPECT_EQ(holdpoint.request(action)->arguments.dump(), R"({"n":2})");
    EXPECT_EQ(holdpoint.ask({.question = "Which?"})->text(), "blue");
}

TEST_F(RemotePeople, H1_asking_twice_asks_once) {
    people_.will({.kind = DecisionKind::approve, .by = "ann"});
    people_.will({.kind = DecisionKind::approve, .by = "ann"});
    EmbeddedOptions options;
    options.human = make_remote(opened(people_));
    options.groups = {{"finance", {"ann", "bob"}}};
    options.gates = {
        {.name = "pay", .type = GateType::tool_execution, .approvers = {{"finance", 2}}}};
    // One approval is not enough here, and nobody there is asked for the same a second time.
    Action action{.tool = "pay"};
    action.asking.timeout = std::chrono::seconds(1);
    EXPECT_EQ(why(opened(options).request(action)), Why::expired);
    EXPECT_EQ(people_.asked().size(), 1U);
}

TEST_F(RemotePeople, H1_what_is_critical_here_is_confirmed_there) {
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

TEST_F(RemotePeople, H1_a_refusal_there_counts_here_also_without_the_reason_that_is_asked_for) {
    people_.will({.kind = DecisionKind::reject});
    EmbeddedOptions options;
    options.human = make_remote(opened(people_));
    options.gates = {{.name = "all", .type = GateType::tool_execution, .is_reason_required = true}};
    EXPECT_EQ(why(opened(options).request({.tool = "t"})), Why::rejected);
    EXPECT_EQ(people_.asked().size(), 1U);
}

TEST_F(RemotePeople, X6_nobody_there_is_nobody_here) {
    people_.leave();
    EXPECT_EQ(why(local().request({.tool = "t"})), Why::unavailable);
}

TEST_F(RemotePeople, X6_a_server_whose_policy_asks_nobody_has_not_answered_for_a_person) {
    EmbeddedOptions easy;
    easy.gates = {{.name = "none", .type = GateType::specific_tools, .tools = {"never"}}};
    easy.tools = {{.name = "t"}};
    EmbeddedOptions options;
    options.human = make_remote(opened(easy));
    EXPECT_EQ(why(opened(options).request({.tool = "t"})), Why::unavailable);
}

}  // namespace
}  // namespace holdpoint::test
