// Confirmation in the conversation.
#include "tests/agent/shop.h"

namespace holdpoint::test {
namespace {

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

}  // namespace
}  // namespace holdpoint::test
