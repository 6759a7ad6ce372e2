// Policy that an embedding program brings along: gates with every field, rules, assessors.
#include <thread>

#include "tests/agent/live_server.h"

namespace holdpoint::test {
namespace {

using namespace std::chrono_literals;

Decision by(std::string name, DecisionKind kind = DecisionKind::approve) {
    const bool is_no = kind == DecisionKind::reject;
    return {.kind = kind, .by = std::move(name), .reason = is_no ? "because" : ""};
}

Action pay(double amount) {
    return {.tool = "pay", .arguments = Json::object({{"amount", amount}})};
}

/// Tests of one gate that holds every payment.
class GateFields : public testing::Test {
  protected:
    GateFields() {
        gate.name = "payments";
        gate.type = GateType::specific_tools;
        gate.tools = {"pay"};
        options.tools = {{.name = "pay"}, {.name = "look"}};
        options.groups = {{"finance", {"ann", "bob"}}, {"board", {"chair"}}};
    }
    Holdpoint open() {
        options.gates = {gate};
        options.human = people.interface();
        return opened(options);
    }
    std::string refusal() {
        options.gates = {gate};
        const Result<Holdpoint> holdpoint = Holdpoint::embedded(options);
        return holdpoint ? "" : holdpoint.error().message;
    }
    /// The events of the one request, by name.
    static std::vector<std::string> events_of(Holdpoint& holdpoint) {
        std::vector<std::string> names;
        (void)holdpoint.events({.after = 0}, [&](const Event& event) {
            names.push_back(event.name);
            return event.name != "request-settled";
        });
        return names;
    }

