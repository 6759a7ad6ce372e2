#include <gmock/gmock.h>

#include "policy/cel/address.h"
#include "policy/cel/encode.h"
#include "policy/cel/moment.h"
#include "policy/cel/test_programs.h"

namespace holdpoint::cel {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class CelLibrary : public CelTest {};

TEST_F(CelLibrary, time_is_taken_apart_in_any_zone) {
    bind("now", Value::timestamp(*parse_moment("2026-03-29T00:30:00Z")));
    EXPECT_EQ(run("now.getHours()"), "0");
    EXPECT_EQ(run("now.getHours('Europe/Berlin')"), "1");
    EXPECT_EQ(run("now.getMinutes('Asia/Kathmandu')"), "15");
    EXPECT_EQ(run("now.getDate('America/New_York')"), "28");
    EXPECT_EQ(run("now.getDayOfMonth('-02:00')"), "27");
    EXPECT_EQ(run("now.getHours('+02:00') + now.getHours('02:00')"), "4");
    EXPECT_EQ(run("now.getDayOfWeek()"), "0");
    EXPECT_EQ(run("now.getMonth()"), "2");
    EXPECT_EQ(run("now.getDayOfYear()"), "87");
    // The night when clocks go forward: an hour later it is two hours later on the wall.
    EXPECT_EQ(run("(now + duration('1h')).getHours('Europe/Berlin')"), "3");
    EXPECT_EQ(run("now.getFullYear('UTC')"), "2026");
}

TEST_F(CelLibrary, a_zone_must_be_known_when_the_program_is_compiled) {
    EXPECT_EQ(complaint("now.getHours('Europe/Atlantis')"),
              "1:14: there is no time zone `Europe/Atlantis`");
    EXPECT_THAT(complaint("now.getHours(name)"), HasSubstr("must be a string literal"));
    EXPECT_THAT(complaint("now.getHours('../../etc/passwd')"), HasSubstr("no time zone"));
    environment_.switches().variable_patterns = true;
    EXPECT_THAT(run("now.getHours(name)"), StartsWith("error: there is no time zone"));
}

TEST(CelMoment, text_and_time_convert_both_ways) {
    for (const std::string_view text :
         {"0001-01-01T00:00:00Z", "1969-12-31T23:59:59.999999999Z", "1970-01-01T00:00:00Z",
          "2026-11-15T21:03:46.5Z", "9999-12-31T23:59:59.999999999Z"}) {
        const auto moment = parse_moment(text);
        ASSERT_TRUE(moment) << text;
        EXPECT_EQ(to_string(*moment), text);
    }
    EXPECT_EQ(to_string(*parse_moment("2026-01-01T00:30:00+02:00")), "2025-12-31T22:30:00Z");
    for (const std::string_view text :
         {"", "2026", "2026-01-01T00:00:00", "2026-01-01 00:00:00Z", "2026-13-01T00:00:00Z",
          "2026-02-29T00:00:00Z", "2026-01-01T24:00:00Z", "2026-01-01T00:00:60Z",
          "0001-01-01T00:00:00+01:00", "9999-12-31T23:59:59-01:00", "2026-01-01T00:00:00.Z",
          "2026-01-01T00:00:00.1234567891Z", "2026-01-01T00:00:00+24:00",
          "2026-01-01T00:00:00Zx"}) {
        EXPECT_FALSE(parse_moment(text)) << text;
    }
}

TEST(CelMoment, durations_are_sums_of_units) {
    EXPECT_EQ(parse_duration("1h34us"), 3'600'000'034'000);
    EXPECT_EQ(parse_duration("-1.5h"), -5'400'000'000'000);
    EXPECT_EQ(parse_duration("1ms1us1ns"), 1'001'001);
    EXPECT_EQ(parse_duration(".5s"), 500'000'000);
    EXPECT_EQ(parse_duration("0"), 0);
    EXPECT_EQ(parse_duration("-9223372036854775808ns"), INT64_MIN);
    EXPECT_FALSE(parse_duration("9223372036854775808ns"));
    EXPECT_FALSE(parse_duration("320000000000s"));
    EXPECT_FALSE(parse_duration("1h2"));
    EXPECT_FALSE(parse_duration("."));
    EXPECT_FALSE(parse_duration("--1s"));
    EXPECT_EQ(duration_text(6'347'000'000'000), "6347s");
    EXPECT_EQ(duration_text(-500'000'000), "-0.5s");
    EXPECT_EQ(duration_text(INT64_MIN), "-9223372036.854775808s");
}

TEST_F(CelLibrary, addresses_are_read_strictly) {
    for (const char* text : {"1.2.3", "1.2.3.4.5", "1.2.3.256", "01.2.3.4", "1.2.3.4 ", "",
                             "::ffff:1.2.3.4", "fe80::1%en0", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9",
                             "1::2::3", ":::1", "12345::", "g::1", "1:2:3:4:5:6:7:8::"}) {
        EXPECT_FALSE(parse_ip(text).address) << text;
    }
    const std::pair<const char*, const char*> good[] = {
        {"0.0.0.0", "0.0.0.0"},
        {"255.255.255.255", "255.255.255.255"},
        {"::", "::"},
        {"::1", "::1"},
        {"1::", "1::"},
        {"2001:DB8:0:0:1:0:0:1", "2001:db8::1:0:0:1"},
        {"1:0:3:4:5:6:7:8", "1:0:3:4:5:6:7:8"},
        {"1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0"}};
    for (const auto& [text, canonical] : good) {
        ASSERT_TRUE(parse_ip(text).address) << text;
        EXPECT_EQ(to_string(*parse_ip(text).address), canonical);
    }
    for (const char* text :
         {"1.2.3.4", "1.2.3.4/33", "1.2.3.4/", "1.2.3.4/08", "::/129", "/8", "1.2.3.4/-1"}) {
        EXPECT_FALSE(parse_cidr(text).address) << text;
    }
}

TEST_F(CelLibrary, networks_contain_addresses_and_networks) {
    EXPECT_EQ(run("cidr('10.2.0.0/15').containsIP('10.1.255.255')"), "false");
    EXPECT_EQ(run("cidr('10.0.0.0/15').containsIP('10.1.255.255')"), "true");
    EXPECT_EQ(run("cidr('0.0.0.0/0').containsIP('8.8.8.8')"), "true");
    EXPECT_EQ(run("cidr('0.0.0.0/0').containsIP('::1')"), "false");
    EXPECT_EQ(run("cidr('10.0.0.0/8').containsCIDR('10.2.0.0/16')"), "true");
    EXPECT_EQ(run("string(cidr('10.1.2.3/9').masked()) + string(cidr('10.1.2.3/9').ip())"),
              "\"10.0.0.0/910.1.2.3\"");
    EXPECT_EQ(run("ip('::ffff:7f00:1').isLoopback() && !ip('::ffff:7f00:1').isGlobalUnicast()"),
              "true");
    EXPECT_THAT(run("ip(name)"), HasSubstr("not an IP address"));
}

TEST_F(CelLibrary, text_is_cut_joined_and_replaced) {
    EXPECT_EQ(run("'a,b,,c'.split(',')"), R"(["a", "b", "", "c"])");
    EXPECT_EQ(run("'a,b,c'.split(',', 2)"), R"(["a", "b,c"])");
    EXPECT_EQ(run("'aé'.split('')"), R"(["a", "é"])");
    EXPECT_EQ(run("''.split(',')"), R"([""])");
    EXPECT_EQ(run("''.split('')"), "[]");
    EXPECT_EQ(run("'abc'.replace('', '-')"), "\"-a-b-c-\"");
    EXPECT_EQ(run("'abc'.replace('', '-', 2)"), "\"-a-bc\"");
    EXPECT_EQ(run("'aaa'.replace('a', 'bb', 2)"), "\"bbbba\"");
    EXPECT_EQ(run("['a', 'b'].join('-') + args.tags.join()"), "\"a-bnewvip\"");
    EXPECT_EQ(run("'hello mellow'.lastIndexOf('ello', 6)"), "1");
    EXPECT_EQ(run("'hello'.lastIndexOf('')"), "5");
    EXPECT_EQ(run("'hello'.indexOf('', 2)"), "2");
    EXPECT_EQ(run("'äbc'.reverse().upperAscii()"), "\"CBä\"");
    EXPECT_THAT(run("'abc'.substring(2, 1)"), StartsWith("error: "));
    EXPECT_THAT(run("'abc'.charAt(-1)"), StartsWith("error: "));
    EXPECT_THAT(run("[dyn('a'), 1].join()"), StartsWith("error: "));
}

TEST_F(CelLibrary, format_writes_values_as_asked) {
    EXPECT_EQ(run("'%s: %.2f %d%%'.format([name, args.amount, 7])"), "\"Zoë: 900.50 7%\"");
    EXPECT_EQ(run("'%x %X %o %b'.format([-255, 255u, 8, -5])"), "\"-ff FF 10 -101\"");
    EXPECT_EQ(run("'%s'.format([{'b': [1.0, true], 'a': null}])"), "\"{a: null, b: [1, true]}\"");
    EXPECT_EQ(run("'%e'.format([12345.678])"), "\"1.234568e+04\"");
    EXPECT_EQ(run("'%d'.format([3.14])"), "\"3.14\"");
    EXPECT_EQ(run(R"('%s'.format([b'a\xff\xfeb']))"),
              "\"a\xef\xbf\xbd"
              "b\"");
    EXPECT_EQ(run("'%s %s'.format([type(1), duration('1.5s')])"), "\"int 1.5s\"");
    for (const std::string_view source :
         {"'%s'.format([])", "'%q'.format([1])", "'%'.format([1])", "'%.f'.format([1.0])",
          "'%.999f'.format([1.0])", "'%d'.format(['a'])", "'%f'.format(['a'])",
          "'%b'.format([1.5])", "'%x'.format([1.5])"}) {
        EXPECT_THAT(run(source), StartsWith("error: ")) << source;
    }
}

TEST(CelEncode, base64_is_read_with_and_without_padding) {
    for (const std::string_view bytes : {"", "f", "fo", "foo", "foob", "\xff\x00\x80"}) {
        EXPECT_EQ(decode_base64(encode_base64(bytes)), bytes);
    }
    EXPECT_EQ(decode_base64("aGVsbG8"), "hello");
    for (const std::string_view text : {"a", "aGVsbG8==", "aG*s", "aGVsbG=8", "aGVsb G8="}) {
        EXPECT_FALSE(decode_base64(text)) << text;
    }
}

}  // namespace
}  // namespace holdpoint::cel
