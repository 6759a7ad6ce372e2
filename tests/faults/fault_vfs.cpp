#include "tests/faults/fault_vfs.h"

#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <vector>

namespace holdpoint::faults {
namespace {

constexpr std::int64_t chunk_bytes = 4096;
using Chunk = std::array<char, chunk_bytes>;

/// What was written to one file and not yet synced. Shared by name, so that closing and opening
/// again within the process sees it, as the system's page cache would.
struct Pending {
    std::map<std::int64_t, Chunk> chunks;  ///< by number; whole, with what the file held
    std::int64_t size = 0;                 ///< as the process sees it
    std::int64_t kept = 0;                 ///< bytes of the real file that still count
};

struct Layer {
    std::mutex mutex;
    sqlite3_vfs* below = nullptr;
    sqlite3_vfs vfs{};
    Mode mode = Mode::faithful;                               // guarded by mutex
    int sync_every = 0;                                       // guarded by mutex
    std::int64_t syncs_skipped = 0;                           // guarded by mutex
    std::vector<Failure> failures;                            // guarded by mutex
    std::array<std::int64_t, 3> counts{};                     // guarded by mutex
    std::map<std::string, std::shared_ptr<Pending>> pending;  // guarded by mutex
};

Layer& layer() {
    static Layer one;
    return one;
}

struct File {
    sqlite3_file base;  // must be first: SQLite knows nothing of the rest
    sqlite3_file* real;
    std::string* name;
    std::shared_ptr<Pending>* pending;  ///< null: faithful

