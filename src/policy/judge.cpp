#include "policy/judge.h"

#include <algorithm>
#include <cmath>

#include "core/requirement.h"
#include "policy/environment.h"
#include "policy/index.h"
#include "policy/match/names.h"
#include "policy/state.h"
#include "policy/terms.h"

namespace holdpoint::policy {
namespace {

using core::VerdictKind;

bool is_look_alike(const Policy& policy, const std::string& tool) {
    return match::flaw_of_name(tool) != match::NameFlaw::none ||
           std::binary_search(policy.skeletons.begin(), policy.skeletons.end(),
                              match::skeleton(tool));
}

/// Of several things that matched, the one to report first.
bool comes_before(const Finding& a, const Finding& b) {
    if (a.risk != b.risk) return a.risk > b.risk;
    if (a.is_hard != b.is_hard) return a.is_hard;
    return a.specificity > b.specificity;
}

/// One judgement, in the order of the language: well-formed, denied, required, waived, default.
class Judge {
  public:
    Judge(const Policy& policy, const Entry& entry, const Call& call, const StateView& state,
          Workspace::Parts& parts, Recorder* recorder)
        : policy_(policy),
          entry_(entry),
          call_(call),
          state_(state),
          parts_(parts),
          recorder_(recorder),
          bindings_(policy, entry, call, parts) {}

    Verdict decide() {
        parts_.findings.clear();
        if (entry_.tool && entry_.tool->args) {
            verdict_.fault = check_args(*entry_.tool->args, call_.args);
            if (verdict_.fault) {
                assess_without_arguments();
                return deny(Cause::schema);
            }
        }
        bindings_.bind(state_);
        if (recorder_) record_line();
        assess();
        find_denials();
        if (is_denied_ && !recorder_) return close();
        find_hard();
        find_base();
        if (is_denied_) return close();
        return settle();
    }

  private:
    // ---- what matches

    Match3 ask(const Condition& condition, Cause cause, std::size_t index, std::string_view part) {
        if (recorder_) [[unlikely]]
            return ask_and_record(condition, cause, index, part);
        return answer_of(bindings_.run(condition));
    }

    static Match3 answer_of(const cel::Value& value) {
        if (value.is_true()) return Match3::yes;
        return value.is_false() ? Match3::no : Match3::error;
    }

    [[gnu::noinline]] Match3 ask_and_record(const Condition& condition, Cause cause,
                                            std::size_t index, std::string_view part) {
        cel::Trace trace;
        const cel::Value value = bindings_.run(condition, trace);
        Recorder::Look look;
        look.cause = cause;
        look.index = static_cast<int>(index);
        look.part = part;
        look.answer = answer_of(value);
        look.first_false = trace.first_false;
        look.first_error = trace.first_error;
        if (value.is_error()) look.error = value.as_text();
        for (const cel::Trace::Reading& reading : trace.values)
            look.values.emplace_back(std::string(reading.path), cel::to_json(reading.value));
        recorder_->looks.push_back(std::move(look));
        return answer_of(value);
    }

    /// Everything a rule asks but a shell command that must be proved. What is certainly false
    /// decides, whatever else failed.
    Match3 matches(std::uint32_t index) {
        const CompiledRule& rule = policy_.rules[index];
        if (entry_.must_check_names && !is_named(policy_.file.rules[index].tools, call_.tool))
            return Match3::no;
        bool has_failed = false;
        const auto is_refuted = [&](Match3 answer) {
            has_failed = has_failed || answer == Match3::error;
            return answer == Match3::no;
        };
        if (rule.shell && rule.then != Effect::allow && !rule.shell->finds(parts_.line))
            return Match3::no;
        if (rule.when && is_refuted(ask(*rule.when, Cause::rule, index, "when"))) return Match3::no;
        if (rule.unless) {
            const Match3 answer = ask(*rule.unless, Cause::rule, index, "unless");
            if (answer == Match3::yes) return Match3::no;
            has_failed = has_failed || answer == Match3::error;
        }
        if (rule.path && is_refuted(rule.path->matches(call_.args))) return Match3::no;
        return has_failed ? Match3::error : Match3::yes;
    }

    void add(Finding finding) {
        finding.risk = std::max(finding.risk, level_);
        if (finding.effect == Effect::deny) is_denied_ = true;
        if (finding.effect == Effect::require && finding.is_hard) is_hard_ = true;
        parts_.findings.push_back(finding);
        if (recorder_) recorder_->findings.push_back(finding);
    }

