#include "policy/terms.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <tuple>

#include "base/text.h"
#include "core/expire.h"
#include "policy/template.h"

namespace holdpoint::policy {
namespace {

template <class T>
void prefer(std::optional<T>& own, const std::optional<T>& fallback) {
    if (!own) own = fallback;
}

void take_ending(Patience& out, const Patience& from) {
    out.on_timeout = from.on_timeout;
    out.default_decision = from.default_decision;
}

/// A rule's own words, then those of its gate.
Patience patience_of(const Patience& own, const Patience& gate) {
    Patience out = own;
    prefer(out.timeout_ms, gate.timeout_ms);
    if (!out.on_timeout) take_ending(out, gate);
    prefer(out.remind_every_ms, gate.remind_every_ms);
    prefer(out.reminders_max, gate.reminders_max);
    prefer(out.escalate_after_ms, gate.escalate_after_ms);
    if (out.escalate_to.empty()) out.escalate_to = gate.escalate_to;
    prefer(out.retries_max, gate.retries_max);
    return out;
}

template <class T>
void lowest(std::optional<T>& out, const std::optional<T>& other) {
    if (other && (!out || *other < *out)) out = other;
}

/// Of several who would take over whoever does so first, whatever the order in the file; of two at
/// once the first by name.
bool takes_over_before(const Patience& one, const Patience& other) {
    if (one.escalate_to.empty() || other.escalate_to.empty()) return other.escalate_to.empty();
    const auto rank = [](const Patience& patience) {
        constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();
        return std::tuple(patience.escalate_after_ms.value_or(never),
                          std::string_view(patience.escalate_to.front().group));
    };
    return rank(one) < rank(other);
}

void merge_terms(Patience& out, const Patience& other) {
    lowest(out.timeout_ms, other.timeout_ms);
    if (other.on_timeout && (!out.on_timeout || strictness(other) > strictness(out)))
        take_ending(out, other);
    lowest(out.remind_every_ms, other.remind_every_ms);
    if (other.reminders_max)
        out.reminders_max = std::max(out.reminders_max.value_or(0), *other.reminders_max);
    if (takes_over_before(other, out)) {
        out.escalate_after_ms = other.escalate_after_ms;
        out.escalate_to = other.escalate_to;
    }
    lowest(out.retries_max, other.retries_max);
}

void merge_terms(Demands& out, const Demands& other) {
    const auto either = [](std::optional<bool>& mine, const std::optional<bool>& theirs) {
        if (theirs) mine = mine.value_or(false) || *theirs;
    };
    either(out.require_reason, other.require_reason);
    either(out.exclude_requester, other.exclude_requester);
    either(out.confirm_code, other.confirm_code);
    if (other.allow_modification)
        out.allow_modification = out.allow_modification.value_or(true) && *other.allow_modification;
}

void merge_terms(std::vector<ApproverLine>& out, const std::vector<ApproverLine>& others) {
    for (const ApproverLine& line : others) {
        const auto found = std::find_if(out.begin(), out.end(), [&](const ApproverLine& mine) {
            return mine.group == line.group;
        });
        if (found == out.end())
            out.push_back(line);
        else
            found->quorum = std::max(found->quorum, line.quorum);
    }
}

/// Whether a rule names a gate of a layer above for a call that this gate does not hold itself. It
/// adds whom the gate asks and an end that is stricter, and leaves whatever the defaults say: a
/// gate that was written for other calls is no way around them.
bool borrows_gate(const Policy& policy, const std::vector<Finding>& findings,
                  const Finding& finding) {
    const Rule* rule = rule_of(policy, finding);
    if (!rule || !rule->is_below_its_gate) return false;
    return std::ranges::none_of(findings, [&](const Finding& other) {
        return other.cause != Cause::rule && other.gate == finding.gate;
    });
}

bool is_of_lower_layer(const Policy& policy, const Finding& finding) {
    if (const Rule* rule = rule_of(policy, finding)) return rule->is_lower;
    const Gate* gate = gate_of(policy, finding);
    return gate && gate->is_lower;
}

std::vector<ApproverLine> lines_of(const Policy& policy, const std::vector<Finding>& findings) {
    std::vector<ApproverLine> lines;
    for (const Finding& finding : findings) {
        if (const Gate* gate = gate_of(policy, finding)) merge_terms(lines, gate->approvers);
        if (const Rule* rule = rule_of(policy, finding)) merge_terms(lines, rule->approvers);
        if (borrows_gate(policy, findings, finding))
            merge_terms(lines, policy.file.defaults.approvers);
    }
    return lines.empty() ? policy.file.defaults.approvers : lines;
}

/// What follows where nobody says what silence means.
Patience ending_by_default(const Defaults& defaults) {
    Patience ending;
    take_ending(ending, defaults.patience);
    if (!ending.on_timeout) ending.on_timeout = defaults.timing.value_or(core::Timing{}).on_timeout;
    return ending;
}

/// One pass over the findings, the parts in the order of the file.
class Merger {
  public:
    Merger(const Policy& policy, const std::vector<Finding>& findings)
        : lines(lines_of(policy, findings)), policy_(policy), findings_(findings) {
        const Defaults& defaults = policy.file.defaults;
        const auto is_lower = [&](const Finding& finding) {
            return is_of_lower_layer(policy, finding);
        };
        for (const Finding& finding : findings)
            if (!is_lower(finding)) take(finding);
        // What stands above and names no time means the default's, which a lower layer does not
        // draw out; alone it may take its own.
        if (std::ranges::any_of(findings, is_lower) && !std::ranges::all_of(findings, is_lower))
            take_times(defaults);
        for (const Finding& finding : findings)
            if (is_lower(finding)) take(finding);
        const Patience by_default = ending_by_default(defaults);
        end_as_strictly_as(by_default);
        const bool is_said = patience.on_timeout.has_value();
        if (!is_said) take_ending(patience, by_default);
        if (releases(patience) && !std::ranges::all_of(findings, [&](const Finding& finding) {
                return is_silence_enough(finding, is_said);
            })) {
            patience.on_timeout = TimeoutAction::reject;
            if (defaults.patience.on_timeout && !releases(defaults.patience))
                take_ending(patience, defaults.patience);
        }
        patience = patience_of(patience, defaults.patience);
        merge_terms(demands, defaults.demands);
        for (const Finding& finding : findings)
            lowest(demands.reject_threshold, threshold_of(finding));
        lowest(demands.reject_threshold, defaults.demands.reject_threshold);
    }

