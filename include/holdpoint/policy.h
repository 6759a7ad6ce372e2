#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <holdpoint/request.h>

// Policy in code, for embedded use. It is the same engine that reads policy files, with the same
// checks: what is wrong is an error when Holdpoint is opened, and docs/policy.md says what each
// part means. Whatever denies wins over whatever asks for a person, and that over whatever lets
// pass, in whatever order the parts come.
namespace holdpoint {

/// What an operator knows about a tool (G11); policy relies on it.
struct ToolFacts {
    std::string name = {};
    RiskLevel risk = RiskLevel::low;
    bool is_destructive = false;  ///< changes state in a way that is not easily undone
    bool is_read_only = false;
    bool is_open_world = false;  ///< reaches beyond this system
    bool is_reversible = true;
    bool requires_approval = false;  ///< always, whatever the arguments
    double estimated_cost = 0;       ///< of one call
    std::vector<std::string> consequences = {};
    /// Whether these arguments need a person; where it throws they do.
    std::function<bool(const Json& arguments)> approval_condition = {};
};

/// So many people of a group; its name alone stands for one.
struct Approvers {
    std::string group = {};
    int quorum = 1;
};

enum class GateType {
    tool_execution,       ///< every tool call
    specific_tools,       ///< `tools`
    destructive_actions,  ///< tools whose facts say so
    final_response,       ///< the final answer
    plan_approval,        ///< plans
    threshold_based,      ///< confidence below `confidence_below`
    budget_based,         ///< cost or tokens above the threshold
    custom,               ///< `condition`, or `when`
};

/// What a gate means whose condition cannot be told.
enum class OnError {
    hold,
    deny,
    pass,  ///< only what is low risk, recorded as ungated; the rest is held
};

/// When an action is held, and for whom (G1 to G9).
struct Gate {
    std::string name = {};
    GateType type = GateType::tool_execution;
    std::vector<std::string> tools = {};  ///< names or globs
    std::optional<double> confidence_below = {};
    std::optional<double> cost_above = {};
    std::optional<double> tokens_above = {};
    enum class Window { action, task, session, day } window = Window::session;
    /// custom: true holds; where it throws `on_error` says what follows.
    std::function<bool(const Action& action)> condition = {};
    /// The same as an expression of the policy language, also for the other types.
    std::string when = {};
    OnError on_error = OnError::hold;

    std::optional<std::chrono::milliseconds> timeout = {};
    std::optional<TimeoutAction> on_timeout = {};
    /// For TimeoutAction::use_default: reject, skip, abort, or approve at low risk.
    std::optional<TimeoutAction> default_decision = {};
    std::optional<int> retries_max = {};
    std::optional<std::chrono::milliseconds> remind_every = {};
    std::optional<int> reminders_max = {};
    std::optional<std::chrono::milliseconds> escalate_after = {};
    std::vector<Approvers> escalate_to = {};

    bool may_modify = true;
    bool is_reason_required = false;
    bool excludes_requester = false;           ///< Labels::user may not decide
    bool must_confirm = false;                 ///< whoever approves types the code of the request
    std::optional<int> reject_threshold = {};  ///< so many rejections end it; one, if not said
    std::vector<Approvers> approvers = {};     ///< empty: anybody
    std::optional<RiskLevel> risk = {};        ///< at least
    std::string message = {};  ///< headline of the request: `Refund {{args.amount}} euros`
    std::string because = {};  ///< why it is held, for people and for the model
};

/// What follows for actions that match: as `rules` in a policy file.
struct Rule {
    std::string id = {};
    std::vector<std::string> tools = {};  ///< names or globs; empty: everything
    std::string when = {}, unless = {};   ///< expressions: `args.amount > 500.0`
    enum class Then { allow, require, deny } then = Then::require;
    std::string gate = {};                  ///< require: this gate's people and times
    std::vector<Approvers> approvers = {};  ///< require
    std::optional<RiskLevel> risk = {};     ///< at least
    /// allow: the highest risk that it lets pass; not said: what passes by itself.
    std::optional<RiskLevel> auto_risk = {};
    std::string because = {};
};

/// Amounts above the limit need these people; so does what is no number.
Rule require_above(const std::string& tool, const std::string& argument, double limit,
                   std::vector<Approvers> approvers = {});
/// The tool is denied unless Labels::user is in the group.
Rule require_role(const std::string& tool, const std::string& group);

/// How risky an action is, in the eyes of an assessor (Q7).
struct Assessment {
    RiskLevel level = RiskLevel::low;
    std::vector<std::string> factors = {};       ///< what speaks for caution, for people
    std::vector<std::string> consequences = {};  ///< what may follow, for people
};

/// Looks at one action; called on a thread of the engine, several times for one action, so it must
/// be quick and change nothing. The level can only rise above what policy found itself. An assessor
/// that throws, or gives what is no level or no text, has the action held.
using Assessor = std::function<Assessment(const Action& action)>;

/// A part of a policy; parts can be made in different places and added up.
struct PolicyPart {
    std::vector<Gate> gates = {};
    std::vector<Rule> rules = {};
    std::vector<Assessor> assessors = {};
    std::vector<ToolFacts> tools = {};  ///< more can be declared later
    std::vector<std::string> always_require = {}, never_require = {};

    PolicyPart& operator+=(const PolicyPart& more);
};

}  // namespace holdpoint
