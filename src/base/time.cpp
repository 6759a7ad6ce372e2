#include "base/time.h"

#include <fmt/format.h>

#include <chrono>

#include "base/text.h"

namespace holdpoint {
namespace {

using std::chrono::day;
using std::chrono::month;
using std::chrono::sys_days;
using std::chrono::year;
using std::chrono::year_month_day;

constexpr std::int64_t ms_per_day = 86'400'000;

/// Reads exactly `count` digits at `at`; -1 if one of them is none.
int digits(std::string_view text, std::size_t at, std::size_t count) {
    if (at + count > text.size()) return -1;
    int number = 0;
    for (char c : text.substr(at, count)) {
        if (c < '0' || c > '9') return -1;
        number = number * 10 + (c - '0');
    }
    return number;
}

/// Writes the last digits of a number, the lowest of them at `end[-1]`.
void write_digits(char* end, std::int64_t number, int width) {
    for (; width > 0; --width, number /= 10) *--end = static_cast<char>('0' + number % 10);
}

}  // namespace

void append_timestamp(std::string& out, Timestamp t) {
    std::int64_t days = t.ms / ms_per_day;
    std::int64_t rest = t.ms % ms_per_day;
    if (rest < 0) {
        --days;
        rest += ms_per_day;
    }
    const year_month_day date{sys_days{std::chrono::days{days}}};
    // Appended in one piece: an answer has up to seven times.
    char text[] = "0000-00-00T00:00:00.000Z";
    write_digits(text + 4, static_cast<int>(date.year()), 4);
    write_digits(text + 7, static_cast<unsigned>(date.month()), 2);
    write_digits(text + 10, static_cast<unsigned>(date.day()), 2);
    write_digits(text + 13, rest / 3'600'000, 2);
    write_digits(text + 16, rest / 60'000 % 60, 2);
    write_digits(text + 19, rest / 1000 % 60, 2);
    write_digits(text + 23, rest % 1000, 3);
    out.append(text, sizeof text - 1);
}

std::string to_string(Timestamp t) {
    std::string out;
    append_timestamp(out, t);
    return out;
}

Result<Timestamp> parse_timestamp(std::string_view text) {
    const Error bad{
        ErrorCode::invalid_argument,
        fmt::format("`{}` is not a time like `2026-11-15T21:03:46Z`", visible(cut_utf8(text, 40)))};
    const int y = digits(text, 0, 4), mo = digits(text, 5, 2), d = digits(text, 8, 2);
    const int h = digits(text, 11, 2), mi = digits(text, 14, 2), s = digits(text, 17, 2);
    if (y < 1970 || mo < 0 || d < 0 || h < 0 || mi < 0 || s < 0) return bad;
    if (text[4] != '-' || text[7] != '-' || (text[10] != 'T' && text[10] != 't')) return bad;
    if (text[13] != ':' || text[16] != ':' || h > 23 || mi > 59 || s > 59) return bad;
    const year_month_day date{year{y}, month{static_cast<unsigned>(mo)},
                              day{static_cast<unsigned>(d)}};
    if (!date.ok()) return bad;

    std::size_t at = 19;
    std::int64_t fraction_ms = 0;
    if (at < text.size() && text[at] == '.') {
        const std::size_t first = ++at;
        std::int64_t scale = 100;
        for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at, scale /= 10)
            fraction_ms += (text[at] - '0') * scale;
        if (at == first) return bad;
    }
    std::int64_t offset_minutes = 0;
    if (at < text.size() && (text[at] == 'Z' || text[at] == 'z')) {
        ++at;
    } else if (at < text.size() && (text[at] == '+' || text[at] == '-')) {
        const int oh = digits(text, at + 1, 2), om = digits(text, at + 4, 2);
        if (oh < 0 || om < 0 || oh > 23 || om > 59 || text[at + 3] != ':') return bad;
        offset_minutes = (text[at] == '-' ? -1 : 1) * (oh * 60 + om);
        at += 6;
    } else {
        return bad;
    }
    if (at != text.size()) return bad;

    const std::int64_t days = sys_days{date}.time_since_epoch().count();
    return Timestamp{days * ms_per_day + (h * 60LL + mi - offset_minutes) * 60'000 + s * 1000LL +
                     fraction_ms};
}

}  // namespace holdpoint
