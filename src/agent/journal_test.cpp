#include "agent/journal.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>

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
        ASSERT_TRUE(journal.propose({"k1", Json::object({{"a", 1}}), {"k1"}}));
        ASSERT_TRUE(journal.accepted("k1", {"req_1"}));
        ASSERT_TRUE(journal.propose({"both", Json::object({{"b", 2}}), {"k2", "k3"}}));
        EXPECT_EQ(journal.begin("req_1")->progress, Journal::Progress::fresh);
        EXPECT_EQ(journal.begin("req_2")->progress, Journal::Progress::fresh);
        EXPECT_EQ(journal.begin("req_2")->progress, Journal::Progress::begun);
        ASSERT_TRUE(journal.finish("req_1", Json("paid")));
    }
    Journal journal;
    ASSERT_TRUE(journal.open(folder_, "s"));
    EXPECT_EQ(journal.find("k1")->call.ids, std::vector<std::string>{"req_1"});
    EXPECT_EQ(journal.find("k3")->call.key, "both");
    EXPECT_EQ(journal.find("k3")->call.body.dump(), R"({"b":2})");
    EXPECT_EQ(journal.find("k3")->at, 1U);
    EXPECT_TRUE(journal.find("k2")->call.ids.empty());
    EXPECT_FALSE(journal.find("k4"));
    EXPECT_EQ(journal.begin("req_1")->progress, Journal::Progress::finished);
    EXPECT_EQ(journal.begin("req_1")->result.text(), "paid");
    // Begun and never finished: nobody knows how far it came.
    EXPECT_EQ(journal.begin("req_2")->progress, Journal::Progress::begun);
}

TEST_F(JournalTest, S1_one_process_works_in_a_session) {
    Journal first, second, other, elsewhere;
    EXPECT_TRUE(first.open(folder_, "s"));
    EXPECT_FALSE(second.open(folder_, "s"));
    EXPECT_TRUE(other.open(folder_, "t"));
    // The same name on another server is another session.
    EXPECT_TRUE(elsewhere.open(folder_, "s", "https://holdpoint.example.org"));
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

Json nested(int depth) {
    Json value = 1;
    for (int i = 0; i < depth; ++i) value = Json::array({value});
    return value;
}

TEST_F(JournalTest, X6_what_could_not_be_read_again_never_closes_the_session) {
    const std::vector<Json> bad{Json(std::string(std::size_t{5} << 20, 'x')), nested(100),
                                Json::object({{"\xfe", 1}, {"\xff", 2}})};
    {
        Journal journal;
        ASSERT_TRUE(journal.open(folder_, "s"));
        std::vector<Json> refused = bad;
        refused.push_back(Json::object({{"\xc3", 1}}));
        refused.emplace_back("\xff");
        for (const Json& value : refused) {
            const Result<void> proposed =
                journal.propose({"k", Json::object({{"a", value}}), {"k"}});
            ASSERT_FALSE(proposed);
            EXPECT_EQ(proposed.error().code, ErrorCode::invalid_argument);
        }
        for (std::size_t i = 0; i < bad.size(); ++i) {
            const std::string id = "req_" + std::to_string(i);
            ASSERT_TRUE(journal.begin(id));
            ASSERT_TRUE(journal.finish(id, bad[i]));
        }
    }
    Journal journal;
    ASSERT_TRUE(journal.open(folder_, "s"));
    EXPECT_FALSE(journal.find("k"));
    for (std::size_t i = 0; i < bad.size(); ++i) {
        const Result<Journal::Standing> standing = journal.begin("req_" + std::to_string(i));
        EXPECT_EQ(standing->progress, Journal::Progress::finished);
        EXPECT_NE(standing->result.text_or("").find("could not be kept"), std::string::npos);
    }
}

TEST_F(JournalTest, X6_a_full_disk_leaves_no_half_line_behind) {
    {
        Journal journal;
        ASSERT_TRUE(journal.open(folder_, "s"));
        ASSERT_TRUE(journal.finish("req_1", Json(1)));
        // A limit on the size of files cuts a write off as a full disk does.
        rlimit before{};
        ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
        const auto ignored = std::signal(SIGXFSZ, SIG_IGN);
        const rlimit small{200, before.rlim_max};
        ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
        EXPECT_FALSE(journal.finish("req_2", Json(std::string(1000, 'x'))));
        ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
        std::signal(SIGXFSZ, ignored);
        EXPECT_TRUE(journal.finish("req_3", Json(3)));
    }
    Journal journal;
    ASSERT_TRUE(journal.open(folder_, "s"));
    EXPECT_EQ(journal.begin("req_1")->progress, Journal::Progress::finished);
    EXPECT_EQ(journal.begin("req_2")->progress, Journal::Progress::fresh);
    EXPECT_EQ(journal.begin("req_3")->progress, Journal::Progress::finished);
}

TEST_F(JournalTest, X6_a_folder_that_cannot_be_written_is_an_error) {
    Journal journal;
    EXPECT_FALSE(journal.open("/proc/nowhere", "s"));
}

}  // namespace
}  // namespace holdpoint::agent
