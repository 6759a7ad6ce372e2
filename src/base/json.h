#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/storage_ptr.hpp>
#include <boost/json/value.hpp>

#include "base/result.h"

/// The one way JSON comes in and goes out. Policy, display and digest all see what this parser saw:
/// two parsers that disagree about one body would let a person approve something else than what
/// runs. All functions may be called from any thread.
namespace holdpoint::json {

using boost::json::array;
using boost::json::object;
using boost::json::storage_ptr;
using boost::json::value;

/// The largest integer that every JSON reader keeps exactly: 2^53 - 1.
inline constexpr std::int64_t integer_max = 9'007'199'254'740'991;

/// Checked before anything is allocated for the part that exceeds them.
struct Limits {
    std::size_t bytes_max = 256 * 1024;        ///< of the whole text
    int depth_max = 32;                        ///< objects and arrays inside each other; up to 256
    std::size_t nodes_max = 10'000;            ///< values, containers included
    std::size_t string_bytes_max = 64 * 1024;  ///< of one string or key, after unescaping
    std::size_t keys_max = 512;                ///< of one object
};

/// Parses one I-JSON document (RFC 7493); the value may be of any kind.
///
/// Refuses with invalid_argument: whatever is not JSON, a byte order mark, text that is not UTF-8,
/// lone surrogates, U+0000, keys that are equal after unescaping, negative zero, and numbers that
/// do not survive being read as a double: integers beyond `integer_max`, overflow, underflow, and
/// decimals with other digits than the shortest text of the double they stand for. So `0.1`, `1.0`
/// and `1e2` pass, `0.1000000000000000055` does not. An integer beyond `integer_max` that is spelt
/// `1e20` is refused as well, since its canonical text would be; from 1e21 on the canonical text
/// has an exponent again. Refuses with too_large what exceeds `limits`.
///
/// The message ends in line and column (in code points, from 1); `field` is the path of the
/// offending value, like `action.arguments.amount` or `steps[2]["odd key"]`.
///
/// A number without `.`, `e` and `E` becomes int64, any other double; uint64 never occurs. Memory
/// of the value comes from `storage`, which must outlive it unless it is counted.
Result<value> parse(std::string_view text, const Limits& limits = {}, storage_ptr storage = {});

/// The RFC 8785 form: no spaces, keys in the order of their UTF-16 code units, ECMAScript numbers.
/// Parsing what comes out and writing it again gives the same bytes. A number that has no such form
/// (not finite, or an integer beyond `integer_max`) is a bug of whoever built the value.
std::string canonical(const value& value);
void append_canonical(std::string& out, const value& value);

/// The member `name`; nullptr where `value` is no object or has none.
inline const value* member(const value& value, std::string_view name) {
    return value.is_object() ? value.get_object().if_contains(name) : nullptr;
}
inline value* member(value& value, std::string_view name) {
    return value.is_object() ? value.get_object().if_contains(name) : nullptr;
}

/// A string literal by the rules of RFC 8785. Bytes that are not UTF-8 come out as U+FFFD, so that
/// the result is JSON whatever goes in.
void append_quoted(std::string& out, std::string_view utf8);
std::string quoted(std::string_view utf8);

/// The text that ECMAScript gives a finite number: `1e+21`, `4.5`, `1e-7`; negative zero is `0`.
void append_number(std::string& out, double number);

}  // namespace holdpoint::json
