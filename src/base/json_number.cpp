#include "base/json_number.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string>
#include <system_error>
#include <utility>

#include "base/assert.h"
#include "base/json.h"

namespace holdpoint::json {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::int64_t read_exponent(std::string_view text) {
    constexpr std::int64_t huge = 1'000'000'000;  // far beyond what any body can balance by digits
    const bool is_negative = text.starts_with('-');
    std::int64_t result = 0;
    for (const char c : text) {
        if (is_digit(c)) result = std::min(huge, result * 10 + (c - '0'));
    }
    return is_negative ? -result : result;
}

/// The digits of a number text without leading and trailing zeros: 0.d1d2d3... times 10^magnitude.
class Decimal {
  public:
    explicit Decimal(std::string_view text) {
        const std::size_t end = mantissa_bytes(text);
        text_ = text.substr(0, end);
        bool after_point = false;
        std::int64_t seen = 0;
        for (std::size_t at = 0; at < text_.size(); ++at) {
            if (text_[at] == '.') after_point = true;
            if (!is_digit(text_[at])) continue;
            if (seen == 0 && text_[at] == '0') {
                if (after_point) --magnitude_;
                continue;
            }
            if (seen == 0) text_.remove_prefix(std::exchange(at, 0));
            ++seen;
            if (!after_point) ++magnitude_;
            if (text_[at] == '0') continue;
            for (; digits_ < seen; ++digits_) whole_ *= 10;  // wraps beyond 19 digits
            whole_ += static_cast<std::uint64_t>(text_[at] - '0');
        }
        if (end < text.size()) magnitude_ += read_exponent(text.substr(end + 1));
    }

    std::int64_t digits() const { return digits_; }

    /// Up to 15 digits and a power of ten up to 22 are exact as doubles, so that one operation on
    /// them rounds once, as reading the text does. False for other numbers.
    bool read_exactly(double& number) const {
        static constexpr std::array powers = std::to_array<double>(
            {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
             1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22});
        const std::int64_t power = magnitude_ - digits_;
        if (digits_ > 15 || power < -22 || power > 22) return false;
        const auto whole = static_cast<double>(whole_);
        number = power < 0 ? whole / powers[static_cast<std::size_t>(-power)]
                           : whole * powers[static_cast<std::size_t>(power)];
        return true;
    }

    bool operator==(const Decimal& other) const {
        if (digits_ != other.digits_) return false;
        if (digits_ == 0) return true;
        if (magnitude_ != other.magnitude_) return false;
        std::size_t mine = 0;
        std::size_t theirs = 0;
        for (std::int64_t i = 0; i < digits_; ++i, ++mine, ++theirs) {
            if (text_[mine] == '.') ++mine;
            if (other.text_[theirs] == '.') ++theirs;
            if (text_[mine] != other.text_[theirs]) return false;
        }
        return true;
    }

  private:
    static std::size_t mantissa_bytes(std::string_view text) {
        const auto is_mark = [](char c) { return (c | 0x20) == 'e'; };
        return static_cast<std::size_t>(std::ranges::find_if(text, is_mark) - text.begin());
    }

    std::string_view text_;  // from the first digit that counts
    std::int64_t digits_ = 0;
    std::int64_t magnitude_ = 0;
    std::uint64_t whole_ = 0;  // the digits as an integer
};

/// Up to 15 digits always come back from a double as they went in, unless it is subnormal; checking
/// them would cost more than everything else here.
bool surely_survives(const Decimal& decimal, double size) {
    return decimal.digits() <= 15 && size > 1e-300;
}

NumberFault read_integer(std::string_view text, Number& number) {
    const auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), number.integer);
    if (error != std::errc{} || number.integer > integer_max || number.integer < -integer_max) {
        return NumberFault::beyond_integers;
    }
    if (number.integer == 0 && text.starts_with('-')) return NumberFault::negative_zero;
    number.is_integer = true;
    return NumberFault::none;
}

NumberFault read_real(std::string_view text, Number& number) {
    const Decimal decimal(text);
    if (decimal.digits() == 0) {
        number.real = 0;
        return text.starts_with('-') ? NumberFault::negative_zero : NumberFault::none;
    }
    if (decimal.read_exactly(number.real)) {
        if (text.starts_with('-')) number.real = -number.real;
    } else {
        const auto read = std::from_chars(text.data(), text.data() + text.size(), number.real);
        if (read.ec != std::errc{}) return NumberFault::out_of_range;
    }
    const double size = std::fabs(number.real);
    if (!std::isfinite(size)) return NumberFault::out_of_range;
    if (size > static_cast<double>(integer_max) && size < 1e21) return NumberFault::beyond_integers;
    if (surely_survives(decimal, size)) return NumberFault::none;

    std::array<char, 32> shortest;
    const auto written = std::to_chars(shortest.data(), shortest.data() + shortest.size(),
                                       number.real, std::chars_format::scientific);
    const Decimal kept(std::string_view(shortest.data(), written.ptr));
    return kept == decimal ? NumberFault::none : NumberFault::loses_precision;
}

/// Lays out shortest digits `d.ddd` and the exponent as ECMAScript's Number::toString does.
void append_layout(std::string& out, std::string_view digits, int exponent) {
    const int count = static_cast<int>(digits.size());
    if (exponent >= 21 || exponent < -6) {
        out += digits[0];
        if (count > 1) out.append(".").append(digits.substr(1));
        out += exponent < 0 ? "e-" : "e+";
        out += std::to_string(std::abs(exponent));
    } else if (exponent < 0) {
        out += "0.";
        out.append(static_cast<std::size_t>(-exponent - 1), '0').append(digits);
    } else if (exponent >= count - 1) {
        out += digits;
        out.append(static_cast<std::size_t>(exponent - count + 1), '0');
    } else {
        const auto whole = static_cast<std::size_t>(exponent + 1);
        out.append(digits.substr(0, whole)).append(".").append(digits.substr(whole));
    }
}

}  // namespace

NumberFault read_number(std::string_view text, Number& number) {
    number = {};
    const bool is_integer =
        std::ranges::all_of(text, [](char c) { return c == '-' || is_digit(c); });
    return is_integer ? read_integer(text, number) : read_real(text, number);
}

void append_number(std::string& out, double number) {
    HOLDPOINT_ASSERT(std::isfinite(number));
    std::array<char, 32> text;
    if (std::fabs(number) <= static_cast<double>(integer_max) && number == std::trunc(number)) {
        const auto written = std::to_chars(text.data(), text.data() + text.size(),
                                           static_cast<std::int64_t>(number));
        out.append(text.data(), written.ptr);
        return;
    }
    const auto written = std::to_chars(text.data(), text.data() + text.size(), std::fabs(number),
                                       std::chars_format::scientific);
    const std::string_view shortest(text.data(), written.ptr);
    const std::size_t mark = shortest.find('e');
    int exponent = 0;
    const std::size_t sign = shortest[mark + 1] == '+' ? 1 : 0;
    std::from_chars(shortest.data() + mark + 1 + sign, written.ptr, exponent);

    std::string digits(1, shortest[0]);  // at most 17, so it stays in place
    if (mark > 2) digits += shortest.substr(2, mark - 2);
    if (number < 0) out += '-';
    append_layout(out, digits, exponent);
}

}  // namespace holdpoint::json