    Gate gate;
    EmbeddedOptions options;
    People people;
};

TEST_F(GateFields, G9_message_because_and_risk_reach_the_request) {
    gate.message = "Pay {{args.amount}} euros?";
    gate.because = "money leaves the house";
    gate.risk = RiskLevel::high;
    people.will(reject());
    EXPECT_EQ(why(open().request(pay(5))), Why::rejected);
    const Request asked = people.asked().at(0);
    EXPECT_EQ(asked.headline, "Pay 5 euros?");
    EXPECT_EQ(asked.because, "money leaves the house");
    EXPECT_EQ(asked.gate, "payments");
    EXPECT_EQ(asked.risk, RiskLevel::high);
}

TEST_F(GateFields, G9_a_reason_is_asked_for_and_nothing_may_be_changed) {
    gate.is_reason_required = true;
    gate.may_modify = false;
    people.will(modify(Json::object({{"amount", 1}})));
    people.will(reject(""));
    people.will(reject("no money left"));
    const Got<Release> release = open().request(pay(5));
    EXPECT_EQ(why(release), Why::rejected);
    EXPECT_NE(release.error().message.find("no money left"), std::string::npos);
    EXPECT_EQ(people.told().size(), 2U);
}

TEST_F(GateFields, G9_so_many_of_a_group_and_nobody_else) {
    gate.approvers = {{"finance", 2}};
    for (const char* name : {"chair", "ann", "bob"}) people.will(by(name));
    EXPECT_TRUE(open().request(pay(5)));
    ASSERT_EQ(people.told().size(), 1U);
    EXPECT_NE(people.told()[0].find("for other people"), std::string::npos);
}

TEST_F(GateFields, G9_one_rejection_ends_it_unless_more_are_needed) {
    gate.approvers = {{"finance", 1}};
    gate.reject_threshold = 2;
    people.will(by("ann", DecisionKind::reject));
    people.will(by("bob"));
    EXPECT_TRUE(open().request(pay(5)));
}

TEST_F(GateFields, G9_X1_the_requester_is_excluded) {
    gate.excludes_requester = true;
    options.labels.user = "ann";
    people.will(by("ann"));
    people.will(by("bob"));
    Holdpoint holdpoint = open();
    const Got<Release> release = holdpoint.request(pay(5));
    ASSERT_TRUE(release) << release.error().message;
    EXPECT_EQ(holdpoint.find(release->request_id)->decision->by, "bob");
    EXPECT_EQ(people.told().size(), 1U);
}

TEST_F(GateFields, G9_D9_whoever_approves_types_the_code) {
    gate.must_confirm = true;
    std::string code;
    options.human = nullptr;
    options.gates = {gate};
    int asked = 0;
    options.human = make_callback({.approval = [&](const Request& request, std::stop_token) {
        Decision decision = by("ann");
        if (++asked > 1) decision.confirm = request.confirm;
        return std::optional(decision);
    }});
    EXPECT_TRUE(opened(options).request(pay(5)));
    EXPECT_EQ(asked, 2);
}

TEST_F(GateFields, G9_T2_people_are_reminded_and_asked_again) {
    gate.remind_every = 50ms;
    gate.reminders_max = 1;
    gate.timeout = 1min;
    Holdpoint holdpoint = open();
    people.stay_silent(1);
    people.will(approve());
    EXPECT_TRUE(holdpoint.request(pay(5)));
    EXPECT_EQ(people.asked().size(), 2U);
    EXPECT_EQ(
        events_of(holdpoint),
        (std::vector<std::string>{"approval-required", "request-reminded", "request-settled"}));
}

TEST_F(GateFields, G9_T3_it_passes_to_others_after_a_while) {
    gate.approvers = {{"finance", 1}};
    gate.escalate_after = 50ms;
    gate.escalate_to = {{"board", 1}};
    gate.timeout = 1min;
    Holdpoint holdpoint = open();
    people.stay_silent(1);
    people.will(by("chair"));
    EXPECT_TRUE(holdpoint.request(pay(5)));
    EXPECT_EQ(
        events_of(holdpoint),
        (std::vector<std::string>{"approval-required", "request-escalated", "request-settled"}));
}

TEST_F(GateFields, G9_T1_what_follows_from_silence) {
    gate.timeout = 50ms;
    gate.on_timeout = TimeoutAction::skip;
    EXPECT_EQ(why(open().request(pay(5))), Why::skipped);
    gate.on_timeout = TimeoutAction::abort;
    EXPECT_EQ(why(open().request(pay(5))), Why::aborted);
    gate.on_timeout = TimeoutAction::use_default;
    gate.default_decision = TimeoutAction::skip;
    EXPECT_EQ(why(open().request(pay(5))), Why::skipped);
    gate.on_timeout = TimeoutAction::retry;
    gate.default_decision.reset();
    gate.retries_max = 1;
    Holdpoint holdpoint = open();
    EXPECT_EQ(why(holdpoint.request(pay(5))), Why::expired);
    EXPECT_EQ(events_of(holdpoint)[1], "request-retried");
    gate.on_timeout = TimeoutAction::approve;
    EXPECT_NE(refusal().find("only for `risk: low`"), std::string::npos);
    gate.risk = RiskLevel::low;
    EXPECT_TRUE(open().request(pay(5)));
}

TEST_F(GateFields, G9_X6_what_a_condition_means_that_cannot_be_told) {
    gate.type = GateType::custom;
    gate.tools = {};
    gate.condition = [](const Action&) -> bool { throw std::runtime_error("no database"); };
    people.will(reject());
    EXPECT_EQ(why(open().request(pay(5))), Why::rejected);
    gate.on_error = OnError::deny;
    EXPECT_EQ(why(open().request(pay(5))), Why::denied);
    gate.on_error = OnError::pass;
    EXPECT_TRUE(open().request(pay(5)));
    options.tools[0].risk = RiskLevel::medium;
    people.will(reject());
    EXPECT_EQ(why(open().request(pay(5))), Why::rejected) << "only what is low risk passes";
}

TEST_F(GateFields, G8_a_condition_may_be_an_expression) {
    gate.type = GateType::custom;
    gate.when = "args.amount > 10.0";
    people.will(reject());
    people.will(reject());
    Holdpoint holdpoint = open();
    EXPECT_TRUE(holdpoint.request(pay(5)));
    EXPECT_EQ(why(holdpoint.request(pay(50))), Why::rejected);
    EXPECT_EQ(why(holdpoint.request({.tool = "pay"})), Why::rejected) << "without an amount";
}

TEST_F(GateFields, G9_what_contradicts_itself_is_an_error_at_once) {
    const auto with = [&](const std::function<void(Gate&)>& change) {
        const Gate kept = gate;
        change(gate);
        const std::string message = refusal();
        gate = kept;
        return message;
    };
    EXPECT_EQ(with([](Gate&) {}), "");
    EXPECT_NE(with([](Gate& g) { g.name = ""; }), "");
    EXPECT_NE(with([](Gate& g) { g.timeout = 0ms; }), "");
    EXPECT_NE(with([](Gate& g) { g.remind_every = -1s; }), "");
    EXPECT_NE(with([](Gate& g) { g.reject_threshold = 0; }), "");
    EXPECT_NE(with([](Gate& g) { g.approvers = {{"finance", 0}}; }), "");
    EXPECT_NE(with([](Gate& g) { g.approvers = {{"nobody knows them", 1}}; }), "");
    EXPECT_NE(with([](Gate& g) { g.on_timeout = TimeoutAction::escalate; }), "");
    EXPECT_NE(with([](Gate& g) { g.on_timeout = TimeoutAction::use_default; }), "");
    EXPECT_NE(with([](Gate& g) { g.default_decision = TimeoutAction::skip; }), "");
    EXPECT_NE(with([](Gate& g) { g.type = GateType::custom; }), "");
    EXPECT_NE(with([](Gate& g) { g.type = GateType::budget_based; }), "");
    EXPECT_NE(with([](Gate& g) { g.tools = {}; }), "");
    EXPECT_NE(with([](Gate& g) { g.when = "args.amount >"; }), "");
    EXPECT_NE(with([](Gate& g) { g.message = "{{args.}}"; }), "");
    options.rules = {{.id = "one"}, {.id = "one"}};
    EXPECT_NE(refusal().find("two rules are called `one`"), std::string::npos);
}

TEST(PolicyInCode, G12_amounts_and_roles_and_parts_from_several_places) {
    PolicyPart amounts;
    amounts.rules = {require_above("pay", "amount", 100, {{"finance", 1}})};
    PolicyPart roles;
    roles.rules = {require_role("pay", "staff")};
    PolicyPart names;
    names.always_require = {"close_account"};

    const auto open = [&](People& people, const std::string& user) {
        EmbeddedOptions options;
        options += amounts;
        options += roles;
        options += names;
        options.otherwise = Rule::Then::allow;
        options.tools = {{.name = "pay"}, {.name = "close_account"}, {.name = "look"}};
        options.groups = {{"finance", {"fay"}}, {"staff", {"sam"}}};
        options.labels.user = user;
        options.human = people.interface();
        return opened(options);
    };
    People people({by("fay"), reject(), by("fay", DecisionKind::reject)});
    Holdpoint sam = open(people, "sam");
    EXPECT_TRUE(sam.request(pay(5)));
    EXPECT_TRUE(people.asked().empty());
    EXPECT_TRUE(sam.request(pay(500)));
    EXPECT_EQ(people.asked().size(), 1U);
    EXPECT_EQ(why(sam.request({.tool = "close_account"})), Why::rejected);
    EXPECT_TRUE(sam.request({.tool = "look"}));
    EXPECT_EQ(why(sam.request({.tool = "pay", .arguments = Json::object({{"amount", "9"}})})),
              Why::rejected)
        << "an amount that is no number is for finance";
    EXPECT_EQ(why(open(people, "guest").request(pay(5))), Why::denied);
}

TEST(PolicyInCode, G12_rules_alone_let_nothing_pass_that_nobody_allowed) {
    EmbeddedOptions options;
    options.rules = {require_above("pay", "amount", 100),
                     {.id = "look", .tools = {"look*"}, .then = Rule::Then::allow}};
    options.tools = {{.name = "pay"}, {.name = "look_up"}};
    options.human = make_callback(
        {.approval = [](const Request&, std::stop_token) { return std::optional(reject()); }});
    Holdpoint holdpoint = opened(options);
    EXPECT_TRUE(holdpoint.request({.tool = "look_up"}));
    EXPECT_EQ(why(holdpoint.request(pay(5))), Why::rejected);
    EXPECT_EQ(why(holdpoint.request({.tool = "unknown"})), Why::rejected);
}

TEST(PolicyInCode, G12_code_is_added_to_a_file_and_cannot_lift_what_it_denies) {
    EmbeddedOptions options;
    options.policy =
        "holdpoint: 1\npolicy: p\ndefaults: {decision: allow}\ntools: {pay: {}, drop: {}}\n"
        "rules:\n  - {id: never, tools: [drop], then: deny}\n"
        "tests:\n  - {name: paying passes, call: {tool: pay, args: {}}, expect: {decision: "
        "allow}}\n";
    options.rules = {{.id = "drop", .tools = {"drop"}, .then = Rule::Then::allow},
                     require_above("pay", "amount", 100)};
    People people({reject()});
    options.human = people.interface();
    Holdpoint holdpoint = opened(options);
    EXPECT_EQ(why(holdpoint.request({.tool = "drop"})), Why::denied);
    EXPECT_TRUE(holdpoint.request(pay(5)));
    EXPECT_EQ(why(holdpoint.request(pay(500))), Why::rejected);

    options.rules.push_back({.id = "never"});
    EXPECT_FALSE(Holdpoint::embedded(options)) << "two rules of one name";
    options.rules.clear();
    options.policy += "  - {name: wrong, call: {tool: pay, args: {}}, expect: {decision: deny}}\n";
    EXPECT_FALSE(Holdpoint::embedded(options)) << "the file's own tests count";
}

TEST(PolicyInCode, Q7_an_assessor_raises_the_risk_and_says_why) {
    People people({reject()});
    EmbeddedOptions options;
    options.preset = "minimal";  // high risk waits
    options.tools = {{.name = "pay", .risk = RiskLevel::medium}};
    options.assessors = {[](const Action& action) -> Assessment {
        if (action.arguments["amount"].number().value_or(1e9) < 1000) return {};
        return {.level = RiskLevel::critical,
                .factors = {"a large sum"},
                .consequences = {"the money is gone"}};
    }};
    options.human = people.interface();
    Holdpoint holdpoint = opened(options);
    const Got<Release> small = holdpoint.request(pay(5));
    ASSERT_TRUE(small) << small.error().message;
    EXPECT_EQ(holdpoint.find(small->request_id)->risk, RiskLevel::medium) << "it never lowers";
    EXPECT_EQ(why(holdpoint.request(pay(5000))), Why::rejected);
    const Request asked = people.asked().at(0);
    EXPECT_EQ(asked.risk, RiskLevel::critical);
    EXPECT_EQ(asked.risk_factors.back(), "a large sum");
    EXPECT_EQ(asked.consequences.back(), "the money is gone");
}

TEST(PolicyInCode, Q7_X6_what_an_assessor_cannot_tell_is_held) {
    const std::vector<Assessor> bad = {
        [](const Action&) -> Assessment { throw std::runtime_error("no model"); },
        [](const Action&) -> Assessment { throw 7; },
        [](const Action&) { return Assessment{.level = static_cast<RiskLevel>(99)}; },
        [](const Action&) { return Assessment{.factors = {"\xff\xfe"}}; }};
    for (const Assessor& assessor : bad) {
        People people({reject()});
        EmbeddedOptions options;
        options.otherwise = Rule::Then::allow;
        options.auto_risk_max = RiskLevel::critical;  // nothing waits for its level
        options.tools = {{.name = "look", .is_read_only = true}};
        options.never_require = {"look"};
        options.assessors = {assessor};
        options.human = people.interface();
        EXPECT_EQ(why(opened(options).request({.tool = "look"})), Why::rejected);
        ASSERT_EQ(people.asked().size(), 1U);
    }
}

}  // namespace
}  // namespace holdpoint::test
