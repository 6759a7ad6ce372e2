// Agents under human control, played by scripted models.
#include <thread>

#include "tests/agent/shop.h"

namespace holdpoint::test {
namespace {

TEST(HumanInTheLoop, A2_A4_the_result_says_what_was_asked_answered_and_done) {
    People people({modify(Json::object({{"order", "A-1"}, {"amount", 25}}))});
    Shop shop;
    HumanInTheLoop loop(opened(refunds_held(people)));
    const RunResult result =
        loop.execute(shop.agent(R"([{"call": [{"tool": "look", "arguments": {"order": "A-1"}}]},
                       {"call": [{"tool": "refund", "arguments": {"order": "A-1", "amount": 40}}]},
                       {"when": "25", "say": "Refunded 25."}])"),
                     "Refund order A-1");
    EXPECT_TRUE(result.success);
    EXPECT_EQ(result.output, "Refunded 25.");
    EXPECT_EQ(shop.done, (std::vector<std::string>{R"(look {"order":"A-1"})",
                                                   R"(refund {"amount":25,"order":"A-1"})"}));
    ASSERT_EQ(result.requests.size(), 2U);
    EXPECT_EQ(result.requests[0].outcome, Outcome::allowed);
    ASSERT_EQ(result.responses.size(), 1U);
    EXPECT_EQ(result.responses[0].by, "operator");
    ASSERT_EQ(result.modifications.size(), 1U);
    EXPECT_TRUE(result.rejections.empty());
    ASSERT_EQ(result.audit.size(), 2U);
    EXPECT_EQ(result.audit[1].gate, "money");
    EXPECT_EQ(result.audit[1].afterwards, "ran");
    ASSERT_EQ(result.steps.size(), 2U);
    EXPECT_TRUE(result.steps[1].has_run);
    EXPECT_GT(result.usage.total(), 0);
    EXPECT_LE(result.human_time, result.execution_time);
    ASSERT_EQ(loop.feedback_history().size(), 1U);
    EXPECT_EQ(loop.feedback_history()[0].kind, FeedbackKind::modification);
    EXPECT_EQ(loop.feedback_history()[0].before["amount"].number(), 40);
    EXPECT_EQ(people.asked()[0].context["user_prompt"].text(), "Refund order A-1");
    EXPECT_EQ(people.asked()[0].context["steps_completed"][0].text(), "look");
}

TEST(HumanInTheLoop, A5_the_model_is_told_why_a_call_did_not_run) {
    People people({reject("refunded already"), defer("offer a voucher")});
    Shop shop;
    HumanInTheLoop loop(opened(refunds_held(people)));
    const RunResult result =
        loop.execute(shop.agent(R"([{"call": [{"tool": "refund", "arguments": {"amount": 1}}]},
                       {"when": "refunded already", "call": [{"tool": "refund", "arguments": {"amount": 2}}]},
                       {"when": "offer a voucher", "say": "I offered a voucher."}])"),
                     "Refund it");
    EXPECT_EQ(result.output, "I offered a voucher.");
    EXPECT_TRUE(shop.done.empty());
    EXPECT_EQ(result.rejections.size(), 1U);
    EXPECT_EQ(result.steps[0].why, Why::rejected);
    EXPECT_EQ(result.steps[1].why, Why::deferred);
}

TEST(HumanInTheLoop, F2_what_was_rejected_in_one_conversation_may_be_asked_in_the_next) {
    People people({reject("not now"), approve()});
    Holdpoint holdpoint = opened(refunds_held(people));
    Shop shop;
    constexpr std::string_view turns =
        R"([{"call": [{"tool": "refund", "arguments": {"order": "1"}}]}, {"say": "done"}])";
    EXPECT_EQ(HumanInTheLoop(holdpoint).execute(shop.agent(turns), "Refund it").rejections.size(),
              1U);
    EXPECT_EQ(holdpoint.advice(), "");
    HumanInTheLoop(holdpoint).execute(shop.agent(turns), "Now refund it");
    EXPECT_EQ(people.asked().size(), 2U);
    EXPECT_EQ(shop.done.size(), 1U);
}

