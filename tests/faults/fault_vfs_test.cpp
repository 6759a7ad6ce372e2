#include "tests/faults/fault_vfs.h"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

namespace holdpoint::faults {
namespace {

/// A file opened straight through the layer, without a database on top.
class RawFile {
  public:
    explicit RawFile(const std::string& path) : path_(path) {
        // SQLite looks for parameters behind the end of a name; this makes such a name.
        sqlite3_vfs* vfs = sqlite3_vfs_find(vfs_name);
        memory_.resize(static_cast<std::size_t>(vfs->szOsFile) / sizeof(std::max_align_t) + 1);
        name_ = sqlite3_create_filename(path_.c_str(), "", "", 0, nullptr);
        const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_MAIN_DB;
        EXPECT_EQ(vfs->xOpen(vfs, name_, file(), flags, nullptr), SQLITE_OK);
    }
    ~RawFile() {
        file()->pMethods->xClose(file());
        sqlite3_free_filename(const_cast<char*>(name_));
    }
    int write(const std::string& text, std::int64_t at) {
        return file()->pMethods->xWrite(file(), text.data(), static_cast<int>(text.size()), at);
    }
    int sync() { return file()->pMethods->xSync(file(), SQLITE_SYNC_NORMAL); }
    int truncate(std::int64_t size) { return file()->pMethods->xTruncate(file(), size); }
    std::string read() {
        sqlite3_int64 size = 0;
        file()->pMethods->xFileSize(file(), &size);
        std::string text(static_cast<std::size_t>(size), '?');
        EXPECT_EQ(file()->pMethods->xRead(file(), text.data(), static_cast<int>(size), 0),
                  SQLITE_OK);
        return text;
    }

  private:
    sqlite3_file* file() { return reinterpret_cast<sqlite3_file*>(memory_.data()); }

    const std::string path_;
    const char* name_ = nullptr;
    std::vector<std::max_align_t> memory_;
};

class FaultVfs : public testing::Test {
  protected:
    void SetUp() override {
        std::string pattern = (std::filesystem::temp_directory_path() / "faults_XXXXXX").string();
        folder_ = mkdtemp(pattern.data());
        path_ = folder_ + "/file";
        install();
        reset();
    }
    void TearDown() override {
        reset();
        std::filesystem::remove_all(folder_);
    }
    /// What somebody else would find: the real file.
    std::string on_disk() const {
        std::ostringstream out;
        out << std::ifstream(path_, std::ios::binary).rdbuf();
        return out.str();
    }

