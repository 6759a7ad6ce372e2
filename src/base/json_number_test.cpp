#include "base/json_number.h"

#include <bit>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "base/json.h"

namespace holdpoint::json {
namespace {

std::string text_of(double number) {
    std::string result;
    append_number(result, number);
    return result;
}

/// Without point, exponent and the zeros at both ends.
std::string digits_of(std::string_view text) {
    std::string digits(text.substr(0, text.find('e')));
    std::erase(digits, '.');
    digits.erase(0, digits.find_first_not_of('0'));
    digits.erase(digits.find_last_not_of('0') + 1);
    return digits;
}

NumberFault fault_of(std::string_view text) {
    Number number;
    return read_number(text, number);
}

TEST(NumberText, IsWhatEcmascriptPrints) {
    // Bit patterns and texts as any ECMAScript engine gives them.
    const std::pair<std::uint64_t, const char*> samples[] = {
        {0x0000000000000000, "0"},
        {0x8000000000000000, "0"},
        {0x0000000000000001, "5e-324"},
        {0x8000000000000001, "-5e-324"},
        {0x7fefffffffffffff, "1.7976931348623157e+308"},
        {0xffefffffffffffff, "-1.7976931348623157e+308"},
        {0x4340000000000000, "9007199254740992"},
        {0xc340000000000000, "-9007199254740992"},
        {0x4430000000000000, "295147905179352830000"},
        {0x44b52d02c7e14af5, "9.999999999999997e+22"},
        {0x44b52d02c7e14af6, "1e+23"},
        {0x44b52d02c7e14af7, "1.0000000000000001e+23"},
        {0x444b1ae4d6e2ef4e, "999999999999999700000"},
        {0x444b1ae4d6e2ef4f, "999999999999999900000"},
        {0x444b1ae4d6e2ef50, "1e+21"},
        {0x3eb0c6f7a0b5ed8c, "9.999999999999997e-7"},
        {0x3eb0c6f7a0b5ed8d, "0.000001"},
        {0x41b3de4355555553, "333333333.3333332"},
        {0x41b3de4355555555, "333333333.3333333"},
        {0xbecbf647612f3696, "-0.0000033333333333333333"},
    };
    for (const auto& [bits, text] : samples) EXPECT_EQ(text_of(std::bit_cast<double>(bits)), text);
}

TEST(NumberText, ChangesLayoutAtTheEcmascriptBorders) {
    EXPECT_EQ(text_of(1e20), "100000000000000000000");
    EXPECT_EQ(text_of(1e21), "1e+21");
    EXPECT_EQ(text_of(1.5e21), "1.5e+21");
    EXPECT_EQ(text_of(1e30), "1e+30");
    EXPECT_EQ(text_of(1e-6), "0.000001");
    EXPECT_EQ(text_of(1e-7), "1e-7");
    EXPECT_EQ(text_of(1.25e-7), "1.25e-7");
    EXPECT_EQ(text_of(4.50), "4.5");
    EXPECT_EQ(text_of(2e-3), "0.002");
    EXPECT_EQ(text_of(-12500.75), "-12500.75");
    EXPECT_EQ(text_of(100), "100");
    EXPECT_EQ(text_of(-1), "-1");
    EXPECT_EQ(text_of(1e-27), "1e-27");
    EXPECT_EQ(text_of(123456789012345680000.0), "123456789012345680000");
}

TEST(NumberText, ReadsBackAsTheSameDouble) {
    std::mt19937_64 random(3);
    for (int i = 0; i < 50'000; ++i) {
        const double number = std::bit_cast<double>(random());
        if (number - number != 0) continue;
        const std::string text = text_of(number);
        ASSERT_EQ(std::strtod(text.c_str(), nullptr), number) << text;
    }
}

TEST(ReadNumber, TakesUpToFifteenDigitsOfAnyMagnitude) {
    // The comparison is skipped for these: the double must give back the very same digits.
    std::mt19937_64 random(5);
    for (int i = 0; i < 50'000; ++i) {
        const std::uint64_t digits = random() % 1'000'000'000'000'000;
        const int exponent = static_cast<int>(random() % 600) - 300;
        const std::string text = std::to_string(digits) + "e" + std::to_string(exponent);
        Number number;
        const NumberFault fault = read_number(text, number);
        if (fault == NumberFault::beyond_integers || fault == NumberFault::out_of_range) continue;
        ASSERT_EQ(fault, NumberFault::none) << text;
        ASSERT_EQ(digits_of(text_of(number.real)), digits_of(std::to_string(digits))) << text;
    }
}

TEST(ReadNumber, RoundsAsTheStandardLibraryDoes) {
    std::mt19937_64 random(9);
    for (int i = 0; i < 50'000; ++i) {
        std::string text = std::to_string(random() % 1'000'000'000'000'000 >> random() % 50);
        if (random() % 2 == 0) text.insert(random() % text.size() + 1, ".0");
        text += "e" + std::to_string(static_cast<int>(random() % 60) - 30);
        if (random() % 2 == 0) text.insert(0, "-");
        Number number;
        if (read_number(text, number) != NumberFault::none) continue;
        ASSERT_EQ(number.real, std::strtod(text.c_str(), nullptr)) << text;
    }
}

TEST(ReadNumber, ComparesDecimalsNotSpellings) {
    EXPECT_EQ(fault_of("1.2345678901234567"), NumberFault::none);
    EXPECT_EQ(fault_of("12345678901234567e-16"), NumberFault::none);
    EXPECT_EQ(fault_of("0.00012345678901234567E+4"), NumberFault::none);
    EXPECT_EQ(fault_of("1.234567890123456700000"), NumberFault::none);
    EXPECT_EQ(fault_of("1.23456789012345678"), NumberFault::loses_precision);
    EXPECT_EQ(fault_of("12345678901234567.8e-16"), NumberFault::loses_precision);
    EXPECT_EQ(fault_of("5e-324"), NumberFault::none);
    EXPECT_EQ(fault_of("4e-324"), NumberFault::loses_precision);
    EXPECT_EQ(fault_of("2.2250738585072014e-308"), NumberFault::none);
    EXPECT_EQ(fault_of("2.2250738585072011e-308"), NumberFault::loses_precision);
    EXPECT_EQ(fault_of("1.7976931348623158e308"), NumberFault::loses_precision);
}

TEST(ReadNumber, RefusesEverySpellingOfAnIntegerBeyondTheSafeOnes) {
    for (const char* text : {"9007199254740992", "9007199254740992.0", "9007199254740992e0", "1e16",
                             "1e20", "-1e20", "999999999999999900000", "9.99e20"}) {
        EXPECT_EQ(fault_of(text), NumberFault::beyond_integers) << text;
    }
    EXPECT_EQ(fault_of("9007199254740991.0"), NumberFault::none);
    EXPECT_EQ(fault_of("-9007199254740991e0"), NumberFault::none);
    EXPECT_EQ(fault_of("1e21"), NumberFault::none);
}

TEST(ReadNumber, RefusesNegativeZeroInEverySpelling) {
    for (const char* text : {"-0", "-0.0", "-0e0", "-0.000E-7"}) {
        EXPECT_EQ(fault_of(text), NumberFault::negative_zero) << text;
    }
    EXPECT_EQ(fault_of("0e999"), NumberFault::none);
}

}  // namespace
}  // namespace holdpoint::json
