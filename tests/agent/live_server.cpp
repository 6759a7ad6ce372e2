// A server for the library's tests: live_server DATA PORT [POLICY] writes its address and closes
// the output once it serves.
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <cstdlib>
#include <thread>

#include "server/server.h"

int main(int argc, char** argv) {
    using namespace holdpoint;
    if (argc < 3) return 2;
    // It does not outlive a test that fails badly: that ends the input.
    std::thread([] {
        char byte = 0;
        while (::read(STDIN_FILENO, &byte, 1) > 0) {
        }
        ::_exit(1);
    }).detach();
    spdlog::set_level(spdlog::level::off);
    server::Config config;
    config.data = argv[1];
    config.port = static_cast<std::uint16_t>(std::atoi(argv[2]));
    if (argc > 3) config.policy_file = argv[3];
    const Result<void> served = server::serve(config, [](const server::Started& started) {
        if (::write(STDOUT_FILENO, started.url.data(), started.url.size()) < 0) ::_exit(1);
        ::close(STDOUT_FILENO);
    });
    return served ? 0 : 1;
}