    void add_rule(std::uint32_t index, Effect effect, bool is_error) {
        Finding finding;
        finding.cause = Cause::rule;
        finding.effect = effect;
        finding.is_hard = true;
        finding.is_error = is_error;
        finding.index = static_cast<int>(index);
        finding.gate = policy_.rules[index].gate;
        finding.risk = policy_.file.rules[index].risk.value_or(RiskLevel::low);
        finding.specificity = 9;
        finding.is_no_excuse = is_error || policy_.rules[index].is_no_excuse || is_guess(index);
        add(finding);
    }

    /// A command that cannot be read may hold whatever a rule looks for.
    bool is_guess(std::uint32_t index) {
        if (!policy_.file.rules[index].shell) return false;
        const ShellLine* line = bindings_.line();
        return line && line->is_opaque();
    }

    Effect effect_of(OnError on_error) const {
        return on_error == OnError::deny ? Effect::deny : Effect::require;
    }

    void find_denials() {
        for (const std::uint32_t index : entry_.deny) {
            const Match3 answer = matches(index);
            if (answer == Match3::no) continue;
            // A condition that fails proves nothing; people look at it. Where the steps are used up
            // the agent may have seen to that, and which rules were still read hangs on their
            // order.
            const bool is_error = answer == Match3::error;
            const bool is_held = is_error && !parts_.budget.is_exceeded();
            add_rule(index, is_held ? effect_of(policy_.on_error) : Effect::deny, is_error);
            if (is_denied_ && !recorder_) return;
        }
    }

    void find_hard() {
        for (const std::uint32_t index : entry_.require) {
            const Match3 answer = matches(index);
            if (answer == Match3::no) continue;
            const bool is_error = answer == Match3::error;
            add_rule(index, is_error ? effect_of(policy_.on_error) : Effect::require, is_error);
        }
        const auto add_plain = [&](Cause cause, int index = -1) {
            Finding finding;
            finding.cause = cause;
            finding.is_hard = true;
            finding.is_no_excuse = cause == Cause::pattern || cause == Cause::look_alike ||
                                   (cause == Cause::always_require && !is_required_firmly());
            finding.index = index;
            add(finding);
        };
        if (entry_.is_always_required &&
            (!entry_.must_check_names || is_named(policy_.file.always_require, call_.tool)))
            add_plain(Cause::always_require);
        for (const std::uint32_t index : entry_.require_patterns) {
            const Pattern& pattern = policy_.file.always_require_patterns[index];
            if (entry_.must_check_names && !is_named(pattern.tools, call_.tool)) continue;
            if (policy_.require_patterns[index].finds(call_.args, bindings_.line()))
                add_plain(Cause::pattern, static_cast<int>(index));
        }
        if (is_unknown() && entry_.must_check_names && is_look_alike(policy_, call_.tool)) {
            verdict_.assessed.factors |= look_alike;
            add_plain(Cause::look_alike);
        }
        if (call_.event == Event::input || call_.event == Event::confirmation)
            add_plain(Cause::question);
    }

    /// Whether always_require names it in a layer that no denial by default stands above.
    bool is_required_firmly() const {
        const PolicyFile& file = policy_.file;
        if (file.required_below_denial.empty()) return true;
        return std::ranges::any_of(file.always_require, [&](const std::string& name) {
            return is_named({name}, call_.tool) &&
                   std::ranges::find(file.required_below_denial, name) ==
                       file.required_below_denial.end();
        });
    }

    Effect otherwise() const { return entry_.tool ? policy_.decision : policy_.unknown_tools; }

    bool is_unknown() const { return call_.event == Event::tool_call && !entry_.tool; }

    void find_base() {
        for (const std::uint32_t index : entry_.gates) find_gate(index, Source::policy);
        for (const std::uint32_t index : entry_.claim_gates) {
            const bool is_claimed = policy_.file.gates[index].type == GateType::destructive_actions
                                        ? call_.claims.is_destructive
                                        : call_.claims.is_open_world;
            if (is_claimed) find_gate(index, Source::claim);
        }
        if (entry_.requires_approval) find_own_requirement();
        if (call_.event == Event::tool_call && otherwise() == Effect::require) add_all_tools();
        const ShellLine* line = bindings_.line();
        if (line && line->is_opaque()) {
            Finding finding;
            finding.cause = Cause::opaque_shell;
            finding.is_hard = true;
            finding.is_no_excuse = true;
            finding.specificity = -1;
            add(finding);
        }
    }

