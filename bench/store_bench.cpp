// How many durable writes a second the store takes, without the network in front of it.
//
//   store_bench FILE [SECONDS] [OUTSTANDING] [BUSY_PAGES] [IDLE_PAGES] [RATE]
//
// Creates with that many jobs outstanding, then create + decide pairs, then creates at a fixed
// rate. FILE must not exist; its folder decides what a sync costs.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "store/sqlite/sqlite.h"

namespace {

using namespace holdpoint;
using SteadyTime = std::chrono::steady_clock;
using RequestPointer = std::shared_ptr<const core::Request>;

/// Stands for the network thread: runs what the store hands over.
class Loop {
  public:
    void post(std::move_only_function<void()> function) {
        bool must_wake;
        {
            const std::lock_guard lock(mutex_);
            must_wake = queue_.empty();
            queue_.push_back(std::move(function));
        }
        if (must_wake) wake_.notify_one();
    }
    /// Runs what has come; waits for it until `until`.
    void turn(SteadyTime::time_point until = SteadyTime::time_point::max()) {
        std::vector<std::move_only_function<void()>> taken;
        {
            std::unique_lock lock(mutex_);
            if (until == SteadyTime::time_point::max())
                wake_.wait(lock, [&] { return !queue_.empty(); });
            else
                wake_.wait_until(lock, until, [&] { return !queue_.empty(); });
            taken.swap(queue_);
        }
        for (auto& function : taken) function();
    }

  private:
    std::mutex mutex_;
    std::condition_variable wake_;
    std::vector<std::move_only_function<void()>> queue_;  // guarded by mutex_
};

std::int64_t us_since(SteadyTime::time_point then) {
    return std::chrono::duration_cast<std::chrono::microseconds>(SteadyTime::now() - then).count();
}

class Bench {
  public:
    Bench(store::sqlite::Options options, int outstanding) : outstanding_(outstanding) {
        options.executor = [this](std::move_only_function<void()> f) { loop_.post(std::move(f)); };
        options.listener = [this](const std::vector<store::Change>& changes) {
            heard_ += changes.size();
        };
        auto opened = store::sqlite::open_sqlite(std::move(options));
        if (!opened) {
            fmt::print(stderr, "store_bench: {}\n", opened.error().message);
            std::exit(1);
        }
        store_ = std::move(*opened);
    }
    ~Bench() { store_->stop(); }

    void creates(double seconds) {
        measure("create", seconds, [this](auto done) { create(std::move(done)); });
    }
    void round_trips(double seconds) {
        measure("create + decide", seconds, [this](auto done) {
            create([this, done = std::move(done)](RequestId id) mutable {
                decide(id, std::move(done));
            });
        });
    }

    /// Open loop: the next create starts when it is due, not when the last one ended.
    void paced(double seconds, int rate) {
        begin_measuring();
        const auto start = SteadyTime::now();
        const auto total = static_cast<std::int64_t>(seconds * rate);
        std::int64_t sent = 0;
        while (done_ < total) {
            const auto due = std::min(total, us_since(start) * rate / 1'000'000);
            for (; sent < due; ++sent) {
                // From when it should have started, so that a stall counts for all who waited.
                const auto began = start + std::chrono::microseconds(sent * 1'000'000 / rate);
                create([this, began](RequestId) { note(began); });
            }
            loop_.turn(SteadyTime::now() + std::chrono::microseconds(200));
        }
        report(fmt::format("create at {}/s", rate), us_since(start));
    }

  private:
    using Done = std::move_only_function<void(RequestId)>;

    template <class Start>
    void measure(const std::string& name, double seconds, Start start_one) {
        begin_measuring();
        const auto start = SteadyTime::now();
        const auto end = start + std::chrono::duration<double>(seconds);
        int running = 0;
        std::function<void()> next = [&] {
            ++running;
            start_one(Done([&, began = SteadyTime::now()](RequestId) {
                note(began);
                --running;
                if (SteadyTime::now() < end) next();
            }));
        };
        for (int i = 0; i < outstanding_; ++i) next();
        while (running > 0) loop_.turn();
        report(name, us_since(start));
    }

    /// Of both threads: unlike the rate, it hardly depends on who else uses the machine.
    static double cpu_us() {
        timespec time{};
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
        return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_nsec) / 1e3;
    }