    std::vector<ApproverLine> lines;
    Patience patience;
    Demands demands;

  private:
    void take(const Finding& finding) {
        if (const Gate* gate = gate_of(policy_, finding)) merge_terms(demands, gate->demands);
        if (const Rule* rule = rule_of(policy_, finding)) merge_terms(demands, rule->demands);
        if (const std::optional<Patience> word = word_of(finding)) merge_terms(patience, *word);
    }

    void take_times(const Defaults& defaults) {
        const core::Timing timing = defaults.timing.value_or(core::Timing{});
        prefer(patience.timeout_ms, defaults.patience.timeout_ms);
        prefer(patience.timeout_ms, std::optional(timing.timeout_ms));
        prefer(patience.remind_every_ms, defaults.patience.remind_every_ms);
        prefer(patience.reminders_max, defaults.patience.reminders_max);
        prefer(patience.reminders_max, std::optional(timing.reminders_max));
    }

    /// What holds a call without a word about silence means the default by it, which the word of
    /// another does not make milder.
    void end_as_strictly_as(const Patience& by_default) {
        const bool is_meant = std::ranges::any_of(findings_, [&](const Finding& finding) {
            const std::optional<Patience> word = word_of(finding);
            return word && (!word->on_timeout || borrows_gate(policy_, findings_, finding));
        });
        if (is_meant && patience.on_timeout && strictness(by_default) > strictness(patience))
            take_ending(patience, by_default);
    }

    /// What a finding says about time; nothing where it has no voice of its own. What holds
    /// without a gate says nothing, which is not the same.
    std::optional<Patience> word_of(const Finding& finding) const {
        const Gate* gate = gate_of(policy_, finding);
        const Rule* rule = rule_of(policy_, finding);
        if (!rule) {
            if (!gate) return Patience{};
            if (gate->is_implied || is_refined(finding.gate)) return std::nullopt;
            return gate->patience;
        }
        if (!borrows_gate(policy_, findings_, finding))
            return patience_of(rule->patience, gate ? gate->patience : Patience{});
        // Its times were meant for other calls: of what it says about silence only the end comes
        // along, where that is stricter.
        Patience word = rule->patience;
        if (!word.on_timeout) take_ending(word, gate->patience);
        return word;
    }

