#include "base/cbor.h"

#include <gtest/gtest.h>

namespace holdpoint::cbor {
namespace {

std::string from_hex(std::string_view digits) {
    std::string bytes;
    for (std::size_t i = 0; i + 1 < digits.size(); i += 2)
        bytes += static_cast<char>(std::stoi(std::string(digits.substr(i, 2)), nullptr, 16));
    return bytes;
}

std::string why_not(std::string_view digits, const Limits& limits = {}) {
    const Result<Value> value = read(from_hex(digits), limits);
    return value ? "it was read" : value.error().message;
}

std::int64_t number(std::string_view digits) {
    const Result<Value> value = read(from_hex(digits));
    EXPECT_TRUE(value) << digits;
    EXPECT_TRUE(value->is(Kind::integer));
    return value->number;
}

TEST(Cbor, reads_numbers_in_their_shortest_form_only) {
    EXPECT_EQ(number("00"), 0);
    EXPECT_EQ(number("17"), 23);
    EXPECT_EQ(number("1818"), 24);
    EXPECT_EQ(number("1903e8"), 1000);
    EXPECT_EQ(number("1a000f4240"), 1'000'000);
    EXPECT_EQ(number("1b000000e8d4a51000"), 1'000'000'000'000);
    EXPECT_EQ(number("20"), -1);
    EXPECT_EQ(number("390100"), -257);
    EXPECT_EQ(number("1b7fffffffffffffff"), INT64_MAX);
    for (const char* longer : {"1800", "1817", "190018", "1900ff", "1a0000ffff", "3800",
                               "1b00000000ffffffff", "5801aa00"})
        EXPECT_EQ(why_not(longer), "the CBOR has a number that is not in its shortest form")
            << longer;
    EXPECT_EQ(why_not("1b8000000000000000"), "the CBOR has a number out of range");
}

TEST(Cbor, reads_texts_arrays_and_maps) {
    const Result<Value> value = read(from_hex("a301020326616183f4f5f6"));
    ASSERT_TRUE(value) << value.error().message;
    ASSERT_TRUE(value->find(1));
    EXPECT_EQ(value->find(1)->number, 2);
    EXPECT_EQ(value->find(3)->number, -7);
    ASSERT_TRUE(value->find("a"));
    ASSERT_EQ(value->find("a")->items.size(), 3u);
    EXPECT_EQ(value->find("a")->items[1].number, 1);
    EXPECT_TRUE(value->find("a")->items[2].is(Kind::null));
    EXPECT_FALSE(value->find("b"));
    EXPECT_FALSE(value->find(7));
    EXPECT_EQ(read(from_hex("43010203"))->text, std::string("\1\2\3"));
    EXPECT_EQ(read(from_hex("6449455446"))->text, "IETF");
}

TEST(Cbor, refuses_what_has_two_meanings) {
    EXPECT_EQ(why_not("a2010201ff"),
              "the CBOR has a floating-point number or a value unknown here");
    EXPECT_EQ(why_not("a201020103"), "the CBOR has a key twice");
    EXPECT_EQ(why_not("a2616101616102"), "the CBOR has a key twice");
    EXPECT_EQ(why_not("a1800102"), "the CBOR has a key that is neither a number nor text");
    EXPECT_EQ(why_not("0000"), "the CBOR goes on after its end");
    EXPECT_EQ(why_not("5f4101ff"), "the CBOR has an indefinite length");
    EXPECT_EQ(why_not("9f01ff"), "the CBOR has an indefinite length");
    EXPECT_EQ(why_not("c000"), "the CBOR has a tag");
    EXPECT_EQ(why_not("61ff"), "the CBOR has text that is not UTF-8");
    for (const char* odd : {"f93c00", "fa3f800000", "f7", "f820", "e0"})
        EXPECT_EQ(why_not(odd), "the CBOR has a floating-point number or a value unknown here")
            << odd;
}

TEST(Cbor, refuses_what_ends_early_without_waiting_for_it) {
    for (const char* cut : {"", "18", "19ff", "42aa", "82", "8201", "a101", "9bffffffffffffffff",
                            "5bffffffffffffffff", "bbffffffffffffffff", "9a00ffffff"})
        EXPECT_EQ(why_not(cut), "the CBOR ends too early") << cut;
}

TEST(Cbor, keeps_its_limits) {
    EXPECT_EQ(why_not("8181818181818100"), "the CBOR is nested too deeply");
    EXPECT_EQ(why_not("818181818100"), "it was read");
    EXPECT_EQ(why_not("83000000", {.values_max = 3}), "the CBOR has too many values");
    EXPECT_EQ(why_not("83000000", {.bytes_max = 3}), "the CBOR is too long");
}

TEST(Cbor, tells_where_the_front_ends) {
    const Result<Read> front = read_front(from_hex("a10102deadbeef"));
    ASSERT_TRUE(front);
    EXPECT_EQ(front->size, 3u);
}

}  // namespace
}  // namespace holdpoint::cbor