    void begin_measuring() {
        done_ = 0;
        cpu_us_start_ = cpu_us();
        latencies_us_.clear();
    }
    void note(SteadyTime::time_point began) {
        ++done_;
        latencies_us_.push_back(us_since(began));
    }
    void report(const std::string& name, std::int64_t us) {
        std::ranges::sort(latencies_us_);
        const auto at = [&](double part) {
            return static_cast<double>(latencies_us_[static_cast<std::size_t>(
                       part * static_cast<double>(latencies_us_.size() - 1))]) /
                   1000;
        };
        fmt::print(
            "{:18} {:8.0f}/s   p50 {:6.2f} ms   p99 {:6.2f} ms   max {:6.2f} ms   cpu {:5.1f} us\n",
            name, static_cast<double>(done_) * 1e6 / static_cast<double>(us), at(0.5), at(0.99),
            at(1), (cpu_us() - cpu_us_start_) / static_cast<double>(done_));
        std::fflush(stdout);
    }

    Timestamp now() const {
        return {std::chrono::duration_cast<std::chrono::milliseconds>(
                    std::chrono::system_clock::now().time_since_epoch())
                    .count()};
    }

    core::Request request() {
        const Timestamp at = now();
        core::Request request;
        request.id = RequestId::fresh(at);
        request.version = 1;
        // Eight requests for each session, whose names are in no order, as in life.
        request.session = fmt::format(
            "s-{:016x}", static_cast<std::uint64_t>(++made_ / 8) * 0x9E3779B97F4A7C15ULL);
        request.agent_id = agent_;
        request.agent = "billing-bot";
        request.tool = "process_refund";
        request.subject.text = subject_;
        request.headline = "Refund 500.00 for order 1234";
        request.risk = core::RiskLevel::high;
        request.verdict = {core::VerdictKind::hold, "refund-large", "refund", "above 100"};
        request.digest = "sha256:" + std::string(64, 'a');
        request.created_at = at;
        request.expires_at = at + 300'000;
        request.next_at = request.expires_at;
        return request;
    }

    void create(Done done) {
        core::Step step;
        step.request = request();
        const RequestId id = step.request.id;
        step.events.push_back({core::EventKind::requested,
                               id,
                               step.request.created_at,
                               "billing-bot",
                               "api",
                               "127.0.0.1",
                               {}});
        step.effects.push_back({core::EventKind::requested, id});
        store_->run([step = std::move(step)](store::Transaction& tx) { return tx.apply(step); },
                    [id, done = std::move(done)](Result<RequestPointer> answer) mutable {
                        if (!answer) std::abort();
                        done(id);
                    });
    }

    void decide(const RequestId& id, Done done) {
        const auto work = [id, at = now(), this](store::Transaction& tx) -> Result<RequestPointer> {
            const Result<RequestPointer> loaded = tx.load(id);
            if (!loaded) return loaded.error();
            core::Step step;
            step.request = **loaded;
            step.request.version += 1;
            step.request.state = core::State::settled;
            step.request.outcome = core::Outcome::approved;
            step.request.settled_at = at;
            step.request.is_released = true;
            core::Decision& decision = step.request.decision.emplace();
            decision.kind = core::DecisionKind::approve;
            decision.by_id = agent_;
            decision.by = "ann";
            decision.via = "cookie";
            decision.at = at;
            decision.digest = step.request.digest;
            step.request.votes.push_back({decision, {"finance"}});
            step.events.push_back(
                {core::EventKind::settled, id, at, "ann", "cookie", "127.0.0.1", {}});
            return tx.apply(std::move(step));
        };
        store_->run(work, [id, done = std::move(done)](Result<RequestPointer> answer) mutable {
            if (!answer) std::abort();
            done(id);
        });
    }

    Loop loop_;
    std::unique_ptr<store::Store> store_;
    const int outstanding_;
    const PrincipalId agent_ = PrincipalId::fresh({1});
    const std::string subject_ =
        R"({"tool":"process_refund","arguments":{"text":")" + std::string(1000, 'x') + R"("}})";
    std::int64_t made_ = 0;
    std::int64_t done_ = 0;
    double cpu_us_start_ = 0;
    std::size_t heard_ = 0;
    std::vector<std::int64_t> latencies_us_;
};

}  // namespace

int main(int argc, char** argv) {
    const auto number = [&](int at, int otherwise) {
        return argc > at ? std::atoi(argv[at]) : otherwise;
    };
    if (argc < 2) {
        fmt::print(stderr,
                   "usage: store_bench FILE [SECONDS] [OUTSTANDING] [BUSY_PAGES] "
                   "[IDLE_PAGES] [RATE]\n");
        return 2;
    }
    const double seconds = argc > 2 ? std::atof(argv[2]) : 3;
    store::sqlite::Options options;
    options.path = argv[1];
    options.checkpoint_busy_pages = number(4, options.checkpoint_busy_pages);
    options.checkpoint_idle_pages = number(5, options.checkpoint_idle_pages);
    Bench bench(std::move(options), number(3, 64));
    bench.creates(seconds);
    bench.round_trips(seconds);
    if (number(6, 20'000) > 0) bench.paced(seconds, number(6, 20'000));
    return 0;
}
