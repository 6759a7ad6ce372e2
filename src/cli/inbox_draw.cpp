#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "cli/diff.h"
#include "cli/duration.h"
#include "cli/inbox_screen.h"
#include "cli/json_text.h"
#include "cli/marks.h"

/// What the inbox looks like; what it does is in inbox_screen.cpp.
namespace holdpoint::cli {
namespace {

constexpr int smallest_rows = 12;
constexpr int smallest_columns = 40;

/// No wider than the names need: the headline says more.
int agent_columns(const std::vector<Request>& rows) {
    int columns = width("AGENT");
    for (const Request& request : rows) columns = std::max(columns, width(visible(request.agent)));
    return std::min(columns, 14);
}

Line list_row(const Request& request, Timestamp at, int agent) {
    const std::int64_t left_ms = request.expires_at - at;
    return {{style_of(request.risk), " " + fit(risk_label(request.risk), 10)},
            {Style::plain, "  " + fit_right(short_duration(at - request.created_at), 5)},
            {left_ms < 60'000 ? Style::bad : Style::plain,
             "  " + fit_right(short_duration(left_ms), 5)},
            {Style::plain, "  " + fit(visible(request.agent), agent)},
            {Style::strong, "  " + visible_again(request.headline)}};
}

const std::vector<std::pair<const char*, const char*>> help_lines{
    {"j k ↓ ↑", "next, previous request"},
    {"Enter o", "whole screen for the selected request; q or Esc goes back"},
    {"space b", "read on, read back"},
    {"a", "approve: release it as it is"},
    {"m", "modify in your editor, see the difference, confirm"},
    {"r", "reject, with a reason that the agent is told"},
    {"v", "answer a question"},
    {"d", "defer: tell the agent another way"},
    {"e", "escalate to a group or a person"},
    {"x", "abort: stop the agent's whole run"},
    {"/", "show only what contains a text; Esc shows all again"},
    {"R", "read the list anew"},
    {"q", "quit; nothing is decided by leaving"},
};

}  // namespace

int InboxScreen::list_height() const {
    const int rows = screen_->rows();
    const int wanted = std::max(1, static_cast<int>(model_.rows().size()));
    return std::min(wanted, std::max(3, (rows - 4) / 4));
}

int InboxScreen::detail_height() const {
    return screen_->rows() - (mode_ == Mode::list ? list_height() + 6 : 5);
}

std::string InboxScreen::connection_text() const {
    if (stream_->is_open()) return "● live";
    if (reconnect_at_ms_ == 0) return "○ connecting …";
    return fmt::format(
        "○ connection lost, next try in {}",
        short_duration(std::max<std::int64_t>(0, reconnect_at_ms_ - steady_ms()) + 999));
}

void InboxScreen::draw() {
    screen_->clear();
    screen_->hide_cursor();
    const int rows = screen_->rows();
    if (rows < smallest_rows || screen_->columns() < smallest_columns) {
        const std::vector<Line> said =
            wrap({{Style::high, "too small: make the window larger"}}, screen_->columns());
        for (int row = 0; row < rows && row < static_cast<int>(said.size()); ++row)
            screen_->draw(row, said[static_cast<std::size_t>(row)]);
        // Nothing can be read, so nothing counts as read.
        seen_lines_ = 0;
        screen_->show();
        return;
    }
    std::string left = fmt::format(" Holdpoint inbox · {} waiting", model_.total());
    if (!model_.filter().empty())
        left += fmt::format(" · {} match “{}”", model_.rows().size(), visible(model_.filter()));
    screen_->bar(0, left, fmt::format("{} · {}", name_, connection_text()),
                 stream_->is_open() ? Style::plain : Style::bad);

    const Request* selected = model_.selected();
    if (selected != nullptr)
        detail_ = describe(*selected, selected->id == timeline_id_ ? timeline_ : json::value{},
                           now(), screen_->columns() - 2);
    if (mode_ == Mode::help) {
        draw_help();
    } else if (mode_ == Mode::change) {
        draw_change();
    } else if (mode_ == Mode::detail && selected != nullptr) {
        draw_detail(2, detail_height());
    } else {
        const int height = list_height();
        draw_list(1, height);
        draw_detail(height + 3, detail_height());
    }
    draw_bottom();
    screen_->show();
}

void InboxScreen::draw_list(int first_row, int height) {
    const int agent = agent_columns(model_.rows());
    screen_->draw(
        first_row,
        {{Style::faint, fmt::format(" {}  {}  {}  {}  {}", fit("RISK", 10), fit_right("ASKED", 5),
                                    fit_right("LEFT", 5), fit("AGENT", agent), "WHAT")}});
    const std::vector<Request>& rows = model_.rows();
    if (rows.empty()) {
        const char* text = !is_loaded_          ? " reading the list …"
                           : model_.total() > 0 ? " nothing matches the filter"
                                                : " Nothing needs you.";
        screen_->draw(first_row + 1, {{Style::strong, text}});
        return;
    }
    const std::size_t selected = model_.selected_row();
    const auto shown = static_cast<std::size_t>(height);
    if (selected < list_top_) list_top_ = selected;
    if (selected >= list_top_ + shown) list_top_ = selected + 1 - shown;
    if (rows.size() <= shown) list_top_ = 0;
    list_top_ = std::min(list_top_, rows.size() - std::min(rows.size(), shown));
    for (std::size_t i = 0; i < shown && list_top_ + i < rows.size(); ++i)
        screen_->draw(first_row + 1 + static_cast<int>(i),
                      list_row(rows[list_top_ + i], now(), agent), list_top_ + i == selected);
    std::string more;
    if (list_top_ > 0) more += fmt::format("↑ {} above ", list_top_);
    if (list_top_ + shown < rows.size())
        more += fmt::format("↓ {} below", rows.size() - list_top_ - shown);
    screen_->rule(first_row + 1 + height, more);
}

void InboxScreen::draw_detail(int first_row, int height) {
    if (model_.selected() == nullptr) return;
    const auto total = static_cast<long>(detail_.lines.size());
    detail_top_ = std::clamp(detail_top_, 0L, std::max(0L, total - height));
    for (int i = 0; i < height && detail_top_ + i < total; ++i) {
        Line line = detail_.lines[static_cast<std::size_t>(detail_top_ + i)];
        line.insert(line.begin(), {Style::plain, " "});
        screen_->draw(first_row + i, line);
    }
    // Counted only from the top without a gap: what was jumped over was not seen.
    if (static_cast<std::size_t>(detail_top_) <= seen_lines_)
        seen_lines_ = std::max(seen_lines_, static_cast<std::size_t>(detail_top_ + height));
    const long below = total - detail_top_ - height;
    if (below > 0) {
        const bool is_unread = static_cast<std::size_t>(detail_top_ + height) < detail_.runs_end;
        screen_->rule(
            first_row + height,
            fmt::format("↓ {} more {}, space reads on{}", below, below == 1 ? "line" : "lines",
                        is_unread ? " (part of what will run is below)" : ""));
    }
}

void InboxScreen::draw_help() {
    int row = 2;
    for (const auto& [keys, what] : help_lines)
        screen_->draw(row++, {{Style::strong, "  " + fit(keys, 10)}, {Style::plain, what}});
    screen_->draw(row + 1, {{Style::faint,
                             "  Deciding keys count only after the screen was quiet for 0.4 s."}});
    screen_->draw(row + 2,
                  {{Style::faint, "  High risk asks y/n, critical wants the tool's name."}});
}

void InboxScreen::draw_change() {
    if (!change_) return;
    const auto& [request, change] = *change_;
    screen_->draw(2, {{style_of(request.risk), " " + risk_label(request.risk)},
                      {Style::strong, "  " + visible_again(request.headline)}});
    std::vector<Line> lines;
    for (const Line& line : diff_lines(pretty(change.before), pretty(change.after)))
        for (Line& part : wrap(line, screen_->columns() - 4, 2)) lines.push_back(std::move(part));
    const int height = screen_->rows() - 7;
    detail_top_ =
        std::clamp(detail_top_, 0L, std::max(0L, static_cast<long>(lines.size()) - height));
    for (int i = 0; i < height && detail_top_ + i < static_cast<long>(lines.size()); ++i) {
        Line line = lines[static_cast<std::size_t>(detail_top_ + i)];
        line.insert(line.begin(), {Style::plain, "  "});
        screen_->draw(4 + i, line);
    }
}

void InboxScreen::draw_bottom() {
    const int row = screen_->rows() - 2;
    screen_->draw(row, {{message_.style, " " + message_.text}});
    if (prompt_) {
        std::string typed;
        for (char32_t c : prompt_->typed) append_utf8(typed, c);
        std::string text = " " + prompt_->label + visible(typed);
        // A long answer shows its end, where the cursor is.
        while (width(text) > screen_->columns() - 1 && !text.empty())
            text.erase(0, static_cast<std::size_t>(std::max(1, first_code_point(text).bytes)));
        screen_->draw(row + 1, {{Style::strong, text}});
        screen_->cursor(row + 1, width(text));
        return;
    }
    const char* keys =
        " a approve  r reject  m modify  v answer  d defer  e escalate  x abort  ? help";
    if (mode_ == Mode::change) keys = " y release with these changes   n drop   ↓ ↑ scroll";
    if (mode_ == Mode::help) keys = " any key goes back";
    if (model_.selected() == nullptr && mode_ == Mode::list)
        keys = " R refresh  / filter  ? help  q quit";
    screen_->draw(row + 1, {{Style::faint, keys}});
}

}  // namespace holdpoint::cli
