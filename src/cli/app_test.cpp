#include "cli/app.h"

#include <gtest/gtest.h>
#include <CLI/CLI.hpp>

#include "cli/completion.h"
#include "cli/proposal.h"

namespace holdpoint::cli {
namespace {

/// Parses a line without running anything.
struct Parsed {
    CLI::App app;
    Commands commands;
    bool is_good = false;

    explicit Parsed(std::vector<std::string> words) {
        app.name("holdpoint");
        add_commands(app, commands);
        std::reverse(words.begin(), words.end());
        try {
            app.parse(words);
            is_good = true;
        } catch (const CLI::ParseError&) {
        }
    }
};

TEST(Parsing, AnUnderstoodLineNamesWhatToRunAndRunsNothing) {
    const Parsed line({"approve", "req_1", "req_2", "--note", "x", "--json"});
    EXPECT_TRUE(line.is_good);
    EXPECT_TRUE(line.commands.run);
    EXPECT_TRUE(line.commands.flags.is_json);
}

TEST(Parsing, GlobalFlagsMayFollowTheCommandAndItsSubcommand) {
    const Parsed line(
        {"key", "create", "--role", "agent", "--name", "n", "--json", "--url", "http://x"});
    EXPECT_TRUE(line.is_good);
    EXPECT_EQ(line.commands.flags.url, "http://x");
}

TEST(Parsing, EveryLineThatIsWrongIsRefused) {
    for (const std::vector<std::string>& words :
         std::vector<std::vector<std::string>>{{},
                                               {"frobnicate"},
                                               {"approve"},
                                               {"defer", "id"},
                                               {"escalate", "id"},
                                               {"list", "--risk", "huge"},
                                               {"key", "create", "--role", "god", "--name", "x"},
                                               {"key"},
                                               {"user", "add", "x"},
                                               {"extend", "id"},
                                               {"request", "--json-file", "x", "--tool", "y"},
                                               {"request", "--quorum", "0"},
                                               {"request", "--tool", "x", "--wait=1s", "--no-wait"},
                                               {"request", "--question", "q", "--min", "nan"},
                                               {"request", "--idempotency-key", "a b"},
                                               {"modify", "id", "--args", "{}", "--args-file", "x"},
                                               {"completion", "tcsh"},
                                               {"list", "list"},
                                               {"policy"},
                                               {"policy", "check"},
                                               {"policy", "diff", "one"},
                                               {"policy", "explain", "--policy", "p"},
                                               {"policy", "show", "v", "--versions"},
                                               {"grant"},
                                               {"grant", "revoke"},
                                               {"approve", "id", "--grant-uses", "0"},
                                               {"approve", "id", "--grant-sum", "-1"},
                                               {"reject", "id", "--grant", "1h"},
                                               {"--color", "mauve", "list"}})
        EXPECT_FALSE(Parsed(words).is_good) << (words.empty() ? "" : words.front());
}

TEST(Parsing, NoFlagTakesAToken) {
    CLI::App app;
    Commands commands;
    add_commands(app, commands);
    const std::string script = completion_script(app, "bash");
    EXPECT_EQ(script.find("--token "), std::string::npos);
    EXPECT_EQ(script.find("--password "), std::string::npos);
}

TEST(Completion, KnowsEveryCommandAndItsOptions) {
    CLI::App app;
    Commands commands;
    add_commands(app, commands);
    for (const char* shell : {"bash", "zsh", "fish"}) {
        const std::string script = completion_script(app, shell);
        for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
            EXPECT_NE(script.find(command->get_name()), std::string::npos) << shell;
        EXPECT_NE(script.find("idempotency-key"), std::string::npos) << shell;
        EXPECT_NE(script.find("revoke"), std::string::npos) << shell;
        EXPECT_NE(script.find("token-file"), std::string::npos) << shell;
        EXPECT_NE(script.find("low medium high critical"), std::string::npos) << shell;
    }
}

TEST(Proposal, TheKindFollowsFromTheFlags) {
    const auto kind = [](const ProposalFlags& flags) {
        const Result<json::value> body = build_proposal(flags);
        return body ? std::string(body->at("kind").as_string()) : body.error().message;
    };
    EXPECT_EQ(kind({.tool = "t"}), "action");
    EXPECT_EQ(kind({.title = "t", .steps = {{"a", false}}}), "plan");
    EXPECT_EQ(kind({.question = "q"}), "input");
    EXPECT_EQ(kind({.message = "m"}), "confirmation");
    EXPECT_EQ(kind({.text = "t"}), "response");
}

TEST(Proposal, FlagsOfTwoKindsTogetherAreRefused) {
    EXPECT_FALSE(build_proposal({.tool = "t", .question = "q"}));
    EXPECT_FALSE(build_proposal({.kind = "plan", .tool = "t"}));
    EXPECT_FALSE(build_proposal({.description = "d", .question = "q"}));
    EXPECT_FALSE(build_proposal({}));
}

TEST(Proposal, ArgumentsMustBeAnObjectOfStrictJson) {
    EXPECT_TRUE(build_proposal({.tool = "t", .args = "{\"a\":1}"}));
    for (const char* args : {"[1]", "1", "{", "{\"a\":1,\"a\":2}", "{\"a\":1e400}"})
        EXPECT_FALSE(build_proposal({.tool = "t", .args = args})) << args;
}

TEST(Proposal, CarriesTimesAndRequirement) {
    const Result<json::value> body = build_proposal({.tool = "t",
                                                     .timeout = "1h30m",
                                                     .escalate_after = "5m",
                                                     .groups = {"finance"},
                                                     .quorum = 2});
    ASSERT_TRUE(body);
    EXPECT_EQ(body->at("timeout_s").as_int64(), 5400);
    EXPECT_EQ(body->at("escalate_after_s").as_int64(), 300);
    EXPECT_EQ(json::canonical(body->at("requirement")),
              R"({"lines":[{"group":"finance","quorum":2}]})");
    EXPECT_FALSE(build_proposal({.tool = "t", .timeout = "0"}));
}

}  // namespace
}  // namespace holdpoint::cli
