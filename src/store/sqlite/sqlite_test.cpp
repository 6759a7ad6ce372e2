// What only the SQLite store promises: its plans, its file, and what it does when the disk fails.

#include "store/sqlite/sqlite.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <future>
#include <random>

#include "store/sqlite/database.h"
#include "store/sqlite/log_room.h"
#include "store/sqlite/migrations.h"
#include "store/sqlite/transaction.h"
#include "tests/faults/fault_vfs.h"

namespace holdpoint::store::sqlite {
namespace {

using testing::HasSubstr;
using testing::Not;
using RequestPointer = std::shared_ptr<const core::Request>;

constexpr Timestamp start{1'800'000'000'000};

core::Step opened(int i) {
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

core::Step settled(core::Request request, core::Outcome outcome) {
    request.version += 1;
    request.state = core::State::settled;
    request.outcome = outcome;
    request.settled_at = start + 5000;
    core::Event event{core::EventKind::settled, request.id, start + 5000, "ann", "cookie", "", {}};
    return {std::move(request), {std::move(event)}, {}};
}

// ---- plans

/// A database with a few hundred requests, without a store's thread around it.
class SqlitePlans : public testing::Test {
  protected:
    void SetUp() override {
        ASSERT_TRUE(database_.open(":memory:", ""));
        ASSERT_TRUE(migrate(database_, "test"));
        searching_.emplace(database_, SqliteTransaction::Setup{{}, 0});
        ASSERT_TRUE(searching_->load_tally());
        ASSERT_TRUE(searching_->begin());
        searching_->begin_job();
        for (int i = 0; i < 400; ++i) {
            const Result<RequestPointer> made = searching_->apply(opened(i));
            ASSERT_TRUE(made);
            if (i % 3 == 0) continue;
            ASSERT_TRUE(searching_->apply(settled(**made, static_cast<core::Outcome>(i % 11))));
            some_ = *made;
        }
        ASSERT_TRUE(searching_->commit());
    }

    std::string plan_of(const std::string& sql) {
        std::string plan;
        Statement row = database_.prepare("EXPLAIN QUERY PLAN " + sql);
        while (row.step()) plan += std::string(row.text(3)) + "\n";
        return plan;
    }
    void expect_search(const std::string& sql) {
        const std::string plan = plan_of(sql);
        SCOPED_TRACE(sql + "\n" + plan);
        EXPECT_THAT(plan, HasSubstr("SEARCH"));
        EXPECT_THAT(plan, Not(HasSubstr("SCAN")));
        EXPECT_THAT(plan, Not(HasSubstr("TEMP B-TREE")));
    }
    std::string plan_of_list(const ListFilter& filter) {
        const Result<BuiltQuery> query = searching_->build_list({filter, 0, 10});
        EXPECT_TRUE(query);
        expect_search(query->sql);
        return plan_of(query->sql);
    }
    ListFilter filter_of(unsigned which) const {
        ListFilter filter;
        if (which & 1) filter.state = core::State::settled;
        if (which & 2) filter.outcome = core::Outcome::approved;
        if (which & 4) filter.session = some_->session;
        if (which & 8) filter.thread = "t1";
        if (which & 16) filter.task = "k1";
        if (which & 32) filter.user = "u1";
        if (which & 64) filter.agent = some_->agent;
        if (which & 128) filter.tool = some_->tool;
        if (which & 256) filter.risk = core::RiskLevel::high;
        if (which & 512) filter.kind = core::Kind::plan;
        if (which & 1024) filter.batch = BatchId::fresh(start);
        if (which & 2048) filter.since = start + 10;
        if (which & 4096) filter.until = start + 300;
        if (which & 8192) filter.agent_id = some_->agent_id;
        return filter;
    }
    static constexpr int fields = 14;

    Database database_;
    std::optional<SqliteTransaction> searching_;
    RequestPointer some_;
};

TEST_F(SqlitePlans, EveryListWithOneFilterIsASearchInTheRightIndex) {
    const char* indexes[fields] = {"request_standing",    "request_standing", "request_session",
                                   "request_thread",      "request_task",     "request_user",
                                   "request_requester",   "request_tool",     "request_standing",
                                   "request_standing",    "request_batch",    "INTEGER PRIMARY KEY",
                                   "INTEGER PRIMARY KEY", "request_requester"};
    EXPECT_THAT(plan_of_list({}), HasSubstr("INTEGER PRIMARY KEY"));
    for (unsigned field = 0; field < fields; ++field) {
        SCOPED_TRACE("field " + std::to_string(field));
        const std::string plan = plan_of_list(filter_of(1u << field));
        EXPECT_THAT(plan, HasSubstr(indexes[field]));
        EXPECT_THAT(plan, HasSubstr("rowid<?")) << "pages by row";
    }
}

TEST_F(SqlitePlans, EveryListWithTwoFiltersIsASearch) {
    for (unsigned first = 0; first < fields; ++first)
        for (unsigned second = first + 1; second < fields; ++second)
            plan_of_list(filter_of(1u << first | 1u << second));
}

TEST_F(SqlitePlans, AnAgentsPendingRequestsNeedNoLookAtItsSettledOnes) {
    ListFilter filter;
    filter.state = core::State::pending;
    filter.agent_id = some_->agent_id;
    const std::string plan = plan_of_list(filter);
    EXPECT_THAT(plan, HasSubstr("request_requester (requester=? AND state=?"));
}

TEST_F(SqlitePlans, DeadlinesAndSingleRequestsAreSearches) {
    for (const std::string& sql : searching_->fixed_statements()) expect_search(sql);
}

TEST_F(SqlitePlans, EventsAreReadFromWhereTheReaderStopped) {
    const Result<BuiltQuery> query =
        searching_->build_events({.after = 5}, filter_of(4 | 8192), 10);
    ASSERT_TRUE(query);
    expect_search(query->sql);
    EXPECT_THAT(plan_of(query->sql),
                HasSubstr("SEARCH e USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)"));
}

// The choice of the index is for speed; it must never change what is found.
TEST_F(SqlitePlans, WhicheverIndexIsTakenTheListIsTheSame) {
    SqliteTransaction skipping(database_, {{}, 1'000'000});
    ASSERT_TRUE(skipping.load_tally());
    const auto rows = [](SqliteTransaction& tx, const ListFilter& filter) {
        std::vector<std::int64_t> found;
        const Result<ListPage> page = tx.list({filter, 0, 1000});
        EXPECT_TRUE(page);
        for (const RequestPointer& request : page->requests) found.push_back(request->row);
        return found;
    };
    std::mt19937 random(1);
    std::size_t found = 0;
    for (int i = 0; i < 2000; ++i) {
        // Every bit in one of four: mostly two to five filters.
        const unsigned which = static_cast<unsigned>(random() & random()) & ((1u << fields) - 1);
        const ListFilter filter = filter_of(which);
        const std::vector<std::int64_t> expected = rows(skipping, filter);
        ASSERT_EQ(rows(*searching_, filter), expected) << which;
        found += expected.size();
    }
    EXPECT_GT(found, 1000u) << "the filters must not all be empty";
}

TEST_F(SqlitePlans, ManyAgentsOfOneNameAreMerged) {
    ASSERT_TRUE(searching_->begin());
    searching_->begin_job();
    for (int i = 0; i < 600; ++i) {
        core::Step step = opened(500 + i);
        step.request.agent_id = PrincipalId::fresh(start);
        step.request.agent = i < 150 ? "few" : "many";
        ASSERT_TRUE(searching_->apply(std::move(step)));
    }
    ListFilter filter;
    filter.agent = "few";
    EXPECT_EQ(searching_->list({filter, 0, 1000})->requests.size(), 150u);
    EXPECT_THAT(plan_of_list(filter), HasSubstr("MERGE"));
    filter.agent = "many";
    EXPECT_EQ(searching_->list({filter, 0, 1000})->requests.size(), 450u);
    ASSERT_TRUE(searching_->rollback());
}

// ---- damage

TEST_F(SqlitePlans, DamagedRowsAreInternalErrorsNotGuesses) {
    const std::string where = " WHERE row=" + std::to_string(some_->row);
    // A rollback makes the store forget what it remembers of recent requests.
    ASSERT_TRUE(searching_->begin());
    ASSERT_TRUE(searching_->rollback());
    for (const char* damage :
         {"UPDATE request SET kind=9", "UPDATE request SET state=0", "UPDATE request SET outcome=0",
          "UPDATE request SET outcome=99", "UPDATE request SET risk=-1",
          "UPDATE request SET requirement='{}'", "UPDATE request SET timing='x'",
          "UPDATE request SET decision='{\"kind\":\"approve\"}'", "UPDATE request SET vote_count=1",
          "UPDATE request SET requester=999", "UPDATE request SET timeout_taken=7",
          "UPDATE request SET batch=x'00'", "UPDATE body SET verdict='{}'", "DELETE FROM body"}) {
        SCOPED_TRACE(damage);
        ASSERT_TRUE(searching_->begin());
        ASSERT_TRUE(database_.execute(damage + where));
        searching_->begin_job();
        const Result<RequestPointer> loaded = searching_->load(some_->id);
        ASSERT_FALSE(loaded);
        EXPECT_EQ(loaded.error().code, ErrorCode::internal);
        ASSERT_TRUE(searching_->rollback());
    }
    EXPECT_TRUE(searching_->load(some_->id));
}

// ---- the file

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
    Result<RequestPointer> create(int i) {
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

TEST_F(SqliteFile, BelongsToItsOwnerOnly) {
    ASSERT_TRUE(open(options()));
    ASSERT_TRUE(create(1));
    for (const std::string& name : {path_, path_ + "-wal"}) {
        struct stat about{};
        ASSERT_EQ(stat(name.c_str(), &about), 0) << name;
        EXPECT_EQ(about.st_mode & 0777, 0600u) << name;
    }
    EXPECT_FALSE(std::filesystem::exists(path_ + "-shm"));
    close();
    std::filesystem::permissions(path_, std::filesystem::perms::all);
    ASSERT_TRUE(open(options()));
    struct stat about{};
    ASSERT_EQ(stat(path_.c_str(), &about), 0);
    EXPECT_EQ(about.st_mode & 0777, 0600u);
}

TEST_F(SqliteFile, CarriesItsMarkAndVersion) {
    ASSERT_TRUE(open(options()));
    close();
    EXPECT_EQ(answer("PRAGMA application_id"), std::to_string(application_id));
    EXPECT_EQ(answer("PRAGMA user_version"), std::to_string(migrations().size()));
    EXPECT_EQ(answer("PRAGMA journal_mode"), "wal");
    EXPECT_EQ(answer("SELECT count(*) FROM sqlite_master WHERE type='table' AND"
                     " name NOT LIKE 'sqlite_%' AND sql NOT LIKE '%STRICT%'"),
              "0");
}

TEST_F(SqliteFile, EveryCommitIsSynced) {
    Options wanted = options();
    wanted.vfs = faults::vfs_name;
    ASSERT_TRUE(open(std::move(wanted)));
    ASSERT_TRUE(create(0));
    for (int i = 1; i < 5; ++i) {
        const std::int64_t before = faults::count(faults::Operation::sync);
        ASSERT_TRUE(create(i));
        EXPECT_GT(faults::count(faults::Operation::sync), before);
    }
}

TEST_F(SqliteFile, ReadingCostsNoSync) {
    Options wanted = options();
    wanted.vfs = faults::vfs_name;
    ASSERT_TRUE(open(std::move(wanted)));
    const RequestPointer made = *create(0);
    const std::int64_t syncs = faults::count(faults::Operation::sync);
    const std::int64_t writes = faults::count(faults::Operation::write);
    ASSERT_TRUE(run([&](Transaction& tx) { return tx.load(made->id); }));
    ASSERT_TRUE(run([&](Transaction& tx) { return tx.list({}); }));
    EXPECT_FALSE(
        run([](Transaction&) -> Result<void> { return Error{ErrorCode::conflict, "no"}; }));
    EXPECT_EQ(faults::count(faults::Operation::sync), syncs);
    EXPECT_EQ(faults::count(faults::Operation::write), writes);
}

TEST_F(SqliteFile, NobodyIsAnsweredBeforeTheWriteIsOnTheDisk) {
    faults::set_mode(faults::Mode::until_sync);
    Options wanted = options();
    wanted.vfs = faults::vfs_name;
    ASSERT_TRUE(open(std::move(wanted)));
    for (int i = 0; i < 20; ++i) ASSERT_TRUE(create(i));
    // What a power cut right after the last answer would leave.
    std::filesystem::copy(path_, folder_ + "/cut.db");
    std::filesystem::copy(path_ + "-wal", folder_ + "/cut.db-wal");
    close();
    path_ = folder_ + "/cut.db";
    ASSERT_TRUE(open(options()));
    EXPECT_EQ(pending(), 20);
}

TEST_F(SqliteFile, OfAnotherProgramIsRefusedUntouched) {
    edit("CREATE TABLE mine(x); PRAGMA application_id=7");
    const Result<void> refused = open(options());
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::unavailable);
    EXPECT_THAT(refused.error().message, HasSubstr(path_));
    EXPECT_THAT(refused.error().message, HasSubstr("another program"));
    EXPECT_EQ(answer("PRAGMA journal_mode"), "delete");
    EXPECT_EQ(answer("SELECT count(*) FROM sqlite_master"), "1");
}

TEST_F(SqliteFile, OfAnotherProgramKeepsItsLogAndItsMode) {
    // Left behind by a program that was killed: the log holds what is not yet in the file.
    const std::string origin = folder_ + "/origin.db";
    sqlite3* handle = nullptr;
    ASSERT_EQ(sqlite3_open(origin.c_str(), &handle), SQLITE_OK);
    ASSERT_EQ(sqlite3_exec(handle,
                           "PRAGMA journal_mode=WAL; CREATE TABLE mine(x);"
                           "INSERT INTO mine VALUES(1)",
                           nullptr, nullptr, nullptr),
              SQLITE_OK);
    std::filesystem::copy(origin, path_);
    std::filesystem::copy(origin + "-wal", path_ + "-wal");
    sqlite3_close(handle);
    std::filesystem::permissions(path_, std::filesystem::perms(0640));
    const auto size = std::filesystem::file_size(path_ + "-wal");
    ASSERT_GT(size, 0u);

    ASSERT_FALSE(open(options()));
    EXPECT_EQ(std::filesystem::file_size(path_ + "-wal"), size);
    EXPECT_EQ(std::filesystem::status(path_).permissions(), std::filesystem::perms(0640));
    EXPECT_EQ(answer("SELECT x FROM mine"), "1");
}

TEST_F(SqliteFile, ThatIsNoDatabaseIsRefusedUntouched) {
    const std::string text(8192, 'x');
    std::ofstream(path_) << text;
    const Result<void> refused = open(options());
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message, HasSubstr("not a database"));
    EXPECT_EQ(std::filesystem::file_size(path_), text.size());
}

TEST_F(SqliteFile, OfAnOlderVersionIsBroughtUpToDateAndKeepsWhatItHas) {
    ASSERT_TRUE(open(options()));
    const RequestId id = (*create(1))->id;
    const Principal ann{PrincipalId::fresh(start), "ann", Role::approver, {}, "", "", false, start};
    const Session sessions[] = {
        {std::string(32, 'a'), ann.id, false, "c", start, start + 10, "::1"},
        {std::string(32, 'b'), ann.id, false, "c", start, start + 10, "::1"}};
    ASSERT_TRUE(run([&](Transaction& tx) -> Result<void> {
        if (Result<void> ok = tx.save_principal(ann); !ok) return ok;
        for (Session session : sessions) {
            session.id = SessionId::fresh(start);
            if (Result<void> ok = tx.save_session(session); !ok) return ok;
        }
        return {};
    }));
    close();
    edit(
        "DROP TABLE snooze; DROP TABLE push_subscription; DROP TABLE passkey;"
        "DROP INDEX session_id; ALTER TABLE session DROP COLUMN id;"
        "ALTER TABLE session DROP COLUMN last_seen_at; ALTER TABLE session DROP COLUMN user_agent;"
        "ALTER TABLE outbox DROP COLUMN target; ALTER TABLE request DROP COLUMN held;"
        "PRAGMA user_version=2");
    ASSERT_TRUE(open(options()));
    const Result<RequestPointer> loaded = run([&](Transaction& tx) { return tx.load(id); });
    ASSERT_TRUE(loaded);
    EXPECT_TRUE((*loaded)->holds.empty());
    const auto kept = run([&](Transaction& tx) { return tx.sessions_of(ann.id); });
    ASSERT_TRUE(kept && kept->size() == 2);
    EXPECT_NE((*kept)[0].id, (*kept)[1].id) << "each can be ended on its own";
    EXPECT_EQ((*kept)[0].last_seen_at, start);
}

TEST_F(SqliteFile, OfAVersionWhosePushSubscriptionsHadNoSessionOpensWithoutThem) {
    ASSERT_TRUE(open(options()));
    const RequestId id = (*create(1))->id;
    const Principal ann{PrincipalId::fresh(start), "ann", Role::approver, {}, "", "", false, start};
    ASSERT_TRUE(run([&](Transaction& tx) { return tx.save_principal(ann); }));
    close();
    edit(
        "DROP TABLE push_subscription;"
        "CREATE TABLE push_subscription(id BLOB PRIMARY KEY NOT NULL, principal BLOB NOT NULL"
        " REFERENCES principal(id), endpoint TEXT NOT NULL UNIQUE, public_key BLOB NOT NULL,"
        " secret BLOB NOT NULL, name TEXT NOT NULL, created_at INTEGER NOT NULL,"
        " last_sent_at INTEGER) STRICT, WITHOUT ROWID;"
        "CREATE INDEX push_subscription_principal ON push_subscription(principal);"
        "INSERT INTO push_subscription SELECT randomblob(16), id, 'https://push.example/1',"
        " zeroblob(65), zeroblob(16), 'phone', 1, NULL FROM principal;"
        "PRAGMA user_version=3");
    ASSERT_EQ(answer("SELECT count(*) FROM push_subscription"), "1");
    ASSERT_TRUE(open(options()));
    EXPECT_TRUE(run([&](Transaction& tx) { return tx.load(id); }));
    const auto kept = run([](Transaction& tx) { return tx.push_subscriptions(std::nullopt); });
    ASSERT_TRUE(kept);
    EXPECT_TRUE(kept->empty()) << "nobody can say which credential asked for it";
}

TEST_F(SqliteFile, OfANewerVersionIsRefused) {
    ASSERT_TRUE(open(options()));
    close();
    edit("PRAGMA user_version=999");
    const Result<void> refused = open(options());
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message, HasSubstr("newer version"));
    EXPECT_THAT(refused.error().message, HasSubstr(path_));
}

TEST_F(SqliteFile, HasOneOwnerInThisProcess) {
    ASSERT_TRUE(open(options()));
    const Result<std::unique_ptr<Store>> second = open_sqlite(options());
    ASSERT_FALSE(second);
    EXPECT_THAT(second.error().message, HasSubstr("in use by another process"));
    ASSERT_TRUE(create(1)) << "the first one goes on";
}

TEST_F(SqliteFile, HasOneOwnerAmongProcesses) {
    ASSERT_TRUE(open(options()));
    const pid_t child = fork();
    if (child == 0) {
        // In the child: only system calls and SQLite, no test machinery.
        const Result<std::unique_ptr<Store>> second = open_sqlite(options());
        const bool is_refused =
            !second && second.error().message.find("in use by another") != std::string::npos;
        _exit(is_refused ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

TEST_F(SqliteFile, InAFolderThatIsNotThereIsRefused) {
    path_ = folder_ + "/none/test.db";
    const Result<void> refused = open(options());
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message, HasSubstr(path_));
}

TEST_F(SqliteFile, RemembersWhetherItWasClosedCleanly) {
    ASSERT_TRUE(open(options()));
    std::filesystem::copy(path_, folder_ + "/running.db");
    std::filesystem::copy(path_ + "-wal", folder_ + "/running.db-wal");
    close();
    EXPECT_EQ(answer("SELECT state FROM run"), "clean");
    path_ = folder_ + "/running.db";
    EXPECT_EQ(answer("SELECT state FROM run"), "running");
}

TEST_F(SqliteFile, DamageIsFoundAfterAnUncleanStopAndOnRequest) {
    ASSERT_TRUE(open(options()));
    for (int i = 0; i < 50; ++i) ASSERT_TRUE(create(i));
    close();
    // A page that the first jobs do not read.
    const int page = std::stoi(answer("SELECT rootpage FROM sqlite_master WHERE name='outbox'"));
    std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp((page - 1) * 4096);
    file << std::string(100, 'x');
    file.close();
    ASSERT_TRUE(open(options())) << "after a clean stop nothing is searched";
    close();
    Options wanted = options();
    wanted.check_always = true;
    const Result<void> asked = open(std::move(wanted));
    ASSERT_FALSE(asked);
    EXPECT_THAT(asked.error().message, HasSubstr("damaged"));
    edit("UPDATE run SET state='running'");
    const Result<void> found = open(options());
    ASSERT_FALSE(found);
    EXPECT_THAT(found.error().message, HasSubstr("restore the last backup"));
    Options big = options();
    big.check_bytes_max = 1;
    EXPECT_TRUE(open(std::move(big))) << "a big file starts at once";
}

TEST_F(SqliteFile, TheLogIsCopiedWhenItGrows) {
    Options wanted = options();
    wanted.checkpoint_busy_pages = 50;
    wanted.checkpoint_idle_pages = 1'000'000;
    ASSERT_TRUE(open(std::move(wanted)));
    for (int i = 0; i < 300; ++i) ASSERT_TRUE(create(i));
    // About ten pages for each create: without copying, twelve megabytes.
    EXPECT_LT(std::filesystem::file_size(path_ + "-wal"), 1'000'000u);
    EXPECT_EQ(pending(), 300);
}

TEST_F(SqliteFile, TheLogIsEmptyAfterACleanStop) {
    ASSERT_TRUE(open(options()));
    for (int i = 0; i < 10; ++i) ASSERT_TRUE(create(i));
    close();
    EXPECT_FALSE(std::filesystem::exists(path_ + "-wal"));
    ASSERT_TRUE(open(options()));
    EXPECT_EQ(pending(), 10);
}

TEST_F(SqliteFile, RoomBehindTheLogIsNoPartOfIt) {
    if (std::filesystem::space(folder_).available < (2ULL << 30))
        GTEST_SKIP() << "a small disk gets no room";
    ASSERT_TRUE(open(options()));
    for (int i = 0; i < 5; ++i) ASSERT_TRUE(create(i));
    // As a crash would leave it.
    const std::string crashed = folder_ + "/crashed.db";
    std::filesystem::copy_file(path_, crashed);
    std::filesystem::copy_file(path_ + "-wal", crashed + "-wal");
    close();

    const std::int64_t wanted = 24 << 20;
    LogRoom room(crashed + "-wal", wanted);
    while (room.grow()) {
    }
    EXPECT_GE(std::filesystem::file_size(crashed + "-wal"), static_cast<std::uintmax_t>(wanted));

    path_ = crashed;
    ASSERT_TRUE(open(options()));
    EXPECT_EQ(pending(), 5);
    ASSERT_TRUE(create(6));
    EXPECT_EQ(pending(), 6);
}

TEST_F(SqliteFile, RoomForALogThatIsNotThereMakesNone) {
    LogRoom room(path_ + "-wal", 1 << 20);
    EXPECT_FALSE(room.grow());
    EXPECT_FALSE(std::filesystem::exists(path_ + "-wal"));
}

// ---- a failing disk

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
        const Result<RequestPointer> refused = create(i);
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().code, ErrorCode::unavailable);
        EXPECT_THAT(refused.error().message, HasSubstr("disk is full"));
        EXPECT_THAT(refused.error().message, HasSubstr("nothing was changed"));
    }
    EXPECT_EQ(pending(), 1) << "reading still works";
    faults::clear_failures();
    const Result<RequestPointer> made = create(5);
    ASSERT_TRUE(made);
    EXPECT_EQ((*made)->row, 2);
    EXPECT_EQ(pending(), 2);
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
    const Result<RequestPointer> lost = create(1);
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

TEST_F(SqliteFaults, TheDefaultIsToEndTheProcess) {
    testing::FLAGS_gtest_death_test_style = "threadsafe";
    close();
    EXPECT_EXIT(
        {
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
        testing::ExitedWithCode(70), "");
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
