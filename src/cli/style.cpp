#include "cli/style.h"

#include <langinfo.h>
#include <wchar.h>

#include <algorithm>
#include <clocale>

#include "base/text.h"

namespace holdpoint::cli {
namespace {

/// The text up to the first place where it would pass `columns`.
std::string_view prefix(std::string_view text, int columns) {
    std::size_t bytes = 0;
    int used = 0;
    while (bytes < text.size()) {
        const CodePoint c = first_code_point(text.substr(bytes));
        const int step = c.bytes > 0 ? std::max(0, ::wcwidth(static_cast<wchar_t>(c.value))) : 1;
        if (used + step > columns) break;
        used += step;
        bytes += static_cast<std::size_t>(std::max(1, c.bytes));
    }
    return text.substr(0, bytes);
}

/// Puts words on lines of a given width.
class Wrapper {
  public:
    Wrapper(int columns, int indent) : columns_(columns), indent_(indent) {}

    void word(Style style, std::string_view text) {
        if (!is_fresh_ && used_ + width(text) > columns_) new_line();
        // A word wider than the screen is cut wherever the line ends; spaces may have filled it. A
        // new line has room for any character: its indent takes half of eight columns at most.
        while (used_ + width(text) > columns_) {
            const std::string_view head = prefix(text, columns_ - used_);
            put(style, head);
            text.remove_prefix(head.size());
            if (text.empty()) return;
            new_line();
        }
        put(style, text);
    }
    void spaces(Style style, std::size_t count) {
        const int room = std::max(0, columns_ - used_);
        const auto shown = std::min(count, static_cast<std::size_t>(room));
        if (shown == 0) return;
        lines.back().push_back({style, std::string(shown, ' ')});
        used_ += static_cast<int>(shown);
    }

    std::vector<Line> lines{1};

  private:
    void put(Style style, std::string_view text) {
        if (text.empty()) return;
        lines.back().push_back({style, std::string(text)});
        used_ += width(text);
        is_fresh_ = false;
    }
    void new_line() {
        lines.push_back({{Style::plain, std::string(static_cast<std::size_t>(indent_), ' ')}});
        used_ = indent_;
        is_fresh_ = true;
    }

    int columns_;
    int indent_;
    int used_ = 0;
    bool is_fresh_ = true;  // nothing but spaces on the current line
};

}  // namespace

void use_utf8_locale() {
    std::setlocale(LC_ALL, "");
    if (std::string_view(::nl_langinfo(CODESET)) != "UTF-8") std::setlocale(LC_CTYPE, "C.UTF-8");
    // Numbers in JSON have a point, whatever the locale.
    std::setlocale(LC_NUMERIC, "C");
}

void append_utf8(std::string& out, char32_t c) {
    if (c < 0x80) {
        out += static_cast<char>(c);
    } else if (c < 0x800) {
        out += static_cast<char>(0xc0 | (c >> 6));
        out += static_cast<char>(0x80 | (c & 0x3f));
    } else if (c < 0x10000) {
        out += static_cast<char>(0xe0 | (c >> 12));
        out += static_cast<char>(0x80 | ((c >> 6) & 0x3f));
        out += static_cast<char>(0x80 | (c & 0x3f));
    } else {
        out += static_cast<char>(0xf0 | (c >> 18));
        out += static_cast<char>(0x80 | ((c >> 12) & 0x3f));
        out += static_cast<char>(0x80 | ((c >> 6) & 0x3f));
        out += static_cast<char>(0x80 | (c & 0x3f));
    }
}

int width(std::string_view text) {
    int columns = 0;
    while (!text.empty()) {
        const CodePoint c = first_code_point(text);
        columns += c.bytes > 0 ? std::max(0, ::wcwidth(static_cast<wchar_t>(c.value))) : 1;
        text.remove_prefix(static_cast<std::size_t>(std::max(1, c.bytes)));
    }
    return columns;
}

int width(const Line& line) {
    int columns = 0;
    for (const Span& span : line) columns += width(span.text);
    return columns;
}

std::string fit(std::string_view text, int columns) {
    const int have = width(text);
    if (have <= columns)
        return std::string(text) + std::string(static_cast<std::size_t>(columns - have), ' ');
    if (columns <= 0) return {};
    std::string out{prefix(text, columns - 1)};
    out += "…";
    // A wide character may have left one column over.
    out.append(static_cast<std::size_t>(std::max(0, columns - width(out))), ' ');
    return out;
}

std::string fit_right(std::string_view text, int columns) {
    const int have = width(text);
    if (have >= columns) return fit(text, columns);
    return std::string(static_cast<std::size_t>(columns - have), ' ') + std::string(text);
}

std::vector<Line> wrap(const Line& line, int columns, int indent) {
    columns = std::max(columns, 8);
    Wrapper wrapper(columns, std::clamp(indent, 0, columns / 2));
    for (const Span& span : line) {
        std::string_view rest = span.text;
        while (!rest.empty()) {
            const std::size_t word = std::min(rest.find(' '), rest.size());
            wrapper.word(span.style, rest.substr(0, word));
            rest.remove_prefix(word);
            const std::size_t gap = std::min(rest.find_first_not_of(' '), rest.size());
            wrapper.spaces(span.style, gap);
            rest.remove_prefix(gap);
        }
    }
    return std::move(wrapper.lines);
}

}  // namespace holdpoint::cli
