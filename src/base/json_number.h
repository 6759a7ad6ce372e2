#pragma once

#include <cstdint>
#include <string_view>

namespace holdpoint::json {

/// A number as parse() keeps it.
struct Number {
    bool is_integer = false;
    std::int64_t integer = 0;
    double real = 0;
};

enum class NumberFault { none, negative_zero, beyond_integers, out_of_range, loses_precision };

/// Reads text that already has the syntax of a JSON number, by the rules in json.h.
NumberFault read_number(std::string_view text, Number& number);

}  // namespace holdpoint::json
