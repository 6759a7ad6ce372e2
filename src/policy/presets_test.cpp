#include "policy/test_policies.h"

namespace holdpoint::policy {
namespace {

using namespace test;

constexpr std::string_view plain_tools = R"~(
tools:
  look: {read_only: true}
  note: {args: {text: string}}
  edit: {risk: medium}
  move: {risk: high}
  drop: {destructive: true}
  call: {open_world: true}
  sh: {risk: low, args: {command: string}, shell: {arg: command}}
)~";

class PresetTest : public testing::Test {
  protected:
    static std::shared_ptr<const Policy> preset(std::string_view name) {
        return policy_of("extends: " + std::string(name) + "\n" + std::string(plain_tools));
    }
};

constexpr std::string_view opaque = R"~({"tool":"sh","args":{"command":"ls $(x)"}})~";
constexpr std::string_view plan = R"({"event":"plan","plan":{"title":"t","steps":[]}})";
constexpr std::string_view answer = R"({"event":"final_response","response":{"text":"t"}})";

TEST_F(PresetTest, G10_minimal_holds_what_is_destructive_and_what_is_above_medium) {
    const auto policy = preset("minimal");
    EXPECT_EQ(said(*policy, R"({"tool":"drop"})"), "hold destructive/destructive");
    EXPECT_EQ(said(*policy, R"({"tool":"look"})"), "allow default/");
    EXPECT_EQ(said(*policy, R"({"tool":"edit"})"), "allow default/");
    EXPECT_EQ(said(*policy, R"({"tool":"call"})"), "allow default/");
    EXPECT_EQ(said(*policy, R"({"tool":"move"})"), "hold max_auto_risk/all_tools");
    EXPECT_EQ(said(*policy, opaque), "hold opaque-shell/");
    EXPECT_EQ(said(*policy, R"({"tool":"sh","args":{"command":"ls -l"}})"), "allow default/");
    EXPECT_EQ(said(*policy, R"({"tool":"nobody"})"), "hold unknown_tool/all_tools");
    EXPECT_EQ(kind(*policy, plan), "allow");
    EXPECT_EQ(kind(*policy, answer), "allow");
}

TEST_F(PresetTest, G10_standard_also_holds_what_reaches_outside_and_what_is_above_low) {
    const auto policy = preset("standard");
    EXPECT_EQ(said(*policy, R"({"tool":"drop"})"), "hold destructive/destructive");
    EXPECT_EQ(said(*policy, R"({"tool":"call"})"), "hold external/external");
    EXPECT_EQ(said(*policy, R"({"tool":"send_email"})"), "hold external/external");
    EXPECT_EQ(said(*policy, R"({"tool":"web_search"})"), "hold external/external");
    EXPECT_EQ(said(*policy, R"({"tool":"api_call"})"), "hold external/external");
    EXPECT_EQ(said(*policy, R"({"tool":"look","context":{"claims":{"open_world":true}}})"),
              "hold external/external");
    EXPECT_EQ(said(*policy, R"({"tool":"look"})"), "allow default/");
    EXPECT_EQ(said(*policy, R"({"tool":"note","args":{"text":"x"}})"), "allow default/");
    EXPECT_EQ(said(*policy, R"({"tool":"edit"})"), "hold max_auto_risk/all_tools");
    EXPECT_EQ(said(*policy, opaque), "hold opaque-shell/");
    EXPECT_EQ(said(*policy, R"({"tool":"nobody"})"), "hold unknown_tool/all_tools");
    EXPECT_EQ(kind(*policy, plan), "allow");
    EXPECT_EQ(kind(*policy, answer), "allow");
}

TEST_F(PresetTest, G10_strict_holds_every_tool_and_every_answer) {
    const auto policy = preset("strict");
    EXPECT_EQ(said(*policy, R"({"tool":"look"})"), "hold all_tools/all_tools");
    EXPECT_EQ(said(*policy, R"({"tool":"drop"})"), "hold all_tools/all_tools");
    EXPECT_EQ(said(*policy, answer), "hold final/final");
    EXPECT_EQ(kind(*policy, plan), "allow");
    EXPECT_EQ(said(*policy, opaque), "hold opaque-shell/");
    EXPECT_EQ(judge(*policy, opaque).risk, RiskLevel::high);
    EXPECT_EQ(said(*policy, R"({"tool":"nobody"})"), "hold all_tools/all_tools");
    const auto open =
        policy_of("extends: strict\n" + std::string(plain_tools) + "never_require: [look]\n");
    EXPECT_EQ(said(*open, R"({"tool":"look"})"), "allow never_require/");
}

TEST_F(PresetTest, G10_paranoid_holds_plans_too_and_denies_what_it_cannot_read) {
    const auto policy = preset("paranoid");
    EXPECT_EQ(said(*policy, R"({"tool":"look"})"), "hold all_tools/all_tools");
    EXPECT_EQ(said(*policy, answer), "hold final/final");
    EXPECT_EQ(said(*policy, plan), "hold plans/plans");
    EXPECT_EQ(said(*policy, opaque), "deny opaque-shell/");
    EXPECT_EQ(said(*policy, R"({"tool":"nobody"})"), "hold all_tools/all_tools");
    const auto open =
        policy_of("extends: paranoid\n" + std::string(plain_tools) + "never_require: [look]\n");
    EXPECT_EQ(kind(*open, R"({"tool":"look"})"), "hold") << "nothing passes without a person";
}

TEST_F(PresetTest, G10_questions_reach_people_in_every_preset) {
    for (const std::string_view name : {"minimal", "standard", "strict", "paranoid"}) {
        const auto policy = preset(name);
        EXPECT_EQ(kind(*policy, R"({"event":"input","input":{"question":"q"}})"), "hold") << name;
        EXPECT_EQ(kind(*policy, R"({"event":"confirmation","confirmation":{"message":"q"}})"),
                  "hold")
            << name;
        EXPECT_EQ(terms(*policy, R"({"tool":"drop"})").timing.timeout_ms, 300'000);
        EXPECT_EQ(terms(*policy, R"({"tool":"drop"})").timing.on_timeout, TimeoutAction::reject);
    }
}

TEST_F(PresetTest, G10_an_error_is_held_and_denied_by_paranoid) {
    constexpr std::string_view rule =
        "rules: [{id: odd, tools: [note], when: args.text == vars.x, then: require}]\n"
        "vars: {x: \"args.missing\"}\n";
    const auto by = [&](std::string_view name) {
        return said(*policy_of("extends: " + std::string(name) + "\n" + std::string(plain_tools) +
                               std::string(rule)),
                    R"({"tool":"note","args":{"text":"x"}})");
    };
    EXPECT_EQ(by("minimal"), "hold odd/");
    EXPECT_EQ(by("paranoid"), "deny odd/");
}

}  // namespace
}  // namespace holdpoint::policy
