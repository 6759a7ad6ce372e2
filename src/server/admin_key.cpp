#include "server/admin_key.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace holdpoint::server {
namespace {

Error cannot(const char* what, const std::string& path) {
    return {ErrorCode::unavailable,
            fmt::format("cannot {} `{}`: {}", what, path, std::strerror(errno))};
}

std::string staged(const std::string& path) { return path + ".new"; }

/// A name that was given is on the disk when its folder is: without this a power cut could leave a
/// stored key whose text nobody has.
Result<void> sync_folder_of(const std::string& path) {
    std::string folder = std::filesystem::path(path).parent_path().string();
    if (folder.empty()) folder = ".";
    const int file = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (file < 0) return cannot("open", folder);
    const bool is_synced = fsync(file) == 0;
    const Error failure = cannot("sync", folder);
    close(file);
    if (!is_synced) return failure;
    return {};
}

}  // namespace

Result<void> prepare_data_directory(const std::string& path) {
    std::error_code failed;
    if (!std::filesystem::exists(path, failed)) {
        std::filesystem::create_directories(path, failed);
        if (failed)
            return Error{
                ErrorCode::unavailable,
                fmt::format("cannot make the data directory `{}`: {}", path, failed.message())};
        std::filesystem::permissions(path, std::filesystem::perms::owner_all, failed);
    }
    if (!std::filesystem::is_directory(path, failed))
        return Error{ErrorCode::unavailable, fmt::format("`{}` is not a directory", path)};
    if (access(path.c_str(), R_OK | W_OK | X_OK) != 0)
        return cannot("use the data directory", path);
    struct stat status{};
    // The files in it are private, but whoever may write to the directory can put others there.
    if (stat(path.c_str(), &status) == 0 && (status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
        spdlog::warn("others may write to the data directory `{}`; chmod 700 keeps them out", path);
    return {};
}

Result<void> check_store_is_there(const std::string& store, const std::string& admin_key) {
    std::error_code failed;
    const auto has_bytes = [&](const std::string& path) {
        const std::uintmax_t bytes = std::filesystem::file_size(path, failed);
        return !failed && bytes > 0;
    };
    if (has_bytes(store) || has_bytes(store + "-wal") || !has_bytes(admin_key)) return {};
    return Error{ErrorCode::unavailable,
                 fmt::format("`{}` is missing or empty, but `{}` shows that there was one; restore "
                             "the last backup, or remove the key to begin with nothing",
                             store, admin_key)};
}

Result<void> stage_admin_key(const std::string& path, const std::string& key) {
    const std::string temporary = staged(path);
    const int file = open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0) return cannot("write", temporary);
    const std::string line = key + "\n";
    const bool is_written =
        fchmod(file, 0600) == 0 &&
        write(file, line.data(), line.size()) == static_cast<ssize_t>(line.size()) &&
        fsync(file) == 0;
    const Error failure = cannot("write", temporary);
    close(file);
    if (!is_written) return failure;
    return sync_folder_of(path);
}

std::optional<std::string> staged_admin_key(const std::string& path) {
    std::ifstream file(staged(path));
    std::string key;
    if (!file) return std::nullopt;
    std::getline(file, key);
    return key;
}

Result<void> keep_admin_key(const std::string& path) {
    if (rename(staged(path).c_str(), path.c_str()) != 0) return cannot("write", path);
    return sync_folder_of(path);
}

void drop_admin_key(const std::string& path) { unlink(staged(path).c_str()); }

}  // namespace holdpoint::server