TEST(HumanInTheLoop, F1_F3_guidance_and_corrections_enter_the_following_prompts) {
    struct Listener : Model {
        std::string system;
        Result<Turn> complete(const Prompt& prompt) override {
            if (prompt.messages.front().role == Role::system) system = prompt.messages.front().text;
            return Turn{{Role::assistant, "fine", {}, ""}, {}};
        }
    };
    Decision told = answer("use the test shop");
    told.by = "olga";
    People people({told});
    HumanInTheLoop loop(opened(people));
    EXPECT_EQ(*loop.request_guidance("Which shop?"), "use the test shop");
    loop.correct("prices are in cents", "ann");
    const auto model = std::make_shared<Listener>();
    loop.execute({.model = model}, "hello");
    EXPECT_NE(model->system.find("use the test shop"), std::string::npos);
    EXPECT_NE(model->system.find("prices are in cents"), std::string::npos);
    ASSERT_EQ(loop.feedback_history().size(), 2U);
    EXPECT_EQ(loop.feedback_history()[0].kind, FeedbackKind::guidance);
    EXPECT_EQ(loop.feedback_history()[0].by, "olga");
    EXPECT_FALSE(loop.feedback_history()[0].at.empty());
    EXPECT_EQ(loop.feedback_history()[1].by, "ann");
}

/// Calls `look` twice; each turn costs it 600 tokens.
struct Reader : Model {
    int turns = 0;
    Result<Turn> complete(const Prompt&) override {
        Turn turn{{Role::assistant, "I have read enough.", {}, ""}, {500, 100}};
        if (++turns <= 2)
            turn.message.calls = {{"", "look", R"({"order": ")" + std::to_string(turns) + "\"}"}};
        return turn;
    }
};

TEST(HumanInTheLoop, A4_G7_tokens_are_counted_and_count_towards_the_budget_of_the_session) {
    People people({reject("enough read")});
    EmbeddedOptions options;
    options.human = people.interface();
    options.gates = {{.name = "budget", .type = GateType::budget_based, .tokens_above = 599}};
    Shop shop;
    Agent agent = shop.agent("[]");
    agent.model = std::make_shared<Reader>();
    HumanInTheLoop loop(opened(options));
    const RunResult result = loop.execute(agent, "Read about it");
    EXPECT_EQ(result.usage.prompt_tokens, 1500);
    EXPECT_EQ(result.usage.total(), 1800);
    EXPECT_EQ(shop.done, std::vector<std::string>{R"(look {"order":"1"})"});
    ASSERT_EQ(people.asked().size(), 1U);
    EXPECT_EQ(people.asked()[0].gate, "budget");
}

TEST(HumanInTheLoop, G7_what_a_tool_says_it_cost_counts_instead_of_the_estimate) {
    People people({reject("too dear")});
    EmbeddedOptions options;
    options.human = people.interface();
    options.gates = {{.name = "budget", .type = GateType::budget_based, .cost_above = 1.0}};
    Shop shop;
    Agent agent = shop.agent("[]");
    Tool look = shop.tool("look", {.estimated_cost = 0.1});
    look.run = [run = look.run](const Json& arguments, ToolContext& context) {
        context.cost = 5;
        return run(arguments, context);
    };
    agent.tools.add(look);
    agent.model = std::make_shared<Reader>();
    HumanInTheLoop loop(opened(options));
    loop.execute(agent, "Read about it");
    EXPECT_EQ(shop.done.size(), 1U);
    EXPECT_EQ(people.asked().size(), 1U);
}

