#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace holdpoint::http::detail {

/// A hashed timer wheel for connection deadlines: arming and disarming are a few stores, and an
/// entry lives inside the thing it times. Counts ticks and knows no clock. One thread.
class DeadlineWheel {
  public:
    class Entry {
      public:
        Entry() = default;
        Entry(const Entry&) = delete;
        Entry& operator=(const Entry&) = delete;
        bool is_armed() const { return next_ != nullptr; }

      private:
        friend class DeadlineWheel;
        Entry* previous_ = nullptr;
        Entry* next_ = nullptr;
        std::uint64_t due_ = 0;
    };

    DeadlineWheel();

    /// Due no earlier than `ticks` full ticks from now. Re-arms an armed entry.
    void arm(Entry& entry, std::uint64_t ticks);
    void disarm(Entry& entry);
    bool is_empty() const { return armed_ == 0; }

    /// Without armed entries, time may be set instead of passed.
    void set_now(std::uint64_t tick);
    std::uint64_t now() const { return now_; }

    /// Moves time forward and calls `on_due(Entry&)` for each entry that became due, disarmed by
    /// then. The callback may arm and disarm any entry, and destroy its own.
    template <class OnDue>
    void advance(std::uint64_t tick, OnDue&& on_due) {
        while (now_ < tick) {
            collect_due();
            while (due_.next_ != &due_) {
                Entry& entry = *due_.next_;
                disarm(entry);
                on_due(entry);
            }
        }
    }

  private:
    static constexpr std::size_t slots = 512;

    void collect_due();
    static void link(Entry& list, Entry& entry);
    static void unlink(Entry& entry);

    std::array<Entry, slots> slots_;  ///< circular lists; the array elements are their ends
    Entry due_;
    std::uint64_t now_ = 0;
    std::size_t armed_ = 0;
};

}  // namespace holdpoint::http::detail
