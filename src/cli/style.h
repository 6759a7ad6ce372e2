#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace holdpoint::cli {

/// What a piece of text means. Each screen (ANSI, ncurses) has its own way to show it; colour never
/// carries a meaning alone.
enum class Style {
    plain,
    strong,
    faint,
    heading,
    low,
    medium,
    high,
    critical,
    good,
    bad,
    claim,    ///< the agent's own words
    added,    ///< of a diff
    removed,  ///< of a diff
};

struct Span {
    Style style = Style::plain;
    std::string text;
};
using Line = std::vector<Span>;

/// Columns that UTF-8 text takes on a terminal. The locale must be a UTF-8 one.
int width(std::string_view text);

/// `text` in exactly `columns`: padded with spaces, or cut with `…` at the end.
std::string fit(std::string_view text, int columns);
std::string fit_right(std::string_view text, int columns);

/// Breaks a line that is wider than `columns` into several; what follows starts with `indent`
/// spaces. Words stay whole where they can. Nothing but spaces at the end of a line is left out.
std::vector<Line> wrap(const Line& line, int columns, int indent = 0);

int width(const Line& line);

void append_utf8(std::string& out, char32_t c);

/// Makes the locale a UTF-8 one, whatever the environment says, so that width() works.
void use_utf8_locale();

}  // namespace holdpoint::cli
