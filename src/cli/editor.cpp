#include "cli/editor.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <system_error>

#include "cli/terminal.h"

namespace holdpoint::cli {
namespace {

std::string editor_command() {
    for (const char* name : {"VISUAL", "EDITOR"}) {
        const char* value = std::getenv(name);
        if (value != nullptr && *value != '\0') return value;
    }
    return "vi";
}

Error failed(std::string what) { return {ErrorCode::refused, std::move(what)}; }

/// A file that goes when this does.
class TemporaryFile {
  public:
    explicit TemporaryFile(const std::string& suffix) {
        const char* folder = std::getenv("TMPDIR");
        path_ = fmt::format("{}/holdpoint-XXXXXX{}",
                            folder != nullptr && *folder != '\0' ? folder : "/tmp", suffix);
        fd_ = ::mkostemps(path_.data(), static_cast<int>(suffix.size()), O_CLOEXEC);
    }
    ~TemporaryFile() {
        if (fd_ < 0) return;
        ::close(fd_);
        ::unlink(path_.c_str());
    }
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;

    bool write(std::string_view text) const {
        while (fd_ >= 0 && !text.empty()) {
            const ssize_t written = ::write(fd_, text.data(), text.size());
            if (written < 0 && errno == EINTR) continue;
            if (written <= 0) return false;
            text.remove_prefix(static_cast<std::size_t>(written));
        }
        return fd_ >= 0;
    }
    const std::string& path() const { return path_; }

  private:
    std::string path_;
    int fd_ = -1;
};

/// Runs `command FILE` as a shell would, since $EDITOR may carry options. Ctrl-C in the editor is
/// the editor's, not ours.
int run_editor(const std::string& command, const std::string& path) {
    struct sigaction ignore{};
    struct sigaction old_int{};
    struct sigaction old_quit{};
    ignore.sa_handler = SIG_IGN;
    ::sigaction(SIGINT, &ignore, &old_int);
    ::sigaction(SIGQUIT, &ignore, &old_quit);
    const pid_t child = ::fork();
    if (child == 0) {
        ::signal(SIGINT, SIG_DFL);
        ::signal(SIGQUIT, SIG_DFL);
        const std::string script = command + " \"$1\"";
        ::execl("/bin/sh", "sh", "-c", script.c_str(), "sh", path.c_str(), nullptr);
        ::_exit(127);
    }
    int status = -1;
    while (child > 0 && ::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    ::sigaction(SIGINT, &old_int, nullptr);
    ::sigaction(SIGQUIT, &old_quit, nullptr);
    return child > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

Result<std::string> edit_text(const std::string& text, const std::string& suffix) {
    const TemporaryFile file(suffix);
    if (!file.write(text))
        return failed(fmt::format("cannot write a temporary file: {}",
                                  std::generic_category().message(errno)));
    const std::string command = editor_command();
    if (const int status = run_editor(command, file.path()); status != 0)
        return failed(
            fmt::format("the editor `{}` failed ({}); nothing was sent", command, status));
    // Read by name: many editors replace the file instead of writing into it.
    return read_input(file.path());
}

}  // namespace holdpoint::cli
