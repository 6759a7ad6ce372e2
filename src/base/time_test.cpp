#include "base/time.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace holdpoint {
namespace {

struct Good {
    const char* text;
    std::int64_t ms;
};

TEST(Timestamp, reads_rfc_3339) {
    const Good table[]{
        {"1970-01-01T00:00:00Z", 0},
        {"1970-01-01T00:00:00.001Z", 1},
        {"2026-11-15T21:03:46Z", 1'794'776'626'000},
        {"2026-11-15T21:03:46.123Z", 1'794'776'626'123},
        {"2026-11-15T21:03:46.1Z", 1'794'776'626'100},
        {"2026-11-15T21:03:46.123999Z", 1'794'776'626'123},
        {"2026-11-15t21:03:46z", 1'794'776'626'000},
        {"2026-11-15T22:03:46+01:00", 1'794'776'626'000},
        {"2026-11-15T15:33:46-05:30", 1'794'776'626'000},
        {"2024-02-29T00:00:00Z", 1'709'164'800'000},
        {"2000-02-29T23:59:59.999Z", 951'868'799'999},
        {"9999-12-31T23:59:59.999Z", 253'402'300'799'999},
    };
    for (const Good& row : table) {
        const Result<Timestamp> time = parse_timestamp(row.text);
        ASSERT_TRUE(time) << row.text;
        EXPECT_EQ(time->ms, row.ms) << row.text;
    }
}

TEST(Timestamp, refuses_what_is_not_rfc_3339) {
    for (const char* text : {
             "",
             "2026",
             "2026-11-15",
             "2026-11-15T21:03:46",         // no zone
             "2026-11-15 21:03:46Z",        // space instead of T
             "2026-11-15T21:03Z",           // no seconds
             "2026-11-15T21:03:46.Z",       // a point without digits
             "2026-11-15T21:03:60Z",        // leap second
             "2026-11-15T24:00:00Z",        //
             "2026-11-15T21:60:00Z",        //
             "2026-13-01T00:00:00Z",        //
             "2026-00-01T00:00:00Z",        //
             "2026-02-29T00:00:00Z",        // no leap year
             "2100-02-29T00:00:00Z",        // no leap year either
             "2026-04-31T00:00:00Z",        //
             "2026-11-00T00:00:00Z",        //
             "1969-12-31T23:59:59Z",        // before the first year
             "02026-11-15T21:03:46Z",       //
             "2026-11-15T21:03:46+1:00",    //
             "2026-11-15T21:03:46+0100",    //
             "2026-11-15T21:03:46+24:00",   //
             "2026-11-15T21:03:46+01:60",   //
             "2026-11-15T21:03:46+01:00Z",  //
             "2026-11-15T21:03:46Zx",       //
             " 2026-11-15T21:03:46Z",       //
             "2026-11-15T21:03:46Z ",       //
             "2026-1a-15T21:03:46Z",        //
             "2026-11-15T21:-3:46Z",        //
             "1794776626",                  //
         }) {
        const Result<Timestamp> time = parse_timestamp(text);
        ASSERT_FALSE(time) << text;
        EXPECT_EQ(time.error().code, ErrorCode::invalid_argument) << text;
    }
}

TEST(Timestamp, an_error_does_not_repeat_a_long_text) {
    const Result<Timestamp> time = parse_timestamp(std::string(5000, 'x'));
    ASSERT_FALSE(time);
    EXPECT_LT(time.error().message.size(), 200u);
}

TEST(Timestamp, writes_utc_with_milliseconds) {
    EXPECT_EQ(to_string(Timestamp{0}), "1970-01-01T00:00:00.000Z");
    EXPECT_EQ(to_string(Timestamp{1'794'776'626'007}), "2026-11-15T21:03:46.007Z");
    EXPECT_EQ(to_string(Timestamp{-1}), "1969-12-31T23:59:59.999Z");
    std::string out = "at ";
    append_timestamp(out, Timestamp{1});
    EXPECT_EQ(out, "at 1970-01-01T00:00:00.001Z");
}

TEST(Timestamp, what_was_written_reads_back) {
    for (std::int64_t ms = 1; ms < 253'402'300'799'999; ms = ms * 3 + 7) {
        const Result<Timestamp> time = parse_timestamp(to_string(Timestamp{ms}));
        ASSERT_TRUE(time) << ms;
        EXPECT_EQ(time->ms, ms);
    }
}

TEST(Timestamp, what_is_no_time_is_named_so_that_it_can_be_printed) {
    EXPECT_EQ(parse_timestamp("2026-01-02T\x10").error().message,
              "`2026-01-02T<U+0010>` is not a time like `2026-11-15T21:03:46Z`");
    const std::string cut = parse_timestamp(std::string(39, 'x') + "\u00e4").error().message;
    EXPECT_TRUE(is_utf8(cut)) << cut;
}

}  // namespace
}  // namespace holdpoint
