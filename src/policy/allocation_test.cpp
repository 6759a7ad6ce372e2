#include <atomic>
#include <chrono>
#include <cstdlib>
#include <new>

#include "policy/test_policies.h"

/// A program of its own, because it counts every allocation of the process.
namespace {
std::atomic<std::size_t> allocations = 0;
}

void* operator new(std::size_t size) {
    allocations.fetch_add(1, std::memory_order_relaxed);
    if (void* memory = std::malloc(size)) return memory;
    throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace holdpoint::policy {
namespace {

using namespace test;

std::string many_rules(int count) {
    std::string out =
        "extends: minimal\ntools:\n"
        "  get: {read_only: true, risk: low, args: {id: string}}\n"
        "  pay: {risk: low, args: {amount: number, currency: string, to: string}}\nrules:\n";
    for (int i = 0; i < count - 1; ++i)
        out += "  - {id: r" + std::to_string(i) + ", tools: [pay], when: \"args.amount > " +
               std::to_string(1000 + i) + ".0 && args.currency == 'EUR'\", then: require}\n";
    return out +
           "  - {id: ok, tools: [pay], when: \"args.amount <= 50 && args.currency in ['EUR', "
           "'USD']\", then: allow}\n";
}

constexpr std::string_view get = R"({"tool":"get","args":{"id":"1"}})";
constexpr std::string_view pay =
    R"({"tool":"pay","args":{"amount":20,"currency":"EUR","to":"somebody"}})";

TEST(Allocation, a_call_that_passes_plainly_allocates_nothing) {
    const auto policy = policy_of(many_rules(10));
    Workspace workspace;
    for (const std::string_view call : {get, pay}) {
        const Situation read = situation(*policy, call);
        for (int i = 0; i < 3; ++i) evaluate(*policy, read.call, read.state, workspace);
        const std::size_t before = allocations;
        for (int i = 0; i < 1000; ++i) {
            const Verdict verdict = evaluate(*policy, read.call, read.state, workspace);
            if (verdict.kind != core::VerdictKind::allow) FAIL();
        }
        EXPECT_EQ(allocations - before, 0u) << call;
    }
}

double best_ns(const Policy& policy, std::string_view call) {
    const Situation read = situation(policy, call);
    Workspace workspace;
    double best = 1e9;
    for (int round = 0; round < 20; ++round) {
        const auto start = std::chrono::steady_clock::now();
        for (int i = 0; i < 2000; ++i) evaluate(policy, read.call, read.state, workspace);
        const auto taken = std::chrono::steady_clock::now() - start;
        best = std::min(best, std::chrono::duration<double, std::nano>(taken).count() / 2000);
    }
    return best;
}

TEST(Speed, plain_tools_and_ten_rules_stay_far_below_a_microsecond) {
    const auto policy = policy_of(many_rules(10));
    const double plain = best_ns(*policy, get);
    const double ten = best_ns(*policy, pay);
    RecordProperty("plain_ns", static_cast<int>(plain));
    RecordProperty("ten_rules_ns", static_cast<int>(ten));
    std::printf("ungated tool %.0f ns, ten rules %.0f ns\n", plain, ten);
    // Wide of the targets (50 and 500 ns), so that a busy machine does not fail it.
    EXPECT_LT(plain, 1000);
    EXPECT_LT(ten, 10'000);
}

TEST(Speed, a_thousand_rules_load_quickly_and_cost_only_their_own_tool) {
    std::string text = "extends: minimal\ntools:\n";
    for (int i = 0; i < 100; ++i)
        text += "  t" + std::to_string(i) + ": {risk: low, args: {a" + std::to_string(i % 7) +
                ": number, s: string}}\n";
    text += "rules:\n";
    for (int i = 0; i < 1000; ++i)
        text += "  - {id: r" + std::to_string(i) + ", tools: [t" + std::to_string(i % 100) +
                "], when: \"args.a" + std::to_string(i % 100 % 7) + " > " + std::to_string(i) +
                ".5 && args.s != 'x'\", then: require}\n";
    const auto start = std::chrono::steady_clock::now();
    const auto policy = policy_of(text);
    const auto taken = std::chrono::steady_clock::now() - start;
    const double one = best_ns(*policy, R"({"tool":"t0","args":{"a0":0,"s":"y"}})");
    std::printf("1000 rules load in %.1f ms, one of their tools %.0f ns\n",
                std::chrono::duration<double, std::milli>(taken).count(), one);
    EXPECT_LT(taken, std::chrono::seconds(2));
    EXPECT_LT(one, 50'000);
}

}  // namespace
}  // namespace holdpoint::policy