    bool is_faithful() const { return pending == nullptr; }
};

File& of(sqlite3_file* file) { return *reinterpret_cast<File*>(file); }

/// Counts the call and answers the code it has to fail with, 0 for none. Called with the mutex.
int fault_for(Operation operation, const std::string& name) {
    Layer& all = layer();
    ++all.counts[static_cast<std::size_t>(operation)];
    for (auto failure = all.failures.begin(); failure != all.failures.end(); ++failure) {
        if (failure->operation != operation || !name.ends_with(failure->suffix)) continue;
        if (failure->nth > 1) {
            --failure->nth;
            continue;
        }
        const int code = failure->code;
        if (!failure->is_for_ever) all.failures.erase(failure);
        return code;
    }
    return SQLITE_OK;
}

int read_kept(File& file, const Pending& pending, char* out, std::int64_t bytes, std::int64_t at) {
    std::memset(out, 0, static_cast<std::size_t>(bytes));
    const std::int64_t there = std::clamp<std::int64_t>(pending.kept - at, 0, bytes);
    if (there == 0) return SQLITE_OK;
    const int code = file.real->pMethods->xRead(file.real, out, static_cast<int>(there), at);
    return code == SQLITE_IOERR_SHORT_READ ? SQLITE_OK : code;
}

int read_pending(File& file, void* out, int bytes, std::int64_t at) {
    const Pending& pending = **file.pending;
    char* to = static_cast<char*>(out);
    for (std::int64_t done = 0; done < bytes;) {
        const std::int64_t number = (at + done) / chunk_bytes, offset = (at + done) % chunk_bytes;
        const std::int64_t part = std::min<std::int64_t>(bytes - done, chunk_bytes - offset);
        const auto chunk = pending.chunks.find(number);
        if (chunk != pending.chunks.end()) {
            std::memcpy(to + done, chunk->second.data() + offset, static_cast<std::size_t>(part));
        } else if (const int code = read_kept(file, pending, to + done, part, at + done);
                   code != SQLITE_OK) {
            return code;
        }
        done += part;
    }
    if (at + bytes <= pending.size) return SQLITE_OK;
    const std::int64_t there = std::clamp<std::int64_t>(pending.size - at, 0, bytes);
    std::memset(to + there, 0, static_cast<std::size_t>(bytes - there));
    return SQLITE_IOERR_SHORT_READ;
}

int write_pending(File& file, const void* data, int bytes, std::int64_t at) {
    Pending& pending = **file.pending;
    const char* from = static_cast<const char*>(data);
    for (std::int64_t done = 0; done < bytes;) {
        const std::int64_t number = (at + done) / chunk_bytes, offset = (at + done) % chunk_bytes;
        const std::int64_t part = std::min<std::int64_t>(bytes - done, chunk_bytes - offset);
        const auto [chunk, is_new] = pending.chunks.try_emplace(number);
        if (is_new) {
            const int code =
                read_kept(file, pending, chunk->second.data(), chunk_bytes, number * chunk_bytes);
            if (code != SQLITE_OK) return code;
        }
        std::memcpy(chunk->second.data() + offset, from + done, static_cast<std::size_t>(part));
        done += part;
    }
    pending.size = std::max(pending.size, at + bytes);
    return SQLITE_OK;
}

void truncate_pending(Pending& pending, std::int64_t size) {
    pending.size = size;
    pending.kept = std::min(pending.kept, size);
    pending.chunks.erase(pending.chunks.lower_bound((size + chunk_bytes - 1) / chunk_bytes),
                         pending.chunks.end());
    const auto last = pending.chunks.find(size / chunk_bytes);
    if (last != pending.chunks.end())
        std::memset(last->second.data() + size % chunk_bytes, 0,
                    static_cast<std::size_t>(chunk_bytes - size % chunk_bytes));
}

/// Makes what was held back real and durable.
int flush_pending(File& file, int flags) {
    Pending& pending = **file.pending;
    const sqlite3_io_methods& real = *file.real->pMethods;
    sqlite3_int64 real_size = 0;
    if (const int code = real.xFileSize(file.real, &real_size); code != SQLITE_OK) return code;
    if (pending.kept < real_size) {
        if (const int code = real.xTruncate(file.real, pending.kept); code != SQLITE_OK)
            return code;
    }
    for (const auto& [number, chunk] : pending.chunks) {
        const std::int64_t at = number * chunk_bytes;
        const std::int64_t bytes = std::min(chunk_bytes, pending.size - at);
        if (bytes <= 0) continue;
        const int code = real.xWrite(file.real, chunk.data(), static_cast<int>(bytes), at);
        if (code != SQLITE_OK) return code;
    }
    if (const int code = real.xSync(file.real, flags); code != SQLITE_OK) return code;
    pending.chunks.clear();
    pending.kept = pending.size;
    return SQLITE_OK;
}

// ---- a file's methods

int file_close(sqlite3_file* handle) {
    File& file = of(handle);
    const int code = file.real->pMethods ? file.real->pMethods->xClose(file.real) : SQLITE_OK;
    delete file.name;
    delete file.pending;
    return code;
}

int file_read(sqlite3_file* handle, void* out, int bytes, sqlite3_int64 at) {
    File& file = of(handle);
    if (file.is_faithful()) return file.real->pMethods->xRead(file.real, out, bytes, at);
    const std::lock_guard lock(layer().mutex);
    return read_pending(file, out, bytes, at);
}

int file_write(sqlite3_file* handle, const void* data, int bytes, sqlite3_int64 at) {
    File& file = of(handle);
    const std::lock_guard lock(layer().mutex);
    if (const int code = fault_for(Operation::write, *file.name); code != SQLITE_OK) return code;
    if (file.is_faithful()) return file.real->pMethods->xWrite(file.real, data, bytes, at);
    return write_pending(file, data, bytes, at);
}

int file_truncate(sqlite3_file* handle, sqlite3_int64 size) {
    File& file = of(handle);
    const std::lock_guard lock(layer().mutex);
    if (const int code = fault_for(Operation::truncate, *file.name); code != SQLITE_OK) return code;
    if (file.is_faithful()) return file.real->pMethods->xTruncate(file.real, size);
    truncate_pending(**file.pending, size);
    return SQLITE_OK;
}

int file_sync(sqlite3_file* handle, int flags) {
    File& file = of(handle);
    Layer& all = layer();
    const std::lock_guard lock(all.mutex);
    if (const int code = fault_for(Operation::sync, *file.name); code != SQLITE_OK) return code;
    if (file.is_faithful()) return file.real->pMethods->xSync(file.real, flags);
    if (all.mode == Mode::no_sync) {
        const bool is_real = all.sync_every > 0 && ++all.syncs_skipped % all.sync_every == 0;
        if (!is_real) return SQLITE_OK;
    }
    return flush_pending(file, flags);
}

int file_size(sqlite3_file* handle, sqlite3_int64* size) {
    File& file = of(handle);
    if (file.is_faithful()) return file.real->pMethods->xFileSize(file.real, size);
    const std::lock_guard lock(layer().mutex);
    *size = (*file.pending)->size;
    return SQLITE_OK;
}

int file_lock(sqlite3_file* handle, int level) {
    return of(handle).real->pMethods->xLock(of(handle).real, level);
}
int file_unlock(sqlite3_file* handle, int level) {
    return of(handle).real->pMethods->xUnlock(of(handle).real, level);
}
int file_check_lock(sqlite3_file* handle, int* is_locked) {
    return of(handle).real->pMethods->xCheckReservedLock(of(handle).real, is_locked);
}
int file_control(sqlite3_file* handle, int operation, void* argument) {
    // A hint about the size would change the real file behind what is held back.
    if (operation == SQLITE_FCNTL_SIZE_HINT || operation == SQLITE_FCNTL_CHUNK_SIZE)
        return SQLITE_NOTFOUND;
    return of(handle).real->pMethods->xFileControl(of(handle).real, operation, argument);
}
int file_sector_size(sqlite3_file* handle) {
    return of(handle).real->pMethods->xSectorSize(of(handle).real);
}
int file_characteristics(sqlite3_file* handle) {
    return of(handle).real->pMethods->xDeviceCharacteristics(of(handle).real);
}

// Version 1: no shared memory and no mapping. Whoever opens a log through this layer must hold the
// file exclusively, as the store promises.
constexpr sqlite3_io_methods methods{1,
                                     file_close,
                                     file_read,
                                     file_write,
                                     file_truncate,
                                     file_sync,
                                     file_size,
                                     file_lock,
                                     file_unlock,
                                     file_check_lock,
                                     file_control,
                                     file_sector_size,
                                     file_characteristics,
                                     nullptr,
                                     nullptr,
                                     nullptr,
                                     nullptr,
                                     nullptr,
                                     nullptr};

// ---- the layer's methods

int layer_open(sqlite3_vfs*, const char* name, sqlite3_file* handle, int flags, int* out_flags) {
    Layer& all = layer();
    File& file = of(handle);
    file.base.pMethods = nullptr;
    file.real = reinterpret_cast<sqlite3_file*>(reinterpret_cast<char*>(handle) + sizeof(File));
    file.real->pMethods = nullptr;
    const int code = all.below->xOpen(all.below, name, file.real, flags, out_flags);
    if (code != SQLITE_OK) return code;
    file.name = new std::string(name ? name : "");
    file.pending = nullptr;
    file.base.pMethods = &methods;

    const std::lock_guard lock(all.mutex);
    if (all.mode == Mode::faithful || !name) return SQLITE_OK;
    std::shared_ptr<Pending>& pending = all.pending[name];
    if (!pending) {
        sqlite3_int64 size = 0;
        file.real->pMethods->xFileSize(file.real, &size);
        pending = std::make_shared<Pending>();
        pending->size = pending->kept = size;
    }
    file.pending = new std::shared_ptr<Pending>(pending);
    return SQLITE_OK;
}

int layer_delete(sqlite3_vfs*, const char* name, int must_sync) {
    Layer& all = layer();
    {
        const std::lock_guard lock(all.mutex);
        all.pending.erase(name);
    }
    return all.below->xDelete(all.below, name, must_sync);
}
int layer_access(sqlite3_vfs*, const char* name, int flags, int* answer) {
    return layer().below->xAccess(layer().below, name, flags, answer);
}
int layer_full_path(sqlite3_vfs*, const char* name, int size, char* out) {
    return layer().below->xFullPathname(layer().below, name, size, out);
}
int layer_randomness(sqlite3_vfs*, int bytes, char* out) {
    return layer().below->xRandomness(layer().below, bytes, out);
}
int layer_sleep(sqlite3_vfs*, int us) { return layer().below->xSleep(layer().below, us); }
int layer_time(sqlite3_vfs*, double* days) {
    return layer().below->xCurrentTime(layer().below, days);
}
int layer_time64(sqlite3_vfs*, sqlite3_int64* ms) {
    return layer().below->xCurrentTimeInt64(layer().below, ms);
}
int layer_last_error(sqlite3_vfs*, int size, char* out) {
    return layer().below->xGetLastError(layer().below, size, out);
}

void register_layer(bool as_default) {
    Layer& all = layer();
    if (!all.below) {
        all.below = sqlite3_vfs_find(nullptr);
        all.vfs.iVersion = 2;
        all.vfs.szOsFile = static_cast<int>(sizeof(File)) + all.below->szOsFile;
        all.vfs.mxPathname = all.below->mxPathname;
        all.vfs.zName = vfs_name;
        all.vfs.xOpen = layer_open;
        all.vfs.xDelete = layer_delete;
        all.vfs.xAccess = layer_access;
        all.vfs.xFullPathname = layer_full_path;
        all.vfs.xRandomness = layer_randomness;
        all.vfs.xSleep = layer_sleep;
        all.vfs.xCurrentTime = layer_time;
        all.vfs.xGetLastError = layer_last_error;
        all.vfs.xCurrentTimeInt64 = layer_time64;
    }
    sqlite3_vfs_register(&all.vfs, as_default ? 1 : 0);
}

// ---- the environment variable

std::string_view take_part(std::string_view& text, char separator) {
    const std::size_t end = std::min(text.find(separator), text.size());
    const std::string_view part = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return part;
}

std::optional<int> number_in(std::string_view text) {
    int number = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (failed != std::errc{} || end != text.data() + text.size() || number < 0)
        return std::nullopt;
    return number;
}

std::optional<Failure> failure_in(std::string_view text) {
    Failure failure;
    const std::string_view operation = take_part(text, ':');
    if (operation == "write")
        failure.operation = Operation::write;
    else if (operation == "sync")
        failure.operation = Operation::sync;
    else if (operation == "truncate")
        failure.operation = Operation::truncate;
    else
        return std::nullopt;
    const std::optional<int> nth = number_in(take_part(text, ':'));
    if (!nth || *nth < 1) return std::nullopt;
    failure.nth = *nth;
    const std::string_view code = take_part(text, ':');
    static constexpr int errors[] = {SQLITE_IOERR_WRITE, SQLITE_IOERR_FSYNC, SQLITE_IOERR_TRUNCATE};
    if (code == "ioerr")
        failure.code = errors[static_cast<std::size_t>(failure.operation)];
    else if (code == "full")
        failure.code = SQLITE_FULL;
    else
        return std::nullopt;
    failure.is_for_ever = text == "forever";
    if (!text.empty() && !failure.is_for_ever) return std::nullopt;
    return failure;
}

bool configure_part(std::string_view part) {
    if (part == "volatile") {
        set_mode(Mode::until_sync);
    } else if (part == "nosync") {
        set_mode(Mode::no_sync);
    } else if (part.starts_with("nosync=")) {
        const std::optional<int> every = number_in(part.substr(7));
        if (!every) return false;
        set_mode(Mode::no_sync, *every);
    } else if (part.starts_with("fail=")) {
        const std::optional<Failure> failure = failure_in(part.substr(5));
        if (!failure) return false;
        fail(*failure);
    } else {
        return false;
    }
    return true;
}

}  // namespace

void install(bool as_default) {
    register_layer(as_default);
    const char* text = std::getenv(environment_name);
    if (!text || configure(text)) return;
    std::fprintf(stderr, "%s: cannot understand `%s`\n", environment_name, text);
    std::abort();
}

void set_mode(Mode mode, int sync_every) {
    const std::lock_guard lock(layer().mutex);
    layer().mode = mode;
    layer().sync_every = sync_every;
    layer().syncs_skipped = 0;
}

void fail(const Failure& failure) {
    const std::lock_guard lock(layer().mutex);
    layer().failures.push_back(failure);
}

void clear_failures() {
    const std::lock_guard lock(layer().mutex);
    layer().failures.clear();
}

void reset() {
    set_mode(Mode::faithful);
    clear_failures();
    const std::lock_guard lock(layer().mutex);
    layer().pending.clear();
}

bool configure(std::string_view text) {
    while (!text.empty())
        if (!configure_part(take_part(text, ','))) return false;
    return true;
}

std::int64_t count(Operation operation) {
    const std::lock_guard lock(layer().mutex);
    return layer().counts[static_cast<std::size_t>(operation)];
}

}  // namespace holdpoint::faults
