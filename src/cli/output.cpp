#include "cli/output.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "base/text.h"
#include "cli/json_text.h"
#include "cli/marks.h"

namespace holdpoint::cli {
namespace {

/// The parameters of the escape sequence; the sixteen basic colours follow the person's theme.
std::string_view ansi(Style style) {
    switch (style) {
        case Style::plain:
            return "";
        case Style::strong:
            return "1";
        case Style::faint:
            return "2";
        case Style::heading:
            return "1;4";
        case Style::low:
            return "32";
        case Style::medium:
            return "36";
        case Style::high:
            return "1;33";
        case Style::critical:
            return "1;31";
        case Style::good:
            return "32";
        case Style::bad:
            return "1;31";
        case Style::claim:
            return "3";
        case Style::added:
            return "32";
        case Style::removed:
            return "31";
    }
    return "";
}

bool is_set(const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr && *value != '\0';
}

bool has_cursor() {
    const char* term = std::getenv("TERM");
    return term != nullptr && *term != '\0' && std::string_view(term) != "dumb";
}

bool wants_color(const std::string& setting, bool is_screen) {
    if (setting == "always") return true;
    if (setting == "never" || is_set("NO_COLOR")) return false;
    const char* force = std::getenv("CLICOLOR_FORCE");
    if (force != nullptr && *force != '\0' && std::string_view(force) != "0") return true;
    return is_screen && has_cursor();
}

winsize screen_size() {
    winsize size{};
    if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0)
        return {.ws_row = 24, .ws_col = 80, .ws_xpixel = 0, .ws_ypixel = 0};
    return size;
}

void write_line(std::FILE* stream, std::string_view text) {
    std::fwrite(text.data(), 1, text.size(), stream);
    std::fputc('\n', stream);
}

}  // namespace

std::string error_line(const Error& error, std::string_view hint) {
    std::string text = "holdpoint: " + visible_again(error.message);
    if (!error.field.empty()) text += fmt::format(" (field `{}`)", visible(error.field));
    if (error.retry_after_s > 0) text += fmt::format("; try again in {} s", error.retry_after_s);
    if (!hint.empty()) text += fmt::format("; {}", hint);
    return text;
}

std::string error_json_line(const Error& error, const json::value& request) {
    json::object told{{"code", to_string(error.code)}, {"message", error.message}};
    if (!error.field.empty()) told["field"] = error.field;
    if (error.retry_after_s > 0) told["retry_after_s"] = error.retry_after_s;
    if (!request.is_null()) told["request"] = request;
    return compact(json::object{{"error", std::move(told)}});
}

void complain(const Error& error, std::string_view hint, bool is_json) {
    std::fflush(stdout);
    write_line(stderr, is_json ? error_json_line(error) : error_line(error, hint));
}

Output::Output(const Settings& settings, const Flags& flags)
    : is_json_(flags.is_json), is_quiet_(flags.is_quiet), is_terminal_(::isatty(STDOUT_FILENO)) {
    has_color_out_ = wants_color(settings.color.value, is_terminal_);
    has_color_err_ = wants_color(settings.color.value, ::isatty(STDERR_FILENO) != 0);
    can_redraw_ = is_terminal_ && !is_json_ && has_cursor();
}

int Output::columns() const { return is_terminal_ ? screen_size().ws_col : 1'000'000; }

int Output::rows() const { return is_terminal_ ? screen_size().ws_row : 1'000'000; }

void Output::erase_lines(int count) const {
    // Up, to the first column, and everything below goes.
    if (count > 0) std::fputs(fmt::format("\033[{}A\r\033[J", count).c_str(), stdout);
}

void Output::data(std::string_view line) const {
    write_line(stdout, line);
    // Whoever reads a stream of events wants each one now.
    std::fflush(stdout);
}

std::string Output::painted(const Line& line, bool has_color) const {
    std::string text;
    for (const Span& span : line) {
        const std::string_view code = has_color ? ansi(span.style) : "";
        if (code.empty())
            text += span.text;
        else
            text += fmt::format("\033[{}m{}\033[0m", code, span.text);
    }
    while (text.ends_with(' ')) text.pop_back();
    return text;
}

void Output::print(const Line& line) const { write_line(stdout, painted(line, has_color_out_)); }

void Output::print(const std::vector<Line>& lines) const {
    for (const Line& line : lines) print(line);
    std::fflush(stdout);
}

void Output::say(std::string_view message) const {
    say(Line{{Style::plain, std::string(message)}});
}

void Output::say(const Line& line) const {
    if (is_quiet_) return;
    std::fflush(stdout);
    write_line(stderr, painted(line, has_color_err_));
}

ExitCode Output::fail(const Failure& failure) const {
    std::fflush(stdout);
    write_line(stderr, is_json_ ? error_json_line(failure.error, failure.request)
                                : error_line(failure.error, failure.hint));
    return exit_code(failure.error.code);
}

ExitCode Output::fail(const Error& error, std::string_view hint) const {
    complain(error, hint, is_json_);
    return exit_code(error.code);
}

std::vector<Line> Table::lines(int total_columns, bool is_terminal) const {
    std::vector<int> widths;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        int widest = width(columns_[i].title);
        for (const auto& row : rows_) widest = std::max(widest, width(row[i].text));
        widths.push_back(is_terminal ? std::min(widest, columns_[i].columns_max) : widest);
    }
    int before_last = 0;
    for (std::size_t i = 0; i + 1 < widths.size(); ++i) before_last += widths[i] + 2;
    if (is_terminal)
        widths.back() = std::min(widths.back(), std::max(8, total_columns - before_last));

    const auto format = [&](const std::vector<Span>& cells) {
        Line line;
        for (std::size_t i = 0; i < cells.size(); ++i) {
            const bool is_last = i + 1 == cells.size();
            const bool is_right = columns_[i].align == Align::right;
            std::string text =
                is_right ? fit_right(cells[i].text, widths[i]) : fit(cells[i].text, widths[i]);
            line.push_back({cells[i].style, std::move(text)});
            if (!is_last) line.push_back({Style::plain, "  "});
        }
        return line;
    };
    std::vector<Span> titles;
    for (const Column& column : columns_) titles.push_back({Style::faint, column.title});
    std::vector<Line> out{format(titles)};
    for (const auto& row : rows_) out.push_back(format(row));
    return out;
}

}  // namespace holdpoint::cli
