#pragma once

#include <netinet/in.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <queue>
#include <string>
#include <string_view>
#include <vector>

/// The load driver's own HTTP/1.1 client: one thread, one epoll, no library, so that the driver
/// costs as little as possible beside the server it measures. What goes wrong ends the program:
/// a figure taken over a broken connection is worth nothing.
namespace holdpoint::load {

using SteadyTime = std::chrono::steady_clock;
using TimePoint = SteadyTime::time_point;

/// Prints to standard error and exits with status 1.
[[noreturn]] void fail(const std::string& message);

class Connection;

/// Runs connections and timers. `work` and callbacks may start and send anything.
class Loop {
  public:
    Loop();
    ~Loop();
    Loop(const Loop&) = delete;
    Loop& operator=(const Loop&) = delete;

    void at(TimePoint when, std::move_only_function<void()> work);
    /// Until stop() is called from a callback.
    void run();
    void stop() { is_running_ = false; }
    /// Lets everything go on for so long.
    void run_for(std::chrono::nanoseconds time);

  private:
    friend class Connection;
    struct Timer {
        TimePoint when;
        mutable std::move_only_function<void()> work;
        bool operator<(const Timer& other) const { return when > other.when; }
    };
    void run_due();
    void wait();

    int epoll_;
    bool is_running_ = false;
    std::priority_queue<Timer> timers_;
};

/// The body lives until the callback returns. `at` is when its last byte was read.
struct Answer {
    int status = 0;
    std::string_view body;
    TimePoint at;
};

/// A keep-alive connection with at most one request under way.
class Connection {
  public:
    using OnAnswer = std::move_only_function<void(const Answer&)>;
    /// Gets all that has come since the last time it returned true ("used up").
    using OnStream = std::move_only_function<bool(std::string_view text, TimePoint at)>;

    /// Connects at once. `source` is the last number of the 127.0.0.x to come from: one address
    /// has only some 28,000 ports.
    Connection(Loop& loop, std::uint16_t port, int source = 1);
    ~Connection();
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    void send(std::string_view request, OnAnswer on_answer);
    /// For server-sent events: nothing is taken apart, the callback looks for what it needs.
    void stream(std::string_view request, OnStream on_stream);
    /// Sends, and runs the loop until the answer is there.
    int call(std::string_view request, std::string* body = nullptr);

  private:
    friend class Loop;
    void write(std::string_view request);
    void on_readable();
    bool take_answer(TimePoint at);

    Loop& loop_;
    int fd_;
    std::string in_;
    OnAnswer on_answer_;
    OnStream on_stream_;
};

}  // namespace holdpoint::load
