#include "agent/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "agent/beneath.h"

namespace holdpoint::agent {
namespace {

using SteadyTime = std::chrono::steady_clock;

constexpr int poll_ms = 50;

/// Between fork and exec only what is safe there.
[[noreturn]] void become(char* const* arguments, const char* folder, int output) {
    ::setpgid(0, 0);
    // Signals that this process keeps for itself must still reach the program.
    sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    const int nothing = ::open("/dev/null", O_RDONLY);
    ::dup2(nothing, 0);
    ::dup2(output, 1);
    ::dup2(output, 2);
    if (::chdir(folder) == 0) ::execv(arguments[0], arguments);
    ::_exit(127);
}

/// Reads what the program prints until it is over; true when it had to be killed.
bool collect(int from, pid_t group, const ProcessOptions& options, std::string& output) {
    const SteadyTime::time_point end = SteadyTime::now() + options.timeout;
    char bytes[8192];
    for (;;) {
        if (SteadyTime::now() >= end || options.stop.stop_requested()) {
            ::kill(-group, SIGKILL);
            return true;
        }
        pollfd waiting{from, POLLIN, 0};
        if (::poll(&waiting, 1, poll_ms) <= 0) continue;
        const ssize_t count = ::read(from, bytes, sizeof bytes);
        if (count <= 0) return false;
        const std::size_t room = options.output_bytes_max - output.size();
        output.append(bytes, std::min(room, static_cast<std::size_t>(count)));
    }
}

}  // namespace

Result<Finished> run_process(const std::vector<std::string>& command,
                             const ProcessOptions& options) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return Error{ErrorCode::unavailable, std::strerror(errno)};
    const Descriptor reading(ends[0]);
    std::vector<char*> arguments;
    for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    pid_t child = -1;
    {
        const Descriptor writing(ends[1]);
        child = ::fork();
        if (child == 0) become(arguments.data(), options.folder.c_str(), ends[1]);
        if (child < 0) return Error{ErrorCode::unavailable, std::strerror(errno)};
    }
    ::setpgid(child, child);
    Finished finished;
    finished.is_killed = collect(reading.get(), child, options, finished.output);
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    ::kill(-child, SIGKILL);  // what it left behind
    finished.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return finished;
}

}  // namespace holdpoint::agent
