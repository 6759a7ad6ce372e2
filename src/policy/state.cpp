#include "policy/state.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/sha256.h"
#include "core/requirement.h"
#include "policy/call.h"
#include "policy/paths.h"
#include "policy/policy.h"
#include "policy/section.h"

namespace holdpoint::policy {
namespace {

/// Beyond this, small amounts would vanish beside large ones: who spends a lot and takes it back
/// would have wiped out everything else.
constexpr double sum_full = 1e13;
/// What a full sum counts as, since nobody knows what it really is: more than any limit.
constexpr double above_limits = 1e300;

constexpr std::string_view fingerprint_domain = "holdpoint trust 1\n";

/// Brings the buckets up to date: what has left the window for good is dropped.
SlidingSum advanced(SlidingSum sum, std::int64_t window_ms, Timestamp now) {
    const std::int64_t bucket = now.ms / window_ms;
    // A clock that went back counts on in the bucket it had.
    if (bucket <= sum.bucket) return sum;
    if (bucket == sum.bucket + 1) {
        sum.older = sum.running;
        sum.older_until = sum.running_until;
    } else {
        sum.older = 0;
    }
    sum.running = 0;
    sum.bucket = bucket;
    return sum;
}

std::optional<double> argument_number(const Call& call, const std::string& path) {
    const json::value* found = arg_at(call, path);
    if (!found || !found->is_number()) return std::nullopt;
    return found->to_number<double>();
}

/// What a grant for a command pins besides its words.
constexpr std::string_view other_arguments = "other args";

std::string arguments_beside(const ShellFact& shell, const Call& call) {
    json::object others = call.args;
    others.erase(shell.arg);
    return json::canonical(others);
}

bool is_pinned(const Pin& pin, const Call& call, const ShellFact* shell) {
    if (pin.path == other_arguments) return shell && arguments_beside(*shell, call) == pin.value;
    const std::optional<std::string> value = value_at(call, pin.path);
    return value && *value == pin.value;
}

bool is_bounded(const Bound& bound, const Call& call) {
    const std::optional<double> number = argument_number(call, bound.path);
    // Below zero is another direction, not a smaller amount.
    return number && *number <= bound.at_most && (*number >= 0 || bound.at_most < 0);
}

const ShellFact* shell_of(const Policy& policy, const Call& call) {
    const Entry& entry = policy.entry_of(call);
    return entry.tool && entry.tool->shell ? &*entry.tool->shell : nullptr;
}

/// The words of the call's command; nothing for an opaque one.
std::optional<std::vector<std::string>> words_of(const ShellFact& shell, const Call& call) {
    const json::value* text = call.args.if_contains(shell.arg);
    if (!text || !text->is_string()) return std::nullopt;
    ShellLine line;
    line.read({text->get_string().data(), text->get_string().size()}, shell.dialect);
    if (line.is_opaque()) return std::nullopt;
    return line.words();
}

bool covers_words(const Grant& grant, const ShellFact& shell, const Call& call) {
    if (grant.argv.empty()) return false;
    const std::optional<std::vector<std::string>> words = words_of(shell, call);
    if (!words || words->size() < grant.argv.size()) return false;
    if (!grant.is_argv_prefix) return *words == grant.argv;
    // A prefix speaks for one command; a second one on the line was never shown to anybody.
    const bool is_one = std::none_of(words->begin(), words->end(), &ShellLine::is_separator);
    return is_one && std::equal(grant.argv.begin(), grant.argv.end(), words->begin());
}

const Similar* similar_for(const GrantRules& rules, const std::string& tool) {
    const auto found = std::find_if(rules.similar.begin(), rules.similar.end(),
                                    [&](const Similar& one) { return one.tool == tool; });
    return found == rules.similar.end() ? nullptr : &*found;
}

Error refused(std::string message) { return {ErrorCode::refused, std::move(message), ""}; }

Result<void> pin_words(Grant& grant, const ShellFact& shell, const Call& call,
                       const Similar* similar, const GrantTerms& terms) {
    const std::optional<std::vector<std::string>> words = words_of(shell, call);
    if (!words) return refused("a command that cannot be read cannot be granted; approve it once");
    grant.argv = *words;
    if (!terms.argv_words) return {};
    if (!similar || !similar->may_pin_prefix)
        return refused("the policy grants whole commands of this tool only");
    const auto count = static_cast<std::size_t>(*terms.argv_words);
    if (*terms.argv_words < 2 || count > words->size())
        return refused("a prefix has at least two words of the command");
    if (std::any_of(words->begin(), words->end(), &ShellLine::is_separator))
        return refused("a prefix can be granted for a single command only");
    grant.argv.resize(count);
    grant.is_argv_prefix = true;
    return {};
}

Result<void> pin_arguments(Grant& grant, const Call& call, const Similar* similar) {
    if (!similar) {
        grant.pins.push_back({"args", json::canonical(call.args)});
        return {};
    }
    for (const std::string& path : similar->pin) {
        if (path == "agent.id" || path == "tool" || path == "shell.argv") continue;
        std::optional<std::string> value = value_at(call, path);
        if (!value)
            return refused(fmt::format("`{}` is not in this call and cannot be pinned", path));
        grant.pins.push_back({path, std::move(*value)});
    }
    for (const std::string& path : similar->bound) {
        const std::optional<double> number = argument_number(call, path);
        if (!number)
            return refused(fmt::format("`{}` is not a number in this call and has no bound", path));
        grant.bounds.push_back({path, *number});
    }
    return {};
}

bool is_reset_on(const TrustRules& rules, std::string_view word) {
    return std::find(rules.reset_on.begin(), rules.reset_on.end(), word) != rules.reset_on.end();
}

/// What an outcome means to trust: it counts, it resets, or it says nothing.
enum class Lesson { counts, resets, nothing };

Lesson lesson_of(const TrustRules& rules, const TrustOutcome& outcome) {
    switch (outcome.outcome) {
        case core::Outcome::approved:
            return outcome.review_ms >= rules.min_review_ms ? Lesson::counts : Lesson::nothing;
        case core::Outcome::rejected:
        case core::Outcome::aborted:
        case core::Outcome::deferred:
            return Lesson::resets;
        case core::Outcome::modified:
            return is_reset_on(rules, "modify") ? Lesson::resets : Lesson::nothing;
        case core::Outcome::expired:
        case core::Outcome::skipped:
            return is_reset_on(rules, "timeout") ? Lesson::resets : Lesson::nothing;
        case core::Outcome::allowed:
        case core::Outcome::denied:
        case core::Outcome::answered:
        case core::Outcome::cancelled:
            break;
    }
    return Lesson::nothing;
}

}  // namespace

double total(const SlidingSum& sum, std::int64_t window_ms, Timestamp now) {
    const SlidingSum fresh = advanced(sum, window_ms, now);
    const bool is_older_inside = now - fresh.older_until < window_ms;
    const double older = is_older_inside ? fresh.older : 0;
    if (std::max(fresh.running, older) >= sum_full) return above_limits;
    return fresh.running + older;
}

void add(SlidingSum& sum, std::int64_t window_ms, Timestamp now, double amount) {
    sum = advanced(sum, window_ms, now);
    sum.running_until = std::max(sum.running_until, now);
    if (amount > 0) sum.running = std::min(sum.running + amount, sum_full);
}

void take_back(SlidingSum& sum, std::int64_t window_ms, Timestamp added_at, Timestamp now,
               double amount) {
    sum = advanced(sum, window_ms, now);
    const std::int64_t bucket = added_at.ms / window_ms;
    if (!(amount > 0) || bucket > sum.bucket || bucket < sum.bucket - 1) return;
    double& part = bucket == sum.bucket ? sum.running : sum.older;
    // What went into a full sum is not known any more, so nothing comes out of it.
    if (part >= sum_full) return;
    part = std::max(0.0, part - amount);
}

bool covers(const Grant& grant, const Policy& policy, const Call& call, core::RiskLevel risk) {
    if (!policy.file.grants || !policy.file.grants->risk_max.covers(risk)) return false;
    if (grant.is_revoked || call.now >= grant.expires_at) return false;
    if (grant.policy != policy.version || risk > grant.risk_max) return false;
    if (grant.tool != call.tool || grant.agent != call.agent) return false;
    if (!grant.session.empty() && grant.session != call.session) return false;
    if (grant.uses_left && *grant.uses_left <= 0) return false;
    if (grant.sum_left && sum_of(grant, call) > *grant.sum_left) return false;
    const ShellFact* shell = shell_of(policy, call);
    const bool is_same = std::all_of(grant.pins.begin(), grant.pins.end(),
                                     [&](const Pin& pin) { return is_pinned(pin, call, shell); }) &&
                         std::all_of(grant.bounds.begin(), grant.bounds.end(),
                                     [&](const Bound& bound) { return is_bounded(bound, call); });
    if (!is_same) return false;
    return shell ? covers_words(grant, *shell, call) : true;
}

double sum_of(const Grant& grant, const Call& call) {
    if (!grant.sum_left || grant.bounds.empty()) return 0;
    return std::max(0.0, argument_number(call, grant.bounds.front().path).value_or(0));
}

void consume(Grant& grant, const Call& call) {
    if (grant.uses_left) --*grant.uses_left;
    if (grant.sum_left) *grant.sum_left -= sum_of(grant, call);
}

Result<Grant> make_grant(const Policy& policy, const Call& call, core::RiskLevel risk,
                         const GrantTerms& terms) {
    if (!policy.file.grants) return refused("the policy offers no grants");
    const GrantRules& rules = *policy.file.grants;
    const auto is_offered = [&](std::string_view word) {
        return std::find(rules.offer.begin(), rules.offer.end(), word) != rules.offer.end();
    };
    if (!is_offered(terms.is_for_session ? "session" : "similar"))
        return refused("the policy does not offer this kind of grant");
    if (call.event != Event::tool_call) return refused("only tool calls can be granted");
    if (!rules.risk_max.covers(risk))
        return refused(fmt::format("{} risk cannot be granted", core::to_string(risk)));
    if (terms.is_for_session && call.session.empty())
        return refused("the call belongs to no session");

    Grant grant;
    grant.id = terms.id;
    grant.by = terms.by;
    grant.asked = terms.asked;
    grant.tool = call.tool;
    grant.agent = call.agent;
    if (terms.is_for_session) grant.session = call.session;
    grant.risk_max = std::min(risk, *rules.risk_max.level);
    grant.uses_left = std::clamp(terms.uses.value_or(rules.uses_max), 1, rules.uses_max);
    grant.expires_at = call.now + std::clamp<std::int64_t>(terms.ttl_ms.value_or(rules.ttl_max_ms),
                                                           1, rules.ttl_max_ms);
    grant.policy = policy.version;
    const Similar* similar = similar_for(rules, call.tool);
    const ShellFact* shell = shell_of(policy, call);
    if (shell)
        if (Result<void> ok = pin_words(grant, *shell, call, similar, terms); !ok)
            return ok.error();
    if (!shell || similar)
        if (Result<void> ok = pin_arguments(grant, call, similar); !ok) return ok.error();
    // The same words in another folder, or on another machine, are another action.
    if (shell && grant.pins.empty() && grant.bounds.empty())
        grant.pins.push_back({std::string(other_arguments), arguments_beside(*shell, call)});
    if (!grant.bounds.empty() && (rules.sum_max || terms.sum)) {
        const double sum_max = rules.sum_max.value_or(terms.sum.value_or(0));
        grant.sum_left = std::clamp(terms.sum.value_or(sum_max), 0.0, sum_max);
    }
    return grant;
}

Asked asked_of(const core::Requirement& requirement) {
    Asked asked{{}, requirement.exclude_requester, requirement.confirm_required};
    if (requirement.lines.empty() || core::is_anybody(requirement.lines.front())) return asked;
    const core::RequirementLine& line = requirement.lines.front();
    json::append_quoted(asked.people, line.group);
    for (const std::string& group : line.other_groups) json::append_quoted(asked.people, group);
    asked.people += " people";
    for (const std::string& person : line.people) json::append_quoted(asked.people, person);
    return asked;
}

bool suffices(const Asked& given, const Asked& needed) {
    return (needed.people.empty() || needed.people == given.people) &&
           (given.excludes_requester || !needed.excludes_requester) &&
           (given.takes_code || !needed.takes_code);
}

std::string describe(const Grant& grant) {
    std::string out = fmt::format("`{}` by agent `{}`", grant.tool, grant.agent);
    if (!grant.session.empty()) out += ", in this session";
    for (const Pin& pin : grant.pins) {
        if (pin.path == other_arguments && pin.value == "{}")
            out += ", with no other argument";
        else if (pin.path == other_arguments)
            out += fmt::format(", with exactly the other arguments {}", pin.value);
        else if (pin.path == "args")
            out += fmt::format(", with exactly the arguments {}", pin.value);
        else
            out += fmt::format(", with `{}` = {}", pin.path, pin.value);
    }
    for (const Bound& bound : grant.bounds)
        out += fmt::format(", with `{}` at most {}", bound.path, bound.at_most);
    if (!grant.argv.empty()) {
        std::string words;
        for (const std::string& word : grant.argv)
            words +=
                (words.empty() ? "" : " ") + word.substr(ShellLine::is_separator(word) ? 1 : 0);
        out += fmt::format(", the command `{}`{}", words,
                           grant.is_argv_prefix ? " and whatever follows" : "");
    }
    out += fmt::format(", up to {} risk", core::to_string(grant.risk_max));
    if (grant.uses_left) out += fmt::format(", {} more times", *grant.uses_left);
    if (grant.sum_left) out += fmt::format(", {} in total", *grant.sum_left);
    return out + fmt::format(", until {}", to_string(grant.expires_at));
}

std::string trust_key(const Policy& policy, const Call& call) {
    if (!policy.file.trust || call.event != Event::tool_call) return {};
    const Entry& entry = policy.entry_of(call);
    if (!entry.is_trustable) return {};
    static const std::vector<std::string> exact{"agent.id", "user.id", "args"};
    const auto& scope = policy.file.trust->scope.empty() ? exact : policy.file.trust->scope;
    std::string text;
    json::append_quoted(text, call.tool);
    const bool is_by_agent = std::find(scope.begin(), scope.end(), "agent.id") != scope.end();
    if (!is_by_agent) json::append_quoted(text, call.agent);
    for (const std::string& path : scope) {
        text += '\n' + path + '=';
        if (path == "shell.argv") {
            if (!entry.tool->shell) return {};
            const auto words = words_of(*entry.tool->shell, call);
            if (!words) return {};
            for (const std::string& word : *words) json::append_quoted(text, word);
            continue;
        }
        const std::optional<std::string> value = value_at(call, path);
        text += value ? *value : "absent";
    }
    // A command that cannot be read is never the same as another, whatever the scope says.
    if (entry.tool->shell && !words_of(*entry.tool->shell, call)) return {};
    return hex(sha256({fingerprint_domain, text}));
}

TrustEntry count(TrustEntry entry, const Policy& policy, const TrustOutcome& outcome) {
    if (!policy.file.trust) return entry;
    const TrustRules& rules = *policy.file.trust;
    const bool is_stale = (entry.policy != policy.version && is_reset_on(rules, "policy_change")) ||
                          outcome.at - entry.last_at >= rules.expires_ms;
    if (is_stale) {
        entry.approvals = 0;
        entry.approvers.clear();
    }
    entry.policy = policy.version;
    switch (lesson_of(rules, outcome)) {
        case Lesson::nothing:
            break;
        case Lesson::resets:
            entry.approvals = 0;
            entry.approvers.clear();
            entry.last_at = outcome.at;
            break;
        case Lesson::counts:
            // The yes of others is not theirs.
            if (entry.asked != outcome.asked) {
                entry.approvals = 0;
                entry.approvers.clear();
                entry.asked = outcome.asked;
            }
            entry.approvals += 1;
            entry.last_at = outcome.at;
            if (std::find(entry.approvers.begin(), entry.approvers.end(), outcome.by) ==
                entry.approvers.end())
                entry.approvers.push_back(outcome.by);
            break;
    }
    return entry;
}

bool is_trusted(const TrustEntry& entry, const Policy& policy, Timestamp now) {
    if (!policy.file.trust || policy.file.trust->after == 0) return false;
    const TrustRules& rules = *policy.file.trust;
    if (entry.policy != policy.version && is_reset_on(rules, "policy_change")) return false;
    return entry.approvals >= rules.after && now - entry.last_at < rules.expires_ms &&
           static_cast<int>(entry.approvers.size()) >= rules.distinct_approvers;
}

}  // namespace holdpoint::policy
