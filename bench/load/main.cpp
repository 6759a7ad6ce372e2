// The load driver: one thread, HTTP/1.1 keep-alive over loopback, one JSON object on stdout.
//
//   load MODE --port P [--agent-keys FILE] [--person-keys FILE] [--clients N] [--seconds S]
//     roundtrip   create -> wait -> decide -> waiter resumed, closed loop
//     latency     one client; the waiter stands 10 ms before the decision is sent
//     create      [--rate R] closed loop, or open at a rate; [--count N --ids FILE] exactly so many
//     park        --ids FILE --pid PID [--parked N] [--sample N] [--sse]
//     list        --ids FILE [--offset N], on a store made by fill
//   [--bytes N] size of a proposal; [--pin CORE]

#include <fmt/format.h>
#include <sched.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "modes.h"

namespace holdpoint::load {

void Errors::add(const std::string& what) {
    if (++count_ <= 3) fmt::print(stderr, "load: {}\n", what);
    if (count_ > 100) fail("too many errors");
}

bool Errors::check(const Answer& answer, int expected) {
    if (answer.status == expected) return true;
    add(fmt::format("status {} instead of {}: {}", answer.status, expected,
                    answer.body.substr(0, 300)));
    return false;
}

Window::Window(double seconds) {
    const auto span = [](double s) {
        return std::chrono::duration_cast<SteadyTime::duration>(std::chrono::duration<double>(s));
    };
    start_ = SteadyTime::now();
    begin_ = start_ + span(std::min(1.0, seconds / 4));
    end_ = begin_ + span(seconds);
}

std::vector<std::pair<std::string, std::string>> read_ids(const std::string& path) {
    std::ifstream file(path);
    std::vector<std::pair<std::string, std::string>> ids;
    for (std::string id, session; file >> id >> session;) ids.emplace_back(id, session);
    if (ids.empty()) fail(fmt::format("no requests in `{}`", path));
    return ids;
}

namespace {

void take(Options& options, const std::string& name, const char* value) {
    if (name == "--port")
        options.port = static_cast<std::uint16_t>(std::atoi(value));
    else if (name == "--clients")
        options.clients = std::max(1, std::atoi(value));
    else if (name == "--seconds")
        options.seconds = std::atof(value);
    else if (name == "--bytes")
        options.bytes = static_cast<std::size_t>(std::atoll(value));
    else if (name == "--rate")
        options.rate = std::atof(value);
    else if (name == "--count")
        options.count = std::atoll(value);
    else if (name == "--ids")
        options.ids = value;
    else if (name == "--offset")
        options.offset = static_cast<std::size_t>(std::atoll(value));
    else if (name == "--parked")
        options.parked = std::atoi(value);
    else if (name == "--sample")
        options.sample = std::max(1, std::atoi(value));
    else if (name == "--pid")
        options.server_pid = std::atoi(value);
    else if (name == "--pin")
        options.core = std::atoi(value);
    else if (name == "--agent-keys")
        options.agent_keys = value;
    else if (name == "--person-keys")
        options.person_keys = value;
    else
        fail(fmt::format("unknown option `{}`", name));
}

Options parse(int argc, char** argv) {
    if (argc < 2) fail("usage: load roundtrip|latency|create|park|list --port P …");
    Options options;
    options.mode = argv[1];
    for (int i = 2; i < argc; ++i) {
        const std::string name = argv[i];
        if (name == "--sse")
            options.is_sse = true;
        else if (i + 1 == argc)
            fail(fmt::format("`{}` needs a value", name));
        else
            take(options, name, argv[++i]);
    }
    if (options.mode == "latency") options.clients = 1;
    return options;
}

void pin(int core) {
    cpu_set_t cores;
    CPU_ZERO(&cores);
    CPU_SET(static_cast<std::size_t>(core), &cores);
    if (sched_setaffinity(0, sizeof cores, &cores) != 0) fail(fmt::format("no core {}", core));
}

/// Every parked waiter is a descriptor here, too.
void raise_descriptor_limit() {
    rlimit limit{};
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

std::string run(const Options& options) {
    if (options.mode == "roundtrip" || options.mode == "latency") return round_trips(options);
    if (options.mode == "create") return creates(options);
    if (options.mode == "park") return park(options);
    if (options.mode == "list") return list(options);
    fail(fmt::format("unknown mode `{}`", options.mode));
}

}  // namespace
}  // namespace holdpoint::load

int main(int argc, char** argv) {
    using namespace holdpoint::load;
    const Options options = parse(argc, argv);
    raise_descriptor_limit();
    if (options.core >= 0) pin(options.core);
    fmt::print("{}\n", run(options));
    return 0;
}
