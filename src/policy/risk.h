#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/request.h"

namespace holdpoint::policy {

struct Call;
struct Entry;
struct Policy;
class ShellLine;

/// What speaks for caution, as bits; the words are made only when somebody reads them.
enum Factor : std::uint32_t {
    destructive = 1 << 0,
    irreversible = 1 << 1,
    open_world = 1 << 2,
    unknown_tool = 1 << 3,
    look_alike = 1 << 4,
    large_amount = 1 << 5,
    negative_amount = 1 << 6,
    bulk = 1 << 7,
    production = 1 << 8,
    secrets = 1 << 9,
    opaque_shell = 1 << 10,
    new_to_agent = 1 << 11,
    claimed = 1 << 12,    ///< the agent itself calls it riskier
    declared = 1 << 13,   ///< the operator wrote the level down
    unreadable = 1 << 14  ///< a risk rule could not be evaluated
};

/// The level and what it rests on, for people.
struct Assessment {
    core::RiskLevel level = core::RiskLevel::low;
    std::vector<std::string> factors;
    std::vector<std::string> consequences;
    std::string reversibility;  ///< `fully`, `irreversible`, or empty: not known
    double confidence = 1;      ///< how much of it the operator's facts cover
};

/// The part of the built-in assessment that needs no call: facts of the tool alone.
struct BaseRisk {
    core::RiskLevel level = core::RiskLevel::low;
    std::uint32_t factors = 0;
};
struct Tool;
BaseRisk base_risk(const Tool* tool);

/// Adds what the arguments, the command and the agent's claims say. No allocation.
/// Levels only rise: a declared level is where it starts.
BaseRisk assess_call(const Entry& entry, const Call& call, const ShellLine* line,
                     bool is_new_to_agent);

/// In words.
Assessment describe(const Entry& entry, const Call& call, BaseRisk risk);

/// `{"confidence":…,"consequences":[…],"factors":[…],"reversibility":…}` in canonical form, as a
/// request carries it. What the agent said (`claimed`, the same form) is kept apart, as a claim.
core::JsonText to_json(const Assessment& assessment, const core::JsonText& claimed);

}  // namespace holdpoint::policy
