#include "base/id.h"

#include <sodium.h>

#include <cstring>
#include <mutex>

namespace holdpoint {
namespace {

constexpr std::string_view alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

int value_of(char c) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    const std::size_t at = alphabet.find(c);
    return at == std::string_view::npos ? -1 : static_cast<int>(at);
}

/// Adds one to the 80 random bits; the carry out of them is ignored (it would take 2^79 ids in a
/// millisecond).
void increment_random(std::array<unsigned char, 16>& bytes) {
    for (int i = 15; i >= 6; --i)
        if (++bytes[static_cast<std::size_t>(i)] != 0) return;
}

}  // namespace

Ulid new_ulid(Timestamp now) {
    static std::mutex mutex;
    static Ulid last;             // guarded by mutex
    static std::int64_t last_ms;  // guarded by mutex
    const std::lock_guard lock(mutex);
    if (now.ms <= last_ms) {
        increment_random(last.bytes);
        return last;
    }
    last_ms = now.ms;
    for (std::size_t i = 0; i < 6; ++i)
        last.bytes[i] = static_cast<unsigned char>(now.ms >> (40 - 8 * static_cast<int>(i)));
    randombytes_buf(last.bytes.data() + 6, 10);
    return last;
}

void append_ulid(std::string& out, const Ulid& id) {
    // 128 bits in 26 groups of five, the first of which holds only three.
    char text[26];
    unsigned buffer = 0;
    int bits = 2;
    std::size_t at = 0;
    for (unsigned char byte : id.bytes) {
        buffer = (buffer << 8) | byte;
        bits += 8;
        while (bits >= 5) {
            bits -= 5;
            text[at++] = alphabet[(buffer >> bits) & 31];
        }
        buffer &= (1u << bits) - 1;
    }
    out.append(text, sizeof text);
}

std::optional<Ulid> parse_ulid(std::string_view text) {
    if (text.size() != 26 || value_of(text[0]) > 7) return std::nullopt;
    Ulid id;
    unsigned buffer = 0;
    int bits = -2;
    std::size_t at = 0;
    for (char c : text) {
        const int value = value_of(c);
        if (value < 0) return std::nullopt;
        buffer = (buffer << 5) | static_cast<unsigned>(value);
        bits += 5;
        if (bits >= 8) {
            bits -= 8;
            id.bytes[at++] = static_cast<unsigned char>(buffer >> bits);
            buffer &= (1u << bits) - 1;
        }
    }
    return id;
}

std::size_t UlidHash::operator()(const Ulid& id) const noexcept {
    std::size_t hash = 0;
    std::memcpy(&hash, id.bytes.data() + 8, sizeof hash);
    // Ids of one millisecond differ in the last bytes only; spread them.
    return hash * 0x9E3779B97F4A7C15ULL;
}

}  // namespace holdpoint
