#pragma once

#include <string>
#include <vector>

#include "client.h"

namespace holdpoint::load {

/// Every sample is kept: with a million of them still only 8 MB, and no bucket hides a tail.
class Latencies {
  public:
    void add(std::chrono::nanoseconds time) { samples_.push_back(time.count()); }
    std::size_t size() const { return samples_.size(); }
    /// Milliseconds: `{"p50":…,"p90":…,"p99":…,"max":…}`, null without samples.
    std::string json();

  private:
    double ms_at(double part) const;

    std::vector<std::int64_t> samples_;
};

/// Processor time of this program so far, in seconds.
double cpu_s();

/// Resident memory of a process in bytes; its private part is what grows with waiters.
struct Memory {
    long resident = 0;
    long anonymous = 0;
};
Memory memory_of(int pid);

}  // namespace holdpoint::load
