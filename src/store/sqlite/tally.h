#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/request.h"
#include "store/sqlite/database.h"

namespace holdpoint::store::sqlite {

inline constexpr int outcome_count = 11;
inline constexpr int risk_count = 4;
inline constexpr int kind_count = 5;

/// Where a request stands, as the index `request_standing` has it.
struct Standing {
    int outcome = 0;  ///< 0 while pending, else one more than the enumeration
    int risk = 0;
    int kind = 0;

    bool operator==(const Standing&) const = default;
    std::size_t place() const {
        return static_cast<std::size_t>((outcome * risk_count + risk) * kind_count + kind);
    }
};

inline constexpr std::size_t standing_count = (outcome_count + 1) * risk_count * kind_count;

Standing standing_of(const core::Request& request);
Standing standing_at(std::size_t place);

/// The numbers that would cost a full scan to count. They are kept in memory, changed with each
/// request, written once for each transaction that changed them, and follow its fate: flush()
/// comes before the commit, then accepted() or dropped().
class Tally {
  public:
    struct Numbers {
        std::int64_t last_row = 0;
        std::int64_t last_event = 0;
        std::int64_t created_max = 0;  ///< the latest created_at so far
        std::int64_t disorder_ms = 0;  ///< how far a created_at ever stood behind an earlier row's
        std::int64_t decision_count = 0;
        std::int64_t decision_ms_total = 0;
        std::int64_t filed_up_to = 0;  ///< every row up to this one is in `filed` (filing.h)

        bool operator==(const Numbers&) const = default;
    };

    using Standings = std::array<std::int64_t, standing_count>;

    explicit Tally(Database& database);

    /// Reads what the last commit left.
    bool load();

    Numbers& numbers() { return numbers_; }
    std::int64_t count(std::size_t place) const { return standings_[place]; }
    std::int64_t total() const { return total_; }
    std::int64_t pending() const;

    void enter(const Standing& standing, const Ulid& agent);
    void leave(const Standing& standing, const Ulid& agent);
    std::int64_t pending_of(const Ulid& agent);

    /// What the numbers are now, for somebody who may take back what comes after.
    struct Mark;
    Mark mark() const;
    void rewind(const Mark& mark);

    bool flush();
    void accepted();
    void dropped();

  private:
    bool found_damage();
    void add(const Standing& standing, const Ulid& agent, int by);
    std::int64_t& agent_slot(const Ulid& agent);

    Database& database_;
    Statement save_numbers_, save_standing_, find_agent_, save_agent_;
    Numbers numbers_, kept_numbers_;
    Standings standings_{}, kept_standings_{};
    std::int64_t total_ = 0, kept_total_ = 0;
    std::unordered_map<Ulid, std::int64_t, UlidHash> agents_;
    std::vector<Ulid> agents_changed_;
};

struct Tally::Mark {
    Numbers numbers;
    Standings standings;
    std::int64_t total = 0;
    std::vector<std::pair<Ulid, std::int64_t>> agents;  ///< those that have changed
};

}  // namespace holdpoint::store::sqlite
