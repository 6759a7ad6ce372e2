#include "agent/beneath.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace holdpoint::agent {
namespace {

Error open_failed(const std::string& path) {
    const ErrorCode code = errno == ENOENT                    ? ErrorCode::not_found
                           : errno == EXDEV || errno == ELOOP ? ErrorCode::permission_denied
                                                              : ErrorCode::unavailable;
    const char* why =
        code == ErrorCode::permission_denied ? "leads out of the folder" : std::strerror(errno);
    return {code, fmt::format("`{}`: {}", path, why), "path"};
}

int open_at(int folder, const std::string& path, int flags) {
    open_how how{};
    how.flags = static_cast<unsigned long long>(flags | O_CLOEXEC);
    how.mode = (flags & O_CREAT) != 0 ? 0644 : 0;
    how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
    return static_cast<int>(::syscall(SYS_openat2, folder, path.c_str(), &how, sizeof how));
}

}  // namespace

void Descriptor::close() {
    if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
}

Result<Descriptor> open_beneath(const std::string& folder, const std::string& path, Access access) {
    const Descriptor root(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (root.get() < 0) return open_failed(folder);
    const int flags = access == Access::read      ? O_RDONLY
                      : access == Access::replace ? O_WRONLY | O_CREAT | O_TRUNC
                                                  : O_RDONLY | O_DIRECTORY;
    const int opened = open_at(root.get(), path, flags);
    if (opened < 0) return open_failed(path);
    return Descriptor(opened);
}

Result<void> remove_beneath(const std::string& folder, const std::string& path) {
    const std::size_t slash = path.rfind('/');
    const std::string parent = slash == std::string::npos ? "." : path.substr(0, slash);
    const std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
    const Result<Descriptor> opened = open_beneath(folder, parent, Access::list);
    if (!opened) return opened.error();
    if (name.empty() || name == "." || name == "..")
        return Error{ErrorCode::invalid_argument, "is no name of a file", "path"};
    if (::unlinkat(opened->get(), name.c_str(), 0) != 0) return open_failed(path);
    return {};
}

}  // namespace holdpoint::agent
