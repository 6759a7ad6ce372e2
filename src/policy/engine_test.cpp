#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "policy/compile.h"
#include "policy/run_tests.h"

namespace holdpoint::policy {
namespace {

std::string read_text(const std::filesystem::path& path) {
    std::ifstream in(path);
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
}

void check_policies(const std::filesystem::path& folder, std::size_t tests_min) {
    if (!std::filesystem::exists(folder)) GTEST_SKIP() << folder << " is not there";
    std::size_t tests = 0;
    for (const auto& file : std::filesystem::directory_iterator(folder)) {
        if (file.path().extension() != ".yaml") continue;
        LoadOptions options;
        options.may_fail_tests = true;
        const Result<std::shared_ptr<const Policy>> policy = load(read_text(file.path()), options);
        ASSERT_TRUE(policy) << file.path() << ": " << policy.error().message;
        for (const TestResult& result : run_tests(**policy)) {
            EXPECT_TRUE(result.is_passed)
                << file.path().filename() << " " << result.name << ": " << result.message;
            ++tests;
        }
        for (const Warning& warning : (*policy)->warnings)
            ADD_FAILURE() << file.path().filename() << ":" << warning.mark.line << ": "
                          << warning.message;
    }
    EXPECT_GE(tests, tests_min);
}

TEST(ExamplePolicies, load_without_a_warning_and_pass_their_own_tests) {
    check_policies(std::filesystem::path(HOLDPOINT_SOURCE_DIR) / "tests/policies", 48);
}

TEST(ExamplePolicies, every_rule_takes_part_in_some_test) {
    const std::filesystem::path folder =
        std::filesystem::path(HOLDPOINT_SOURCE_DIR) / "tests/policies";
    for (const auto& file : std::filesystem::directory_iterator(folder)) {
        const auto policy = load(read_text(file.path()));
        ASSERT_TRUE(policy) << file.path() << ": " << policy.error().message;
        for (const std::string& rule : untested_rules(**policy))
            EXPECT_EQ(rule, "opaque-shell") << file.path().filename();
    }
}

TEST(ReferencePolicies, load_and_pass_their_own_tests) {
    check_policies(std::filesystem::path(HOLDPOINT_SOURCE_DIR) / "../shared/reference/policies",
                   52);
}

}  // namespace
}  // namespace holdpoint::policy
