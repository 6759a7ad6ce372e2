#pragma once

#include <chrono>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"

namespace holdpoint::agent {

struct ProcessOptions {
    std::string folder = ".";
    std::chrono::milliseconds timeout{120'000};
    std::size_t output_bytes_max = 64 * 1024;
    std::stop_token stop = {};
};

struct Finished {
    int exit_code = 0;       ///< 128 + signal where one ended it
    std::string output;      ///< both streams, cut
    bool is_killed = false;  ///< by us: the time was over, or `stop` came
};

/// Runs a program with nothing to read and waits until it has ended and its output is closed, also
/// by what it left in the background. Then, and when the time is over or this process dies,
/// everything that it started is killed, in whatever group or session; only a program that kills
/// its parent, or what hangs in the kernel, gets away. Blocks.
Result<Finished> run_process(const std::vector<std::string>& command,
                             const ProcessOptions& options);

}  // namespace holdpoint::agent
