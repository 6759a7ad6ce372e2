// What a verdict of policy costs, one call at a time, and what loading a policy costs.
//
//   policy_bench [--benchmark_filter=…]
//   policy_bench --policy ten|thousand     prints the policy that is measured

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "api/wire/submit.h"
#include "base/json.h"
#include "policy/builtin.h"
#include "policy/compile.h"
#include "policy/evaluate.h"
#include "policy/run_tests.h"

namespace {

using namespace holdpoint;

constexpr Timestamp noon{1'772'452'800'000};
constexpr int tool_count = 100;
constexpr int rules_per_tool = 10;

/// Setting up must not fail silently: a benchmark of an error path would look very fast.
template <class T>
T must(Result<T> result) {
    if (!result) {
        std::fprintf(stderr, "policy_bench: %s\n", result.error().message.c_str());
        std::exit(1);
    }
    if constexpr (!std::is_void_v<T>) return std::move(*result);
}

/// One tool that nothing looks at, and one with ten rules; bench/policy_peers asks the same.
std::string ten_rules() {
    std::string text =
        "holdpoint: 1\npolicy: ten\nextends: minimal\ntools:\n"
        "  get: {read_only: true, risk: low, args: {id: string}}\n"
        "  pay: {risk: low, args: {amount: number, currency: string, to: string}}\nrules:\n";
    for (int i = 1; i < 10; ++i)
        text += fmt::format(
            "  - {{id: above-{0}, tools: [pay], when: \"args.amount > {0}.0 && args.currency == "
            "'EUR'\", then: require}}\n",
            1000 + i);
    return text +
           "  - {id: small, tools: [pay], when: \"args.amount <= 50 && args.currency in ['EUR', "
           "'USD']\", then: allow}\n";
}

/// A thousand rules over a hundred tools: numbers, sets, texts, paths and for each tool a regular
/// expression.
std::string thousand_rules() {
    std::string text = "holdpoint: 1\npolicy: thousand\nextends: minimal\ntools:\n";
    for (int i = 0; i < tool_count; ++i)
        text += fmt::format(
            "  t{}: {{risk: low, args: {{amount: number, place: string, path: string}}}}\n", i);
    text += "rules:\n";
    for (int i = 0; i < tool_count; ++i) {
        for (int j = 0; j < rules_per_tool - 4; ++j)
            text += fmt::format(
                "  - {{id: n{0}-{1}, tools: [t{0}], when: \"args.amount > {2}.5 && args.place != "
                "'x'\", then: require}}\n",
                i, j, 100 + j);
        text += fmt::format(
            "  - {{id: s{0}, tools: [t{0}], when: \"args.place in ['a', 'b', 'c', 'd']\", then: "
            "require}}\n"
            "  - {{id: p{0}, tools: [t{0}], path: {{arg: path, any: [\"**/.env\"]}}, then: deny}}\n"
            "  - {{id: w{0}, tools: [t{0}], when: \"args.place.startsWith('x-')\", then: deny}}\n"
            "  - {{id: r{0}, tools: [t{0}], when: \"args.path.matches('secret-{0}$')\", then: "
            "require}}\n",
            i);
    }
    return text;
}

policy::Situation situation(const policy::Policy& policy, std::string_view text) {
    policy::Situation read = must(policy::read_situation(must(json::parse(text)), noon));
    must(policy::settle(read, policy));
    return read;
}

void expect(const policy::Verdict& verdict, core::VerdictKind kind) {
    if (verdict.kind == kind) return;
    std::fprintf(stderr, "policy_bench: a call was judged otherwise than expected\n");
    std::exit(1);
}

void evaluate_again_and_again(benchmark::State& state, std::string_view call,
                              core::VerdictKind kind) {
    const auto policy = must(policy::load(ten_rules()));
    const policy::Situation read = situation(*policy, call);
    policy::Workspace workspace;
    expect(policy::evaluate(*policy, read.call, read.state, workspace), kind);
    for (auto _ : state)
        benchmark::DoNotOptimize(policy::evaluate(*policy, read.call, read.state, workspace));
}

void ungated_tool(benchmark::State& state) {
    evaluate_again_and_again(state, R"({"tool":"get","args":{"id":"1"}})",
                             core::VerdictKind::allow);
}
BENCHMARK(ungated_tool);

void ten_rules_allowed(benchmark::State& state) {
    evaluate_again_and_again(
        state, R"({"tool":"pay","args":{"amount":20,"currency":"EUR","to":"somebody"}})",
        core::VerdictKind::allow);
}
BENCHMARK(ten_rules_allowed);

void ten_rules_held(benchmark::State& state) {
    evaluate_again_and_again(
        state, R"({"tool":"pay","args":{"amount":1005,"currency":"EUR","to":"somebody"}})",
        core::VerdictKind::hold);
}
BENCHMARK(ten_rules_held);

/// Every call is timed alone, over a thousand different ones; the clock's own cost is in it.
void thousand_rules_each(benchmark::State& state) {
    using Clock = std::chrono::steady_clock;
    const auto policy = must(policy::load(thousand_rules()));
    std::vector<policy::Situation> calls;
    for (int i = 0; i < 1000; ++i)
        calls.push_back(situation(
            *policy,
            fmt::format(R"({{"tool":"t{}","args":{{"amount":{},"place":"{}","path":"src/{}.c"}}}})",
                        i * 37 % tool_count, i % 7 == 0 ? 103 : 5, i % 5 == 0 ? "c" : "here", i)));
    policy::Workspace workspace;
    std::vector<double> times;
    times.reserve(1'000'000);
    std::size_t next = 0;
    for (auto _ : state) {
        const policy::Situation& read = calls[next];
        next = (next + 1) % calls.size();
        const auto start = Clock::now();
        benchmark::DoNotOptimize(policy::evaluate(*policy, read.call, read.state, workspace));
        if (times.size() < times.capacity())
            times.push_back(std::chrono::duration<double, std::nano>(Clock::now() - start).count());
    }
    const auto p99 = times.begin() + static_cast<std::ptrdiff_t>(times.size() * 99 / 100);
    std::nth_element(times.begin(), p99, times.end());
    state.counters["p99_ns"] = *p99;
}
BENCHMARK(thousand_rules_each);

constexpr std::string_view proposal_bytes =
    R"({"kind":"action","session":"s-1","user":"ann","action":{"tool":"pay","arguments":)"
    R"({"amount":20,"currency":"EUR","to":"somebody"},"description":"Pay the invoice of March"}})";

/// All that a server does with the bytes of a proposal until it has a verdict.
void bytes_to_verdict(benchmark::State& state) {
    const auto policy = must(policy::load(ten_rules()));
    policy::Workspace workspace;
    const policy::Caller caller{.agent = "billing-bot", .now = noon};
    const policy::StateView nothing;
    for (auto _ : state) {
        const Result<json::value> body = json::parse(proposal_bytes);
        const Result<core::Proposal> proposal = wire::parse_proposal(*body, "");
        const Result<policy::Call> call = policy::make_call(*proposal, caller);
        const policy::Verdict verdict = policy::evaluate(*policy, *call, nothing, workspace);
        if (verdict.kind != core::VerdictKind::allow) state.SkipWithError("not allowed");
    }
}
BENCHMARK(bytes_to_verdict);

/// A policy of lists, composed once, as a server without a policy file has it.
void lists_held(benchmark::State& state) {
    policy::Builtin lists;
    lists.require = {"pay"};
    const auto policy = policy::compose(lists);
    const policy::Situation read = situation(*policy, R"({"tool":"pay","args":{"amount":20}})");
    policy::Workspace workspace;
    expect(policy::evaluate(*policy, read.call, read.state, workspace), core::VerdictKind::hold);
    for (auto _ : state)
        benchmark::DoNotOptimize(policy::evaluate(*policy, read.call, read.state, workspace));
}
BENCHMARK(lists_held);

void load_thousand_rules(benchmark::State& state) {
    const std::string text = thousand_rules();
    for (auto _ : state) benchmark::DoNotOptimize(must(policy::load(text)));
}
BENCHMARK(load_thousand_rules)->Unit(benchmark::kNanosecond);

}  // namespace

int main(int argc, char** argv) {
    if (argc == 3 && std::string_view(argv[1]) == "--policy") {
        fmt::print("{}", std::string_view(argv[2]) == "ten" ? ten_rules() : thousand_rules());
        return 0;
    }
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
    benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();
    return 0;
}
