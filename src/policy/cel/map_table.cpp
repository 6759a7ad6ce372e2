#include "policy/cel/map_table.h"

#include <bit>
#include <cmath>
#include <functional>
#include <string_view>

#include <fmt/format.h>

namespace holdpoint::cel {
namespace {

/// Below this, comparing all keys is quicker than hashing one.
constexpr std::size_t linear_max = 8;

std::uint64_t mix(std::uint64_t bits) {
    bits ^= bits >> 32;
    bits *= 0x9e3779b97f4a7c15;
    return bits ^ (bits >> 29);
}

bool is_key(const Value& value) {
    return value.kind() == Kind::string || value.kind() == Kind::integer ||
           value.kind() == Kind::unsigned_integer || value.kind() == Kind::boolean;
}

/// Puts every entry into `buckets`; returns the first whose key was there before, or null.
const MapEntry* fill(std::span<const MapEntry> entries, std::uint32_t* buckets,
                     std::uint32_t mask) {
    const MapEntry* repeated = nullptr;
    for (std::size_t i = 0; i < entries.size(); ++i) {
        std::uint32_t bucket = static_cast<std::uint32_t>(hash_of(entries[i].key)) & mask;
        while (buckets[bucket] != 0) {
            if (!repeated && equal_keys(entries[buckets[bucket] - 1].key, entries[i].key)) {
                repeated = &entries[i];
            }
            bucket = (bucket + 1) & mask;
        }
        buckets[bucket] = static_cast<std::uint32_t>(i + 1);
    }
    return repeated;
}

MapTable* build_table(std::span<const MapEntry> entries, Arena& arena, const MapEntry*& repeated) {
    auto* table = arena.make<MapTable>();
    table->entries = entries.data();
    table->size = static_cast<std::uint32_t>(entries.size());
    if (entries.size() <= linear_max) {
        for (std::size_t i = 1; i < entries.size() && !repeated; ++i) {
            for (std::size_t j = 0; j < i; ++j) {
                if (equal_keys(entries[i].key, entries[j].key)) repeated = &entries[i];
            }
        }
        return table;
    }
    const std::size_t count = std::bit_ceil(entries.size() * 2);
    auto* buckets = arena.make_array<std::uint32_t>(count);
    std::fill_n(buckets, count, 0U);
    table->mask = static_cast<std::uint32_t>(count - 1);
    table->buckets = buckets;
    repeated = fill(entries, buckets, table->mask);
    return table;
}

}  // namespace

std::uint64_t hash_of(const Value& key) {
    switch (key.kind()) {
        case Kind::string:
        case Kind::bytes:
            return mix(std::hash<std::string_view>{}(key.as_text()));
        case Kind::real: {
            const double number = key.as_real();
            if (std::trunc(number) != number) return 0;
            if (number >= 0 && number < 0x1p64) return mix(static_cast<std::uint64_t>(number));
            if (number < 0 && number >= -0x1p63) {
                return mix(static_cast<std::uint64_t>(static_cast<std::int64_t>(number)));
            }
            return 0;
        }
        default:
            return mix(key.as_unsigned());
    }
}

bool equal_keys(const Value& a, const Value& b) {
    if (a.kind() == b.kind()) {
        if (a.kind() == Kind::string || a.kind() == Kind::bytes) return a.as_text() == b.as_text();
        if (a.kind() == Kind::real) return a.as_real() == b.as_real();
        return a.as_integer() == b.as_integer();
    }
    return a.is_numeric() && b.is_numeric() && order(a, b) == Order::equal;
}

const MapTable* make_table(std::span<const MapEntry> entries, Arena& arena) {
    const MapEntry* repeated = nullptr;
    return build_table(entries, arena, repeated);
}

Value find_in(const MapTable& table, const Value& key) {
    if (!is_key(key) && key.kind() != Kind::real && key.kind() != Kind::bytes) return {};
    if (table.mask == 0) {
        for (std::uint32_t i = 0; i < table.size; ++i) {
            if (equal_keys(table.entries[i].key, key)) return table.entries[i].value;
        }
        return {};
    }
    std::uint32_t bucket = static_cast<std::uint32_t>(hash_of(key)) & table.mask;
    while (const std::uint32_t number = table.buckets[bucket]) {
        const MapEntry& entry = table.entries[number - 1];
        if (equal_keys(entry.key, key)) return entry.value;
        bucket = (bucket + 1) & table.mask;
    }
    return {};
}

Value make_map(std::span<const MapEntry> entries, Arena& arena) {
    for (const MapEntry& entry : entries) {
        if (is_key(entry.key)) continue;
        return Value::error(
            Fault::invalid_argument,
            arena.copy(fmt::format("a map key cannot be of type {}", name_of(entry.key.kind()))));
    }
    const MapEntry* repeated = nullptr;
    const MapTable* table = build_table(entries, arena, repeated);
    if (repeated) {
        return Value::error(Fault::repeated_key,
                            arena.copy(fmt::format("repeated key {}", to_text(repeated->key))));
    }
    return Value::map(*table);
}

}  // namespace holdpoint::cel
