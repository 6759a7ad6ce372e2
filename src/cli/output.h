#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/client.h"
#include "cli/exit_code.h"
#include "cli/settings.h"
#include "cli/style.h"

namespace holdpoint::cli {

/// Data goes to stdout, messages to stderr. Text that came from outside must have gone through
/// visible() or compact() before it gets here.
class Output {
  public:
    /// Looks at both streams and at NO_COLOR, CLICOLOR_FORCE and TERM.
    Output(const Settings& settings, const Flags& flags);

    bool is_json() const { return is_json_; }
    bool is_terminal() const { return is_terminal_; }  ///< stdout is a screen
    bool has_color() const { return has_color_out_; }
    bool can_redraw() const { return can_redraw_; }  ///< and lines on it can be taken back
    int columns() const;  ///< of the screen as it is now; huge for a pipe
    int rows() const;

    void data(std::string_view line) const;
    void print(const Line& line) const;
    void print(const std::vector<Line>& lines) const;
    void erase_lines(int count) const;         ///< the last ones printed, where can_redraw()
    void say(std::string_view message) const;  ///< stderr, unless --quiet
    void say(const Line& line) const;

    /// Reports on stderr, with --json as one line of JSON, and answers with the code to end with.
    ExitCode fail(const Failure& failure) const;
    ExitCode fail(const Error& error, std::string_view hint = {}) const;

  private:
    std::string painted(const Line& line, bool has_color) const;

    bool is_json_ = false;
    bool is_quiet_ = false;
    bool is_terminal_ = false;
    bool has_color_out_ = false;
    bool has_color_err_ = false;
    bool can_redraw_ = false;
};

/// `holdpoint: <message>` with the field and the hint, for failures before there is an Output.
std::string error_line(const Error& error, std::string_view hint);

/// `{"error":{"code","message","field","request"}}` as the server says it, on one line that no
/// terminal is controlled by. `request` is the one that stands, where a decision came too late.
std::string error_json_line(const Error& error, const json::value& request = {});

/// One or the other on stderr, before there is an Output.
void complain(const Error& error, std::string_view hint, bool is_json);

/// Columns of text; the last one takes what is left of the screen.
class Table {
  public:
    enum class Align { left, right };
    struct Column {
        std::string title;
        Align align = Align::left;
        int columns_max = 1'000'000;  ///< cut beyond this, on a screen only
    };

    explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
    void add(std::vector<Span> cells) { rows_.push_back(std::move(cells)); }
    bool is_empty() const { return rows_.empty(); }

    /// `total_columns` is the width of the screen; for pipes nothing is cut.
    std::vector<Line> lines(int total_columns, bool is_terminal) const;

  private:
    std::vector<Column> columns_;
    std::vector<std::vector<Span>> rows_;
};

}  // namespace holdpoint::cli
