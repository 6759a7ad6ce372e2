#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/style.h"

namespace holdpoint::cli {

/// What came from the keyboard.
struct Key {
    enum class Kind {
        character,
        up,
        down,
        page_up,
        page_down,
        home,
        end,
        left,
        right,
        enter,
        escape,
        backspace,
        erase,
        resize,
        paste,
        other
    };
    Kind kind = Kind::other;
    char32_t character = 0;
    std::string pasted;  ///< of a paste: the whole text, line ends included
};

/// The full screen, through ncurses. One at a time. The terminal is given back in its old state
/// when this goes, on signals that end the process, and after a crash.
class Screen {
  public:
    explicit Screen(bool has_color);
    ~Screen();
    Screen(const Screen&) = delete;
    Screen& operator=(const Screen&) = delete;

    int rows() const;
    int columns() const;

    void clear();
    /// Draws at a row, cut at the right edge. `is_selected` inverts the whole row.
    void draw(int row, const Line& line, bool is_selected = false);
    void bar(int row, std::string_view left, std::string_view right, Style right_style);
    void rule(int row, std::string_view title);
    void cursor(int row, int column);
    void hide_cursor();
    void show();

    /// What was typed, in order; empty where nothing is waiting. Pastes come as one key, so that
    /// pasted letters are never taken for commands.
    std::vector<Key> keys();
    /// False once the terminal hung up.
    bool is_alive() const { return is_alive_; }
    /// Throws away what was typed before a question was there.
    void drop_typed();

    /// Leaves the screen to another program, like an editor, and comes back.
    void suspend();
    void resume();

    /// SIGINT, SIGTERM or SIGHUP asked us to end.
    static bool is_ending();

  private:
    std::optional<Key> next_key();
    Key read_paste();
    int attribute(Style style) const;

    bool has_color_ = false;
    bool is_alive_ = true;
};

}  // namespace holdpoint::cli