TEST(HumanInTheLoop, Q6_what_the_model_said_is_shown_as_its_reasoning) {
    People people({reject(), answer("blue")});
    Holdpoint holdpoint = opened(refunds_held(people));
    Shop shop;
    Agent agent = shop.agent(R"([
      {"say": "The parcel came back.", "call": [{"tool": "refund", "arguments": {"order": "1"}}]},
      {"call": [{"tool": "request_human_input", "arguments": {"question": "Which?"}}]},
      {"say": "done"}])");
    agent.tools.add(human_input_tool(holdpoint));
    HumanInTheLoop(holdpoint).execute(agent, "Refund it");
    ASSERT_EQ(people.asked().size(), 2U);
    EXPECT_EQ(people.asked()[0].context["current_reasoning"].text(), "The parcel came back.");
    EXPECT_EQ(people.asked()[1].context["user_prompt"].text(), "Refund it");
}

TEST(HumanInTheLoop, Q9_several_calls_of_one_turn_are_one_batch_and_only_the_approved_run) {
    People people({approve(), reject("not that one"), approve()});
    Shop shop;
    HumanInTheLoop loop(opened(refunds_held(people)));
    const RunResult result =
        loop.execute(shop.agent(R"([{"call": [{"tool": "refund", "arguments": {"order": "1"}},
                                 {"tool": "refund", "arguments": {"order": "2"}},
                                 {"tool": "refund", "arguments": {"order": "3"}}]},
                       {"when": "not that one", "say": "Two of three."}])"),
                     "Refund all");
    EXPECT_EQ(result.output, "Two of three.");
    EXPECT_EQ(shop.done,
              (std::vector<std::string>{R"(refund {"order":"1"})", R"(refund {"order":"3"})"}));
    EXPECT_FALSE(people.asked()[0].batch.empty());
}

TEST(HumanInTheLoop, D6_an_abort_in_the_middle_of_five_steps_keeps_what_was_done) {
    People people({approve(), approve(), abort_run("wrong shop")});
    Shop shop;
    HumanInTheLoop loop(opened(refunds_held(people)));
    std::string turns = "[";
    for (int n = 1; n <= 5; ++n)
        turns += R"({"call": [{"tool": "refund", "arguments": {"order": ")" + std::to_string(n) +
                 R"("}}]},)";
    const RunResult result = loop.execute(shop.agent(turns + R"({"say": "done"}])"), "Refund five");
    EXPECT_FALSE(result.success);
    EXPECT_TRUE(result.is_aborted);
    ASSERT_EQ(result.steps.size(), 3U);
    EXPECT_TRUE(result.steps[0].has_run);
    EXPECT_EQ(result.steps[1].output.dump(), R"({"ok":true})");
    EXPECT_FALSE(result.steps[2].has_run);
    EXPECT_EQ(result.steps[2].why, Why::aborted);
    EXPECT_EQ(shop.done.size(), 2U);
}

TEST(HumanInTheLoop, D6_an_abort_within_a_batch_of_five_runs_none_of_the_rest) {
    People people({approve(), approve(), abort_run()});
    Shop shop;
    HumanInTheLoop loop(opened(refunds_held(people)));
    std::string calls;
    for (int n = 1; n <= 5; ++n)
        calls += std::string(n > 1 ? "," : "") + R"({"tool": "refund", "arguments": {"order": ")" +
                 std::to_string(n) + R"("}})";
    const RunResult result = loop.execute(
        shop.agent(R"([{"call": [)" + calls + R"(]}, {"say": "done"}])"), "Refund five");
    EXPECT_TRUE(result.is_aborted);
    ASSERT_EQ(result.steps.size(), 5U);
    for (const Step& step : result.steps) EXPECT_FALSE(step.has_run);
    EXPECT_TRUE(shop.done.empty());
}

