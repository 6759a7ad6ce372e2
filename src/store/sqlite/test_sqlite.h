#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <filesystem>
#include <future>

#include "store/sqlite/database.h"
#include "store/sqlite/sqlite.h"
#include "store/sqlite/transaction.h"
#include "tests/faults/fault_vfs.h"

namespace holdpoint::store::sqlite {

using core::RequestPtr;
using testing::HasSubstr;
using testing::Not;

inline constexpr Timestamp start{1'800'000'000'000};

inline core::Step opened(int i) {
    static const PrincipalId agents[] = {PrincipalId::fresh(start), PrincipalId::fresh(start)};
    static const BatchId batch = BatchId::fresh(start);
    core::Request request;
    request.id = RequestId::fresh(start + i);
    request.version = 1;
    request.agent_id = agents[i % 2];
    request.agent = i % 2 ? "bot" : "other";
    request.session = "s" + std::to_string(i % 7);
    request.thread = i % 3 ? "" : "t" + std::to_string(i % 5);
    request.task = i % 4 ? "" : "k" + std::to_string(i % 3);
    request.user = i % 5 ? "u" + std::to_string(i % 4) : "";
    request.tool = "tool" + std::to_string(i % 6);
    if (i % 9 == 0) request.batch = batch;
    request.risk = static_cast<core::RiskLevel>(i % 4);
    request.kind = static_cast<core::Kind>(i % 5);
    request.created_at = start + i;
    request.expires_at = request.next_at = start + 1000 + i;
    core::Event event{
        core::EventKind::requested, request.id, request.created_at, "bot", "api", "", {}};
    return {std::move(request), {std::move(event)}, {}};
}

inline core::Step settled(core::Request request, core::Outcome outcome) {
    request.version += 1;
    request.state = core::State::settled;
    request.outcome = outcome;
    request.settled_at = start + 5000;
    request.is_released =
        request.kind != core::Kind::input &&
        (outcome == core::Outcome::allowed || outcome == core::Outcome::approved ||
         outcome == core::Outcome::modified);
    core::Event event{core::EventKind::settled, request.id, start + 5000, "ann", "cookie", "", {}};
    return {std::move(request), {std::move(event)}, {}};
}

/// A store in a file of its own, on a file layer that can be made to fail.
class SqliteFile : public testing::Test {
  protected:
    void SetUp() override {
        std::string pattern = (std::filesystem::temp_directory_path() / "sqlite_XXXXXX").string();
        folder_ = mkdtemp(pattern.data());
        path_ = folder_ + "/test.db";
        faults::install();
        faults::reset();
    }
    void TearDown() override {
        close();
        faults::reset();
        std::filesystem::remove_all(folder_);
    }

    Options options() {
        Options options;
        options.path = path_;
        options.executor = [](std::move_only_function<void()> function) { function(); };
        options.fatal = [this](const std::string& message) {
            deaths_ += 1;
            death_ = message;
        };
        return options;
    }
    Result<void> open(Options options) {
        Result<std::unique_ptr<Store>> store = open_sqlite(std::move(options));
        if (!store) return store.error();
        store_ = std::move(*store);
        return {};
    }
    void close() {
        if (store_) store_->stop();
        store_.reset();
    }
    template <class Work>
    auto run(Work work) {
        using Answer = std::invoke_result_t<Work&, Transaction&>;
        std::promise<Answer> promise;
        std::future<Answer> future = promise.get_future();
        store_->run(std::move(work),
                    [&promise](Answer answer) { promise.set_value(std::move(answer)); });
        return future.get();
    }
    Result<RequestPtr> create(int i) {
        return run([step = opened(i)](Transaction& tx) { return tx.apply(step); });
    }
    std::int64_t pending() {
        return run([](Transaction& tx) { return tx.counters(); })->pending;
    }
    /// Runs SQL on the closed file, without the store's precautions.
    void edit(const std::string& sql) {
        sqlite3* handle = nullptr;
        ASSERT_EQ(sqlite3_open(path_.c_str(), &handle), SQLITE_OK);
        EXPECT_EQ(sqlite3_exec(handle, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
            << sqlite3_errmsg(handle);
        sqlite3_close(handle);
    }
    std::string answer(const std::string& sql) {
        Database database;
        EXPECT_TRUE(database.open(path_, ""));
        return database.query_text(sql).value_or("no answer");
    }

    std::string folder_, path_;
    std::unique_ptr<Store> store_;
    std::atomic<int> deaths_ = 0;
    std::string death_;
};

}  // namespace holdpoint::store::sqlite
