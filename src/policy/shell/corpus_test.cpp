// Plays the shared set of hostile and benign commands; each hostile one really ran its payload.
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "base/json.h"
#include "policy/shell/cover.h"

namespace holdpoint::policy::shell {
namespace {

std::vector<AllowPattern> patterns_of(const json::value& allow) {
    std::vector<AllowPattern> patterns;
    for (const json::value& words : allow.as_array()) {
        CommandPattern pattern;
        for (const json::value& word : words.as_array()) {
            pattern.words.push_back({std::string(word.as_string())});
        }
        // Compiled without the loader's check: what it would refuse must not be covered either.
        Result<AllowPattern> compiled = AllowPattern::compile(std::move(pattern));
        if (compiled) patterns.push_back(std::move(*compiled));
    }
    return patterns;
}

TEST(ShellCorpus, P2_no_hostile_command_passes_and_every_plain_one_does) {
    const std::filesystem::path file =
        std::filesystem::path(HOLDPOINT_SOURCE_DIR) / "../shared/data/shell-commands.jsonl";
    std::ifstream lines(file);
    if (!lines) GTEST_SKIP() << "the shared set is not here: " << file;
    int count = 0;
    const auto reading = std::make_unique<Reading>();
    for (std::string line; std::getline(lines, line); ++count) {
        const Result<json::value> parsed = json::parse(line);
        ASSERT_TRUE(parsed) << line;
        const json::object& row = parsed->as_object();
        prove(row.at("command").as_string(), Dialect::bash, *reading);
        const bool is_allowed = is_covered(*reading, patterns_of(row.at("allow")));
        EXPECT_EQ(is_allowed, row.at("expected").as_string() == "allow") << line;
    }
    EXPECT_GT(count, 50);
}

}  // namespace
}  // namespace holdpoint::policy::shell
