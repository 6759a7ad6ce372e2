#include "cli/settings.h"

#include <gtest/gtest.h>

#include <map>

#include "cli/config_file.h"

namespace holdpoint::cli {
namespace {

/// An environment and a few files.
struct World {
    std::map<std::string, std::string> variables{{"HOME", "/home/ann"}};
    std::map<std::string, std::string> files;

    Surroundings surroundings() const {
        return {[this](const std::string& name) -> std::optional<std::string> {
                    const auto found = variables.find(name);
                    if (found == variables.end() || found->second.empty()) return std::nullopt;
                    return found->second;
                },
                [this](const std::string& path) -> Result<std::string> {
                    const auto found = files.find(path);
                    if (found == files.end())
                        return Error{ErrorCode::not_found, "cannot read `" + path + "`"};
                    return found->second;
                }};
    }
    Result<Settings> resolve(const Flags& flags = {}) const {
        return cli::resolve(flags, surroundings());
    }
};

constexpr const char* user_file = "/home/ann/.config/holdpoint/config.toml";
constexpr const char* machine_file = "/etc/holdpoint/config.toml";

TEST(Settings, WithoutAnythingTheDefaultsHold) {
    const Result<Settings> settings = World{}.resolve();
    ASSERT_TRUE(settings);
    EXPECT_EQ(settings->url.value, "http://127.0.0.1:7480");
    EXPECT_EQ(settings->url.origin, "default");
    EXPECT_EQ(settings->token.value, "");
    EXPECT_EQ(settings->color.value, "auto");
}

TEST(Settings, EachLayerWinsOverTheOneBelow) {
    World world;
    world.files[machine_file] = "url = \"http://machine\"\n";
    EXPECT_EQ(world.resolve()->url.value, "http://machine");
    world.files[user_file] = "url = 'http://user'\n";
    EXPECT_EQ(world.resolve()->url.value, "http://user");
    world.variables["HOLDPOINT_URL"] = "http://variable";
    EXPECT_EQ(world.resolve()->url.value, "http://variable");
    EXPECT_EQ(world.resolve({.url = "http://flag/"})->url.value, "http://flag");
    EXPECT_EQ(world.resolve({.url = "http://flag"})->url.origin, "--url");
}

TEST(Settings, TheUsersFileLeavesOtherKeysToTheMachines) {
    World world;
    world.files[machine_file] = "url = \"http://machine\"\ncolor = \"never\"\n";
    world.files[user_file] = "color = \"always\"\n";
    EXPECT_EQ(world.resolve()->url.value, "http://machine");
    EXPECT_EQ(world.resolve()->color.value, "always");
}

TEST(Settings, XdgConfigHomeReplacesTheHomeFolder) {
    World world;
    world.variables["XDG_CONFIG_HOME"] = "/xdg";
    world.files["/xdg/holdpoint/config.toml"] = "url = \"http://xdg\"";
    world.files[user_file] = "url = \"http://home\"";
    EXPECT_EQ(world.resolve()->url.value, "http://xdg");
}

TEST(Settings, AConfigFileThatIsNamedReplacesTheUsualTwoAndMustExist) {
    World world;
    world.files[user_file] = "url = \"http://user\"";
    world.files["/other"] = "color = \"never\"";
    EXPECT_EQ(world.resolve({.config = "/other"})->url.origin, "default");
    ASSERT_FALSE(world.resolve({.config = "/missing"}));
    EXPECT_EQ(world.resolve({.config = "/missing"}).error().code, ErrorCode::invalid_argument);
}

TEST(Settings, TokenFileFlagWinsOverTheTokenVariable) {
    World world;
    world.variables["HOLDPOINT_TOKEN"] = "hp_agent_variable";
    world.variables["HOLDPOINT_TOKEN_FILE"] = "/token";
    world.files["/token"] = "hp_agent_file\n";
    world.files["/flag"] = "hp_agent_flag\r\n";
    EXPECT_EQ(world.resolve()->token.value, "hp_agent_variable");
    EXPECT_EQ(world.resolve({.token_file = "/flag"})->token.value, "hp_agent_flag");
    world.variables.erase("HOLDPOINT_TOKEN");
    EXPECT_EQ(world.resolve()->token.value, "hp_agent_file");
}

TEST(Settings, ATokenThatCouldForgeAHeaderIsRefusedWithoutBeingPrinted) {
    World world;
    world.variables["HOLDPOINT_TOKEN"] = "hp_secret\r\nX-Evil: 1";
    ASSERT_FALSE(world.resolve());
    EXPECT_EQ(world.resolve().error().message.find("hp_secret"), std::string::npos);
}

TEST(Settings, AnUnreadableTokenFileIsAnErrorNotAnAnonymousCall) {
    World world;
    world.variables["HOLDPOINT_TOKEN_FILE"] = "/missing";
    EXPECT_FALSE(world.resolve());
}

TEST(Settings, AnUnknownKeyIsNamed) {
    World world;
    world.files[user_file] = "ulr = \"http://typo\"";
    ASSERT_FALSE(world.resolve());
    EXPECT_NE(world.resolve().error().message.find("`ulr`"), std::string::npos);
}

TEST(Settings, AddressesThatAreNoneAreRefused) {
    for (const char* url : {"ftp://x", "127.0.0.1:7480", "http://a b", "http://x/?q",
                            "http://u:p@x", "http://x#f", "http:"})
        EXPECT_FALSE(World{}.resolve({.url = url})) << url;
}

TEST(Settings, OnlyRealLoopbackAddressesCountAsThisMachine) {
    for (const char* url :
         {"http://127.0.0.1:7480", "http://localhost", "http://[::1]:1/x", "http://127.9.9.9"})
        EXPECT_TRUE(is_loopback(url)) << url;
    for (const char* url : {"http://127.0.0.1.evil.example", "http://localhost.evil",
                            "http://10.0.0.1", "http://[::2]", "http://[::1", "nonsense"})
        EXPECT_FALSE(is_loopback(url)) << url;
}

TEST(ConfigFile, ReadsStringsBooleansNumbersListsAndComments) {
    const Result<ConfigFile> file = parse_config(
        "# top\n url = \"x \\\" # y\" # c\ncolor='raw\\'\r\n\n[ serve ] # the server\n"
        "exclude-requester = true\nquorum = 2\nrate-per-key = 0.5\r\n"
        "require-tool = [ # those\n  \"a]\", 'b,'\n  , \"#c\",\n]\nallow-tool=[]\n");
    ASSERT_TRUE(file) << file.error().message;
    EXPECT_EQ(file->client.at("url").words, (std::vector<std::string>{"x \" # y"}));
    EXPECT_EQ(file->client.at("color").words, (std::vector<std::string>{"raw\\"}));
    EXPECT_EQ(file->serve.at("exclude-requester").kind, ConfigValue::Kind::truth);
    EXPECT_EQ(file->serve.at("quorum").words, (std::vector<std::string>{"2"}));
    EXPECT_EQ(file->serve.at("quorum").line, 7);
    EXPECT_EQ(file->serve.at("rate-per-key").kind, ConfigValue::Kind::number);
    EXPECT_EQ(file->serve.at("require-tool").words, (std::vector<std::string>{"a]", "b,", "#c"}));
    EXPECT_EQ(file->serve.at("allow-tool").kind, ConfigValue::Kind::list);
    EXPECT_EQ(file->serve.size(), 5U);
}

TEST(ConfigFile, SaysWhichLineIsWrong) {
    for (const char* text :
         {"\nurl", "\nurl = y", "\nurl = \"open", "\nurl = \"a\" b", "\na b = \"c\"",
          "url = 'a'\nurl = 'b'", "\nurl = \"\\n\"", "\nurl = 'a' color = 'b'", "\nurl = [\"a\"]",
          "\ncolor = true", "\nurl = \"a\x01\"", "\nurl = \"\xff\"", "\nserve.quorum = 5",
          "\n\"quorum\" = 5", "\n= 5"}) {
        const Result<ConfigFile> file = parse_config(text);
        ASSERT_FALSE(file) << text;
        EXPECT_TRUE(file.error().message.starts_with("line 2: ")) << file.error().message;
    }
}

// Each of these once started a server with the default policy, without a word.
TEST(ConfigFile, NothingInItIsSkipped) {
    const std::map<std::string, std::string> reasons{
        {"[server]\nexclude-requester = true", "line 1: there is no table `[server]`"},
        {"quorum = 5\n[serve]", "line 1: unknown key `quorum`"},
        {"[serve]\n[serve.policy]\nquorum = 5", "line 2: there is no table `[serve.policy]`"},
        {"[serve\nquorum=5", "line 1: a table's `[` is not closed"},
        {"[serve] quorum=5", "line 1: there is no table"},
        {"[[serve]]\nquorum=5", "line 1: there is no table"},
        {"[\"serve\"]\nquorum=5", "line 1: there is no table"},
        {"[serve]\n[serve]", "line 2: `[serve]` stands here twice"},
        {"[serve]\nrequire-tool=[\"a\",\"b", "line 2: a string's quote is not closed"},
        {"[serve]\nrequire-tool=[\"a\",\"b\"", "line 2: a list's `[` is not closed"},
        {"[serve]\nrequire-tool=[\"a\" \"b\"]", "line 2: expected `,` or `]`"},
        {"[serve]\nrequire-tool=[,]", "line 2: expected a string"},
        {"[serve]\nrequire-tool=[[\"a\"]]", "line 2: a list in a list"},
        {"[serve]\nlisten=\"x\nquorum=5\"", "line 2: a string's quote is not closed"},
        {"[serve]\nlisten=\"\"\"x\"\"\"", "line 2: only a comment can follow"},
        {"[serve]\nexclude-requester = tru", "line 2: expected a string"},
        {"[serve]\nquorum 5", "line 2: expected a line like"},
        {"[serve]\nquorum = 5 6", "line 2: only a comment can follow"},
        {"[serve]\nquorum = 1-5", "line 2: expected a string"},
        {"[serve]\nquorum = 5\nquorum = 1", "line 3: `quorum` is set twice"}};
    for (const auto& [text, reason] : reasons) {
        const Result<ConfigFile> file = parse_config(text);
        ASSERT_FALSE(file) << text;
        EXPECT_TRUE(file.error().message.starts_with(reason)) << file.error().message;
    }
}

TEST(Settings, ABrokenTableForTheServerIsToldToTheClientAsWell) {
    World world;
    for (const char* text : {"[server]\n", "[serve\nquorum = 5", "[serve]\nrequire-tool = [\"a"}) {
        world.files[user_file] = text;
        ASSERT_FALSE(world.resolve()) << text;
        EXPECT_NE(world.resolve().error().message.find("config.toml: line "), std::string::npos);
    }
    world.files[user_file] = "color = \"never\"\n[serve]\nquorum = 5\n";
    EXPECT_EQ(world.resolve()->color.value, "never");
}

}  // namespace
}  // namespace holdpoint::cli