    void add_all_tools() {
        Finding finding;
        finding.cause = Cause::gate;
        // Where no tool is described, not being described says nothing.
        if (!entry_.tool)
            finding.cause =
                policy_.file.tools.empty() ? Cause::default_decision : Cause::unknown_tool;
        finding.index = policy_.all_tools_gate;
        finding.gate = policy_.all_tools_gate;
        finding.risk =
            policy_.file.gates[static_cast<std::size_t>(policy_.all_tools_gate)].risk.value_or(
                RiskLevel::low);
        finding.specificity = 0;
        add(finding);
    }

    void find_own_requirement() {
        const Match3 answer =
            ask(*entry_.requires_approval, Cause::requires_approval, 0, "requires_approval");
        if (answer == Match3::no) return;
        Finding finding;
        finding.cause = Cause::requires_approval;
        finding.is_error = answer == Match3::error;
        finding.is_hard = finding.is_error;
        finding.is_no_excuse = finding.is_error;
        if (finding.is_error) finding.effect = effect_of(policy_.on_error);
        finding.specificity = 7;
        add(finding);
    }

    /// Why a gate is for this call: by what the policy says of its tool, or by what the agent says.
    enum class Source { policy, claim };

    void find_gate(std::uint32_t index, Source source) {
        const Gate& gate = policy_.file.gates[index];
        const CompiledGate& compiled = policy_.gates[index];
        const bool is_meant = !entry_.must_check_names || is_named(gate.tools, call_.tool);
        if (!is_meant && !(gate.is_open_world && call_.claims.is_open_world)) return;
        const Match3 answer = stands_in_the_way(gate, compiled, index);
        if (answer == Match3::no) return;
        Finding finding;
        finding.cause = Cause::gate;
        finding.is_hard = compiled.is_hard;
        finding.index = static_cast<int>(index);
        finding.gate = static_cast<int>(index);
        finding.risk = gate.risk.value_or(RiskLevel::low);
        finding.specificity = compiled.specificity;
        finding.is_no_excuse = compiled.is_no_excuse || source == Source::claim || !is_meant ||
                               answer == Match3::error;
        if (answer == Match3::error) {
            const OnError on_error = gate.on_error.value_or(policy_.on_error);
            const bool may_fail_open = on_error == OnError::allow && !parts_.budget.is_exceeded();
            if (may_fail_open && std::max(level_, finding.risk) == RiskLevel::low) {
                verdict_.ungated.push_back(index);
                return;
            }
            finding.effect = effect_of(on_error);
            finding.is_error = true;
            finding.is_hard = true;
        }
        add(finding);
    }

    Match3 stands_in_the_way(const Gate& gate, const CompiledGate& compiled, std::uint32_t index) {
        const Match3 limit = passes_limit(gate, call_, state_, bindings_.cost_estimate());
        if (limit == Match3::no) return limit;
        const Match3 custom = ask_callable(compiled);
        if (custom == Match3::no) return custom;
        const Match3 when =
            compiled.when ? ask(*compiled.when, Cause::gate, index, "when") : Match3::yes;
        if (when == Match3::no) return when;
        const bool is_error =
            limit == Match3::error || custom == Match3::error || when == Match3::error;
        return is_error ? Match3::error : Match3::yes;
    }

    Match3 ask_callable(const CompiledGate& compiled) const {
        if (!compiled.callable) return Match3::yes;
        // Code that is not ours: whatever it throws is a failure of the gate, never a pass.
        try {
            switch (compiled.callable(call_, state_)) {
                case Extensions::Answer::pass:
                    return Match3::no;
                case Extensions::Answer::hold:
                    return Match3::yes;
                case Extensions::Answer::error:
                    break;
            }
        } catch (...) {
            return Match3::error;
        }
        return Match3::error;
    }

    // ---- risk

    void assess_without_arguments() {
        verdict_.assessed = {entry_.base_risk, entry_.base_factors};
        level_ = entry_.base_risk;
    }

