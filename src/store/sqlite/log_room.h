#pragma once

#include <cstdint>
#include <string>

namespace holdpoint::store::sqlite {

/// Written room at the end of SQLite's write-ahead log. Syncing a commit that makes the file longer
/// also writes the file's length and its blocks, and takes up to twice as long as syncing one that
/// lies in blocks which were written before. SQLite stops reading a log at the first frame that
/// does not belong to it, so zeros behind the last one mean nothing.
///
/// For the store's thread, while it has nothing else to do: SQLite must not write meanwhile.
class LogRoom {
  public:
    /// `bytes` is how long the log shall become. Without a path there is nothing to do.
    LogRoom(std::string path, std::int64_t bytes);
    ~LogRoom();
    LogRoom(const LogRoom&) = delete;
    LogRoom& operator=(const LogRoom&) = delete;

    /// Adds one piece, a few milliseconds of work. False when there is room enough, no log yet,
    /// or little space on the disk. A failure only means that syncs stay as they are.
    bool grow();

  private:
    bool may_grow();

    const std::string path_;
    const std::int64_t bytes_;
    int file_ = -1;
    bool is_over_ = false;
};

}  // namespace holdpoint::store::sqlite
