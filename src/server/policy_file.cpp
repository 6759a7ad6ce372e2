#include "server/policy_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "policy/compile.h"

namespace holdpoint::server {
namespace {

constexpr std::size_t bytes_max = 1 << 20;

struct OpenFile {
    int fd;
    explicit OpenFile(int opened) : fd(opened) {}
    OpenFile(const OpenFile&) = delete;
    OpenFile& operator=(const OpenFile&) = delete;
    ~OpenFile() {
        if (fd >= 0) ::close(fd);
    }
};

/// A parent is named by a plain file name: a policy that anybody may write must not read the disk.
bool is_plain_name(const std::string& name) {
    return !name.empty() && name.find('/') == std::string::npos && name != "." && name != "..";
}

enum class Source { file, anything };

Result<std::string> read_text(const std::string& path, Source source) {
    const auto fail = [&path](std::string_view why) {
        return Error{ErrorCode::invalid_argument,
                     fmt::format("cannot read the policy `{}`: {}", path, why)};
    };
    // A named pipe that nobody writes to holds up whoever opens it without O_NONBLOCK.
    const bool must_be_file = source == Source::file;
    const OpenFile file{
        ::open(path.c_str(), O_RDONLY | O_CLOEXEC | (must_be_file ? O_NONBLOCK : 0))};
    struct stat about{};
    if (file.fd < 0 || ::fstat(file.fd, &about) != 0) return fail(std::strerror(errno));
    if (S_ISDIR(about.st_mode)) return fail(std::strerror(EISDIR));
    if (must_be_file && !S_ISREG(about.st_mode))
        return fail("not a regular file; SIGHUP could not read it again");
    std::string text(bytes_max + 1, '\0');
    std::size_t size = 0;
    while (size < text.size()) {
        const ssize_t got = ::read(file.fd, text.data() + size, text.size() - size);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return fail(std::strerror(errno));
        if (got == 0) break;
        size += static_cast<std::size_t>(got);
    }
    text.resize(size);
    if (text.size() > bytes_max)
        return Error{ErrorCode::too_large,
                     fmt::format("the policy `{}` is larger than {} bytes", path, bytes_max)};
    return text;
}

}  // namespace

Result<std::string> read_policy_text(const std::string& path) {
    return read_text(path, Source::anything);
}

policy::ParentReader parents_beside(const std::string& path) {
    const std::filesystem::path folder = std::filesystem::path(path).parent_path();
    return [folder](const std::string& name) -> Result<std::string> {
        if (!is_plain_name(name))
            return Error{ErrorCode::invalid_argument,
                         fmt::format("`{}` is neither a preset nor a file beside this one", name)};
        return read_text((folder / name).string(), Source::file);
    };
}

Result<service::PolicyInForce::Pointer> load_policy_file(const std::string& path) {
    const Result<std::string> text = read_text(path, Source::file);
    if (!text) return text.error();
    policy::LoadOptions options;
    options.read_parent = parents_beside(path);
    Result<service::PolicyInForce::Pointer> policy = policy::load(*text, options);
    if (policy) return policy;
    Error error = policy.error();
    error.message = fmt::format("{}: {}", path, error.message);
    return error;
}

}  // namespace holdpoint::server