    void assess() {
        BaseRisk& assessed = verdict_.assessed;
        assessed = assess_call(entry_, call_, bindings_.line(), state_.is_new_to_agent);
        for (const std::uint32_t index : entry_.risk_rules) {
            const RiskRule& rule = policy_.file.risk[index];
            if (entry_.must_check_names && !is_named(rule.tools, call_.tool)) continue;
            const auto& when = policy_.risk_rules[index].when;
            const Match3 answer = when ? answer_of(bindings_.run(*when)) : Match3::yes;
            if (answer == Match3::no) continue;
            assessed.level = std::max(assessed.level, rule.level);
            if (answer == Match3::error) assessed.factors |= unreadable;
        }
        for (const Extensions::Assessor& assessor : policy_.extensions.assessors) {
            Assessment assessment;
            assessment.level = assessed.level;
            try {
                assessor(call_, assessment);
            } catch (...) {
                assessment.level = std::max(assessment.level, RiskLevel::high);
                assessed.factors |= unreadable;
            }
            assessed.level = std::max(assessed.level, assessment.level);
        }
        // The flags of a server name one level for everything: what was found is told, not counted.
        if (policy_.file.defaults.unknown_risk) assessed.level = entry_.base_risk;
        level_ = assessed.level;
    }

    // ---- what waives

    bool is_covered(Finding& by) {
        const ShellLine* line = bindings_.line();
        if (line && line->is_opaque()) return false;
        return is_covered_by_rule(by, line) || is_covered_by_list(by, line) ||
               is_covered_by_grant(by) || is_covered_by_trust(by);
    }

    bool is_covered_by_rule(Finding& by, const ShellLine* line) {
        std::uint32_t covered = 0;
        const std::uint32_t all = line ? line->all_commands() : 0;
        for (const std::uint32_t index : entry_.allow) {
            const CompiledRule& rule = policy_.rules[index];
            const RiskCap cap = policy_.file.rules[index].auto_risk.value_or(policy_.auto_risk_max);
            if (!cap.covers(level_)) {
                if (recorder_) matches(index);
                continue;
            }
            if (matches(index) != Match3::yes) continue;
            if (!rule.shell) return allow_by(by, Cause::rule, static_cast<int>(index));
            // One line may be covered by several rules together, each some of its commands.
            const std::uint32_t mine = rule.shell->covered(*line);
            if (mine != 0 && covered == 0) allow_by(by, Cause::rule, static_cast<int>(index));
            covered |= mine;
            if (all != 0 && covered == all) return true;
        }
        return false;
    }

    static bool allow_by(Finding& by, Cause cause, int index) {
        by.cause = cause;
        by.effect = Effect::allow;
        by.index = index;
        return true;
    }

    bool is_covered_by_list(Finding& by, const ShellLine* line) {
        if (!policy_.auto_risk_max.covers(level_)) return false;
        if (entry_.is_never_required &&
            (!entry_.must_check_names || is_named(policy_.file.never_require, call_.tool)))
            return allow_by(by, Cause::never_require, -1);
        for (const std::uint32_t index : entry_.allow_patterns) {
            const std::string_view shell_arg =
                line ? std::string_view(entry_.tool->shell->arg) : std::string_view();
            if (policy_.allow_patterns[index].covers(call_.args, shell_arg, line))
                return allow_by(by, Cause::pattern, static_cast<int>(index));
        }
        return false;
    }

    bool is_covered_by_grant(Finding& by) {
        if (!policy_.file.grants || call_.event != Event::tool_call) return false;
        for (std::size_t i = 0; i < state_.grants.size(); ++i) {
            if (!covers(state_.grants[i], policy_, call_, level_)) continue;
            if (!stands_in(state_.grants[i])) continue;
            verdict_.grant = i;
            return allow_by(by, Cause::grant, static_cast<int>(i));
        }
        return false;
    }

    /// A grant is one person's yes, given where certain people were asked: it is none of the second
    /// person's, nor of others whom this call asks for.
    bool stands_in(const Grant& grant) {
        const core::Requirement needed = people_for(policy_, call_, parts_.findings);
        if (core::places_of(needed) > 1) return false;
        return !grant.asked || suffices(*grant.asked, asked_of(needed));
    }

