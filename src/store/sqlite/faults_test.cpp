// What the SQLite store does when the disk fails.

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/sqlite/test_sqlite.h"

namespace holdpoint::store::sqlite {
namespace {

class SqliteFaults : public SqliteFile {
  protected:
    void SetUp() override {
        SqliteFile::SetUp();
        Options wanted = options();
        wanted.vfs = faults::vfs_name;
        ASSERT_TRUE(open(std::move(wanted)));
        ASSERT_TRUE(create(0));
    }
};

TEST_F(SqliteFaults, AFullDiskRefusesAndRecoversWhenThereIsSpace) {
    faults::fail({.operation = faults::Operation::write,
                  .nth = 1,
                  .code = SQLITE_FULL,
                  .is_for_ever = true});
    for (int i = 1; i < 4; ++i) {
        const Result<RequestPtr> refused = create(i);
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().code, ErrorCode::unavailable);
        EXPECT_THAT(refused.error().message, HasSubstr("disk is full"));
        EXPECT_THAT(refused.error().message, HasSubstr("nothing was changed"));
    }
    EXPECT_EQ(pending(), 1) << "reading still works";
    faults::clear_failures();
    const Result<RequestPtr> made = create(5);
    ASSERT_TRUE(made);
    EXPECT_EQ((*made)->row, 2);
    EXPECT_EQ(pending(), 2);
    EXPECT_EQ(deaths_, 0);
}

TEST_F(SqliteFaults, OnAFullDiskWhatFitsIsNotRefusedForWhatCameWithIt) {
    // The store is kept busy until all have come, so that they share one transaction.
    std::promise<void> all_came;
    store_->run(
        [came = all_came.get_future().share()](Transaction&) -> Result<void> {
            came.wait();
            return {};
        },
        [](Result<void>) {});
    std::vector<std::future<Result<RequestPtr>>> answers;
    for (int i = 1; i < 6; ++i) {
        auto promise = std::make_shared<std::promise<Result<RequestPtr>>>();
        answers.push_back(promise->get_future());
        store_->run(
            [step = opened(i)](Transaction& tx) { return tx.apply(step); },
            [promise](Result<RequestPtr> answer) { promise->set_value(std::move(answer)); });
    }
    faults::fail({.operation = faults::Operation::write, .nth = 1, .code = SQLITE_FULL});
    all_came.set_value();
    int refused = 0;
    for (auto& answer : answers)
        if (!answer.get()) refused += 1;
    EXPECT_EQ(refused, 0) << "there was room again when each was tried alone";
    EXPECT_EQ(pending(), 6);
    EXPECT_EQ(deaths_, 0);
}

TEST_F(SqliteFaults, EveryNthWriteMayFindTheDiskFull) {
    std::int64_t made = 1;
    for (int nth = 1; nth <= 60; ++nth) {
        faults::fail({.operation = faults::Operation::write, .nth = nth, .code = SQLITE_FULL});
        if (create(nth)) ++made;
        faults::clear_failures();
        EXPECT_EQ(pending(), made) << nth;
        EXPECT_EQ(run([](Transaction& tx) { return tx.list({{}, 0, 1000}); })->requests.size(),
                  static_cast<std::size_t>(made));
    }
    EXPECT_GT(made, 1);
    EXPECT_LT(made, 61);
    EXPECT_EQ(deaths_, 0);
}

TEST_F(SqliteFaults, AFailedSyncEndsTheProcessAndNobodyHearsOfSuccess) {
    faults::fail({.operation = faults::Operation::sync,
                  .nth = 1,
                  .code = SQLITE_IOERR_FSYNC,
                  .suffix = "-wal"});
    const Result<RequestPtr> lost = create(1);
    ASSERT_FALSE(lost);
    EXPECT_EQ(lost.error().code, ErrorCode::unavailable);
    EXPECT_EQ(deaths_, 1);
    EXPECT_THAT(death_, HasSubstr(path_));
    // The fault is over, but a sync that failed is never tried again.
    const std::int64_t syncs = faults::count(faults::Operation::sync);
    EXPECT_FALSE(create(2));
    EXPECT_FALSE(run([](Transaction& tx) { return tx.last_event(); }));
    close();
    EXPECT_EQ(faults::count(faults::Operation::sync), syncs);
    EXPECT_EQ(deaths_, 1);
    ASSERT_TRUE(open(options()));
    EXPECT_GE(pending(), 1) << "what was confirmed is still there";
}

TEST_F(SqliteFaults, AFailedWriteEndsTheProcess) {
    faults::fail({.operation = faults::Operation::write, .nth = 1, .code = SQLITE_IOERR_WRITE});
    EXPECT_FALSE(create(1));
    EXPECT_EQ(deaths_, 1);
}

TEST_F(SqliteFaults, AFailedCopyOfTheLogEndsTheProcessButTheAnswerStands) {
    close();
    Options wanted = options();
    wanted.vfs = faults::vfs_name;
    wanted.checkpoint_busy_pages = 1;
    ASSERT_TRUE(open(std::move(wanted)));
    faults::fail({.operation = faults::Operation::sync,
                  .nth = 1,
                  .code = SQLITE_IOERR_FSYNC,
                  .suffix = ".db"});
    EXPECT_TRUE(create(1)) << "it was durable in the log before the copy failed";
    close();
    EXPECT_EQ(deaths_, 1);
    ASSERT_TRUE(open(options()));
    EXPECT_EQ(pending(), 2);
}

TEST_F(SqliteFaults, ASyncThatFailsWhileAFileIsMadeStartsNothing) {
    const auto make = [&] {
        close();
        for (const char* ending : {"", "-wal", "-journal"}) std::filesystem::remove(path_ + ending);
        Options wanted = options();
        wanted.vfs = faults::vfs_name;
        return open(std::move(wanted));
    };
    close();
    const std::int64_t before = faults::count(faults::Operation::sync);
    ASSERT_TRUE(make());
    const std::int64_t syncs = faults::count(faults::Operation::sync) - before;
    ASSERT_GT(syncs, 2);
    for (int nth = 1; nth <= syncs; ++nth) {
        close();
        faults::fail(
            {.operation = faults::Operation::sync, .nth = nth, .code = SQLITE_IOERR_FSYNC});
        const Result<void> refused = make();
        faults::clear_failures();
        ASSERT_FALSE(refused) << nth;
        EXPECT_EQ(refused.error().code, ErrorCode::unavailable) << nth;
    }
    EXPECT_TRUE(make());
    EXPECT_EQ(deaths_, 0);
}

TEST_F(SqliteFaults, TheDefaultIsToSayWhatToDoAndEndTheProcess) {
    testing::FLAGS_gtest_death_test_style = "threadsafe";
    close();
    EXPECT_EXIT(
        {
            spdlog::set_default_logger(spdlog::stderr_logger_st("fatal"));
            Options wanted = options();
            wanted.vfs = faults::vfs_name;
            wanted.fatal = nullptr;
            if (open(std::move(wanted))) {
                faults::fail({.operation = faults::Operation::sync,
                              .nth = 1,
                              .code = SQLITE_IOERR_FSYNC,
                              .suffix = "-wal"});
                (void)create(1);
            }
            _exit(0);
        },
        testing::ExitedWithCode(70), "the disk under .* failed.*Check the disk.*start again");
}

TEST_F(SqliteFaults, AFullDiskDuringACopyOfTheLogLosesNothing) {
    close();
    Options wanted = options();
    wanted.vfs = faults::vfs_name;
    wanted.checkpoint_busy_pages = 1;
    ASSERT_TRUE(open(std::move(wanted)));
    faults::fail({.operation = faults::Operation::write,
                  .nth = 1,
                  .code = SQLITE_FULL,
                  .is_for_ever = true,
                  .suffix = ".db"});
    for (int i = 1; i < 10; ++i) EXPECT_TRUE(create(i));
    faults::clear_failures();
    EXPECT_TRUE(create(10));
    EXPECT_EQ(deaths_, 0);
    EXPECT_EQ(pending(), 11);
}

}  // namespace
}  // namespace holdpoint::store::sqlite
