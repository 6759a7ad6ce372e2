// What only the SQLite store promises of its file.

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "store/sqlite/log_room.h"
#include "store/sqlite/migrations.h"
#include "store/sqlite/test_sqlite.h"

namespace holdpoint::store::sqlite {
namespace {

/// Takes back what the seventh migration did.
const std::string without_7 =
    "CREATE INDEX request_requester ON request(requester, state);"
    "CREATE INDEX request_session ON request(session) WHERE session <> '';"
    "CREATE INDEX request_thread ON request(thread) WHERE thread <> '';"
    "CREATE INDEX request_task ON request(task) WHERE task <> '';"
    "CREATE INDEX request_user ON request(user) WHERE user <> '';"
    "CREATE INDEX request_tool ON request(tool) WHERE tool <> '';"
    "DROP TABLE filed; ALTER TABLE counter DROP COLUMN filed_up_to;";

/// And what the sixth added.
const std::string without_6 = without_7 +
                              "ALTER TABLE policy_trust DROP COLUMN asked;"
                              "ALTER TABLE policy_trust DROP COLUMN excludes_requester;"
                              "ALTER TABLE policy_trust DROP COLUMN takes_code;";

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
    const RequestPtr made = *create(0);
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
        "ALTER TABLE event DROP COLUMN risk;" +
        without_6 + "PRAGMA user_version=2");
    ASSERT_TRUE(open(options()));
    const Result<RequestPtr> loaded = run([&](Transaction& tx) { return tx.load(id); });
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
        "ALTER TABLE event DROP COLUMN risk;" +
        without_6 + "PRAGMA user_version=3");
    ASSERT_EQ(answer("SELECT count(*) FROM push_subscription"), "1");
    ASSERT_TRUE(open(options()));
    EXPECT_TRUE(run([&](Transaction& tx) { return tx.load(id); }));
    const auto kept = run([](Transaction& tx) { return tx.push_subscriptions(std::nullopt); });
    ASSERT_TRUE(kept);
    EXPECT_TRUE(kept->empty()) << "nobody can say which credential asked for it";
}

TEST_F(SqliteFile, OfAVersionWhoseEventsHadNoRiskIsFilteredByTheRequests) {
    ASSERT_TRUE(open(options()));
    const RequestPtr made = *create(1);
    close();
    edit("ALTER TABLE event DROP COLUMN risk;" + without_6 + "PRAGMA user_version=4");
    ASSERT_TRUE(open(options()));
    for (const core::RiskLevel risk : {core::RiskLevel::low, core::RiskLevel::medium}) {
        ListFilter filter;
        filter.risk = risk;
        const auto events = run([&](Transaction& tx) { return tx.events({}, filter, 10); });
        ASSERT_TRUE(events);
        EXPECT_EQ(events->empty(), made->risk != risk);
    }
}

TEST_F(SqliteFile, P3_OfAVersionThatDidNotKnowWhoWasAskedTrustStandsInForNobodyCertain) {
    ASSERT_TRUE(open(options()));
    policy::TrustEntry entry{"k", 3, {"ann"}, start, "sha256:p", {"\"finance\"", true, true}};
    ASSERT_TRUE(run([&](Transaction& tx) { return tx.save_trust(entry); }));
    const auto found = [&] { return run([](Transaction& tx) { return tx.find_trust("k"); }); };
    EXPECT_EQ(**found(), entry);
    close();
    edit(without_6 + "PRAGMA user_version=5");
    ASSERT_TRUE(open(options()));
    entry.asked = {};
    EXPECT_EQ(**found(), entry);
}

TEST_F(SqliteFile, S2_OfAVersionThatIndexedEveryRequestIsFiledWhole) {
    ASSERT_TRUE(open(options()));
    std::vector<RequestPtr> made;
    for (int i = 0; i < 40; ++i) made.push_back(*create(i));
    for (int i = 0; i < 40; i += 3)
        ASSERT_TRUE(run([&](Transaction& tx) {
            return tx.apply(settled(*made[static_cast<std::size_t>(i)], core::Outcome::approved));
        }));
    std::vector<ListFilter> filters(7);
    filters[0].session = made[8]->session;
    filters[1].thread = "t0";
    filters[2].task = "k0";
    filters[3].user = made[8]->user;
    filters[4].tool = made[8]->tool;
    filters[5].agent_id = made[8]->agent_id;
    filters[6].agent_id = made[8]->agent_id;
    filters[6].state = core::State::pending;
    const auto found = [&] {
        std::vector<std::vector<std::int64_t>> rows;
        for (const ListFilter& filter : filters) {
            const Result<ListPage> page = run([&](Transaction& tx) { return tx.list({filter}); });
            EXPECT_TRUE(page);
            for (rows.emplace_back(); const RequestPtr& request : page->requests)
                rows.back().push_back(request->row);
            EXPECT_FALSE(rows.back().empty());
        }
        return rows;
    };
    const auto before = found();
    close();
    edit(without_7 + "PRAGMA user_version=6");
    ASSERT_TRUE(open(options()));
    EXPECT_EQ(found(), before);
    ASSERT_TRUE(run([&](Transaction& tx) {
        return tx.apply(settled(*made[8], core::Outcome::rejected));
    })) << "what was filed then follows its request now";
    EXPECT_EQ(found()[6].size(), before[6].size() - 1);
    close();
    EXPECT_EQ(answer("SELECT count(*) FROM counter WHERE filed_up_to=40"), "1");
    EXPECT_EQ(answer("SELECT count(*) FROM filed WHERE drawer IN (1, 2)"), "40");
}

