#include "cli/terminal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <system_error>

#include "base/assert.h"

namespace holdpoint::cli {
namespace {

// A signal handler can only reach globals.
std::array<int, 2> interrupt_pipe{-1, -1};
std::atomic<bool> is_interrupted{false};
struct sigaction old_int{};
struct sigaction old_term{};

void on_interrupt(int) {
    is_interrupted = true;
    const char byte = 1;
    [[maybe_unused]] const ssize_t written = ::write(interrupt_pipe[1], &byte, 1);
}

std::optional<std::string> read_line_from(int fd) {
    std::string line;
    while (true) {
        char c = 0;
        const ssize_t got = ::read(fd, &c, 1);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return line.empty() ? std::nullopt : std::optional(line);
        if (c == '\n') return line;
        if (line.size() < 64 * 1024) line += c;
    }
}

/// Where a question is seen: on standard error, or, where that goes elsewhere, on the terminal of
/// this process. -1 where there is none.
int question_fd() {
    if (::isatty(STDERR_FILENO) != 0) return STDERR_FILENO;
    static const int terminal = ::open("/dev/tty", O_WRONLY | O_CLOEXEC | O_NOCTTY);
    return terminal;
}

void write_question(std::string_view text) {
    std::fflush(stderr);
    const int fd = question_fd();
    while (fd >= 0 && !text.empty()) {
        const ssize_t wrote = ::write(fd, text.data(), text.size());
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote <= 0) return;
        text.remove_prefix(static_cast<std::size_t>(wrote));
    }
}

Error cannot_read(const std::string& what) {
    return {ErrorCode::invalid_argument,
            fmt::format("cannot read {}: {}", what, std::generic_category().message(errno))};
}

/// Echo off; on again when this goes, also when a signal ends the process.
class SilentEcho {
  public:
    SilentEcho() {
        is_on_ = ::tcgetattr(STDIN_FILENO, &saved_) == 0;
        if (!is_on_) return;
        sigset_t blocked;
        sigemptyset(&blocked);
        for (int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP}) sigaddset(&blocked, signal);
        // Blocked, not handled: they arrive as soon as the echo is back.
        ::sigprocmask(SIG_BLOCK, &blocked, &old_mask_);
        termios silent = saved_;
        silent.c_lflag &= ~static_cast<tcflag_t>(ECHO | ISIG);
        silent.c_lflag |= ECHONL;
        ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent);
    }
    ~SilentEcho() {
        if (!is_on_) return;
        ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &saved_);
        ::sigprocmask(SIG_SETMASK, &old_mask_, nullptr);
    }
    SilentEcho(const SilentEcho&) = delete;
    SilentEcho& operator=(const SilentEcho&) = delete;
    bool is_on() const { return is_on_; }

  private:
    termios saved_{};
    sigset_t old_mask_{};
    bool is_on_ = false;
};

}  // namespace

bool may_prompt() { return ::isatty(STDIN_FILENO) != 0 && question_fd() >= 0; }

bool shows_messages() { return ::isatty(STDERR_FILENO) != 0; }

std::optional<std::string> ask_line(std::string_view question) {
    // Before the question, not after it: whoever answers at once must be heard.
    if (::isatty(STDIN_FILENO) != 0) ::tcflush(STDIN_FILENO, TCIFLUSH);
    write_question(question);
    return read_line_from(STDIN_FILENO);
}

std::optional<std::string> read_stdin_line() { return read_line_from(STDIN_FILENO); }

bool ask_yes(std::string_view question) {
    while (true) {
        const std::optional<std::string> line = ask_line(question);
        if (!line) return false;
        if (*line == "y" || *line == "yes" || *line == "Y") return true;
        if (*line == "n" || *line == "no" || *line == "N" || line->empty()) return false;
    }
}

Result<std::string> ask_secret(std::string_view question) {
    write_question(question);
    const SilentEcho silent;
    if (!silent.is_on())
        return Error{ErrorCode::invalid_argument, "no terminal to ask at; use --password-stdin"};
    std::string line;
    while (true) {
        char c = 0;
        const ssize_t got = ::read(STDIN_FILENO, &c, 1);
        if (got < 0 && errno == EINTR) continue;
        // Ctrl-C arrives as a byte, since signals from keys are off while the echo is.
        if (got <= 0 || c == 3) return Error{ErrorCode::invalid_argument, "no password given"};
        if (c == '\n') return line;
        if (line.size() < 4096) line += c;
    }
}

Result<std::string> read_secret_line() {
    std::optional<std::string> line = read_line_from(STDIN_FILENO);
    if (line && line->ends_with('\r')) line->pop_back();
    if (!line || line->empty())
        return Error{ErrorCode::invalid_argument, "no password on standard input"};
    return std::move(*line);
}

Result<std::string> read_input(const std::string& path, std::size_t mib_max) {
    const std::size_t bytes_max = mib_max * 1024 * 1024;
    const int fd = path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    const std::string name = path == "-" ? "standard input" : "`" + path + "`";
    if (fd < 0) return cannot_read(name);
    std::string text;
    char buffer[16 * 1024];
    while (true) {
        const ssize_t got = ::read(fd, buffer, sizeof buffer);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) {
            const Error error = cannot_read(name);
            if (fd != STDIN_FILENO) ::close(fd);
            return error;
        }
        if (got == 0) break;
        text.append(buffer, static_cast<std::size_t>(got));
        if (text.size() > bytes_max) break;
    }
    if (fd != STDIN_FILENO) ::close(fd);
    if (text.size() > bytes_max)
        return Error{ErrorCode::too_large, fmt::format("{} is larger than {} MiB", name, mib_max)};
    return text;
}

Interrupt::Interrupt() {
    HOLDPOINT_ASSERT(interrupt_pipe[0] == -1);
    HOLDPOINT_ASSERT(::pipe2(interrupt_pipe.data(), O_CLOEXEC | O_NONBLOCK) == 0);
    is_interrupted = false;
    struct sigaction action{};
    action.sa_handler = on_interrupt;
    // A second Ctrl-C ends the process at once, should we hang.
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    sigemptyset(&action.sa_mask);
    ::sigaction(SIGINT, &action, &old_int);
    ::sigaction(SIGTERM, &action, &old_term);
}

Interrupt::~Interrupt() {
    ::sigaction(SIGINT, &old_int, nullptr);
    ::sigaction(SIGTERM, &old_term, nullptr);
    ::close(interrupt_pipe[0]);
    ::close(interrupt_pipe[1]);
    interrupt_pipe = {-1, -1};
}

int Interrupt::fd() const { return interrupt_pipe[0]; }
bool Interrupt::was_raised() { return is_interrupted; }

}  // namespace holdpoint::cli