    bool is_covered_by_trust(Finding& by) {
        if (!policy_.file.trust || !entry_.is_trustable || !state_.trust) return false;
        if (call_.claims.is_destructive && !policy_.file.trust->may_cover_destructive) return false;
        if (!policy_.file.trust->risk_max.covers(level_)) return false;
        if (state_.draw < policy_.file.trust->sample) return false;
        if (state_.trust->key != trust_key(policy_, call_)) return false;
        if (!is_trusted(*state_.trust, policy_, call_.now)) return false;
        const core::Requirement needed = people_for(policy_, call_, parts_.findings);
        if (core::places_of(needed) > 1 || needed.confirm_required) return false;
        if (!suffices(state_.trust->asked, asked_of(needed))) return false;
        verdict_.is_trusted = true;
        return allow_by(by, Cause::trust, -1);
    }

    // ---- the end

    Verdict settle() {
        Finding by;
        if (!is_hard_ && is_covered(by)) return allow(by);
        if (is_denied_by_default()) return deny(Cause::default_decision);
        if (!parts_.findings.empty()) return close();
        if (call_.event != Event::tool_call) return allow(by);
        // P4: whatever lets it pass by default, above this level somebody looks.
        if (!policy_.auto_risk_max.covers(level_)) {
            Finding finding;
            finding.cause = Cause::risk_cap;
            finding.gate = policy_.all_tools_gate;
            add(finding);
            return close();
        }
        return allow(by);
    }

    /// Nothing that the policy says of the call lets it pass or asks people about it: what the
    /// agent says of itself, and what is merely odd, must not bring before people what is denied
    /// without.
    bool is_denied_by_default() {
        if (call_.event != Event::tool_call || otherwise() != Effect::deny) return false;
        if (!std::ranges::all_of(parts_.findings, &Finding::is_no_excuse)) return false;
        // Without a hard finding it was asked already, in vain.
        if (!is_hard_) return true;
        Finding by;
        const bool would_pass = is_covered(by);
        verdict_.grant.reset();
        verdict_.is_trusted = false;
        return !would_pass;
    }

    Verdict allow(Finding by) {
        by.risk = level_;
        by.effect = Effect::allow;
        if (!verdict_.ungated.empty() && by.cause == Cause::default_decision) {
            by.cause = Cause::ungated;
            by.index = static_cast<int>(verdict_.ungated.front());
            by.gate = by.index;
        }
        if (recorder_) recorder_->findings.push_back(by);
        verdict_.kind = VerdictKind::allow;
        verdict_.risk = level_;
        verdict_.decisive = by;
        return finished();
    }

    Verdict deny(Cause cause) {
        Finding finding;
        finding.cause = cause;
        finding.effect = Effect::deny;
        finding.is_hard = true;
        add(finding);
        return close();
    }

    /// Denied or held, by what was found.
    Verdict close() {
        const auto& findings = parts_.findings;
        verdict_.risk = level_;
        if (is_denied_) {
            // The first denial ends it: what else might have been found does not show.
            verdict_.decisive = *std::find_if(
                findings.begin(), findings.end(),
                [](const Finding& finding) { return finding.effect == Effect::deny; });
        } else {
            verdict_.decisive = *std::min_element(findings.begin(), findings.end(), comes_before);
            for (const Finding& finding : findings)
                verdict_.risk = std::max(verdict_.risk, finding.risk);
        }
        verdict_.kind = is_denied_ ? VerdictKind::deny : VerdictKind::hold;
        verdict_.findings = findings;
        return finished();
    }

    Verdict finished() {
        verdict_.steps = 10'000 - parts_.budget.steps;
        return std::move(verdict_);
    }

    void record_line() {
        const ShellLine* line = bindings_.line();
        recorder_->has_line = line != nullptr;
        if (!line || !line->is_opaque()) return;
        recorder_->is_opaque = true;
        recorder_->opaque_reason = line->reason();
        recorder_->opaque_position = line->position();
    }

    const Policy& policy_;
    const Entry& entry_;
    const Call& call_;
    const StateView& state_;
    Workspace::Parts& parts_;
    Recorder* recorder_;
    Bindings bindings_;
    Verdict verdict_;
    RiskLevel level_ = RiskLevel::critical;
    bool is_denied_ = false;
    bool is_hard_ = false;
};

}  // namespace

Verdict judge(const Policy& policy, const Entry& entry, const Call& call, const StateView& state,
              Workspace::Parts& parts, Recorder* recorder) {
    return Judge(policy, entry, call, state, parts, recorder).decide();
}

}  // namespace holdpoint::policy