TEST(HumanInTheLoop, T5_silence_that_aborts_stops_the_run_and_what_was_approved_beside_it) {
    People people({approve()});  // the second is never answered
    Shop shop;
    EmbeddedOptions options = refunds_held(people);
    options.gates.front().timeout = std::chrono::seconds(1);
    options.gates.front().on_timeout = TimeoutAction::abort;
    HumanInTheLoop loop(opened(options));
    const RunResult result =
        loop.execute(shop.agent(R"([{"call": [{"tool": "refund", "arguments": {"order": "1"}},
                                 {"tool": "refund", "arguments": {"order": "2"}}]},
                       {"say": "done"}])"),
                     "Refund both");
    EXPECT_TRUE(result.is_aborted);
    EXPECT_TRUE(shop.done.empty()) << shop.done.front();
    ASSERT_EQ(result.steps.size(), 2U);
    EXPECT_EQ(result.steps[1].why, Why::aborted);
    EXPECT_EQ(result.requests.back().timed_out, TimeoutAction::abort);
}

TEST(HumanInTheLoop, A1_a_stop_between_two_approved_calls_leaves_the_second) {
    People people({approve(), approve()});
    Shop shop;
    std::stop_source stop;
    Agent agent = shop.agent(R"([{"call": [{"tool": "refund", "arguments": {"order": "1"}},
                                           {"tool": "refund", "arguments": {"order": "2"}}]},
                                 {"say": "done"}])");
    Tool refund = shop.tool("refund");
    refund.run = [&, run = refund.run](const Json& arguments, ToolContext& context) {
        stop.request_stop();
        return run(arguments, context);
    };
    agent.tools.add(refund);
    HumanInTheLoop loop(opened(refunds_held(people)), {.stop = stop.get_token()});
    const RunResult result = loop.execute(agent, "Refund both");
    EXPECT_EQ(shop.done, std::vector<std::string>{R"(refund {"order":"1"})"});
    ASSERT_EQ(result.steps.size(), 2U);
    EXPECT_EQ(result.steps[1].why, Why::stopped);
}

TEST(HumanInTheLoop, X5_with_nobody_there_the_agent_goes_on_with_what_needs_nobody) {
    People people;
    people.leave();
    Shop shop;
    HumanInTheLoop loop(opened(refunds_held(people)));
    const RunResult result =
        loop.execute(shop.agent(R"([{"call": [{"tool": "refund", "arguments": {}}]},
                       {"when": "nobody can be asked", "call": [{"tool": "look", "arguments": {}}]},
                       {"say": "I only looked."}])"),
                     "Refund it");
    EXPECT_TRUE(result.success);
    EXPECT_EQ(shop.done, std::vector<std::string>{"look {}"});
    EXPECT_EQ(result.steps[0].why, Why::unavailable);
}

TEST(HumanInTheLoop, G4_the_final_answer_is_held_where_policy_says_so_and_may_be_changed) {
    People people({reject("say it kindly"),
                   {.kind = DecisionKind::modify,
                    .replacement = Json::object({{"text", "Dear customer, done."}})}});
    EmbeddedOptions options;
    options.human = people.interface();
    options.gates = {{.name = "final", .type = GateType::final_response}};
    HumanInTheLoop loop(opened(options), {.must_approve_final = true});
    Shop shop;
    const RunResult result =
        loop.execute(shop.agent(R"([{"say": "done"}, {"say": "done, dear"}])"), "Refund it");
    EXPECT_TRUE(result.success) << result.output;
    EXPECT_EQ(result.output, "Dear customer, done.");
}

TEST(HumanInTheLoop, D6_an_abort_of_the_final_answer_aborts_the_run) {
    People people({abort_run("say nothing")});
    EmbeddedOptions options;
    options.human = people.interface();
    options.gates = {{.name = "final", .type = GateType::final_response}};
    HumanInTheLoop loop(opened(options), {.must_approve_final = true});
    Shop shop;
    const RunResult result = loop.execute(shop.agent(R"([{"say": "done"}])"), "Refund it");
    EXPECT_FALSE(result.success);
    EXPECT_TRUE(result.is_aborted);
}

