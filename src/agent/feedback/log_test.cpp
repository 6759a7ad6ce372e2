#include "agent/feedback/log.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

namespace holdpoint::agent::feedback {
namespace {

class FeedbackLog : public ::testing::Test {
  protected:
    FeedbackLog()
        : folder_(std::filesystem::temp_directory_path() /
                  ("holdpoint-feedback-log-" + std::to_string(::getpid()))) {
        std::filesystem::create_directories(folder_);
    }
    ~FeedbackLog() override { std::filesystem::remove_all(folder_); }
    std::string file() const { return (folder_ / "feedback.db").string(); }

    std::filesystem::path folder_;
};

TEST_F(FeedbackLog, F1_what_is_written_is_read_back) {
    Result<Log> log = Log::open(file());
    ASSERT_TRUE(log) << log.error().message;
    const Feedback item{.request_id = "req_1",
                        .kind = FeedbackKind::modification,
                        .tool = "refund",
                        .text = "too much; 'quoted'",
                        .before = *Json::parse(R"({"amount":5})"),
                        .after = *Json::parse(R"({"amount":4})"),
                        .by = "ann",
                        .at = "2026-01-01T00:00:00.000Z",
                        .session = "s"};
    const Result<std::int64_t> id = log->add(item);
    ASSERT_TRUE(id);
    EXPECT_EQ(*log->add(item), *id) << "the same about the same request is kept once";
    const Result<std::vector<Feedback>> rows = log->all("s");
    ASSERT_TRUE(rows);
    ASSERT_EQ(rows->size(), 1U);
    const Feedback& row = rows->front();
    EXPECT_EQ(row.id, *id);
    EXPECT_EQ(row.kind, item.kind);
    EXPECT_EQ(row.request_id, item.request_id);
    EXPECT_EQ(row.tool, item.tool);
    EXPECT_EQ(row.before, item.before);
    EXPECT_EQ(row.after, item.after);
    EXPECT_EQ(row.text, item.text);
    EXPECT_EQ(row.by, item.by);
    EXPECT_EQ(row.at, item.at);
    EXPECT_TRUE(log->all("t")->empty());
}

TEST_F(FeedbackLog, F1_only_its_owner_may_read_the_file) {
    ASSERT_TRUE(Log::open(file()));
    struct stat status{};
    ASSERT_EQ(::stat(file().c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777U, 0600U);
}

TEST_F(FeedbackLog, F1_a_file_of_something_else_is_left_alone) {
    std::ofstream(file())
        << "this is a text and no database at all, longer than a header is ........";
    EXPECT_FALSE(Log::open(file()));
    std::ifstream read(file());
    std::string first;
    read >> first;
    EXPECT_EQ(first, "this");
    EXPECT_FALSE(Log::open((folder_ / "no" / "such" / "folder.db").string()));
}

}  // namespace
}  // namespace holdpoint::agent::feedback
