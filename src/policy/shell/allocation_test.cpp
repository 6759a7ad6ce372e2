// A decision must not wait for the heap: this counts what the two readings ask of it.
#include <cstdlib>
#include <memory>
#include <new>

#include <gtest/gtest.h>

#include "policy/shell/cover.h"
#include "policy/shell/search.h"

namespace {
std::size_t allocations = 0;
}

void* operator new(std::size_t size) {
    ++allocations;
    if (void* memory = std::malloc(size)) return memory;
    throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace holdpoint::policy::shell {
namespace {

constexpr std::string_view text =
    "git log --oneline --format='%h and a longer text' -n 20 -- src/policy | head -5 && ls";

TEST(ShellAllocation, proving_and_covering_need_no_heap) {
    const auto reading = std::make_unique<Reading>();
    std::vector<AllowPattern> patterns;
    patterns.push_back(*AllowPattern::compile({{{"git"}, {"log", "status"}}}));
    patterns.push_back(*AllowPattern::compile({{{"head", "ls"}}}));
    const std::size_t before = allocations;
    prove(text, Dialect::bash, *reading);
    const bool covered = is_covered(*reading, patterns);
    EXPECT_EQ(allocations, before);
    EXPECT_TRUE(covered);
}

TEST(ShellAllocation, searching_again_needs_no_heap) {
    Search search;
    const SearchPattern pattern = *SearchPattern::compile({{{"git"}, {"push"}}, {"--force"}});
    search.read(text);
    const std::size_t before = allocations;
    search.read(text);
    const bool found = search.finds(pattern);
    EXPECT_EQ(allocations, before);
    EXPECT_FALSE(found);
}

TEST(ShellAllocation, the_count_counts) {
    const std::size_t before = allocations;
    const auto one = std::make_unique<std::string>(100, 'x');
    EXPECT_GE(allocations, before + 2);
}

}  // namespace
}  // namespace holdpoint::policy::shell
