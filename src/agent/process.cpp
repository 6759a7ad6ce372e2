#include "agent/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <optional>

#include "agent/beneath.h"

namespace holdpoint::agent {
namespace {

using SteadyTime = std::chrono::steady_clock;

constexpr int poll_ms = 50;
/// How long what is killed may take to be gone; what hangs in the kernel is then left to itself.
constexpr int gone_within_ms = 2000;

// What follows up to keep() runs in a fork of a process with threads: only what is safe there.

/// The keeper's own descriptors.
constexpr int control = 0, output_end = 1, status_end = 2;

[[noreturn]] void become(char* const* arguments, const char* folder, pid_t keeper) {
    ::setpgid(0, 0);
    // Without its keeper nobody would end it.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != keeper) ::_exit(127);
    // Signals that this process keeps for itself must still reach the program.
    sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    ::dup2(nothing, STDIN_FILENO);
    ::dup2(output_end, STDERR_FILENO);
    if (::chdir(folder) == 0) ::execv(arguments[0], arguments);
    ::_exit(127);
}

/// Kills every child of this process; false where it cannot tell who they are.
bool kill_children() {
    const int list = ::open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
    if (list < 0) return false;
    char text[4096];
    const ssize_t count = ::read(list, text, sizeof text);
    ::close(list);
    pid_t child = 0;
    for (ssize_t at = 0; at < count; ++at) {
        if (text[at] >= '0' && text[at] <= '9') {
            child = child * 10 + (text[at] - '0');
            continue;
        }
        // A number that the buffer cut off is somebody else's: only what ends in a blank counts.
        if (child > 0) ::kill(child, SIGKILL);
        child = 0;
    }
    return true;
}

/// Takes in the dead, and tells how the program ended. False when nobody is left.
bool reap(pid_t program, bool& is_over) {
    for (;;) {
        int status = 0;
        const pid_t dead = ::waitpid(-1, &status, WNOHANG);
        if (dead < 0 && errno == EINTR) continue;
        if (dead <= 0) return dead == 0;
        if (dead != program) continue;
        is_over = true;
        // Nobody may be left to read it, which ends us soon enough.
        (void)!::write(status_end, &status, sizeof status);
    }
}

/// A process between us and the program. It adopts whatever the program leaves behind, also what
/// began a session of its own, and ends all of it when `control` is closed: because we say so, or
/// because we are gone.
[[noreturn]] void keep(char* const* arguments, const char* folder, const int (&ends)[3]) {
    ::setpgid(0, 0);
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    sigset_t all;
    sigfillset(&all);
    ::sigprocmask(SIG_SETMASK, &all, nullptr);
    constexpr int out_of_the_way = 10;
    int moved[3];
    for (int i = 0; i < 3; ++i) moved[i] = ::fcntl(ends[i], F_DUPFD, out_of_the_way);
    for (int i = 0; i < 3; ++i) ::dup2(moved[i], i);
    // A file or a lock of ours must not live on in here.
    ::syscall(SYS_close_range, 3U, ~0U, 0U);
    const pid_t keeper = ::getpid();
    const pid_t program = ::_Fork();
    if (program == 0) become(arguments, folder, keeper);
    ::close(output_end);
    if (program < 0) ::_exit(1);
    const int ending = static_cast<int>(::syscall(SYS_pidfd_open, program, 0));
    bool is_over = false;
    for (;;) {
        reap(program, is_over);
        pollfd waiting[2]{{control, POLLIN, 0}, {is_over ? -1 : ending, POLLIN, 0}};
        ::poll(waiting, 2, !is_over && ending < 0 ? poll_ms : 1000);
        if (waiting[0].revents != 0) break;
    }
    // The children of what is killed become ours, so that the next round ends them.
    bool is_known = true;
    while ((is_known = kill_children()) && reap(program, is_over)) ::poll(nullptr, 0, 1);
    // Without /proc only its group can be ended, and only while the number is surely its own.
    if (!is_known && !is_over) {
        ::kill(-program, SIGKILL);
        while (!is_over && reap(program, is_over)) ::poll(nullptr, 0, 1);
    }
    ::_exit(0);
}

struct Pipe {
    Descriptor reading, writing;
};

Result<Pipe> make_pipe() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return Error{ErrorCode::unavailable, std::strerror(errno)};
    return Pipe{Descriptor(ends[0]), Descriptor(ends[1])};
}

/// Reads how the program ended; false once its keeper is gone.
bool read_status(int from, std::optional<int>& status) {
    int told = 0;
    const ssize_t count = ::read(from, &told, sizeof told);
    if (count == sizeof told) status = told;
    return count == sizeof told || (count < 0 && errno == EINTR);
}

/// Reads what the program prints until it has ended and nobody can print any more; true when it has
/// to be killed before that.
bool collect(int from, int ending, const ProcessOptions& options, std::string& output,
             std::optional<int>& status) {
    const SteadyTime::time_point end = SteadyTime::now() + options.timeout;
    char bytes[8192];
    bool is_printing = true;
    while (is_printing || !status) {
        if (SteadyTime::now() >= end || options.stop.stop_requested()) return true;
        pollfd waiting[2]{{is_printing ? from : -1, POLLIN, 0}, {status ? -1 : ending, POLLIN, 0}};
        if (::poll(waiting, 2, poll_ms) <= 0) continue;
        if (waiting[0].revents != 0) {
            const ssize_t count = ::read(from, bytes, sizeof bytes);
            is_printing = count > 0 || (count < 0 && errno == EINTR);
            const std::size_t room = options.output_bytes_max - output.size();
            if (count > 0) output.append(bytes, std::min(room, static_cast<std::size_t>(count)));
        }
        if (waiting[1].revents != 0 && !read_status(ending, status)) return true;
    }
    return false;
}

/// Waits until the keeper has ended everything, but not for ever.
void wait_for_keeper(pid_t keeper, int ending, std::optional<int>& status) {
    const SteadyTime::time_point end =
        SteadyTime::now() + std::chrono::milliseconds(gone_within_ms);
    bool is_there = true;
    while (is_there && SteadyTime::now() < end) {
        pollfd waiting{ending, POLLIN, 0};
        if (::poll(&waiting, 1, poll_ms) > 0) is_there = read_status(ending, status);
    }
    if (is_there) ::kill(keeper, SIGKILL);
    while (::waitpid(keeper, nullptr, 0) < 0 && errno == EINTR) {
    }
}

}  // namespace

