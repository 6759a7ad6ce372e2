#include <gtest/gtest.h>
#include <holdpoint/tools.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

namespace holdpoint {
namespace {

class ToolsTest : public testing::Test {
  protected:
    void SetUp() override {
        outside_ = std::filesystem::temp_directory_path() / "holdpoint-tools-XXXXXX";
        ASSERT_NE(mkdtemp(outside_.data()), nullptr);
        folder_ = outside_ + "/work";
        std::filesystem::create_directory(folder_);
        std::ofstream(outside_ + "/secret") << "secret";
    }
    void TearDown() override { std::filesystem::remove_all(outside_); }

    Result<Json> run(const std::string& name, const Json& arguments) {
        ToolContext context;
        for (const Tool& tool : file_tools(folder_))
            if (tool.name == name) return tool.run(arguments, context);
        return Error{ErrorCode::not_found, "no such tool"};
    }
    Result<Json> bash(const std::string& command,
                      std::chrono::milliseconds timeout = std::chrono::seconds(20),
                      std::stop_token stop = {}) {
        ToolContext context;
        context.stop = std::move(stop);
        return bash_tool(folder_, timeout).run(Json::object({{"command", command}}), context);
    }
    /// Gone, or a zombie that nobody has collected yet; the kernel may take a moment.
    static bool is_over(int process) {
        const auto standing = [process] {
            std::ifstream status("/proc/" + std::to_string(process) + "/stat");
            std::string line;
            std::getline(status, line);
            return line;
        };
        const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
        while (std::chrono::steady_clock::now() < deadline) {
            const std::string line = standing();
            if (line.empty() || line.find(") Z ") != std::string::npos) return true;
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
        return false;
    }

    std::string outside_, folder_;
};

TEST_F(ToolsTest, A7_a_command_runs_in_its_folder_and_its_output_and_code_come_back) {
    const Result<Json> ran = bash("pwd; echo oops >&2; exit 3");
    ASSERT_TRUE(ran);
    EXPECT_EQ((*ran)["exit_code"].integer(), 3);
    EXPECT_EQ((*ran)["output"].text(), std::filesystem::canonical(folder_).string() + "\noops\n");
    EXPECT_EQ((*bash("cat"))["output"].text(), "");  // there is nothing to read
}

TEST_F(ToolsTest, A7_a_command_that_takes_too_long_is_killed_with_all_it_started) {
    const Result<Json> ran = bash("sleep 60 & echo $! ; sleep 60", std::chrono::milliseconds(300));
    ASSERT_TRUE(ran);
    EXPECT_EQ((*ran)["is_killed"].boolean(), true);
    const int child = std::stoi((*ran)["output"].text_or("0"));
    ASSERT_GT(child, 1);
    EXPECT_TRUE(is_over(child));
}

TEST_F(ToolsTest, A7_a_command_that_closes_its_output_is_killed_in_time_too) {
    const char* silent = "exec sleep 30 >/dev/null 2>&1";
    const Result<Json> late = bash(silent, std::chrono::milliseconds(200));
    ASSERT_TRUE(late);
    EXPECT_EQ((*late)["is_killed"].boolean(), true);
    std::stop_source stop;
    std::jthread stopper([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
        stop.request_stop();
    });
    const Result<Json> stopped = bash(silent, std::chrono::minutes(10), stop.get_token());
    ASSERT_TRUE(stopped);
    EXPECT_EQ((*stopped)["is_killed"].boolean(), true);
}

TEST_F(ToolsTest, A7_what_a_command_leaves_behind_ends_with_it_in_whatever_session) {
    const Result<Json> ran = bash(
        "setsid -f sh -c 'echo $$ > pid; exec sleep 60 >/dev/null 2>&1'\n"
        "while [ ! -s pid ]; do sleep 0.01; done; cat pid");
    ASSERT_TRUE(ran);
    EXPECT_EQ((*ran)["is_killed"].boolean().value_or(false), false);
    const int left = std::stoi((*ran)["output"].text_or("0"));
    ASSERT_GT(left, 1);
    EXPECT_TRUE(is_over(left));
}

TEST_F(ToolsTest, A7_what_is_printed_from_the_background_is_waited_for) {
    EXPECT_EQ((*bash("(sleep 0.1; echo late) & exit 4"))["output"].text(), "late\n");
    EXPECT_EQ((*bash("(sleep 0.1; echo late) & exit 4"))["exit_code"].integer(), 4);
}

TEST_F(ToolsTest, A7_long_output_is_cut) {
    const Result<Json> ran = bash("head -c 1000000 /dev/zero | tr '\\0' x");
    ASSERT_TRUE(ran);
    EXPECT_LE((*ran)["output"].text_or("").size(), 64U * 1024);
}

TEST_F(ToolsTest, A7_files_are_written_read_listed_and_deleted) {
    EXPECT_TRUE(run("write_file", Json::object({{"path", "a.txt"}, {"content", "one"}})));
    EXPECT_EQ((*run("read_file", Json::object({{"path", "a.txt"}})))["content"].text(), "one");
    EXPECT_EQ(run("list_files", Json::object({{"path", "."}}))->dump(), R"(["a.txt"])");
    EXPECT_TRUE(run("delete_file", Json::object({{"path", "a.txt"}})));
    EXPECT_FALSE(run("read_file", Json::object({{"path", "a.txt"}})));
}

TEST_F(ToolsTest, A7_no_path_leads_out_of_the_folder) {
    std::filesystem::create_symlink(outside_ + "/secret", folder_ + "/link");
    std::filesystem::create_directory_symlink(outside_, folder_ + "/up");
    for (const std::string& path :
         {std::string("../secret"), outside_ + "/secret", std::string("link"),
          std::string("up/secret"), std::string("x/../../secret"), std::string("")}) {
        EXPECT_FALSE(run("read_file", Json::object({{"path", path}}))) << path;
        EXPECT_FALSE(run("write_file", Json::object({{"path", path}, {"content", "x"}}))) << path;
        if (path != "link")
            EXPECT_FALSE(run("delete_file", Json::object({{"path", path}}))) << path;
    }
    EXPECT_TRUE(run("delete_file", Json::object({{"path", "link"}})));  // the link, not its target
    std::ifstream secret(outside_ + "/secret");
    std::string text;
    secret >> text;
    EXPECT_EQ(text, "secret");
}

}  // namespace
}  // namespace holdpoint
