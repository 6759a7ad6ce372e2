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
