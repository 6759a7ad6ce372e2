#include "latencies.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <fstream>

namespace holdpoint::load {

double Latencies::ms_at(double part) const {
    const auto last = static_cast<double>(samples_.size() - 1);
    return static_cast<double>(samples_[static_cast<std::size_t>(part * last)]) / 1e6;
}

std::string Latencies::json() {
    if (samples_.empty()) return "null";
    std::ranges::sort(samples_);
    return fmt::format(R"({{"p50":{:.4f},"p90":{:.4f},"p99":{:.4f},"max":{:.4f},"count":{}}})",
                       ms_at(0.5), ms_at(0.9), ms_at(0.99), ms_at(1), samples_.size());
}

double cpu_s() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

Memory memory_of(int pid) {
    std::ifstream status(fmt::format("/proc/{}/status", pid));
    Memory memory;
    for (std::string word; status >> word;) {
        long* const field = word == "VmRSS:"     ? &memory.resident
                            : word == "RssAnon:" ? &memory.anonymous
                                                 : nullptr;
        if (field && status >> *field) *field *= 1024;
    }
    if (memory.resident == 0) fail(fmt::format("no process {}", pid));
    return memory;
}

}  // namespace holdpoint::load
