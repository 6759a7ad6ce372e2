#include <fmt/format.h>

#include <deque>
#include <fstream>

#include "modes.h"
#include "wire.h"

namespace holdpoint::load {
namespace {

/// How long answers may still come after the last create was due.
constexpr std::chrono::seconds grace{10};

/// Proposes only. In the closed loop every client sends its next one when the last is answered.
/// In the open loop creates are due at fixed times whatever the server does, wait for a free
/// connection if need be, and are timed from when they were due: a stall counts for everyone who
/// would have come meanwhile.
class Creates {
  public:
    explicit Creates(const Options& options)
        : options_(options), keys_(options.agent_keys), window_(options.seconds) {
        for (int i = 0; i < options.clients; ++i)
            connections_.push_back(std::make_unique<Connection>(loop_, options.port));
        if (!options.ids.empty()) ids_.open(options.ids);
    }

    std::string run() {
        const double cpu = cpu_s();
        const TimePoint start = SteadyTime::now();
        for (std::size_t i = 0; i < connections_.size(); ++i) free_.push_back(i);
        if (options_.rate > 0) {
            loop_.at(window_.end() + grace, [this] { loop_.stop(); });
            arrive();
        } else {
            while (!free_.empty() && may_go_on(start)) send(take_free(), SteadyTime::now());
        }
        loop_.run();
        const double elapsed = std::chrono::duration<double>(SteadyTime::now() - start).count();
        // At a rate, what was answered after the end does not count: the server fell behind.
        const double per_s = options_.count > 0
                                 ? static_cast<double>(latencies_.size()) / elapsed
                                 : static_cast<double>(answered_in_time_) / window_.seconds();
        return fmt::format(
            R"({{"mode":"create","clients":{},"rate":{:.0f},"per_s":{:.1f},"count":{},"errors":{},)"
            R"("unanswered":{},"create_ms":{},"driver_cores":{:.3f}}})",
            options_.clients, options_.rate, per_s, latencies_.size(), errors_.count(),
            waiting_.size() + under_way_, latencies_.json(), (cpu_s() - cpu) / elapsed);
    }

  private:
    TimePoint due_at(std::int64_t number) const {
        return window_.start() + std::chrono::nanoseconds(static_cast<std::int64_t>(
                                     static_cast<double>(number) * 1e9 / options_.rate));
    }
    void arrive() {
        const TimePoint now = SteadyTime::now();
        while (due_at(arrived_) <= now && !window_.is_over(due_at(arrived_))) {
            waiting_.push_back(due_at(arrived_++));
        }
        serve_waiting();
        if (!window_.is_over(due_at(arrived_)))
            loop_.at(due_at(arrived_), [this] { arrive(); });
        else
            has_arrived_all_ = true;
    }
    void serve_waiting() {
        while (!waiting_.empty() && !free_.empty()) {
            const TimePoint due = waiting_.front();
            waiting_.pop_front();
            send(take_free(), due);
        }
    }
    std::size_t take_free() {
        const std::size_t client = free_.back();
        free_.pop_back();
        return client;
    }
    bool may_go_on(TimePoint now) const {
        return options_.count > 0 ? sent_ < options_.count : !window_.is_over(now);
    }

    void send(std::size_t client, TimePoint due) {
        ++under_way_;
        const std::int64_t number = sent_++;
        // Parked streams filter by session, so each of these gets one of its own.
        std::string session =
            options_.count > 0 ? fmt::format("park-{}", number) : fmt::format("bench-{}", client);
        const std::string& key = options_.count > 0 ? keys_[0] : keys_[client];
        connections_[client]->send(create(key, session, number, options_.bytes),
                                   [this, client, due, session](const Answer& answer) {
                                       on_answer(client, due, session, answer);
                                   });
    }
    void on_answer(std::size_t client, TimePoint due, const std::string& session,
                   const Answer& answer) {
        --under_way_;
        const bool is_counted = options_.count > 0  ? true
                                : options_.rate > 0 ? window_.holds(due)
                                                    : window_.holds(answer.at);
        if (errors_.check(answer, 201)) {
            if (is_counted) latencies_.add(answer.at - due);
            if (window_.holds(answer.at)) ++answered_in_time_;
            if (ids_.is_open()) ids_ << id_of(answer.body) << ' ' << session << '\n';
        }
        free_.push_back(client);
        if (options_.rate > 0) {
            serve_waiting();
            if (has_arrived_all_ && waiting_.empty() && under_way_ == 0) loop_.stop();
        } else if (may_go_on(answer.at)) {
            send(take_free(), SteadyTime::now());
        } else if (under_way_ == 0) {
            loop_.stop();
        }
    }

    const Options& options_;
    const Keys keys_;
    Loop loop_;
    std::vector<std::unique_ptr<Connection>> connections_;
    const Window window_;
    Errors errors_;
    Latencies latencies_;
    std::int64_t answered_in_time_ = 0;
    std::vector<std::size_t> free_;
    std::deque<TimePoint> waiting_;  ///< due, without a connection yet
    std::int64_t arrived_ = 0, sent_ = 0;
    std::size_t under_way_ = 0;
    bool has_arrived_all_ = false;
    std::ofstream ids_;
};

}  // namespace

std::string creates(const Options& options) { return Creates(options).run(); }

}  // namespace holdpoint::load
