#include "store/sqlite/tally.h"

#include <sqlite3.h>

#include <algorithm>

#include "base/assert.h"

namespace holdpoint::store::sqlite {
namespace {

constexpr std::size_t agents_max = 100'000;

}  // namespace

Standing standing_of(const core::Request& request) {
    HOLDPOINT_ASSERT((request.state == core::State::settled) == request.outcome.has_value());
    return {request.outcome ? static_cast<int>(*request.outcome) + 1 : 0,
            static_cast<int>(request.risk), static_cast<int>(request.kind)};
}

Standing standing_at(std::size_t place) {
    const int at = static_cast<int>(place);
    return {at / (risk_count * kind_count), at / kind_count % risk_count, at % kind_count};
}

Tally::Tally(Database& database)
    : database_(database),
      save_numbers_(database.prepare(
          "UPDATE counter SET last_row=?1, last_event=?2, created_max=?3, disorder_ms=?4,"
          " decision_count=?5, decision_ms_total=?6, filed_up_to=?7 WHERE one=1")),
      save_standing_(
          database.prepare("INSERT INTO standing(outcome, risk, kind, count) VALUES(?1, ?2, ?3, ?4)"
                           " ON CONFLICT DO UPDATE SET count=excluded.count")),
      find_agent_(database.prepare("SELECT count FROM agent_pending WHERE agent_id=?1")),
      save_agent_(database.prepare("INSERT INTO agent_pending(agent_id, count) VALUES(?1, ?2)"
                                   " ON CONFLICT DO UPDATE SET count=excluded.count")) {}

/// What is read here SQLite has no means to check. Always false.
bool Tally::found_damage() {
    database_.note_fault(SQLITE_CORRUPT);
    return false;
}

bool Tally::load() {
    Statement read = database_.prepare(
        "SELECT last_row, last_event, created_max, disorder_ms, decision_count, decision_ms_total,"
        " filed_up_to FROM counter WHERE one=1");
    if (!read.step()) return found_damage();
    numbers_ = {read.number(0), read.number(1), read.number(2), read.number(3),
                read.number(4), read.number(5), read.number(6)};
    // Beyond the last row nothing new would be looked for where it is.
    if (numbers_.filed_up_to < 0 || numbers_.filed_up_to > numbers_.last_row) return found_damage();
    Statement each = database_.prepare("SELECT outcome, risk, kind, count FROM standing");
    while (each.step()) {
        const Standing standing{static_cast<int>(each.number(0)), static_cast<int>(each.number(1)),
                                static_cast<int>(each.number(2))};
        if (standing.outcome < 0 || standing.outcome > outcome_count || standing.risk < 0 ||
            standing.risk >= risk_count || standing.kind < 0 || standing.kind >= kind_count)
            return found_damage();
        standings_[standing.place()] = each.number(3);
        total_ += each.number(3);
    }
    accepted();
    return database_.fault() == 0;
}

std::int64_t Tally::pending() const {
    std::int64_t sum = 0;
    for (std::size_t place = 0; place < risk_count * kind_count; ++place) sum += standings_[place];
    return sum;
}

void Tally::enter(const Standing& standing, const Ulid& agent) { add(standing, agent, 1); }
void Tally::leave(const Standing& standing, const Ulid& agent) { add(standing, agent, -1); }

void Tally::add(const Standing& standing, const Ulid& agent, int by) {
    standings_[standing.place()] += by;
    total_ += by;
    if (standing.outcome != 0) return;
    agent_slot(agent) += by;
    if (std::ranges::find(agents_changed_, agent) == agents_changed_.end())
        agents_changed_.push_back(agent);
}

std::int64_t Tally::pending_of(const Ulid& agent) { return agent_slot(agent); }

std::int64_t& Tally::agent_slot(const Ulid& agent) {
    const auto [slot, is_new] = agents_.try_emplace(agent, 0);
    if (!is_new) return slot->second;
    Using find(find_agent_);
    find->bind(1, agent);
    if (find->step()) slot->second = find->number(0);
    return slot->second;
}

Tally::Mark Tally::mark() const {
    Mark mark{numbers_, standings_, total_, {}};
    for (const Ulid& agent : agents_changed_) mark.agents.emplace_back(agent, agents_.at(agent));
    return mark;
}

void Tally::rewind(const Mark& mark) {
    numbers_ = mark.numbers;
    standings_ = mark.standings;
    total_ = mark.total;
    for (const Ulid& agent : agents_changed_) agents_.erase(agent);
    agents_changed_.clear();
    for (const auto& [agent, pending] : mark.agents) {
        agents_[agent] = pending;
        agents_changed_.push_back(agent);
    }
}

bool Tally::flush() {
    if (numbers_ != kept_numbers_) {
        const Numbers& n = numbers_;
        int at = 0;
        for (const std::int64_t number : {n.last_row, n.last_event, n.created_max, n.disorder_ms,
                                          n.decision_count, n.decision_ms_total, n.filed_up_to})
            save_numbers_.bind(++at, number);
        if (!save_numbers_.run()) return false;
    }
    for (std::size_t place = 0; place < standing_count; ++place) {
        if (standings_[place] == kept_standings_[place]) continue;
        const Standing standing = standing_at(place);
        save_standing_.bind(1, std::int64_t{standing.outcome});
        save_standing_.bind(2, std::int64_t{standing.risk});
        save_standing_.bind(3, std::int64_t{standing.kind});
        save_standing_.bind(4, standings_[place]);
        if (!save_standing_.run()) return false;
    }
    for (const Ulid& agent : agents_changed_) {
        save_agent_.bind(1, agent);
        save_agent_.bind(2, agents_[agent]);
        if (!save_agent_.run()) return false;
    }
    return true;
}

void Tally::accepted() {
    kept_numbers_ = numbers_;
    kept_standings_ = standings_;
    kept_total_ = total_;
    agents_changed_.clear();
    if (agents_.size() > agents_max) agents_.clear();
}

void Tally::dropped() {
    numbers_ = kept_numbers_;
    standings_ = kept_standings_;
    total_ = kept_total_;
    for (const Ulid& agent : agents_changed_) agents_.erase(agent);
    agents_changed_.clear();
}

}  // namespace holdpoint::store::sqlite
