#include "agent/journal.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace holdpoint::agent {
namespace {

class JournalTest : public testing::Test {
  protected:
    void SetUp() override {
        folder_ = std::filesystem::temp_directory_path() / "holdpoint-journal-XXXXXX";
        ASSERT_NE(mkdtemp(folder_.data()), nullptr);
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }

    void append(std::string_view text) {
        for (const auto& entry : std::filesystem::directory_iterator(folder_))
            std::ofstream(entry.path(), std::ios::app) << text;
    }
    std::string folder_;
};

TEST_F(JournalTest, S1_what_was_proposed_begun_and_finished_is_known_after_a_restart) {
    {
        Journal journal;
        ASSERT_TRUE(journal.open(folder_, "s"));
        ASSERT_TRUE(journal.propose("k1", Json::object({{"a", 1}})));
        ASSERT_TRUE(journal.accepted("k1", {"req_1"}));
        ASSERT_TRUE(journal.propose("k2", Json::object()));
        EXPECT_EQ(journal.begin("req_1")->progress, Journal::Progress::fresh);
        EXPECT_EQ(journal.begin("req_2")->progress, Journal::Progress::fresh);
        EXPECT_EQ(journal.begin("req_2")->progress, Journal::Progress::begun);
        ASSERT_TRUE(journal.finish("req_1", Json("paid")));
    }
    Journal journal;
    ASSERT_TRUE(journal.open(folder_, "s"));
    EXPECT_EQ(journal.find("k1")->ids, std::vector<std::string>{"req_1"});
    EXPECT_EQ(journal.find("k1")->body.dump(), R"({"a":1})");
    EXPECT_TRUE(journal.find("k2")->ids.empty());
    EXPECT_FALSE(journal.find("k3"));
    EXPECT_EQ(journal.begin("req_1")->progress, Journal::Progress::finished);
    EXPECT_EQ(journal.begin("req_1")->result.text(), "paid");
    // Begun and never finished: nobody knows how far it came.
    EXPECT_EQ(journal.begin("req_2")->progress, Journal::Progress::begun);
}

TEST_F(JournalTest, S1_one_process_works_in_a_session) {
    Journal first, second, other;
    EXPECT_TRUE(first.open(folder_, "s"));
    EXPECT_FALSE(second.open(folder_, "s"));
    EXPECT_TRUE(other.open(folder_, "t"));
}

TEST_F(JournalTest, X6_a_line_cut_off_by_a_crash_is_dropped_and_a_damaged_one_is_an_error) {
    {
        Journal journal;
        ASSERT_TRUE(journal.open(folder_, "s"));
        ASSERT_TRUE(journal.finish("req_1", Json(1)));
    }
    append(R"({"what":"finish","id":"req_2","res)");
    {
        Journal journal;
        ASSERT_TRUE(journal.open(folder_, "s"));
        EXPECT_EQ(journal.begin("req_2")->progress, Journal::Progress::fresh);
        EXPECT_EQ(journal.begin("req_1")->progress, Journal::Progress::finished);
    }
    append("nonsense\n");
    Journal journal;
    EXPECT_FALSE(journal.open(folder_, "s"));
}

TEST_F(JournalTest, X6_a_folder_that_cannot_be_written_is_an_error) {
    Journal journal;
    EXPECT_FALSE(journal.open("/proc/nowhere", "s"));
}

}  // namespace
}  // namespace holdpoint::agent