TEST(HumanInTheLoop, S1_what_waits_stays_for_a_later_process_where_that_is_wanted) {
    for (const bool must_keep : {true, false}) {
        People people;
        std::stop_source stop;
        EmbeddedOptions options;
        options.human = people.interface();
        options.gates = {{.name = "final", .type = GateType::final_response},
                         {.name = "all", .type = GateType::tool_execution}};
        Holdpoint holdpoint = opened(options);
        HumanInTheLoop loop(holdpoint, {.must_approve_final = true,
                                        .stop = stop.get_token(),
                                        .must_keep_requests = must_keep});
        std::jthread stopper([&] {
            while (people.asked().empty()) std::this_thread::yield();
            stop.request_stop();
        });
        Shop shop;
        loop.execute(shop.agent(R"([{"say": "done"}])"), "Refund it");
        EXPECT_EQ(why(loop.request_approval({.tool = "a"})), Why::stopped);
        for (const Request& request : *holdpoint.list())
            EXPECT_EQ(request.is_settled(), !must_keep) << request.headline;
    }
}

TEST(Supervisor, A3_every_tool_call_of_a_worker_is_checked_and_delegating_is_free) {
    People people({reject("no")});
    Shop shop;
    Agent worker{.name = "refunds",
                 .tools = {shop.tool("refund"), shop.tool("notify")},
                 .model = script(R"([{"call": [{"tool": "refund", "arguments": {"order": "1"}}]},
                                     {"call": [{"tool": "notify", "arguments": {}}]},
                                     {"say": "The refund was rejected."}])")};
    const Agent boss = make_supervisor(
        {.name = "boss",
         .model = script(
             R"([{"call": [{"tool": "delegate_to_refunds", "arguments": {"task": "refund 1"}}]},
                             {"when": "was rejected", "say": "Sorry."}])")},
        {{worker, "does refunds"}});
    HumanInTheLoop loop(opened(refunds_held(people)));
    const RunResult result = loop.execute(boss, "Refund order 1");
    EXPECT_EQ(result.output, "Sorry.");
    EXPECT_EQ(shop.done, std::vector<std::string>{"notify {}"});
    ASSERT_EQ(people.asked().size(), 1U);
    EXPECT_EQ(people.asked()[0].json["metadata"]["agent"].text(), "refunds");
}

TEST(Supervisor, A3_G11_a_workers_tool_keeps_its_own_facts_beside_one_of_the_same_name) {
    People people({reject("no")});
    EmbeddedOptions options;
    options.human = people.interface();
    options.preset = "minimal";
    Shop shop;
    Agent worker{
        .name = "mail",
        .tools = {shop.tool("send", {.requires_approval = true})},
        .model = script(R"([{"call": [{"tool": "send", "arguments": {}}]}, {"say": "ok"}])")};
    const Agent boss = make_supervisor(
        {.name = "boss",
         .tools = {shop.tool("send", {.is_read_only = true})},
         .model = script(
             R"([{"call": [{"tool": "delegate_to_mail", "arguments": {"task": "send it"}}]},
                             {"say": "done"}])")},
        {{worker, "sends"}});
    HumanInTheLoop(opened(options)).execute(boss, "Send it");
    EXPECT_TRUE(shop.done.empty());
    EXPECT_EQ(people.asked().size(), 1U);
}

TEST(Supervisor, A3_G11_agents_of_one_name_are_held_by_their_own_conditions) {
    People people({reject("no")});
    EmbeddedOptions options;
    options.human = people.interface();
    options.preset = "minimal";
    Shop shop;
    HumanInTheLoop loop(opened(options));
    for (const bool must_ask : {false, true}) {
        ToolFacts facts;
        facts.approval_condition = [must_ask](const Json&) { return must_ask; };
        loop.execute({.tools = {shop.tool("send", facts)},
                      .model = script(R"([{"call": [{"tool": "send", "arguments": {}}]}])")},
                     "Send it");
        EXPECT_EQ(shop.done.size(), 1U);
        EXPECT_EQ(people.asked().size(), must_ask ? 1U : 0U);
    }
}

