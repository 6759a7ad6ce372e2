#include "cli/duration.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"

namespace holdpoint::cli {
namespace {

struct Unit {
    char letter;
    std::int64_t seconds;
};
constexpr std::array<Unit, 4> units{{{'d', 86'400}, {'h', 3'600}, {'m', 60}, {'s', 1}}};
constexpr std::int64_t seconds_max = 10LL * 366 * 86'400;

}  // namespace

Result<std::int64_t> parse_duration_s(std::string_view text) {
    const Error bad{ErrorCode::invalid_argument,
                    fmt::format("`{}` is not a duration like `90s`, `5m` or `1h30m`",
                                visible(cut_utf8(text, 40)))};
    if (text.empty()) return bad;
    std::int64_t total = 0;
    std::size_t next_unit = 0;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t first = at;
        std::int64_t number = 0;
        for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at) {
            number = number * 10 + (text[at] - '0');
            if (number > seconds_max) return bad;
        }
        if (at == first) return bad;
        if (at == text.size()) {
            // A bare number means seconds, but `1h30` could mean minutes as well.
            if (first != 0) return bad;
            total = number;
            break;
        }
        while (next_unit < units.size() && units[next_unit].letter != text[at]) ++next_unit;
        if (next_unit == units.size()) return bad;
        total += number * units[next_unit].seconds;
        if (total > seconds_max) return bad;
        ++next_unit;
        ++at;
    }
    return total;
}

std::string short_duration(std::int64_t ms) {
    const std::int64_t s = std::max<std::int64_t>(ms, 0) / 1000;
    if (s < 60) return fmt::format("{}s", s);
    if (s < 3'600) return fmt::format("{}:{:02}", s / 60, s % 60);
    if (s < 86'400) return fmt::format("{}h{:02}", s / 3'600, s / 60 % 60);
    return fmt::format("{}d", s / 86'400);
}

}  // namespace holdpoint::cli
