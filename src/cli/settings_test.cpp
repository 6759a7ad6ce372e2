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

TEST(ConfigFile, ReadsStringsBooleansAndComments) {
    const auto values =
        parse_config("# top\n a = \"x \\\" # y\" # c\nb='raw\\'\r\nc = true\n[server]\nd = 1\n");
    ASSERT_TRUE(values);
    EXPECT_EQ(*values, (std::map<std::string, std::string>{
                           {"a", "x \" # y"}, {"b", "raw\\"}, {"c", "true"}}));
}

TEST(ConfigFile, SaysWhichLineIsWrong) {
    for (const char* text : {"\nx", "\nx = y", "\nx = \"open", "\nx = \"a\" b", "\na b = \"c\"",
                             "x = 'a'\nx = 'b'", "\nx = \"\\n\""}) {
        const auto values = parse_config(text);
        ASSERT_FALSE(values) << text;
        EXPECT_NE(values.error().message.find("line 2"), std::string::npos)
            << values.error().message;
    }
}

}  // namespace
}  // namespace holdpoint::cli
