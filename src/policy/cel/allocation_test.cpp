#include <atomic>
#include <cstdlib>
#include <new>

#include "policy/cel/test_programs.h"

namespace {

std::atomic<long> allocations = 0;

void* counted(std::size_t bytes) {
    ++allocations;
    if (void* memory = std::malloc(bytes == 0 ? 1 : bytes)) return memory;
    throw std::bad_alloc();
}

}  // namespace

void* operator new(std::size_t bytes) { return counted(bytes); }
void* operator new[](std::size_t bytes) { return counted(bytes); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

namespace holdpoint::cel {
namespace {

class CelAllocation : public CelTest {
  protected:
    /// Heap allocations of the second evaluation: the first may fill caches and give the arena its
    /// block.
    long allocations_of(std::string_view source) {
        const Program program = compiled(source);
        Arena arena;
        for (int i = 0; i < 2; ++i) {
            arena.reset();
            Budget budget;
            const long before = allocations;
            const Value value = evaluate(program, {slots_}, arena, budget);
            const long after = allocations;
            EXPECT_FALSE(value.is_error()) << source;
            if (i == 1) return after - before;
        }
        return -1;
    }
};

TEST_F(CelAllocation, the_plain_path_takes_no_memory_from_the_heap) {
    for (const std::string_view source :
         {"args.amount > 500.0 && args.currency == 'EUR'",
          "args.currency in ['EUR', 'USD'] && args.count <= 3 && !has(args.extra.x)",
          "args.items.exists(i, i.price > 5.0 && i.sku.startsWith('x'))",
          "args.tags.all(t, t.size() < 10 && t.contains('i') || t == 'new')",
          "now.getHours('Europe/Berlin') < 23 || now + duration('1h') > args.at",
          "args.extra.deep.flag ? args.amount * 2.0 > 1.0 : false",
          "cel.bind(total, args.amount + confidence, total > 1.0)",
          "args.?currency.orValue('') == 'EUR'", "cidr('10.0.0.0/8').containsIP('10.1.2.3')",
          "args.items.map(i, i.price).filter(p, p > 1.0).size() == 2",
          "args.currency + '/' + name == 'EUR/Zoë'",
          "args.extra.n == 5 && args.extra == {'n': 5, 'deep': {'flag': true}}"}) {
        EXPECT_EQ(allocations_of(source), 0) << source;
    }
}

TEST_F(CelAllocation, the_counter_counts) {
    const long before = allocations;
    const auto number = std::make_unique<int>(5);
    EXPECT_GT(allocations, before);
    EXPECT_EQ(*number, 5);
}

}  // namespace
}  // namespace holdpoint::cel