    /// How many it takes to say no by what was found; nothing where that has no voice of its own.
    /// Who does not say so means the default, which another's higher number does not outvote.
    std::optional<int> threshold_of(const Finding& finding) const {
        const Gate* gate = gate_of(policy_, finding);
        const Rule* rule = rule_of(policy_, finding);
        if (!rule && gate && (gate->is_implied || is_refined(finding.gate))) return std::nullopt;
        std::optional<int> said;
        if (rule) said = rule->demands.reject_threshold;
        if (gate && !borrows_gate(policy_, findings_, finding))
            prefer(said, gate->demands.reject_threshold);
        return said ? said : threshold_by_default();
    }

    int threshold_by_default() const {
        const Defaults& defaults = policy_.file.defaults;
        const int of_server = defaults.requirement ? defaults.requirement->reject_threshold
                                                   : core::Requirement{}.reject_threshold;
        return defaults.demands.reject_threshold.value_or(of_server);
    }

    /// A rule that holds by this gate speaks for it, also where it gives more time; one of a lower
    /// layer does not.
    bool is_refined(int gate) const {
        const bool is_lower = policy_.file.gates[static_cast<std::size_t>(gate)].is_lower;
        return std::ranges::any_of(findings_, [&](const Finding& other) {
            return other.cause == Cause::rule && other.gate == gate &&
                   (is_lower || !is_of_lower_layer(policy_, other));
        });
    }

    static bool releases(const Patience& patience) {
        return patience.on_timeout == TimeoutAction::approve ||
               (patience.on_timeout == TimeoutAction::use_default &&
                patience.default_decision == "approve");
    }

    /// Whether what was found says itself that silence releases, or has no word of its own. A gate
    /// that does not mention silence does not mean it where another does; one that was written for
    /// other calls never does.
    bool is_silence_enough(const Finding& finding, bool is_said) const {
        if (borrows_gate(policy_, findings_, finding)) return false;
        const std::optional<Patience> word = word_of(finding);
        return !word || !is_said || releases(*word);
    }

