#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace holdpoint::cel {

/// Memory for what one evaluation builds: concatenated strings, lists from `map` and `filter`,
/// wrapped JSON containers, error messages. Nothing is freed singly; reset() forgets everything at
/// once and keeps one block, so an arena that is reused (one per thread or per decision)
/// stops touching the heap. Values that point into it die with reset() or with the arena.
/// Not for use from several threads at once.
class Arena {
  public:
    static constexpr std::size_t first_block_bytes = 4096;
    static constexpr std::size_t kept_bytes_max = 1 << 20;

    Arena() = default;
    Arena(const Arena&) = delete;
    Arena& operator=(const Arena&) = delete;
    Arena(Arena&&) = default;
    Arena& operator=(Arena&&) = default;

    void* allocate(std::size_t bytes, std::size_t alignment) {
        const std::size_t start = (used_ + alignment - 1) & ~(alignment - 1);
        if (start + bytes > size_) return allocate_from_new_block(bytes);
        used_ = start + bytes;
        return block_ + start;
    }

    template <class T, class... Arguments>
    T* make(Arguments&&... arguments) {
        static_assert(std::is_trivially_destructible_v<T>, "the arena runs no destructors");
        return new (allocate(sizeof(T), alignof(T))) T{std::forward<Arguments>(arguments)...};
    }

    /// Uninitialised room for `count` values.
    template <class T>
    T* make_array(std::size_t count) {
        static_assert(std::is_trivially_destructible_v<T>, "the arena runs no destructors");
        return static_cast<T*>(allocate(count * sizeof(T), alignof(T)));
    }

    std::string_view copy(std::string_view text);

    void reset();

    /// Handed out since the last reset, blocks that were left half full included.
    std::size_t bytes_used() const { return finished_bytes_ + used_; }

  private:
    void* allocate_from_new_block(std::size_t bytes);

    std::byte* block_ = nullptr;
    std::size_t used_ = 0;
    std::size_t size_ = 0;
    std::size_t finished_bytes_ = 0;
    std::vector<std::pair<std::unique_ptr<std::byte[]>, std::size_t>> blocks_;
};

}  // namespace holdpoint::cel
