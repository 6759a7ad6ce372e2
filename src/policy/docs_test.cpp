#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "policy/compile.h"

/// The examples in docs/policy.md are policies: each loads, and its tests pass.
namespace holdpoint::policy {
namespace {

std::vector<std::string> yaml_blocks(const std::filesystem::path& path) {
    std::ifstream in(path);
    std::vector<std::string> blocks;
    std::string line;
    bool is_inside = false;
    while (std::getline(in, line)) {
        if (line.starts_with("```")) {
            is_inside = line == "```yaml";
            if (is_inside) blocks.emplace_back();
        } else if (is_inside) {
            blocks.back() += line + "\n";
        }
    }
    return blocks;
}

TEST(PolicyDocs, every_example_loads_and_passes_its_own_tests) {
    const std::vector<std::string> blocks =
        yaml_blocks(std::filesystem::path(HOLDPOINT_SOURCE_DIR) / "docs/policy.md");
    ASSERT_GE(blocks.size(), 8u);
    for (const std::string& block : blocks) {
        const bool is_whole = block.starts_with("holdpoint:");
        const auto policy = load(is_whole ? block : "holdpoint: 1\n" + block);
        EXPECT_TRUE(policy) << policy.error().message << "\nin\n" << block;
    }
}

}  // namespace
}  // namespace holdpoint::policy