    const Policy& policy_;
    const std::vector<Finding>& findings_;
};

const ApproverGroup& group_named(const Policy& policy, const std::string& name) {
    return *std::find_if(policy.file.approvers.begin(), policy.file.approvers.end(),
                         [&](const ApproverGroup& group) { return group.name == name; });
}

/// `{{user.id}}` is the person the agent works for. Where there is none it stays as it is, a name
/// that nobody has: no line may become one that anybody can fill.
constexpr std::string_view users_place = "{{user.id}}";

std::string person(const std::string& user, const Call& call) {
    return user == users_place && !call.user.empty() ? call.user : user;
}

bool names_user(const Policy& policy, const std::vector<ApproverLine>& lines) {
    return std::ranges::any_of(lines, [&](const ApproverLine& line) {
        const std::vector<std::string>& users = group_named(policy, line.group).users;
        return std::ranges::find(users, users_place) != users.end();
    });
}

core::RequirementLine core_line(const Policy& policy, const Call& call, const ApproverLine& line) {
    const ApproverGroup& group = group_named(policy, line.group);
    core::RequirementLine out;
    out.quorum = line.quorum;
    if (!group.roles.empty()) out.group = group.roles.front();
    if (group.roles.size() > 1) out.other_groups.assign(group.roles.begin() + 1, group.roles.end());
    for (const std::string& user : group.users) out.people.push_back(person(user, call));
    return out;
}

std::string escalation_target(const Policy& policy, const Call& call,
                              const std::vector<ApproverLine>& to) {
    if (to.empty()) return {};
    const ApproverGroup& group = group_named(policy, to.front().group);
    if (!group.roles.empty()) return "group:" + group.roles.front();
    return person(group.users.front(), call);
}

core::Timing timing_of(const Policy& policy, const Call& call, const Patience& patience) {
    core::Timing timing = policy.file.defaults.timing.value_or(core::Timing{});
    timing.timeout_ms = patience.timeout_ms.value_or(timing.timeout_ms);
    timing.on_timeout = patience.on_timeout.value_or(timing.on_timeout);
    if (!patience.default_decision.empty())
        timing.default_decision.text =
            fmt::format("{{\"decision\":\"{}\"}}", patience.default_decision);
    timing.remind_every_ms = patience.remind_every_ms.value_or(timing.remind_every_ms);
    timing.reminders_max = patience.reminders_max.value_or(timing.reminders_max);
    if (!patience.escalate_to.empty()) {
        timing.escalate_to = escalation_target(policy, call, patience.escalate_to);
        timing.escalate_after_ms = patience.escalate_after_ms.value_or(0);
    }
    timing.retries_max = patience.retries_max.value_or(timing.retries_max);
    // Nobody to escalate to: silence then means no.
    if (timing.on_timeout == TimeoutAction::escalate && timing.escalate_to.empty())
        timing.on_timeout = TimeoutAction::reject;
    return timing;
}

core::Requirement requirement_of(const Policy& policy, const Call& call, const Merger& merged) {
    core::Requirement requirement = policy.file.defaults.requirement.value_or(core::Requirement{});
    if (!merged.lines.empty()) requirement.lines.clear();
    for (const ApproverLine& line : merged.lines)
        requirement.lines.push_back(core_line(policy, call, line));
    const Demands& demands = merged.demands;
    requirement.reason_required = requirement.reason_required || demands.require_reason == true;
    requirement.exclude_requester =
        requirement.exclude_requester || demands.exclude_requester == true;
    requirement.modifiable = requirement.modifiable && demands.allow_modification != false;
    requirement.reject_threshold = demands.reject_threshold.value_or(requirement.reject_threshold);
    requirement.confirm_required = requirement.confirm_required || demands.confirm_code == true;
    return requirement;
}

}  // namespace

int strictness(const Patience& patience) {
    constexpr int abort = 6, reject = 5, escalate = 4, skip = 3, retry = 2, unclear = 1;
    switch (patience.on_timeout.value_or(TimeoutAction::reject)) {
        case TimeoutAction::abort:
            return abort;
        case TimeoutAction::reject:
            return reject;
        case TimeoutAction::escalate:
            return escalate;
        case TimeoutAction::skip:
            return skip;
        case TimeoutAction::retry:
            return retry;
        case TimeoutAction::use_default:
            if (patience.default_decision == "abort") return abort;
            if (patience.default_decision == "reject") return reject;
            if (patience.default_decision == "skip") return skip;
            return patience.default_decision == "approve" ? 0 : unclear;
        case TimeoutAction::approve:
            break;
    }
    return 0;
}

const Gate* gate_of(const Policy& policy, const Finding& finding) {
    if (finding.gate == no_gate) return nullptr;
    return &policy.file.gates[static_cast<std::size_t>(finding.gate)];
}

const Rule* rule_of(const Policy& policy, const Finding& finding) {
    if (finding.cause != Cause::rule) return nullptr;
    return &policy.file.rules[static_cast<std::size_t>(finding.index)];
}

core::Requirement people_for(const Policy& policy, const Call& call,
                             const std::vector<Finding>& findings) {
    return requirement_of(policy, call, Merger(policy, findings));
}

Terms terms_of(const Policy& policy, const Call& call, const Verdict& verdict) {
    const Merger merged(policy, verdict.findings);
    Terms terms;
    terms.lines = merged.lines;
    terms.timing = timing_of(policy, call, merged.patience);
    // What could not be evaluated may be a call for which nobody meant silence to be enough.
    const bool has_failed = std::ranges::any_of(verdict.findings, &Finding::is_error);
    // Whom the agent works for is the agent's word: it could name somebody who never looks.
    const bool is_agents_choice =
        names_user(policy, terms.lines) || names_user(policy, merged.patience.escalate_to);
    if ((has_failed || is_agents_choice) && core::silence_releases(terms.timing))
        terms.timing.on_timeout = TimeoutAction::reject;
    terms.requirement = requirement_of(policy, call, merged);
    // D9: at the highest level a click is not enough.
    if (verdict.risk == RiskLevel::critical) terms.requirement.confirm_required = true;
    return terms;
}

}  // namespace holdpoint::policy
