#include "policy/cel/arena.h"

#include <algorithm>
#include <cstring>

namespace holdpoint::cel {

void* Arena::allocate_from_new_block(std::size_t bytes) {
    const std::size_t size = std::max({bytes, first_block_bytes, size_ * 2});
    auto block = std::make_unique_for_overwrite<std::byte[]>(size);
    finished_bytes_ += used_;
    block_ = block.get();
    size_ = size;
    used_ = bytes;
    blocks_.emplace_back(std::move(block), size);
    return block_;
}

std::string_view Arena::copy(std::string_view text) {
    if (text.empty()) return {};
    char* room = make_array<char>(text.size());
    std::memcpy(room, text.data(), text.size());
    return {room, text.size()};
}

void Arena::reset() {
    finished_bytes_ = 0;
    used_ = 0;
    if (blocks_.empty()) return;
    // Blocks grow, so the last one alone is enough for the same again; a huge one goes back.
    const bool keeps_last = blocks_.back().second <= kept_bytes_max;
    if (keeps_last) std::swap(blocks_.front(), blocks_.back());
    blocks_.resize(1);
    block_ = blocks_.front().first.get();
    size_ = blocks_.front().second;
}

}  // namespace holdpoint::cel
