#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

/// CBOR (RFC 8949), as much of it as authenticators write (the canonical form of CTAP2, but for the
/// order of keys): integers, bytes, text, arrays, maps, true, false and null. Everything has its
/// shortest form and a definite length; tags, floating point and a key that stands twice are
/// refused.
namespace holdpoint::cbor {

enum class Kind { integer, bytes, text, array, map, boolean, null };

struct Value {
    Kind kind = Kind::null;
    std::int64_t number = 0;   ///< of an integer; 1 or 0 of a boolean
    std::string text;          ///< of bytes and text
    std::vector<Value> items;  ///< of an array; of a map, keys and values in turn

    /// The member of a map with this key; nullptr if there is none.
    const Value* find(std::string_view key) const;
    const Value* find(std::int64_t key) const;
    bool is(Kind wanted) const { return kind == wanted; }
};

struct Limits {
    std::size_t bytes_max = 64 * 1024;
    std::size_t values_max = 1000;
    int depth_max = 6;
};

/// A value and how many bytes it took.
struct Read {
    Value value;
    std::size_t size = 0;
};

/// Reads the value at the front. invalid_argument when it is not one, or goes beyond the limits.
Result<Read> read_front(std::string_view bytes, const Limits& limits = {});

/// Reads bytes that are one value and nothing else.
Result<Value> read(std::string_view bytes, const Limits& limits = {});

}  // namespace holdpoint::cbor
