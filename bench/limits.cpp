// What this machine can do at best, to read the other figures against. One JSON object on stdout.
//
//   limits DIR [SECONDS]
//
// Appends of 4 KB and 64 KB with fdatasync to a file in DIR, and one byte there and back over a
// loopback connection between two threads.

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

namespace {

using SteadyTime = std::chrono::steady_clock;

[[noreturn]] void fail(const char* what) {
    std::perror(what);
    std::exit(1);
}

/// Repeats `once` for so long: `"NAME_per_s":…,"NAME_ms":{…}`.
template <class Once>
std::string measure(const char* name, double seconds, Once once) {
    std::vector<double> ms;
    const auto start = SteadyTime::now();
    auto last = start;
    while (last - start < std::chrono::duration<double>(seconds)) {
        once();
        const auto now = SteadyTime::now();
        ms.push_back(std::chrono::duration<double, std::milli>(now - last).count());
        last = now;
    }
    const double elapsed = std::chrono::duration<double>(last - start).count();
    const auto count = static_cast<double>(ms.size());
    std::ranges::sort(ms);
    const auto at = [&](double part) { return ms[static_cast<std::size_t>(part * (count - 1))]; };
    return fmt::format(R"("{0}_per_s":{1:.0f},"{0}_ms":{{"p50":{2:.4f},"p99":{3:.4f}}})", name,
                       count / elapsed, at(0.5), at(0.99));
}

std::string measure_sync(const char* name, const std::string& directory, std::size_t bytes,
                         double seconds) {
    const std::string path = directory + "/limits.tmp";
    const int file = open(path.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_APPEND | O_CLOEXEC, 0600);
    if (file < 0) fail(path.c_str());
    const std::string block(bytes, 'x');
    std::string text = measure(name, seconds, [&] {
        if (write(file, block.data(), block.size()) != static_cast<ssize_t>(block.size()))
            fail("write");
        if (fdatasync(file) != 0) fail("fdatasync");
    });
    close(file);
    unlink(path.c_str());
    return text;
}

std::pair<int, int> connected_pair() {
    const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const name = reinterpret_cast<sockaddr*>(&address);
    if (bind(listener, name, size) != 0 || listen(listener, 1) != 0) fail("listen");
    getsockname(listener, name, &size);
    const int near = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(near, name, size) != 0) fail("connect");
    const int far = accept(listener, nullptr, nullptr);
    close(listener);
    const int on = 1;
    for (const int end : {near, far}) setsockopt(end, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return {near, far};
}

std::string measure_ping_pong(double seconds) {
    const auto [near, far] = connected_pair();
    const auto echo = [](int end) {
        char byte;
        while (read(end, &byte, 1) == 1)
            if (write(end, &byte, 1) != 1) return;
    };
    std::thread other(echo, far);
    std::string text = measure("ping_pong", seconds, [end = near] {
        char byte = 'x';
        if (write(end, &byte, 1) != 1 || read(end, &byte, 1) != 1) fail("ping-pong");
    });
    shutdown(near, SHUT_RDWR);
    other.join();
    close(near);
    close(far);
    return text;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 2) {
        fmt::print(stderr, "usage: limits DIR [SECONDS]\n");
        return 2;
    }
    const double seconds = argc > 2 ? std::atof(argv[2]) : 2;
    const std::string small = measure_sync("sync_4k", argv[1], 4096, seconds);
    const std::string large = measure_sync("sync_64k", argv[1], 65536, seconds);
    fmt::print("{{{},{},{}}}\n", small, large, measure_ping_pong(seconds));
    return 0;
}
