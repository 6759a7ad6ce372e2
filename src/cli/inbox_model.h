#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "cli/resource.h"

namespace holdpoint::cli {

/// Keeps a key from deciding something that the person has not looked at. A terminal cannot tell a
/// held key from a pressed one, so time must: deciding keys count only after the screen has been
/// quiet, each press that comes too early starts the wait anew, and the key that just decided rests
/// longer than the delay before a keyboard starts repeating. One held key decides once.
class Arming {
  public:
    static constexpr std::int64_t quiet_ms = 400;
    static constexpr std::int64_t same_key_quiet_ms = 1000;

    /// The selection moved, or an event changed what is shown.
    void screen_changed(std::int64_t now_ms) { changed_ms_ = now_ms; }

    /// Whether this press of a deciding key counts. If it does, the key rests.
    bool press(int key, std::int64_t now_ms);

  private:
    std::int64_t changed_ms_ = -1'000'000;
    std::int64_t last_press_ms_ = -1'000'000;
    int last_key_ = 0;
};

/// The pending requests in the order in which they need somebody, and which one is selected. The
/// selection follows its request, wherever the order takes it.
class InboxModel {
  public:
    void replace(std::vector<Request> requests, Timestamp now);
    /// Takes in what an event or an answer says. True if what is shown changed.
    bool update(const Request& request, Timestamp now);
    void set_filter(std::string filter);
    const std::string& filter() const { return filter_; }

    const std::vector<Request>& rows() const { return rows_; }
    std::size_t total() const { return all_.size(); }
    const Request* selected() const;
    std::size_t selected_row() const { return selected_; }
    /// Moves by `rows`, stops at the ends. True if it moved.
    bool move(long rows);

  private:
    void arrange();

    std::vector<Request> all_;   // in order
    std::vector<Request> rows_;  // those that the filter lets through
    std::string filter_;
    std::string selected_id_;
    std::size_t selected_ = 0;
};

/// Less than a minute left first, then by risk, then by time left.
bool comes_before(const Request& a, const Request& b, Timestamp now);

}  // namespace holdpoint::cli
