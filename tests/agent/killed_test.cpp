// Agents that are killed while a person is being asked, and started again.
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace holdpoint::test {
namespace {

class Killed : public testing::TestWithParam<const char*> {
  protected:
    void SetUp() override {
        folder_ = std::filesystem::temp_directory_path() / "holdpoint-killed-XXXXXX";
        ASSERT_NE(mkdtemp(folder_.data()), nullptr);
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }

    /// Starts the agent, reads what it prints, and kills it once it has asked if it shall not end
    /// by itself.
    std::vector<std::string> run(const std::string& answer) {
        std::vector<std::string> words{NIGHT_SHIFT, folder_, GetParam()};
        if (!answer.empty()) words.push_back(answer);
        std::vector<char*> arguments;
        for (std::string& word : words) arguments.push_back(word.data());
        arguments.push_back(nullptr);
        int ends[2];
        if (::pipe(ends) != 0) throw std::runtime_error("no pipe");
        posix_spawn_file_actions_t actions;
        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
        posix_spawn_file_actions_addclose(&actions, ends[0]);
        pid_t child = 0;
        const int failed =
            ::posix_spawn(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
        posix_spawn_file_actions_destroy(&actions);
        ::close(ends[1]);
        if (failed != 0) throw std::runtime_error("the agent does not start");
        std::vector<std::string> lines;
        std::FILE* output = ::fdopen(ends[0], "r");
        char line[4096];
        while (std::fgets(line, sizeof line, output)) {
            if (line[0] == '[') continue;  // the log, where the store was not closed
            lines.emplace_back(line);
            lines.back().pop_back();
            if (answer.empty() && lines.back().starts_with("asked ")) ::kill(child, SIGKILL);
        }
        std::fclose(output);
        ::waitpid(child, nullptr, 0);
        return lines;
    }
    std::size_t refunds() const {
        std::ifstream file(folder_ + "/refunds");
        std::size_t count = 0;
        for (std::string line; std::getline(file, line);) ++count;
        return count;
    }

    std::string folder_;
};

TEST_P(Killed, S1_what_a_worker_or_a_question_waits_for_survives_the_process) {
    const bool has_worker = std::string_view(GetParam()) == "worker";
    const std::vector<std::string> killed = run("");
    ASSERT_EQ(killed.size(), 1U);
    ASSERT_EQ(refunds(), 0U);
    // The same request is waited for again, and answered now.
    const std::vector<std::string> second = run("blue");
    ASSERT_EQ(second.size(), 2U);
    EXPECT_EQ(second[0], killed[0]);
    EXPECT_EQ(second[1],
              has_worker ? R"({"answer":"The money is on its way."})" : R"({"answer":"blue"})");
    // Nobody is asked again, and nothing is done again.
    const std::vector<std::string> third = run("red");
    ASSERT_EQ(third.size(), 1U);
    EXPECT_EQ(third[0], second[1]);
    EXPECT_EQ(refunds(), has_worker ? 1U : 0U);
}

INSTANTIATE_TEST_SUITE_P(All, Killed, testing::Values("worker", "question"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace holdpoint::test
