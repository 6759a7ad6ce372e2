#include "cli/screen.h"

#define NCURSES_WIDECHAR 1
#include <curses.h>
#include <poll.h>
#include <signal.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/assert.h"

// ncurses defines macros over common words.
#undef clear
#undef erase

namespace holdpoint::cli {
namespace {

constexpr int key_paste_begin = KEY_MAX + 1;
constexpr int key_paste_end = KEY_MAX + 2;

// What signal handlers need; they cannot reach an object.
termios saved_terminal{};
volatile sig_atomic_t is_active = 0;
volatile sig_atomic_t end_signal = 0;

/// Leave the alternate screen, show the cursor, end bracketed paste, normal attributes.
constexpr char restore_sequence[] = "\033[?2004l\033[?1049l\033[?25h\033[0m\r\n";

/// Only what is safe inside a signal handler.
void restore_terminal() {
    if (is_active == 0) return;
    is_active = 0;
    [[maybe_unused]] const ssize_t written =
        ::write(STDOUT_FILENO, restore_sequence, sizeof restore_sequence - 1);
    ::tcsetattr(STDIN_FILENO, TCSANOW, &saved_terminal);
}

void on_crash(int signal) {
    restore_terminal();
    ::signal(signal, SIG_DFL);
    ::raise(signal);
}

void on_end(int signal) { end_signal = signal; }

constexpr std::array crash_signals{SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL};
constexpr std::array end_signals{SIGINT, SIGTERM, SIGHUP};

template <class Signals>
void handle(const Signals& signals, void (*handler)(int)) {
    struct sigaction action{};
    action.sa_handler = handler;
    sigemptyset(&action.sa_mask);
    for (int signal : signals) ::sigaction(signal, &action, nullptr);
}

void bracketed_paste(bool is_on) {
    const std::string_view sequence = is_on ? "\033[?2004h" : "\033[?2004l";
    [[maybe_unused]] const ssize_t written =
        ::write(STDOUT_FILENO, sequence.data(), sequence.size());
}

enum Pair : short { pair_low = 1, pair_medium, pair_high, pair_critical, pair_added, pair_removed };

Key::Kind kind_of(int code) {
    switch (code) {
        case KEY_UP:
            return Key::Kind::up;
        case KEY_DOWN:
            return Key::Kind::down;
        case KEY_PPAGE:
            return Key::Kind::page_up;
        case KEY_NPAGE:
            return Key::Kind::page_down;
        case KEY_HOME:
            return Key::Kind::home;
        case KEY_END:
            return Key::Kind::end;
        case KEY_LEFT:
            return Key::Kind::left;
        case KEY_RIGHT:
            return Key::Kind::right;
        case KEY_ENTER:
            return Key::Kind::enter;
        case KEY_BACKSPACE:
            return Key::Kind::backspace;
        case KEY_DC:
            return Key::Kind::erase;
        case KEY_RESIZE:
            return Key::Kind::resize;
        default:
            return Key::Kind::other;
    }
}

}  // namespace

Screen::Screen(bool has_color) {
    HOLDPOINT_ASSERT(is_active == 0);
    ::tcgetattr(STDIN_FILENO, &saved_terminal);
    ::initscr();
    is_active = 1;
    handle(crash_signals, on_crash);
    handle(end_signals, on_end);
    ::cbreak();
    ::noecho();
    ::nonl();
    ::keypad(stdscr, TRUE);
    ::nodelay(stdscr, TRUE);
    ::set_escdelay(25);
    ::define_key("\033[200~", key_paste_begin);
    ::define_key("\033[201~", key_paste_end);
    bracketed_paste(true);
    has_color_ = has_color && ::has_colors();
    if (has_color_) {
        ::start_color();
        ::use_default_colors();
        ::init_pair(pair_low, COLOR_GREEN, -1);
        ::init_pair(pair_medium, COLOR_CYAN, -1);
        ::init_pair(pair_high, COLOR_YELLOW, -1);
        ::init_pair(pair_critical, COLOR_RED, -1);
        ::init_pair(pair_added, COLOR_GREEN, -1);
        ::init_pair(pair_removed, COLOR_RED, -1);
    }
}

Screen::~Screen() {
    bracketed_paste(false);
    if (is_active != 0) ::endwin();
    is_active = 0;
    for (int signal : crash_signals) ::signal(signal, SIG_DFL);
    for (int signal : end_signals) ::signal(signal, SIG_DFL);
}

int Screen::rows() const { return getmaxy(stdscr); }
int Screen::columns() const { return getmaxx(stdscr); }

void Screen::clear() { ::werase(stdscr); }

int Screen::attribute(Style style) const {
    const auto color = [this](int pair) { return has_color_ ? COLOR_PAIR(pair) : 0; };
    switch (style) {
        case Style::plain:
            return 0;
        case Style::strong:
            return A_BOLD;
        case Style::faint:
            return A_DIM;
        case Style::heading:
            return A_BOLD | A_UNDERLINE;
        case Style::low:
        case Style::good:
            return color(pair_low);
        case Style::medium:
            return color(pair_medium);
        case Style::high:
            return color(pair_high) | A_BOLD;
        case Style::critical:
        case Style::bad:
            return color(pair_critical) | A_BOLD;
        case Style::claim:
            return A_ITALIC;
        case Style::added:
            return color(pair_added);
        case Style::removed:
            return color(pair_removed);
    }
    return 0;
}

void Screen::draw(int row, const Line& line, bool is_selected) {
    if (row < 0 || row >= rows()) return;
    int left = columns();
    ::wmove(stdscr, row, 0);
    for (const Span& span : line) {
        if (left <= 0) break;
        const int wanted = width(span.text);
        const std::string text = wanted <= left ? span.text : fit(span.text, left);
        // Inverted colours are hard to read; the glyphs and words stay.
        const int attributes = is_selected ? A_REVERSE | A_BOLD : attribute(span.style);
        ::wattrset(stdscr, attributes);
        ::waddstr(stdscr, text.c_str());
        left -= std::min(wanted, left);
    }
    ::wattrset(stdscr, is_selected ? A_REVERSE : 0);
    if (is_selected)
        ::waddstr(stdscr, std::string(static_cast<std::size_t>(std::max(0, left)), ' ').c_str());
    ::wattrset(stdscr, 0);
}

void Screen::bar(int row, std::string_view left, std::string_view right, Style right_style) {
    const int right_columns = width(right) + 1;
    const int left_columns = std::max(0, columns() - right_columns);
    ::wmove(stdscr, row, 0);
    ::wattrset(stdscr, A_REVERSE | A_BOLD);
    ::waddstr(stdscr, fit(left, left_columns).c_str());
    ::wattrset(stdscr, A_REVERSE | attribute(right_style));
    ::waddstr(stdscr, fit(right, columns() - left_columns).c_str());
    ::wattrset(stdscr, 0);
}

void Screen::rule(int row, std::string_view title) {
    std::string text = title.empty() ? "" : "── " + std::string(title) + " ";
    while (width(text) < columns()) text += "─";
    ::wattrset(stdscr, A_DIM);
    ::wmove(stdscr, row, 0);
    ::waddstr(stdscr, text.c_str());
    ::wattrset(stdscr, 0);
}

void Screen::cursor(int row, int column) {
    ::curs_set(1);
    ::wmove(stdscr, row, std::min(column, columns() - 1));
}

void Screen::hide_cursor() { ::curs_set(0); }
void Screen::show() { ::wrefresh(stdscr); }

Key Screen::read_paste() {
    Key key{Key::Kind::paste, 0, {}};
    // The end mark may be in the next packet; a terminal that never sends it must not hang us.
    for (int idle = 0; idle < 50;) {
        wint_t c = 0;
        const int got = ::wget_wch(stdscr, &c);
        if (got == ERR) {
            pollfd input{STDIN_FILENO, POLLIN, 0};
            ::poll(&input, 1, 20);
            ++idle;
            continue;
        }
        idle = 0;
        if (got == KEY_CODE_YES && static_cast<int>(c) == key_paste_end) break;
        if (got == OK && key.pasted.size() < 64 * 1024) append_utf8(key.pasted, c);
    }
    return key;
}

std::optional<Key> Screen::next_key() {
    wint_t c = 0;
    const int got = ::wget_wch(stdscr, &c);
    if (got == ERR) {
        pollfd input{STDIN_FILENO, POLLIN, 0};
        const bool is_ready = ::poll(&input, 1, 0) > 0;
        // Readable, and yet nothing to read: the other end is gone.
        if (is_ready && (input.revents & (POLLHUP | POLLERR | POLLNVAL)) != 0) is_alive_ = false;
        return std::nullopt;
    }
    if (got == KEY_CODE_YES) {
        if (static_cast<int>(c) == key_paste_begin) return read_paste();
        return Key{kind_of(static_cast<int>(c)), 0, {}};
    }
    switch (c) {
        case '\r':
        case '\n':
            return Key{Key::Kind::enter, 0, {}};
        case 27:
            return Key{Key::Kind::escape, 0, {}};
        case 8:
        case 127:
            return Key{Key::Kind::backspace, 0, {}};
        default:
            return Key{Key::Kind::character, static_cast<char32_t>(c), {}};
    }
}

std::vector<Key> Screen::keys() {
    std::vector<Key> keys;
    while (std::optional<Key> key = next_key()) {
        keys.push_back(std::move(*key));
        if (keys.size() == 256) break;
    }
    return keys;
}

void Screen::drop_typed() { ::flushinp(); }

void Screen::suspend() {
    bracketed_paste(false);
    ::def_prog_mode();
    ::endwin();
}

void Screen::resume() {
    ::reset_prog_mode();
    ::clearok(stdscr, TRUE);
    ::wrefresh(stdscr);
    bracketed_paste(true);
    ::flushinp();
}

bool Screen::is_ending() { return end_signal != 0; }

}  // namespace holdpoint::cli
