#include "cli/diff.h"

#include <algorithm>
#include <string>

namespace holdpoint::cli {
namespace {

std::vector<std::string_view> split_lines(std::string_view text) {
    std::vector<std::string_view> lines;
    while (true) {
        const std::size_t end = text.find('\n');
        lines.push_back(text.substr(0, end));
        if (end == std::string_view::npos) return lines;
        text.remove_prefix(end + 1);
    }
}

Line same(std::string_view text) {
    return {{Style::plain, "  "}, {Style::plain, std::string(text)}};
}
Line added(std::string_view text) { return {{Style::added, "+ " + std::string(text)}}; }
Line removed(std::string_view text) { return {{Style::removed, "- " + std::string(text)}}; }

}  // namespace

std::vector<Line> diff_lines(std::string_view before, std::string_view after) {
    const std::vector<std::string_view> a = split_lines(before);
    const std::vector<std::string_view> b = split_lines(after);
    std::vector<Line> out;
    // The table below grows with the product; beyond this both texts are shown whole.
    if (a.size() * b.size() > 4'000'000) {
        for (std::string_view line : a) out.push_back(removed(line));
        for (std::string_view line : b) out.push_back(added(line));
        return out;
    }
    // common[i][j]: how many lines the rests of a from i and of b from j have in common, in order.
    std::vector<std::vector<std::uint32_t>> common(a.size() + 1,
                                                   std::vector<std::uint32_t>(b.size() + 1));
    for (std::size_t i = a.size(); i-- > 0;)
        for (std::size_t j = b.size(); j-- > 0;)
            common[i][j] = a[i] == b[j] ? common[i + 1][j + 1] + 1
                                        : std::max(common[i + 1][j], common[i][j + 1]);
    std::size_t i = 0;
    std::size_t j = 0;
    while (i < a.size() || j < b.size()) {
        if (i < a.size() && j < b.size() && a[i] == b[j]) {
            out.push_back(same(a[i]));
            ++i;
            ++j;
        } else if (j == b.size() || (i < a.size() && common[i + 1][j] >= common[i][j + 1])) {
            out.push_back(removed(a[i++]));
        } else {
            out.push_back(added(b[j++]));
        }
    }
    return out;
}

}  // namespace holdpoint::cli
