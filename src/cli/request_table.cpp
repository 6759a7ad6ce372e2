#include "cli/request_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/text.h"
#include "cli/duration.h"
#include "cli/marks.h"

namespace holdpoint::cli {
namespace {

Span state_cell(const Request& request, Timestamp at, bool is_mixed) {
    if (request.outcome)
        return {style_of(*request.outcome), std::string(core::to_string(*request.outcome))};
    const std::int64_t left_ms = request.expires_at - at;
    return {left_ms < 60'000 ? Style::bad : Style::plain,
            short_duration(left_ms) + (is_mixed ? " left" : "")};
}

}  // namespace

std::vector<Line> request_table(const Output& out, const std::vector<Request>& requests) {
    // While all are pending the word would only repeat itself.
    const bool is_mixed =
        std::ranges::any_of(requests, [](const Request& r) { return r.outcome.has_value(); });
    Table table({{"ID"},
                 {"RISK"},
                 {"ASKED", Table::Align::right},
                 {is_mixed ? "STATE" : "LEFT", is_mixed ? Table::Align::left : Table::Align::right},
                 {"AGENT", Table::Align::left, 16},
                 {"WHAT"}});
    const Timestamp at = now();
    for (const Request& request : requests) {
        const bool is_settled = request.outcome.has_value();
        table.add({{Style::strong, out.is_terminal() ? short_id(request.id) : request.id},
                   {is_settled ? Style::faint : style_of(request.risk), risk_label(request.risk)},
                   {Style::plain, short_duration(at - request.created_at)},
                   state_cell(request, at, is_mixed),
                   {Style::plain, visible(request.agent)},
                   {is_settled ? Style::faint : Style::plain, visible_again(request.headline)}});
    }
    return table.lines(out.columns(), out.is_terminal());
}

void LiveTable::set(std::vector<Request> requests) {
    waiting_ = std::move(requests);
    std::ranges::sort(waiting_, {}, &Request::expires_at);
}

void LiveTable::take(const Request& request) {
    std::erase_if(waiting_, [&](const Request& one) { return one.id == request.id; });
    if (!request.is_pending()) return;
    waiting_.insert(
        std::ranges::upper_bound(waiting_, request.expires_at, {}, &Request::expires_at), request);
}

void LiveTable::erase() {
    // A screen that became narrower has broken what stood there into more lines.
    const int columns = out_.columns();
    out_.erase_lines(std::accumulate(drawn_.begin(), drawn_.end(), 0, [&](int sum, int width) {
        return sum + std::max(1, (width + columns - 1) / columns);
    }));
    drawn_.clear();
}

void LiveTable::draw() {
    erase();
    // The lines above stay readable.
    const auto shown_max = static_cast<std::size_t>(std::max(3, out_.rows() / 2 - 2));
    const std::size_t shown = std::min(waiting_.size(), shown_max);
    std::vector<Line> lines{
        {},
        {{Style::heading, waiting_.empty()       ? "Nothing waits"
                          : waiting_.size() == 1 ? "1 waits"
                                                 : fmt::format("{} wait", waiting_.size())}}};
    if (shown > 0)
        std::ranges::move(request_table(out_, {waiting_.begin(), waiting_.begin() + shown}),
                          std::back_inserter(lines));
    if (shown < waiting_.size())
        lines.push_back({{Style::faint, fmt::format("and {} more", waiting_.size() - shown)}});
    for (const Line& line : lines) drawn_.push_back(width(line));
    out_.print(lines);
}

}  // namespace holdpoint::cli