TEST(HumanInput, Q11_the_agent_may_ask_for_what_it_does_not_know) {
    People people({answer("blue")});
    Holdpoint holdpoint = opened(refunds_held(people));
    Agent agent{.tools = {human_input_tool(holdpoint)},
                .model = script(R"([{"call": [{"tool": "request_human_input",
                                               "arguments": {"question": "Which?", "type": "choice",
                                                             "options": ["blue", "red"]}}]},
                                    {"when": "blue", "say": "Blue it is."}])")};
    HumanInTheLoop loop(holdpoint);
    EXPECT_EQ(loop.execute(agent, "Paint it").output, "Blue it is.");
    EXPECT_EQ(people.asked()[0].kind, Kind::input);
}

// Confirmation in the conversation.

struct Pages {
    std::vector<std::string> deleted;

    Agent agent(std::string_view turns) {
        Tool tool;
        tool.name = "delete_page";
        tool.schema = Json::object(
            {{"type", "object"},
             {"properties", Json::object({{"page", Json::object({{"type", "string"}})}})},
             {"required", Json::texts({"page"})}});
        tool.preview = [](const Json& arguments) -> Result<Json> {
            return Json("delete " + arguments["page"].text_or("") + " with its 3 sections");
        };
        tool.run = [this](const Json& arguments, ToolContext&) -> Result<Json> {
            deleted.push_back(arguments["page"].text_or(""));
            return Json("deleted");
        };
        return {.tools = {tool}, .model = script(turns)};
    }
};

constexpr std::string_view polite = R"([
  {"call": [{"tool": "delete_page", "arguments": {"page": "about"}}]},
  {"when": "requiresConfirmation", "say": "This deletes it with 3 sections. Sure?"},
  {"call": [{"tool": "delete_page",
             "arguments": {"page": "about", "confirmed": true, "confirmation_token": "{{token}}"}}]},
  {"when": "deleted", "say": "Done."},
  {"say": "I left it."}])";

Holdpoint open_for_all(People& people) {
    EmbeddedOptions options;
    options.human = people.interface();
    options.gates = {{.name = "none", .type = GateType::specific_tools, .tools = {"never"}}};
    return opened(options);
}

TEST(Confirmed, Q12_only_after_a_persons_yes_does_the_second_call_run) {
    People people;
    Pages pages;
    HumanInTheLoop loop(open_for_all(people));
    const Agent agent = pages.agent(polite);
    const RunResult asked = loop.execute(agent, "Delete the about page");
    EXPECT_EQ(asked.output,
              "This deletes it with 3 sections. Sure?\n\nWaits for your yes: delete about with its "
              "3 sections [delete_page {\"page\":\"about\"}]");
    ASSERT_EQ(asked.awaiting_confirmation.size(), 1U);
    EXPECT_EQ(asked.awaiting_confirmation[0].text, "delete about with its 3 sections");
    EXPECT_TRUE(pages.deleted.empty());
    EXPECT_EQ(loop.execute(agent, "Yes, go ahead!").output, "Done.");
    EXPECT_EQ(pages.deleted, std::vector<std::string>{"about"});
}

TEST(Confirmed, Q12_anything_but_a_clear_yes_is_a_no) {
    for (const char* words : {"no", "hm", "yes but not that one", "what would be lost?", "",
                              "don't", "yes and no", "confirmation"}) {
        People people;
        Pages pages;
        HumanInTheLoop loop(open_for_all(people));
        const Agent agent = pages.agent(polite);
        loop.execute(agent, "Delete the about page");
        // A model that tries it all the same has asked again, and the person sees that.
        const RunResult result = loop.execute(agent, words);
        EXPECT_TRUE(result.output.starts_with("I left it.\n\nWaits for your yes: ")) << words;
        EXPECT_TRUE(pages.deleted.empty()) << words;
    }
}

