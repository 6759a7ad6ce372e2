#include <fmt/format.h>

#include "modes.h"
#include "wire.h"

namespace holdpoint::load {
namespace {

constexpr int connections_per_source = 10'000;
constexpr std::chrono::seconds parking_time_max{60};
/// All at once, the peak of what is under way would be taken for what waiting costs.
constexpr std::size_t arrive_together = 100;
constexpr std::chrono::seconds settle_time{1};

/// Parks waiters on requests that exist, weighs the server before and after, then decides some of
/// them one at a time. To be run against a server that has just been started: memory that its
/// earlier work left free would hide what the waiters take.
class Park {
  public:
    explicit Park(const Options& options)
        : options_(options),
          agents_(options.agent_keys),
          people_(options.person_keys),
          ids_(read_ids(options.ids)),
          person_(loop_, options.port) {
        if (ids_.size() < static_cast<std::size_t>(options.parked))
            fail(fmt::format("`{}` has only {} requests", options.ids, ids_.size()));
        ids_.resize(static_cast<std::size_t>(options.parked));
        woken_.resize(ids_.size());
    }

    std::string run() {
        fill_caches();
        const Memory before = memory_of(options_.server_pid);
        const TimePoint start = SteadyTime::now();
        for (std::size_t i = 0; i < ids_.size(); ++i) {
            start_waiter(i);
            if ((i + 1) % arrive_together == 0) wait_until_parked(i + 1);
        }
        wait_until_parked(ids_.size());
        const double parking_s = std::chrono::duration<double>(SteadyTime::now() - start).count();
        loop_.run_for(settle_time);
        const Memory after = memory_of(options_.server_pid);
        for (int i = 0; i < options_.sample; ++i)
            decide_one(static_cast<std::size_t>(i) * ids_.size() /
                       static_cast<std::size_t>(options_.sample));
        const auto each = [&](long bytes) {
            return static_cast<double>(bytes) / static_cast<double>(ids_.size());
        };
        return fmt::format(
            R"({{"mode":"park","kind":"{}","parked":{},"parking_s":{:.2f},"errors":{},)"
            R"("rss_before":{},"rss_after":{},"bytes_per_waiter":{:.0f},)"
            R"("private_bytes_per_waiter":{:.0f},"wake_ms":{},"acknowledge_ms":{}}})",
            options_.is_sse ? "sse" : "long-poll", ids_.size(), parking_s, errors_.count(),
            before.resident, after.resident, each(after.resident - before.resident),
            each(after.anonymous - before.anonymous), wake_.json(), acknowledge_.json());
    }

  private:
    /// The store's page cache grows by what the waiters read when they come; that is not theirs.
    void fill_caches() {
        for (const auto& [id, session] : ids_)
            if (person_.call(get(people_[0], "/v1/requests/" + id)) != 200)
                fail(fmt::format("`{}` is not there", id));
    }

    void start_waiter(std::size_t i) {
        const int source = 1 + static_cast<int>(i) / connections_per_source;
        waiters_.push_back(std::make_unique<Connection>(loop_, options_.port, source));
        const auto& [id, session] = ids_[i];
        if (options_.is_sse)
            waiters_[i]->stream(
                get(agents_[0], "/v1/events?session=" + session),
                [this, i](std::string_view text, TimePoint at) { return on_stream(i, text, at); });
        else
            waiters_[i]->send(wait(agents_[0], id, 300),
                              [this, i](const Answer& answer) { on_answer(i, answer); });
    }
    bool on_stream(std::size_t i, std::string_view text, TimePoint at) {
        if (text.find("event: request-settled") == text.npos || !is_decided_with(text, note_))
            return false;
        wake_up(i, at);
        return true;
    }
    void on_answer(std::size_t i, const Answer& answer) {
        if (errors_.check(answer, 200) && !is_decided_with(answer.body, note_))
            errors_.add(fmt::format("`{}` was answered early or wrongly", ids_[i].first));
        wake_up(i, answer.at);
    }
    void wake_up(std::size_t i, TimePoint at) {
        woken_[i] = at;
        on_part_done();
    }
    void on_part_done() {
        if (--missing_ == 0) loop_.stop();
    }

    void wait_until_parked(std::size_t count) {
        const std::string field = options_.is_sse ? "streams" : "waiters";
        const TimePoint until = SteadyTime::now() + parking_time_max;
        std::string body;
        while (SteadyTime::now() < until) {
            if (person_.call(get(people_[0], "/v1/stats"), &body) != 200) fail("no stats");
            if (number_of(body, field) >= static_cast<std::int64_t>(count)) return;
            loop_.run_for(std::chrono::milliseconds(1));
        }
        fail(fmt::format("only {} of {} are parked", number_of(body, field), count));
    }

    void decide_one(std::size_t i) {
        note_ = fmt::format("nonce-{}", i);
        missing_ = 2;
        TimePoint acknowledged;
        const TimePoint decided = SteadyTime::now();
        person_.send(decide(people_[0], ids_[i].first, note_), [&](const Answer& answer) {
            errors_.check(answer, 200);
            acknowledged = answer.at;
            on_part_done();
        });
        loop_.run();
        wake_.add(woken_[i] - decided);
        acknowledge_.add(acknowledged - decided);
    }

    const Options& options_;
    const Keys agents_, people_;
    std::vector<std::pair<std::string, std::string>> ids_;
    Loop loop_;
    Connection person_;
    std::vector<std::unique_ptr<Connection>> waiters_;
    std::vector<TimePoint> woken_;
    std::string note_;
    int missing_ = 0;
    Errors errors_;
    Latencies wake_, acknowledge_;
};

}  // namespace

std::string park(const Options& options) { return Park(options).run(); }

}  // namespace holdpoint::load