TEST_F(SqliteFile, S2_WhatIsFiledWronglyIsFiledAnewWhenTheStoreIsChecked) {
    Options wanted = options();
    wanted.unfiled_max = 0;
    wanted.check_always = true;
    const auto reopen = [&] {
        close();
        return open(wanted);
    };
    ASSERT_TRUE(open(wanted));
    std::vector<RequestPtr> made;
    for (int i = 0; i < 20; ++i) made.push_back(*create(i));
    ASSERT_TRUE(
        run([&](Transaction& tx) { return tx.apply(settled(*made[3], core::Outcome::approved)); }));
    const std::string all =
        "SELECT filed_up_to||': '||coalesce(group_concat(drawer||value||' '||row, ','), '')"
        " FROM counter, (SELECT * FROM filed ORDER BY drawer, value, row)";
    close();
    const std::string before = answer(all);
    for (const char* damage :
         {"DELETE FROM filed WHERE drawer=3 AND row=7", "DELETE FROM filed",
          "UPDATE filed SET drawer=1 WHERE drawer=2", "INSERT INTO filed VALUES(7, 'tool1', 3)",
          "UPDATE filed SET value='x' WHERE drawer=5", "UPDATE counter SET filed_up_to=100",
          "UPDATE counter SET filed_up_to=-5", "UPDATE counter SET filed_up_to=12"}) {
        SCOPED_TRACE(damage);
        edit(damage);
        ASSERT_NE(answer(all), before);
        ASSERT_TRUE(reopen());
        close();
        EXPECT_EQ(answer(all), before);
    }
    ASSERT_TRUE(reopen());
    ASSERT_TRUE(create(21));
    close();
    EXPECT_EQ(answer("SELECT count(DISTINCT row) FROM filed"),
              answer("SELECT filed_up_to FROM counter"))
        << "and what comes is filed as ever";
}

TEST_F(SqliteFile, S2_AMarkOfWhatIsFiledThatCannotBeStartsNothing) {
    for (const char* damage :
         {"UPDATE counter SET filed_up_to=100", "UPDATE counter SET filed_up_to=-5"}) {
        SCOPED_TRACE(damage);
        ASSERT_TRUE(open(options()));
        ASSERT_TRUE(create(1));
        close();
        edit(damage);
        const Result<void> refused = open(options());
        ASSERT_FALSE(refused) << "what comes would be looked for where it is not";
        EXPECT_THAT(refused.error().message, HasSubstr("malformed"));
        EXPECT_THAT(refused.error().message, HasSubstr("--check-store"));
        Options checking = options();
        checking.check_always = true;
        ASSERT_TRUE(open(std::move(checking)));
        EXPECT_TRUE(create(2));
        close();
    }
}

TEST_F(SqliteFile, S2_WhatAnOldIndexHadLostIsFoundWhenItIsFiled) {
    ASSERT_TRUE(open(options()));
    for (int i = 0; i < 20; ++i) ASSERT_TRUE(create(i));
    close();
    edit(without_7 +
         "DROP INDEX request_session;"
         "CREATE INDEX request_session ON request(session)"
         " WHERE session <> '' AND row <> 9;"
         "PRAGMA writable_schema=ON; UPDATE sqlite_master"
         " SET sql=replace(sql, ' AND row <> 9', '') WHERE name='request_session';"
         "PRAGMA user_version=6");
    ASSERT_THAT(answer("PRAGMA integrity_check"), HasSubstr("missing from index request_session"));
    ASSERT_TRUE(open(options()));
    close();
    EXPECT_EQ(answer("SELECT count(*) FROM filed WHERE drawer=3 AND row=9"), "1");
}

TEST_F(SqliteFile, OfAnOlderVersionHasAnEmptyLogOnceItIsOpen) {
    ASSERT_TRUE(open(options()));
    for (int i = 0; i < 200; ++i) ASSERT_TRUE(create(i));
    close();
    edit(without_7 + "PRAGMA user_version=6");
    ASSERT_TRUE(open(options()));
    // Only the mark of this run is in it, not what was converted.
    EXPECT_LT(std::filesystem::file_size(path_ + "-wal"), 20'000u);
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

}  // namespace
}  // namespace holdpoint::store::sqlite
