#pragma once

#include <cstdint>
#include <span>

#include "policy/cel/arena.h"
#include "policy/cel/value.h"

namespace holdpoint::cel {

/// The entries of a map in their order and, if there are many, where to find them by key.
struct MapTable {
    const MapEntry* entries = nullptr;
    std::uint32_t size = 0;
    std::uint32_t mask = 0;                  ///< of `buckets`; 0 if there are none
    const std::uint32_t* buckets = nullptr;  ///< entry number + 1; 0 is free
};

const MapTable* make_table(std::span<const MapEntry> entries, Arena& arena);

/// Absent if there is no such key.
Value find_in(const MapTable& table, const Value& key);

/// Equal keys, and numbers that are equal across kinds, hash alike.
std::uint64_t hash_of(const Value& key);
bool equal_keys(const Value& a, const Value& b);

/// A set of strings, bytes, booleans and whole numbers, for `x in [constants]`.
using ConstantSet = MapTable;

/// As equal() in value.h, taking one step for each value compared.
bool equal(const Value& a, const Value& b, Arena& arena, std::int64_t& steps);

}  // namespace holdpoint::cel
