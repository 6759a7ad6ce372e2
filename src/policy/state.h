#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "core/request.h"

/// What policies remember: plain values and pure functions on them. Whoever keeps them (the store,
/// inside the transaction that submits) loads what needs() names, lets evaluate() see it as a
/// StateView, and writes back what evaluate() says was used.
namespace holdpoint::policy {

struct Call;
struct Policy;

/// A sum over a sliding window in constant space: the running bucket and the one before it. It
/// never counts too little: the older bucket counts whole for as long as its youngest part is
/// inside the window, and too much at most until then.
struct SlidingSum {
    std::int64_t bucket = 0;  ///< number of the running bucket: time divided by the window
    double running = 0;
    double older = 0;
    Timestamp older_until;  ///< when the youngest part of `older` was added
    Timestamp running_until;

    bool operator==(const SlidingSum&) const = default;
};

/// Beyond 10,000,000,000,000 it counts as more than any limit, until that has left the window.
double total(const SlidingSum& sum, std::int64_t window_ms, Timestamp now);
/// Less than nothing is added as nothing: a negative amount must not make room for another.
void add(SlidingSum& sum, std::int64_t window_ms, Timestamp now, double amount);
/// Takes back part of what was added at `added_at`. What has left the window by then is gone
/// already, and what others added stays.
void take_back(SlidingSum& sum, std::int64_t window_ms, Timestamp added_at, Timestamp now,
               double amount);

/// What was spent so far, in whatever unit the operator counts.
struct Spent {
    double task = 0;
    double session = 0;
    double day = 0;
};

/// A value that a grant pins: the canonical JSON text of what stands at the path.
struct Pin {
    std::string path;
    std::string value;

    bool operator==(const Pin&) const = default;
};

struct Bound {
    std::string path;
    double at_most = 0;

    bool operator==(const Bound&) const = default;
};

/// Whom an approved call was held for, and how they had to say yes: a grant that came with it
/// stands in for nobody else, and for no more than that; likewise the trust that it builds.
struct Asked {
    std::string people = {};  ///< of the one line; empty: anybody
    bool excludes_requester = false;
    bool takes_code = false;

    bool operator==(const Asked&) const = default;
};
Asked asked_of(const core::Requirement& requirement);
/// Whether a yes to the one is enough for the other.
bool suffices(const Asked& given, const Asked& needed);

/// A person's word that similar actions may pass for a while.
struct Grant {
    std::string id;
    std::string tool;
    std::string agent;              ///< always pinned
    std::string session;            ///< if not empty, only in this session
    std::vector<Pin> pins;          ///< all must be equal
    std::vector<Bound> bounds;      ///< all must hold
    std::vector<std::string> argv;  ///< of a shell command, word by word
    bool is_argv_prefix = false;    ///< more words may follow
    core::RiskLevel risk_max = core::RiskLevel::medium;
    std::optional<int> uses_left;
    std::optional<double> sum_left;  ///< of what the first bound bounds
    Timestamp expires_at;
    std::string policy;  ///< version of the policy it was given under; it ends with that
    std::string by;
    /// Nothing: not known, as in the tests of a policy.
    std::optional<Asked> asked;
    bool is_revoked = false;
};

/// Whether the grant covers this call at this moment. Says nothing about hard requirements: those
/// are evaluate()'s to see.
bool covers(const Grant& grant, const Policy& policy, const Call& call, core::RiskLevel risk);

/// What one use takes from the grant's sum; 0 where it has none.
double sum_of(const Grant& grant, const Call& call);

/// The grant after one use by this call. The caller has checked covers() in the same transaction.
void consume(Grant& grant, const Call& call);

/// What a person chooses when giving a grant.
struct GrantTerms {
    std::string id = {};
    std::string by = {};
    Asked asked = {};
    bool is_for_session = false;
    std::optional<std::int64_t> ttl_ms = {};
    std::optional<int> uses = {};
    std::optional<double> sum = {};
    std::optional<int> argv_words = {};  ///< pin only so many words of the command
};

/// The grant that "similar" to this call means under the policy, within its limits. Fails with
/// refused where the policy offers none: no `grants` section, risk above its cap, opaque commands.
Result<Grant> make_grant(const Policy& policy, const Call& call, core::RiskLevel risk,
                         const GrantTerms& terms);

/// What the grant will cover, in words for the person who gives it.
std::string describe(const Grant& grant);

/// What approvals of one fingerprint have come to.
struct TrustEntry {
    std::string key;  ///< see trust_key()
    int approvals = 0;
    std::vector<std::string> approvers;  ///< each once
    Timestamp last_at;
    std::string policy;  ///< version under which they were given
    Asked asked = {};    ///< all of them: they stand in for nobody else

    bool operator==(const TrustEntry&) const = default;
};

/// How a request with this fingerprint ended.
struct TrustOutcome {
    core::Outcome outcome = core::Outcome::approved;
    std::string by;
    std::int64_t review_ms = 0;  ///< from the first look to the decision
    Timestamp at;
    Asked asked = {};
};

/// The fingerprint under which the policy counts this call; empty where trust is off, not for this
/// tool, or the call cannot be fingerprinted (an opaque command).
std::string trust_key(const Policy& policy, const Call& call);

/// The entry after one more outcome.
TrustEntry count(TrustEntry entry, const Policy& policy, const TrustOutcome& outcome);

/// Whether the entry has earned what the policy asks for, at this moment.
bool is_trusted(const TrustEntry& entry, const Policy& policy, Timestamp now);

/// The state that one evaluation sees, loaded by the keys that needs() gave.
struct StateView {
    std::vector<std::optional<double>> counters;  ///< by Policy::counters; nullopt: not loaded
    Spent cost;
    Spent tokens;
    std::vector<Grant> grants;  ///< of this agent and tool
    std::optional<TrustEntry> trust;
    bool is_new_to_agent = false;  ///< the agent never called this tool before
    double draw = 1;               ///< random, 0 to 1: below trust.sample it goes to a person
};

struct CounterNeed {
    std::size_t counter = 0;  ///< index in Policy::counters
    std::string name;
    std::string key;
    std::int64_t window_ms = 0;
    double add = 0;  ///< what this call counts for, once it is released; 0 where it is only read
};

/// What a call is estimated to cost.
struct CostEstimate {
    double operators = 0;  ///< by the policy file; no word of an agent goes below it
    double highest = 0;    ///< that, or the agent's own estimate where it is higher
};

/// What to load before evaluate(), and what to count afterwards: when the call is released, at
/// once or by people, each counter grows by its `add` and each budget by the estimate.
struct Needs {
    CostEstimate cost;  ///< nothing where no part of the policy looks at costs
    std::vector<CounterNeed> counters;
    bool wants_costs = false;
    bool wants_grants = false;
    std::string trust_key;
};

}  // namespace holdpoint::policy