    std::string folder_, path_;
};

TEST_F(FaultVfs, FaithfulWritesAreThereAtOnce) {
    RawFile file(path_);
    file.write("hello", 0);
    EXPECT_EQ(on_disk(), "hello");
}

TEST_F(FaultVfs, VolatileWritesAreNotOnTheDiskBeforeTheSync) {
    set_mode(Mode::until_sync);
    RawFile file(path_);
    file.write("hello", 0);
    file.write(" world", 5);
    EXPECT_EQ(file.read(), "hello world");
    EXPECT_EQ(on_disk(), "");
    EXPECT_EQ(file.sync(), SQLITE_OK);
    EXPECT_EQ(on_disk(), "hello world");
    file.write("J", 0);
    EXPECT_EQ(file.read(), "Jello world");
    EXPECT_EQ(on_disk(), "hello world");
}

TEST_F(FaultVfs, VolatileTruncationsWaitForTheSync) {
    std::ofstream(path_) << std::string(10'000, 'a');
    set_mode(Mode::until_sync);
    RawFile file(path_);
    EXPECT_EQ(file.truncate(5000), SQLITE_OK);
    EXPECT_EQ(file.read(), std::string(5000, 'a'));
    EXPECT_EQ(on_disk(), std::string(10'000, 'a'));
    file.write("b", 5001);
    const std::string expected = std::string(5000, 'a') + '\0' + "b";
    EXPECT_EQ(file.read(), expected) << "what was cut off does not come back";
    EXPECT_EQ(file.sync(), SQLITE_OK);
    EXPECT_EQ(on_disk(), expected);
}

TEST_F(FaultVfs, VolatileWritesSurviveClosingButNotThePowerCut) {
    set_mode(Mode::until_sync);
    RawFile(path_).write("kept", 0);
    EXPECT_EQ(RawFile(path_).read(), "kept");
    reset();
    EXPECT_EQ(RawFile(path_).read(), "");
}

TEST_F(FaultVfs, ASyncThatLiesMakesNothingDurable) {
    set_mode(Mode::no_sync);
    RawFile file(path_);
    file.write("gone", 0);
    EXPECT_EQ(file.sync(), SQLITE_OK);
    EXPECT_EQ(on_disk(), "");
}

TEST_F(FaultVfs, ASyncThatLiesMayTellTheTruthNowAndThen) {
    set_mode(Mode::no_sync, 3);
    RawFile file(path_);
    file.write("late", 0);
    file.sync();
    file.sync();
    EXPECT_EQ(on_disk(), "");
    file.sync();
    EXPECT_EQ(on_disk(), "late");
}

TEST_F(FaultVfs, TheNthCallFailsOnce) {
    fail({.operation = Operation::write, .nth = 2, .code = SQLITE_FULL});
    RawFile file(path_);
    EXPECT_EQ(file.write("a", 0), SQLITE_OK);
    EXPECT_EQ(file.write("b", 0), SQLITE_FULL);
    EXPECT_EQ(file.write("c", 0), SQLITE_OK);
    EXPECT_EQ(on_disk(), "c");
}

TEST_F(FaultVfs, OrForEverFromThenOnInTheFilesNamed) {
    fail({.operation = Operation::sync,
          .nth = 1,
          .code = SQLITE_IOERR_FSYNC,
          .is_for_ever = true,
          .suffix = "file"});
    RawFile file(path_);
    RawFile other(folder_ + "/other");
    EXPECT_EQ(file.sync(), SQLITE_IOERR_FSYNC);
    EXPECT_EQ(file.sync(), SQLITE_IOERR_FSYNC);
    EXPECT_EQ(other.sync(), SQLITE_OK);
    clear_failures();
    EXPECT_EQ(file.sync(), SQLITE_OK);
}

TEST_F(FaultVfs, AnEnvironmentVariableThatMakesNoSenseIsToldApart) {
    EXPECT_TRUE(configure("volatile,fail=sync:3:ioerr,fail=write:1:full:forever"));
    EXPECT_TRUE(configure("nosync=5"));
    EXPECT_FALSE(configure("volatil"));
    EXPECT_FALSE(configure("nosync=x"));
    EXPECT_FALSE(configure("fail=sync:0:ioerr"));
    EXPECT_FALSE(configure("fail=read:1:ioerr"));
    EXPECT_FALSE(configure("fail=sync:1:ioerr:sometimes"));
}

/// Commits one row with the store's settings, then looks at a copy of the real files, as a machine
/// does that comes back after a power cut.
std::string row_after_power_cut(const std::string& folder, Mode mode) {
    set_mode(mode);
    const std::string path = folder + "/test.db", copy = folder + "/copy.db";
    sqlite3* db = nullptr;
    const auto execute = [&](const char* sql) {
        EXPECT_EQ(sqlite3_exec(db, sql, nullptr, nullptr, nullptr), SQLITE_OK)
            << sqlite3_errmsg(db);
    };
    sqlite3_open_v2(path.c_str(), &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, vfs_name);
    execute(
        "PRAGMA locking_mode=EXCLUSIVE; PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;"
        "CREATE TABLE t(x); INSERT INTO t VALUES('kept')");
    std::filesystem::copy_file(path, copy);
    if (std::filesystem::exists(path + "-wal"))
        std::filesystem::copy_file(path + "-wal", copy + "-wal");
    sqlite3_close(db);

    sqlite3_open_v2(copy.c_str(), &db, SQLITE_OPEN_READWRITE, nullptr);
    sqlite3_stmt* statement = nullptr;
    std::string found = "nothing";
    if (sqlite3_prepare_v2(db, "SELECT x FROM t", -1, &statement, nullptr) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW)
        found = reinterpret_cast<const char*>(sqlite3_column_text(statement, 0));
    sqlite3_finalize(statement);
    sqlite3_close(db);
    return found;
}

TEST_F(FaultVfs, ACommittedRowSurvivesThePowerCut) {
    EXPECT_EQ(row_after_power_cut(folder_, Mode::until_sync), "kept");
}

TEST_F(FaultVfs, ACommittedRowIsLostWhenTheSyncLies) {
    EXPECT_EQ(row_after_power_cut(folder_, Mode::no_sync), "nothing");
}

}  // namespace
}  // namespace holdpoint::faults
