#include "policy/extend.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "base/text.h"
#include "policy/glob.h"
#include "policy/match/names.h"
#include "policy/terms.h"

namespace holdpoint::policy {
namespace {

constexpr int parents_max = 8;

template <class T>
void take(std::optional<T>& child, const std::optional<T>& parent) {
    if (!child) child = parent;
}

template <class T>
void take(std::vector<T>& child, const std::vector<T>& parent) {
    if (child.empty()) child = parent;
}

void join(std::vector<std::string>& child, const std::vector<std::string>& parent) {
    for (const std::string& name : parent) {
        if (std::find(child.begin(), child.end(), name) == child.end()) child.push_back(name);
    }
}

template <class T>
void append(std::vector<T>& child, const std::vector<T>& parent) {
    child.insert(child.end(), parent.begin(), parent.end());
}

template <class Named, class Key>
const Named* find_by(const std::vector<Named>& list, Key key, const std::string& name) {
    const auto found =
        std::find_if(list.begin(), list.end(), [&](const Named& one) { return one.*key == name; });
    return found == list.end() ? nullptr : &*found;
}

/// What stands in both is the child's; the parent's rest comes after.
template <class Named>
void join_by(std::vector<Named>& child, const std::vector<Named>& parent,
             std::string Named::* key) {
    const std::size_t own = child.size();
    for (const Named& one : parent) {
        const bool is_replaced =
            std::any_of(child.begin(), child.begin() + static_cast<std::ptrdiff_t>(own),
                        [&](const Named& mine) { return mine.*key == one.*key; });
        if (!is_replaced) child.push_back(one);
    }
}

void take_patience(Patience& child, const Patience& parent) {
    take(child.timeout_ms, parent.timeout_ms);
    if (!child.on_timeout) {
        child.on_timeout = parent.on_timeout;
        child.default_decision = parent.default_decision;
    }
    take(child.remind_every_ms, parent.remind_every_ms);
    take(child.reminders_max, parent.reminders_max);
    take(child.escalate_after_ms, parent.escalate_after_ms);
    take(child.escalate_to, parent.escalate_to);
    take(child.retries_max, parent.retries_max);
}

void take_demands(Demands& child, const Demands& parent) {
    take(child.allow_modification, parent.allow_modification);
    take(child.require_reason, parent.require_reason);
    take(child.exclude_requester, parent.exclude_requester);
    take(child.confirm_code, parent.confirm_code);
    take(child.reject_threshold, parent.reject_threshold);
}

void take_defaults(Defaults& child, const Defaults& parent) {
    take(child.decision, parent.decision);
    take(child.unknown_tools, parent.unknown_tools);
    take(child.auto_risk_max, parent.auto_risk_max);
    take(child.on_error, parent.on_error);
    take(child.approvers, parent.approvers);
    take_patience(child.patience, parent.patience);
    take_demands(child.demands, parent.demands);
}

void merge(PolicyFile& child, const PolicyFile& parent) {
    if (child.name.empty()) child.name = parent.name;
    take_defaults(child.defaults, parent.defaults);
    join_by(child.tools, parent.tools, &Tool::name);
    join(child.always_require, parent.always_require);
    join(child.never_require, parent.never_require);
    join(child.required_below_denial, parent.required_below_denial);
    append(child.auto_allow_patterns, parent.auto_allow_patterns);
    append(child.always_require_patterns, parent.always_require_patterns);
    join_by(child.approvers, parent.approvers, &ApproverGroup::name);
    join_by(child.gates, parent.gates, &Gate::name);
    join_by(child.rules, parent.rules, &Rule::id);
    join_by(child.counters, parent.counters, &Counter::name);
    join_by(child.vars, parent.vars, &Variable::name);
    take(child.grants, parent.grants);
    take(child.trust, parent.trust);
    join_by(child.risk, parent.risk, &RiskRule::id);
    join_by(child.host_executables, parent.host_executables, &HostExecutable::name);
    child.is_disabled = child.is_disabled || parent.is_disabled;
    child.above.push_back(parent.source);
    append(child.above, parent.above);
}

Error refused_layer(const PolicyFile& child, std::string message) {
    return {ErrorCode::refused,
            fmt::format("the {} layer {}", to_string(child.layer), std::move(message)), ""};
}

template <class Named>
Result<void> refuse_replaced(const PolicyFile& child, const std::vector<Named>& own,
                             const std::vector<Named>& above, std::string Named::* key,
                             std::string_view what) {
    for (const Named& one : own) {
        if (find_by(above, key, one.*key))
            return refused_layer(child, fmt::format("cannot replace the {} `{}` of the layer above",
                                                    what, one.*key));
    }
    return {};
}

/// More people may not be needed to say no than the layer above wants.
Result<void> check_threshold(const PolicyFile& child, const PolicyFile& above,
                             const std::string& where, const Demands& demands) {
    if (!demands.reject_threshold ||
        *demands.reject_threshold <= above.defaults.demands.reject_threshold.value_or(1))
        return {};
    return refused_layer(child,
                         fmt::format("cannot ask for more rejections than the defaults of the "
                                     "layer above, by `reject_threshold` in {}",
                                     where));
}

/// Strictness of a default that a lower layer may only raise; what the layer above does not say
/// counts as what holds there without a word.
Result<void> check_defaults(const PolicyFile& child, const PolicyFile& above) {
    const Defaults& mine = child.defaults;
    const Defaults& theirs = above.defaults;
    if (mine.decision && *mine.decision < theirs.decision_or_default())
        return refused_layer(child, "cannot soften `defaults.decision`");
    if (mine.unknown_tools && *mine.unknown_tools < theirs.unknown_tools_or_default())
        return refused_layer(child, "cannot soften `defaults.unknown_tools`");
    const RiskCap cap = theirs.auto_risk_max.value_or(RiskCap{RiskLevel::low});
    if (mine.auto_risk_max && mine.auto_risk_max->level &&
        (!cap.level || *mine.auto_risk_max->level > *cap.level))
        return refused_layer(child, "cannot raise `defaults.max_auto_risk`");
    if (mine.on_error && theirs.on_error && *mine.on_error == OnError::require &&
        *theirs.on_error == OnError::deny)
        return refused_layer(child, "cannot soften `defaults.on_error`");
    const bool says_how = !mine.approvers.empty() || mine.patience.on_timeout ||
                          !mine.patience.escalate_to.empty() || mine.demands.exclude_requester ||
                          mine.demands.confirm_code;
    if (says_how)
        return refused_layer(child, "cannot change who decides by default or what silence means");
    const core::Timing unsaid;
    if (mine.patience.timeout_ms &&
        *mine.patience.timeout_ms > theirs.patience.timeout_ms.value_or(unsaid.timeout_ms))
        return refused_layer(child, "cannot give more time by `defaults.timeout`");
    const int reminders_above = theirs.patience.reminders_max.value_or(
        theirs.patience.remind_every_ms ? unsaid.reminders_max : 0);
    const bool is_slower = mine.patience.remind_every_ms && theirs.patience.remind_every_ms &&
                           *mine.patience.remind_every_ms > *theirs.patience.remind_every_ms;
    if (is_slower || mine.patience.reminders_max.value_or(reminders_above) < reminders_above)
        return refused_layer(child, "cannot remind more rarely by `defaults.reminders`");
    if (mine.demands.require_reason == false && theirs.demands.require_reason == true)
        return refused_layer(child, "cannot soften `defaults.require_reason`");
    if (mine.demands.allow_modification == true && theirs.demands.allow_modification == false)
        return refused_layer(child, "cannot soften `defaults.allow_modification`");
    return check_threshold(child, above, "`defaults`", mine.demands);
}

bool lets_silence_release(const Patience& patience) {
    return patience.on_timeout == TimeoutAction::approve ||
           (patience.on_timeout == TimeoutAction::use_default &&
            patience.default_decision == "approve");
}

/// What silence releases or hands to others above takes the time that stands there: a shorter one
/// would do it before anybody has looked.
Result<void> check_timeouts(const PolicyFile& child, const PolicyFile& above) {
    const auto lets = [](const auto& part) {
        return lets_silence_release(part.patience) ||
               part.patience.on_timeout == TimeoutAction::escalate;
    };
    const bool is_any = lets(above.defaults) || std::ranges::any_of(above.gates, lets) ||
                        std::ranges::any_of(above.rules, lets);
    // Where silence means something milder by default, it does not end what it hands over above.
    const bool is_default =
        lets(above.defaults) || (is_any && strictness(above.defaults.patience) <
                                               strictness({.on_timeout = TimeoutAction::escalate}));
    const auto refused = [&](const std::string& where) {
        return refused_layer(child, fmt::format("cannot set `timeout` in {}: silence releases or "
                                                "hands over there by the layer above, after its "
                                                "own time",
                                                where));
    };
    if (child.defaults.patience.timeout_ms && is_any) return refused("`defaults`");
    for (const Gate& gate : child.gates)
        if (gate.patience.timeout_ms && is_default)
            return refused(fmt::format("gate `{}`", gate.name));
    for (const Rule& rule : child.rules) {
        const Gate* gate = find_by(above.gates, &Gate::name, rule.gate);
        const bool is_let = gate && lets(*gate);
        if (rule.patience.timeout_ms && (is_default || is_let))
            return refused(fmt::format("rule `{}`", rule.id));
        // It would speak for the gate with the gate's own time, where a rule above gives more.
        const bool has_longer = is_let && std::ranges::any_of(above.rules, [&](const Rule& other) {
                                    return other.gate == gate->name && other.patience.timeout_ms;
                                });
        if (has_longer)
            return refused_layer(child,
                                 fmt::format("cannot hold by gate `{}` in rule `{}`: silence "
                                             "releases or hands over there after the time of a "
                                             "rule above",
                                             gate->name, rule.id));
    }
    return {};
}

/// It also holds for calls that the layers above hold: there it must not be what releases them or
/// who takes over, nor end them more mildly than it is said there, by default or by the gate above
/// for which a rule speaks.
Result<void> check_patience(const PolicyFile& child, const PolicyFile& above, std::string_view what,
                            const std::string& name, const Patience& patience,
                            const Gate* gate_above) {
    if (lets_silence_release(patience))
        return refused_layer(
            child, fmt::format("cannot let silence release what {} `{}` holds", what, name));
    if (!patience.escalate_to.empty())
        return refused_layer(
            child, fmt::format("cannot say who takes over from others in {} `{}`", what, name));
    const auto is_milder_than = [&](const Patience& theirs) {
        return patience.on_timeout && strictness(patience) < strictness(theirs);
    };
    const bool has_word = gate_above && gate_above->patience.on_timeout;
    if (is_milder_than(above.defaults.patience) ||
        (has_word && is_milder_than(gate_above->patience)))
        return refused_layer(
            child, fmt::format("cannot soften what silence means, by `on_timeout` in {} `{}`", what,
                               name));
    return {};
}

/// A glob is delegated only as that very glob: what it will match is not known here.
bool is_delegated(const PolicyFile& above, const std::string& tool) {
    return std::ranges::any_of(above.delegate, [&](const std::string& pattern) {
        return pattern == tool || (!is_glob(tool) && glob_matches(pattern, tool));
    });
}

bool are_delegated(const PolicyFile& above, const std::vector<std::string>& tools) {
    return !tools.empty() && std::ranges::all_of(tools, [&](const std::string& tool) {
        return is_delegated(above, tool);
    });
}

Result<void> check_allowed(const PolicyFile& child, const PolicyFile& above) {
    std::vector<std::string> tools = allowed_tools(child);
    // Who delegates must have been delegated to, and who describes a tool makes it known.
    tools.insert(tools.end(), child.delegate.begin(), child.delegate.end());
    for (const Tool& tool : child.tools) tools.push_back(tool.name);
    for (const std::string& tool : tools) {
        if (!is_delegated(above, tool))
            return refused_layer(
                child,
                fmt::format("may not allow `{}`; the layer above does not delegate it", tool));
    }
    return {};
}

/// A name that a policy mentions is known, and not held for looking like another. Only the layer
/// above may know one that would be.
Result<void> check_look_alikes(const PolicyFile& child, const PolicyFile& above) {
    std::map<std::string, std::string> known;
    std::set<std::string> names_above;
    for (std::string& name : named_tools(above)) {
        known.emplace(match::skeleton(name), name);
        names_above.insert(std::move(name));
    }
    for (const std::string& name : named_tools(child)) {
        if (names_above.contains(name)) continue;
        const match::NameFlaw flaw = match::flaw_of_name(name);
        if (flaw != match::NameFlaw::none)
            return refused_layer(child, fmt::format("cannot name the tool `{}`, {}", visible(name),
                                                    match::to_string(flaw)));
        const auto other = known.find(match::skeleton(name));
        if (other != known.end())
            return refused_layer(child,
                                 fmt::format("cannot name the tool `{}`, which looks like `{}` of "
                                             "the layer above",
                                             name, other->second));
    }
    return {};
}

Result<void> check_layer(const PolicyFile& child, const PolicyFile& above) {
    for (const Result<void>& ok :
         {refuse_replaced(child, child.tools, above.tools, &Tool::name, "tool"),
          refuse_replaced(child, child.gates, above.gates, &Gate::name, "gate"),
          refuse_replaced(child, child.rules, above.rules, &Rule::id, "rule"),
          refuse_replaced(child, child.approvers, above.approvers, &ApproverGroup::name,
                          "approver group"),
          refuse_replaced(child, child.counters, above.counters, &Counter::name, "counter"),
          refuse_replaced(child, child.vars, above.vars, &Variable::name, "variable"),
          refuse_replaced(child, child.risk, above.risk, &RiskRule::id, "risk rule"),
          check_defaults(child, above), check_timeouts(child, above), check_allowed(child, above),
          check_look_alikes(child, above)}) {
        if (!ok) return ok.error();
    }
    if (child.is_disabled && !above.is_disabled)
        return refused_layer(child, "cannot switch approvals off");
    if (child.grants) return refused_layer(child, "cannot change how grants work");
    if (child.trust) return refused_layer(child, "cannot change how trust works");
    if (!child.host_executables.empty())
        return refused_layer(child, "cannot say which programs a path stands for");
    for (const Gate& gate : child.gates) {
        if (gate.on_error == OnError::allow)
            return refused_layer(child, fmt::format("cannot let gate `{}` fail open", gate.name));
        if (Result<void> ok =
                check_patience(child, above, "gate", gate.name, gate.patience, nullptr);
            !ok)
            return ok;
        if (Result<void> ok =
                check_threshold(child, above, fmt::format("gate `{}`", gate.name), gate.demands);
            !ok)
            return ok;
    }
    for (const Rule& rule : child.rules) {
        const Gate* gate = find_by(above.gates, &Gate::name, rule.gate);
        if (Result<void> ok = check_patience(child, above, "rule", rule.id, rule.patience, gate);
            !ok)
            return ok;
        if (Result<void> ok =
                check_threshold(child, above, fmt::format("rule `{}`", rule.id), rule.demands);
            !ok)
            return ok;
    }
    return {};
}

/// What a lower layer asks for comes on top of whom the layers above ask by default, not in their
/// place.
void ask_also(std::vector<ApproverLine>& lines, const std::vector<ApproverLine>& above) {
    if (lines.empty()) return;
    for (const ApproverLine& line : above) {
        const auto same = std::ranges::find(lines, line.group, &ApproverLine::group);
        if (same == lines.end())
            lines.push_back(line);
        else
            same->quorum = std::max(same->quorum, line.quorum);
    }
}

Result<PolicyFile> read_parent_of(const PolicyFile& child, const ParentReader& read_parent) {
    const std::string_view preset = preset_text(child.extends);
    Result<std::string> text = std::string(preset);
    if (preset.empty()) {
        if (!read_parent)
            return yaml::error_at(child.extends_mark,
                                  fmt::format("`{}` is no preset (those are minimal, standard, "
                                              "strict and paranoid), and here no other file can be "
                                              "read; put what it says into this text",
                                              child.extends));
        text = read_parent(child.extends);
        if (!text) return text.error();
    }
    Result<PolicyFile> parent = read_policy(*text);
    if (!parent)
        return Error{parent.error().code,
                     fmt::format("in `{}`: {}", child.extends, parent.error().message), ""};
    return parent;
}

/// A file with all that it inherits, and the nearest of its parents that stands in a layer above.
struct Lineage {
    PolicyFile file;
    std::shared_ptr<const Lineage> above;
};

/// What a layer above denies by default is not held instead because a lower one asks people about
/// it; where it may let tools pass it may also ask about them.
void mark_below_denial(const PolicyFile& above, PolicyFile& child) {
    const bool denies = above.defaults.decision_or_default() == Effect::deny ||
                        above.defaults.unknown_tools_or_default() == Effect::deny;
    if (!denies) return;
    for (Gate& gate : child.gates) gate.is_below_denial = !are_delegated(above, gate.tools);
    for (Rule& rule : child.rules) rule.is_below_denial = !are_delegated(above, rule.tools);
    for (const std::string& tool : child.always_require) {
        const bool stands_above =
            std::ranges::find(above.always_require, tool) != above.always_require.end();
        if (!stands_above && !is_delegated(above, tool))
            child.required_below_denial.push_back(tool);
    }
}

/// Holds a file against what stands above it, and marks what that changes in it.
Result<void> submit_to(const PolicyFile& above, PolicyFile& child) {
    if (Result<void> ok = check_layer(child, above); !ok) return ok;
    mark_below_denial(above, child);
    for (Gate& gate : child.gates) {
        ask_also(gate.approvers, above.defaults.approvers);
        gate.is_lower = true;
    }
    for (Rule& rule : child.rules) {
        ask_also(rule.approvers, above.defaults.approvers);
        rule.is_lower = true;
        rule.is_below_its_gate = find_by(above.gates, &Gate::name, rule.gate) != nullptr;
    }
    return {};
}

/// The parent is completed first: what it inherits is protected as if it stood there, also from a
/// file of the same layer as the parent.
Result<Lineage> extend_from(PolicyFile child, const ParentReader& read_parent, int depth) {
    if (child.extends.empty()) return Lineage{std::move(child), nullptr};
    if (depth == parents_max)
        return yaml::error_at(child.extends_mark,
                              "too many parents; is one of them its own parent?");
    Result<PolicyFile> read = read_parent_of(child, read_parent);
    if (!read) return read.error();
    Result<Lineage> completed = extend_from(std::move(*read), read_parent, depth + 1);
    if (!completed) return completed.error();
    const auto parent = std::make_shared<const Lineage>(std::move(*completed));
    std::shared_ptr<const Lineage> above = parent;
    while (above && above->file.layer <= child.layer) above = above->above;
    if (above)
        if (Result<void> ok = submit_to(above->file, child); !ok) return ok.error();
    merge(child, parent->file);
    child.extends.clear();
    return Lineage{std::move(child), std::move(above)};
}

}  // namespace

std::vector<std::string> allowed_tools(const PolicyFile& file) {
    std::vector<std::string> out = file.never_require;
    const auto take_all = [&](const std::vector<std::string>& tools) {
        if (tools.empty())
            out.emplace_back("*");
        else
            out.insert(out.end(), tools.begin(), tools.end());
    };
    for (const Rule& rule : file.rules) {
        if (rule.then == Effect::allow) take_all(rule.tools);
    }
    for (const Pattern& pattern : file.auto_allow_patterns) take_all(pattern.tools);
    return out;
}

std::vector<std::string> named_tools(const PolicyFile& file) {
    std::vector<std::string> out;
    const auto take_names = [&](const std::vector<std::string>& names) {
        for (const std::string& name : names)
            if (!is_glob(name)) out.push_back(name);
    };
    for (const Tool& tool : file.tools) out.push_back(tool.name);
    take_names(file.always_require);
    take_names(file.never_require);
    for (const Rule& rule : file.rules) take_names(rule.tools);
    for (const Gate& gate : file.gates) take_names(gate.tools);
    for (const Pattern& pattern : file.always_require_patterns) take_names(pattern.tools);
    for (const Pattern& pattern : file.auto_allow_patterns) take_names(pattern.tools);
    for (const Counter& counter : file.counters) take_names(counter.on);
    for (const RiskRule& rule : file.risk) take_names(rule.tools);
    return out;
}

std::string join_texts(const std::string& text, const std::vector<std::string>& above) {
    std::string all = text;
    for (const std::string& one : above) {
        all += '\0';
        all += one;
    }
    return all;
}

std::vector<std::string> split_texts(std::string_view joined) {
    std::vector<std::string> texts;
    for (;;) {
        const std::size_t end = joined.find('\0');
        texts.emplace_back(joined.substr(0, end));
        if (end == joined.npos) return texts;
        joined.remove_prefix(end + 1);
    }
}

Result<PolicyFile> extend(PolicyFile child, const ParentReader& read_parent) {
    Result<Lineage> extended = extend_from(std::move(child), read_parent, 0);
    if (!extended) return extended.error();
    return std::move(extended->file);
}

}  // namespace holdpoint::policy
