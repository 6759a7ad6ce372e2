// Fills a store with pending requests, past the network: what the server would have stored, made
// by the same use case, a hundred at a time. The server must not be running.
//
//   fill FILE ROWS AGENT IDS_FILE [SECONDS_MAX]
//
// AGENT is the name of an agent the server knows. Stores of any size have the same texture: every
// thousand rows hold twenty sessions of fifty rows and twenty tools of fifty, so that a question
// about one of them has the same answer in a small store and in a big one. The last fifty of each
// thousand are for `process_refund`. A thousand ids, spread over the store, go to IDS_FILE with
// their sessions. Stops early after SECONDS_MAX; prints JSON.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <string>
#include <vector>

#include "api/wire/submit.h"
#include "base/json.h"
#include "policy/builtin.h"
#include "service/submit.h"
#include "store/sqlite/sqlite.h"

namespace {

using namespace holdpoint;
using SteadyTime = std::chrono::steady_clock;

constexpr std::int64_t block_rows = 1000;
constexpr int tools = 20;
constexpr int sessions = 20;
constexpr std::int64_t call_rows = 100;
constexpr int calls_under_way_max = 8;
constexpr std::int64_t timeout_s = 30LL * 86'400;  // nothing may expire while it is measured

[[noreturn]] void fail(const std::string& message) {
    fmt::print(stderr, "fill: {}\n", message);
    std::exit(1);
}

Timestamp now() {
    return {std::chrono::duration_cast<std::chrono::milliseconds>(
                std::chrono::system_clock::now().time_since_epoch())
                .count()};
}

/// As it would come over the wire, about a kilobyte.
core::Proposal proposal_for(int tool) {
    const std::string text = fmt::format(
        R"({{"action":{{"tool":"{}","description":"Refund an order that arrived broken",)"
        R"("arguments":{{"order":"order-{}","amount":12500.5,"currency":"EUR","memo":"{}"}}}},)"
        R"("user":"user-{}","risk":"{}","timeout_s":{}}})",
        tool == tools - 1 ? "process_refund" : fmt::format("tool_{}", tool), tool,
        std::string(700, 'x'), tool, tool % 4 == 0 ? "high" : "medium", timeout_s);
    const Result<json::value> body = json::parse(text);
    if (!body) fail(body.error().message);
    Result<core::Proposal> proposal = wire::parse_proposal(*body, "");
    if (!proposal) fail(proposal.error().message);
    return std::move(*proposal);
}

class Fill {
  public:
    explicit Fill(const std::string& path) {
        store::sqlite::Options options;
        options.path = path;
        options.executor = [](std::move_only_function<void()> work) { work(); };
        auto opened = store::sqlite::open_sqlite(std::move(options));
        if (!opened) fail(opened.error().message);
        store_ = std::move(*opened);
        for (int tool = 0; tool < tools; ++tool) proposals_.push_back(proposal_for(tool));
    }
    ~Fill() { store_->stop(); }

    void find_agent(const std::string& name) {
        begin_one();
        store_->run([name](store::Transaction& tx) { return tx.find_principal(name); },
                    [this](Result<std::optional<store::Principal>> found) {
                        if (!found || !*found) fail("no such agent");
                        const std::lock_guard lock(mutex_);
                        agent_ = {(*found)->id, (*found)->name, true, {}, "api", "127.0.0.1"};
                        --under_way_;
                        done_.notify_one();
                    });
        wait_for(1);
    }

    std::int64_t run(std::int64_t rows, double seconds_max, std::ofstream& ids) {
        const auto end = SteadyTime::now() + std::chrono::duration<double>(seconds_max);
        const std::int64_t sample_every = std::max<std::int64_t>(1, rows / 1000);
        std::int64_t made = 0;
        // Whole blocks only: a part of one would have another texture.
        while (made < rows && (made % block_rows != 0 || SteadyTime::now() < end)) {
            service::SubmitCall call;
            call.agent = agent_;
            call.pending_max = rows * 2;
            call.now = now();
            for (std::int64_t i = 0; i < std::min(call_rows, rows - made); ++i) {
                add(call, made + i);
                if ((made + i) % sample_every == 0)
                    ids << call.ids.back().text() << ' ' << call.proposals.back().session << '\n';
            }
            made += static_cast<std::int64_t>(call.proposals.size());
            submit(std::move(call));
        }
        wait_for(1);
        return made;
    }

  private:
    void add(service::SubmitCall& call, std::int64_t row) {
        // Each tool comes fifty times in a row and sessions take turns, so that they cross.
        const std::int64_t in_block = row % block_rows;
        core::Proposal proposal = proposals_[static_cast<std::size_t>(in_block / 50) % tools];
        proposal.session =
            fmt::format("fill-{}", row / block_rows * sessions + in_block % sessions);
        call.proposals.push_back(std::move(proposal));
        call.ids.push_back(RequestId::fresh(call.now));
    }

    void submit(service::SubmitCall call) {
        wait_for(calls_under_way_max);
        begin_one();
        store_->run([this, call = std::move(call)](
                        store::Transaction& tx) { return service::submit(tx, *policy_, call); },
                    [this](Result<service::Submitted> stored) {
                        if (!stored) fail(stored.error().message);
                        const std::lock_guard lock(mutex_);
                        --under_way_;
                        done_.notify_one();
                    });
    }

    void begin_one() {
        const std::lock_guard lock(mutex_);
        ++under_way_;
    }

    /// Until fewer than `limit` calls are under way.
    void wait_for(int limit) {
        std::unique_lock lock(mutex_);
        done_.wait(lock, [&] { return under_way_ < limit; });
    }

    std::unique_ptr<store::Store> store_;
    const std::shared_ptr<const policy::Policy> policy_ = policy::compose({});
    std::vector<core::Proposal> proposals_;
    core::Actor agent_;
    std::mutex mutex_;
    std::condition_variable done_;
    int under_way_ = 0;  // guarded by mutex_
};

}  // namespace

int main(int argc, char** argv) {
    if (argc < 5) fail("usage: fill FILE ROWS AGENT IDS_FILE [SECONDS_MAX]");
    const std::int64_t rows = std::atoll(argv[2]);
    std::ofstream ids(argv[4]);
    const auto start = SteadyTime::now();
    Fill fill(argv[1]);
    fill.find_agent(argv[3]);
    const std::int64_t made = fill.run(rows, argc > 5 ? std::atof(argv[5]) : 1e9, ids);
    const double seconds = std::chrono::duration<double>(SteadyTime::now() - start).count();
    fmt::print("{{\"rows\":{},\"seconds\":{:.1f},\"per_s\":{:.0f}}}\n", made, seconds,
               static_cast<double>(made) / seconds);
    return 0;
}