Result<Finished> run_process(const std::vector<std::string>& command,
                             const ProcessOptions& options) {
    std::vector<char*> arguments;
    for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    Result<Pipe> output = make_pipe();
    if (!output) return output.error();
    Result<Pipe> ending = make_pipe();
    if (!ending) return ending.error();
    Result<Pipe> ruling = make_pipe();
    if (!ruling) return ruling.error();
    const int ends[3]{ruling->reading.get(), output->writing.get(), ending->writing.get()};
    const pid_t keeper = ::fork();
    if (keeper == 0) keep(arguments.data(), options.folder.c_str(), ends);
    if (keeper < 0) return Error{ErrorCode::unavailable, std::strerror(errno)};
    ruling->reading.close();
    output->writing.close();
    ending->writing.close();
    Finished finished;
    std::optional<int> status;
    finished.is_killed =
        collect(output->reading.get(), ending->reading.get(), options, finished.output, status);
    ruling->writing.close();  // ends what it left behind
    wait_for_keeper(keeper, ending->reading.get(), status);
    constexpr int signalled = 128;
    if (!status)
        finished.exit_code = signalled + SIGKILL;
    else
        finished.exit_code =
            WIFEXITED(*status) ? WEXITSTATUS(*status) : signalled + WTERMSIG(*status);
    return finished;
}

}  // namespace holdpoint::agent
