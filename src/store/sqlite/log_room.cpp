#include "store/sqlite/log_room.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <utility>
#include <vector>

namespace holdpoint::store::sqlite {
namespace {

constexpr std::size_t piece_bytes = 512 << 10;
/// On a small disk the space is worth more than the time.
constexpr std::uint64_t free_bytes_min = 1ULL << 30;

}  // namespace

LogRoom::LogRoom(std::string path, std::int64_t bytes)
    : path_(std::move(path)), bytes_(bytes), is_over_(path_.empty()) {}

LogRoom::~LogRoom() {
    if (file_ >= 0) ::close(file_);
}

bool LogRoom::grow() {
    if (is_over_ || !may_grow()) return false;
    struct stat about{};
    is_over_ = ::fstat(file_, &about) != 0 || about.st_size >= bytes_;
    if (is_over_) return false;
    const std::vector<char> zeros(piece_bytes);
    is_over_ = ::pwrite(file_, zeros.data(), zeros.size(), about.st_size) !=
                   static_cast<ssize_t>(zeros.size()) ||
               ::fdatasync(file_) != 0;
    // A disk that ran full may have taken a part; SQLite has better use for it.
    if (is_over_ && ::ftruncate(file_, about.st_size) != 0) return false;
    return !is_over_;
}

bool LogRoom::may_grow() {
    if (file_ < 0) file_ = ::open(path_.c_str(), O_RDWR | O_CLOEXEC);
    if (file_ < 0) return false;  // SQLite makes the file with its first write
    struct statvfs disk{};
    is_over_ = ::fstatvfs(file_, &disk) != 0 || disk.f_bavail * disk.f_frsize < free_bytes_min;
    return !is_over_;
}

}  // namespace holdpoint::store::sqlite
