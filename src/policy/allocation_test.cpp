#include <atomic>
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

}  // namespace
}  // namespace holdpoint::policy
