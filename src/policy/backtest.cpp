#include "policy/backtest.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "policy/terms.h"

namespace holdpoint::policy {
namespace {

using core::Outcome;
using core::VerdictKind;

constexpr double ms_per_minute = 60'000;

/// People looked at it and did not let it run as it was.
bool was_refused(const PastCall& past) {
    if (!past.outcome) return false;
    switch (*past.outcome) {
        case Outcome::rejected:
        case Outcome::modified:
        case Outcome::deferred:
        case Outcome::aborted:
            return true;
        default:
            return false;
    }
}

bool was_released(const PastCall& past) {
    return past.outcome == Outcome::allowed || past.outcome == Outcome::approved ||
           past.outcome == Outcome::modified;
}

/// The counters as they would have stood, call by call.
class Replay {
  public:
    explicit Replay(const Policy& policy) : policy_(policy) {}

    StateView state_before(const Needs& needs, Timestamp now) const {
        StateView state;
        state.counters.assign(policy_.file.counters.size(), std::nullopt);
        for (const CounterNeed& need : needs.counters) {
            const auto found = sums_.find({need.counter, need.key});
            state.counters[need.counter] =
                found == sums_.end() ? 0 : total(found->second, need.window_ms, now);
        }
        return state;
    }

    void count(const Needs& needs, Timestamp now) {
        for (const CounterNeed& need : needs.counters)
            add(sums_[{need.counter, need.key}], need.window_ms, now, need.add);
    }

  private:
    const Policy& policy_;
    std::map<std::pair<std::size_t, std::string>, SlidingSum> sums_;
};

json::array cases(const std::vector<Changed>& list) {
    json::array out;
    for (const Changed& changed : list) {
        json::object one;
        one["id"] = changed.id;
        one["tool"] = changed.tool;
        one["before"] = core::to_string(changed.before);
        one["after"] = core::to_string(changed.after);
        one["outcome"] =
            changed.outcome ? json::value(core::to_string(*changed.outcome)) : json::value(nullptr);
        one["rule"] = changed.rule;
        one["because"] = changed.because;
        out.push_back(std::move(one));
    }
    return out;
}

}  // namespace

Backtest backtest(const Policy& policy, std::span<const PastCall> calls) {
    Backtest result;
    Workspace workspace;
    Replay replay(policy);
    for (const PastCall& past : calls) {
        ++result.calls;
        const Needs wanted = needs(policy, past.call, workspace);
        const StateView state = replay.state_before(wanted, past.call.now);
        const Verdict verdict = evaluate(policy, past.call, state, workspace);
        if (was_released(past)) replay.count(wanted, past.call.now);

        const bool was_held = past.verdict == VerdictKind::hold;
        const bool is_held = verdict.kind == VerdictKind::hold;
        result.prompts_before += was_held;
        result.prompts_after += is_held;
        result.prompts_added += is_held && !was_held;
        if (was_held && !is_held) {
            ++result.prompts_saved;
            result.minutes_saved += static_cast<double>(past.waited_ms) / ms_per_minute;
        }
        if (verdict.kind == past.verdict) continue;
        const Changed changed{past.id,
                              past.call.tool,
                              past.verdict,
                              verdict.kind,
                              past.outcome,
                              rule_name(policy, verdict),
                              because(policy, past.call, verdict)};
        result.changed.push_back(changed);
        if (verdict.kind == VerdictKind::allow && was_refused(past))
            result.dangerous.push_back(changed);
        if (verdict.kind == VerdictKind::deny && past.outcome == Outcome::approved)
            result.now_denied.push_back(changed);
    }
    return result;
}

std::vector<Changed> unacknowledged(const Backtest& result, std::span<const std::string> ids) {
    std::vector<Changed> out;
    for (const Changed& changed : result.dangerous) {
        if (std::find(ids.begin(), ids.end(), changed.id) == ids.end()) out.push_back(changed);
    }
    return out;
}

json::object to_json(const Backtest& result) {
    json::object out;
    out["calls"] = result.calls;
    out["prompts_before"] = result.prompts_before;
    out["prompts_after"] = result.prompts_after;
    out["prompts_saved"] = result.prompts_saved;
    out["prompts_added"] = result.prompts_added;
    out["minutes_saved"] = result.minutes_saved;
    out["changed"] = cases(result.changed);
    out["dangerous"] = cases(result.dangerous);
    out["now_denied"] = cases(result.now_denied);
    return out;
}

std::string backtest_text(const Backtest& result) {
    std::string out = fmt::format(
        "{} calls, {} prompts then, {} now: {} saved ({:.0f} minutes), {} added, {} judged "
        "otherwise\n",
        result.calls, result.prompts_before, result.prompts_after, result.prompts_saved,
        result.minutes_saved, result.prompts_added, result.changed.size());
    for (const Changed& changed : result.dangerous)
        out += fmt::format("! {} {}: people said `{}`, rule `{}` would let it pass\n", changed.id,
                           changed.tool, core::to_string(*changed.outcome), changed.rule);
    for (const Changed& changed : result.now_denied)
        out += fmt::format("  {} {}: approved then, denied now by `{}`\n", changed.id, changed.tool,
                           changed.rule);
    return out;
}

}  // namespace holdpoint::policy
