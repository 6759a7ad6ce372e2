#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "client.h"
#include "latencies.h"

namespace holdpoint::load {

struct Options {
    std::string mode;
    std::uint16_t port = 7480;
    int clients = 64;
    double seconds = 5;
    std::size_t bytes = 1024;  ///< of a proposal's body
    double rate = 0;           ///< create: open loop at so many a second; 0: closed loop
    std::int64_t count = 0;    ///< create: exactly so many; list: decide at most so many
    std::string ids;           ///< create --count writes it; park and list read it
    std::size_t offset = 0;    ///< list: the first line of `ids` to decide
    bool is_sse = false;       ///< park: event streams instead of long polls
    int parked = 10'000;       ///< park: how many
    int sample = 200;          ///< park: how many of them are decided
    int server_pid = 0;        ///< park: whose memory
    int core = -1;             ///< pin the driver to it
    std::string agent_keys, person_keys;
};

/// Each mode measures, and returns one JSON object. Answers other than the expected ones are
/// counted as `errors`; more than a hundred end the program.
std::string round_trips(const Options& options);  ///< roundtrip, and latency with one client
std::string creates(const Options& options);
std::string park(const Options& options);
std::string list(const Options& options);

/// The lines `ID SESSION` of an ids file.
std::vector<std::pair<std::string, std::string>> read_ids(const std::string& path);

/// Counts what should not happen, says the first three, and gives up after a hundred.
class Errors {
  public:
    void add(const std::string& what);
    /// True if the status is the expected one.
    bool check(const Answer& answer, int expected);
    int count() const { return count_; }

  private:
    int count_ = 0;
};

/// The measured stretch of time, after a warm-up of at most a second.
class Window {
  public:
    explicit Window(double seconds);
    bool has_begun(TimePoint at) const { return at >= begin_; }
    bool is_over(TimePoint at) const { return at >= end_; }
    bool holds(TimePoint at) const { return has_begun(at) && !is_over(at); }
    TimePoint start() const { return start_; }
    TimePoint begin() const { return begin_; }
    TimePoint end() const { return end_; }
    double seconds() const { return std::chrono::duration<double>(end_ - begin_).count(); }

  private:
    TimePoint start_, begin_, end_;
};

}  // namespace holdpoint::load