TEST(Confirmed, Q12_the_flag_alone_and_forged_tokens_run_nothing) {
    for (const char* arguments :
         {R"({"page": "about", "confirmed": true})",
          R"({"page": "about", "confirmed": true, "confirmation_token": "cnf_0000"})",
          R"({"page": "about", "confirmed": true, "confirmation_token": ""})"}) {
        People people;
        Pages pages;
        HumanInTheLoop loop(open_for_all(people));
        const Agent agent =
            pages.agent(std::string(R"([{"call": [{"tool": "delete_page", "arguments": )") +
                        arguments + R"(}]}, {"say": "asked"},
                                        {"call": [{"tool": "delete_page", "arguments": )" +
                        arguments + R"(}]}, {"say": "again"}])");
        loop.execute(agent, "yes");
        loop.execute(agent, "yes");
        EXPECT_TRUE(pages.deleted.empty()) << arguments;
    }
}

/// One or more actions that were asked for and shown.
class Desk {
  public:
    explicit Desk(const std::vector<std::string>& pages) {
        for (const std::string& page : pages)
            desk_.ask("delete", arguments(page), "delete " + page);
        desk_.show();
    }
    static Json arguments(const std::string& page) { return Json::object({{"page", page}}); }
    /// The pages that these words confirm.
    std::vector<std::string> confirmed_by(std::string_view words) {
        std::vector<std::string> pages;
        for (const ConfirmedAction& one : desk_.hear(words)) {
            tokens.push_back(one.token);
            pages.push_back(one.arguments["page"].text_or(""));
        }
        return pages;
    }
    bool redeem(const std::string& page) {
        return desk_.redeem(tokens.at(0), "delete", arguments(page));
    }
    std::vector<std::string> tokens;

  private:
    ConfirmationDesk desk_;
};
using Confirms = std::vector<std::string>;

TEST(Confirmed, Q12_a_token_is_good_for_its_action_once) {
    Desk wrong({"about"});
    EXPECT_EQ(wrong.confirmed_by("yes"), Confirms{"about"});
    EXPECT_FALSE(wrong.redeem("home"));
    EXPECT_FALSE(wrong.redeem("about"));  // used up by the wrong try
    Desk right({"about"});
    EXPECT_EQ(right.confirmed_by("ok"), Confirms{"about"});
    EXPECT_TRUE(right.redeem("about"));
    EXPECT_FALSE(right.redeem("about"));
    Desk late({"about"});
    EXPECT_EQ(late.confirmed_by("yes"), Confirms{"about"});
    EXPECT_EQ(late.confirmed_by("and now?"), Confirms{});
    EXPECT_FALSE(late.redeem("about"));  // a token is for the next turn only
}

TEST(Confirmed, Q12_a_yes_to_several_must_say_which) {
    for (const char* unclear : {"yes", "yes 3", "yes 0", "1", "no 1", "yes 1?", "yes but not 1",
                                "yes 12", "yes 1 no 2", "all"})
        EXPECT_EQ(Desk({"about", "home"}).confirmed_by(unclear), Confirms{}) << unclear;
    EXPECT_EQ(Desk({"about", "home"}).confirmed_by("Yes, 2 please."), Confirms{"home"});
    EXPECT_EQ(Desk({"about", "home"}).confirmed_by("yes 1 and 2"), (Confirms{"about", "home"}));
    EXPECT_EQ(Desk({"about", "home"}).confirmed_by("yes to all"), (Confirms{"about", "home"}));
    EXPECT_EQ(Desk({"about"}).confirmed_by("yes 1"), Confirms{});
}

TEST(Confirmed, Q12_what_was_not_shown_cannot_be_confirmed) {
    ConfirmationDesk desk;
    desk.ask("delete", Desk::arguments("about"), "delete about");
    EXPECT_TRUE(desk.hear("yes").empty());
    desk.ask("delete", Desk::arguments("about"), "delete about");
    desk.show();
    desk.ask("delete", Desk::arguments("home"), "delete home");  // behind the person's back
    ASSERT_EQ(desk.hear("yes").size(), 1U);
    EXPECT_TRUE(desk.show().empty());
    desk.ask("delete", Desk::arguments("about"), "delete about");
    desk.forget();
    EXPECT_TRUE(desk.hear("yes").empty());
}

TEST(Confirmed, Q12_every_argument_is_shown_or_nothing_is_confirmed) {
    ConfirmationDesk desk;
    const Json long_one =
        *Json::parse(R"({"a":")" + std::string(3000, 'x') + R"(","b":"the end"})");
    desk.ask("delete_page", long_one, "would delete a page");
    const std::string text = confirmation_text(desk.show());
    EXPECT_NE(text.find("the end"), std::string::npos);
    EXPECT_EQ(desk.hear("yes").size(), 1u);

    const Json too_long = *Json::parse(R"({"a":")" + std::string(5000, 'x') + R"("})");
    desk.ask("delete_page", too_long, "would delete a page");
    EXPECT_TRUE(desk.show().empty());
    EXPECT_TRUE(desk.hear("yes").empty());
}

TEST(Confirmed, Q12_the_words_for_yes_and_no_are_understood) {
    for (const char* yes : {"yes", "Y", "yeah", "OK", "okay.", "sure", "proceed", "go ahead",
                            "Confirm", "do it!", "yes, please", "Yes. Go ahead, thanks"})
        EXPECT_EQ(read_yes_or_no(yes), YesOrNo::yes) << yes;
    for (const char* no : {"no", "N", "nope", "cancel", "STOP", "abort", "don't", "nevermind",
                           "never mind", "no, stop"})
        EXPECT_EQ(read_yes_or_no(no), YesOrNo::no) << no;
    for (const char* unclear : {"", "   ", "maybe", "yes?", "okay but wait", "yes no", "ja",
                                "yesterday", "please", "ок", "confirm deletion of everything"})
        EXPECT_EQ(read_yes_or_no(unclear), YesOrNo::unclear) << unclear;
}

TEST(Confirmed, A8_the_prompt_teaches_the_workflow) {
    struct Listener : Model {
        std::string system;
        Result<Turn> complete(const Prompt& prompt) override {
            system = prompt.messages.front().text;
            return Turn{{Role::assistant, "fine", {}, ""}, {}};
        }
    };
    People people;
    Pages pages;
    Agent agent = pages.agent("[]");
    const auto model = std::make_shared<Listener>();
    agent.model = model;
    HumanInTheLoop(open_for_all(people)).execute(agent, "hello");
    for (const char* word :
         {"delete_page", "requiresConfirmation", "confirmation_token", "means no"})
        EXPECT_NE(model->system.find(word), std::string::npos) << word;
}

TEST(Schema, ArgumentsAreCheckedStrictly) {
    const Json schema = *Json::parse(R"({"type": "object", "required": ["a"], "properties": {
        "a": {"type": "integer", "minimum": 1, "maximum": 9}, "b": {"type": "array", "items": {"type": "string"}},
        "c": {"enum": ["x", 2]}, "d": {"type": ["string", "null"], "maxLength": 3}}})");
    const auto fits = [&](const char* text) { return !check_schema(schema, *Json::parse(text)); };
    EXPECT_TRUE(fits(R"({"a": 1, "b": ["x"], "c": 2, "d": null})"));
    for (const char* bad :
         {R"({})", R"({"a": "1"})", R"({"a": 1.5})", R"({"a": 0})", R"({"a": 10})",
          R"({"a": 1, "b": "x"})", R"({"a": 1, "b": [1]})", R"({"a": 1, "c": "y"})",
          R"({"a": 1, "d": "long"})", R"({"a": 1, "e": 1})", R"([])"})
        EXPECT_FALSE(fits(bad)) << bad;
}

}  // namespace
}  // namespace holdpoint::test
