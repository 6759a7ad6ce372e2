#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/request.h"
#include "policy/args.h"
#include "policy/yaml/node.h"

/// What a policy file says, as plain values: the model that files, presets, layers and code (see
/// builder.h) all produce and that compile.h turns into a Policy. Nothing here is checked beyond
/// its shape; compile() is where names, types and costs are judged.
namespace holdpoint::policy {

using core::RiskLevel;
using core::TimeoutAction;
using yaml::Mark;

enum class Effect { allow, require, deny };

/// What is judged. A rule or gate sees it as `event`, by these words.
enum class Event { tool_call, plan, final_response, input, confirmation };

enum class GateType {
    tool_execution,       ///< every tool call
    specific_tools,       ///< the named tools
    destructive_actions,  ///< tools that the operator calls destructive
    final_response,       ///< the agent's last answer; hard
    plan_approval,        ///< a plan; hard
    threshold_based,      ///< stated confidence too low; hard
    budget_based,         ///< cost or tokens too high; hard
    custom                ///< a condition, or a callable of the embedding program
};

/// What a condition that cannot be evaluated means. `allow` is for gates only, and only up to low
/// risk; it is recorded as `ungated`.
enum class OnError { require, deny, allow };

/// Over what a budget is counted; `call` is the estimate of this action alone.
enum class Window { call, task, session, day };

enum class Layer { project, team, organisation };

std::string_view to_string(Effect);
std::string_view to_string(Event);
std::string_view to_string(GateType);
std::string_view to_string(OnError);
std::string_view to_string(Window);
std::string_view to_string(Layer);

/// A CEL expression as written. Empty text means: none.
struct Expression {
    std::string text = {};
    Mark mark = {};

    bool is_set() const { return !text.empty(); }
};

/// A highest level that passes without a person; `none` is "nothing does".
struct RiskCap {
    std::optional<RiskLevel> level;  ///< nullopt: none

    bool covers(RiskLevel risk) const { return level && risk <= *level; }
    bool operator==(const RiskCap&) const = default;
};

struct ApproverLine {
    std::string group = {};
    int quorum = 1;
    Mark mark = {};
};

/// Named people and roles. `{{user.id}}` among the users is the person the agent works for.
struct ApproverGroup {
    std::string name;
    std::vector<std::string> users;
    std::vector<std::string> roles;
    Mark mark;
};

struct ShellFact {
    std::string arg;
    std::string dialect = "bash";
    Mark mark;
};

/// What the operator knows about a tool. Agents claim such things too; a claim only tightens.
struct Tool {
    std::string name = {};
    Mark mark = {};
    std::optional<bool> destructive = {}, reversible = {}, read_only = {}, open_world = {};
    std::optional<RiskLevel> risk = {};
    std::optional<ArgType> args = {};  ///< an object type; without it arguments are not checked
    std::optional<ShellFact> shell = {};
    std::string message = {};                    ///< template of the headline
    std::vector<std::string> consequences = {};  ///< shown with the risk
    std::vector<std::string> redact = {};        ///< arguments that headlines never show
    Expression cost = {};                        ///< estimated cost of one call
    Expression requires_approval = {};           ///< `true` and `false` are expressions too
};

/// How long people have and what follows, wherever it can be said: defaults, gates, rules.
struct Patience {
    std::optional<std::int64_t> timeout_ms = {};
    std::optional<TimeoutAction> on_timeout = {};
    std::string default_decision = {};  ///< for on_timeout default: approve, skip, abort or reject
    std::optional<std::int64_t> remind_every_ms = {};
    std::optional<int> reminders_max = {};
    std::optional<std::int64_t> escalate_after_ms = {};
    std::vector<ApproverLine> escalate_to = {};
    std::optional<int> retries_max = {};
};

/// What it takes beside the approvers; a field that nobody sets keeps the default of core.
struct Demands {
    std::optional<bool> allow_modification = {}, require_reason = {}, exclude_requester = {},
                        confirm_code = {};
    std::optional<int> reject_threshold = {};
};

struct Gate {
    std::string name = {};
    Mark mark = {};
    GateType type = GateType::tool_execution;
    std::vector<std::string> tools = {};  ///< names or globs
    bool is_open_world = false;           ///< specific_tools: also every tool of the open world
    Expression when = {};
    std::string callable = {};  ///< custom: a function of the embedding program, by name
    std::optional<double> confidence_below = {};
    std::optional<double> cost_above = {};
    std::optional<double> tokens_above = {};
    Window window = Window::task;
    std::optional<RiskLevel> risk = {};
    std::vector<ApproverLine> approvers = {};
    Patience patience = {};
    Demands demands = {};
    std::string message = {};
    std::string because = {};
    std::optional<OnError> on_error = {};
    bool is_implied = false;       ///< added by compile(): stands for the default decision
    bool is_lower = false;         ///< set by extend(): a layer stands above it
    bool is_below_denial = false;  ///< set by extend(): that layer denies by default
};

/// `path: {arg, any: […]}` finds, `path: {arg, all: […]}` proves.
struct PathTest {
    std::string arg;
    std::vector<std::string> any;
    std::vector<std::string> all;
    Mark mark;
};

/// One word of a shell pattern: these alternatives, or options that must be among the arguments.
struct ShellWord {
    std::vector<std::string> any_of;
    bool is_option_set = false;  ///< `{has: [...]}`
};
using ShellCommand = std::vector<ShellWord>;

struct ShellTest {
    std::vector<ShellCommand> any;                ///< found anywhere in the line
    std::vector<ShellCommand> every;              ///< proves every command of the line
    std::vector<std::vector<ShellCommand>> pipe;  ///< one of each, in this order, in a pipeline
    std::optional<bool> opaque;
    Mark mark;
};

struct Rule {
    std::string id = {};
    Mark mark = {};
    std::vector<std::string> tools = {};  ///< empty: every event and every tool
    Expression when = {}, unless = {};
    std::optional<PathTest> path = {};
    std::optional<ShellTest> shell = {};
    Effect then = Effect::require;
    std::string gate = {};           ///< require: this gate's approvers and times come with it
    bool is_below_its_gate = false;  ///< set by extend(): the gate is one of a layer above
    bool is_lower = false;           ///< set by extend(): a layer stands above it
    bool is_below_denial = false;    ///< set by extend(): that layer denies by default
    std::optional<RiskLevel> risk = {};
    std::optional<RiskCap> auto_risk = {};  ///< allow: must be written out to pass the cap
    std::vector<ApproverLine> approvers = {};
    Patience patience = {};
    Demands demands = {};
    std::string message = {};
    std::string because = {};
};

/// A text pattern over string arguments; exactly one of the four is set.
struct Pattern {
    enum class Form { word, prefix, glob, regex };
    Form form = Form::word;
    std::string text;
    std::vector<std::string> tools;  ///< empty: all
    std::string arg;                 ///< empty: every string argument
    Mark mark;
};

/// A sliding window that conditions read as `counters.<name>`.
struct Counter {
    std::string name;
    Mark mark;
    std::vector<std::string> on;  ///< tools whose calls are counted
    Expression key;               ///< text; without it one count for everything
    Expression add;               ///< number; without it 1
    std::int64_t window_ms = 0;
};

struct Variable {
    std::string name;
    Expression value;
};

/// What a grant of "similar" pins and bounds, by tool.
struct Similar {
    std::string tool;
    std::vector<std::string> pin;    ///< paths that must be equal: `agent.id`, `args.currency`
    std::vector<std::string> bound;  ///< numbers that must be at most what was approved
    bool may_pin_prefix = false;     ///< shell: the approver may pick a prefix of the words
    Mark mark;
};

struct GrantRules {
    std::vector<std::string> offer;  ///< `once`, `similar`, `session`
    std::int64_t ttl_max_ms = 3'600'000;
    int uses_max = 10;
    std::optional<double> sum_max;  ///< of what `bound` bounds, over the life of the grant
    RiskCap risk_max{RiskLevel::medium};
    std::vector<Similar> similar;
    Mark mark;
};

struct TrustRules {
    int after = 0;  ///< 0: off
    std::vector<std::string> tools;
    std::vector<std::string> scope;
    RiskCap risk_max{RiskLevel::medium};
    std::int64_t min_review_ms = 0;
    std::int64_t expires_ms = 14 * 86'400'000LL;
    std::vector<std::string> reset_on{"reject", "modify", "timeout", "policy_change"};
    double sample = 0;  ///< this share still goes to a person
    int distinct_approvers = 1;
    bool may_cover_destructive = false;
    Mark mark;
};

/// Raises the risk where its condition holds, with the words people read.
struct RiskRule {
    std::string id = {};
    Mark mark = {};
    std::vector<std::string> tools = {};
    Expression when = {};
    RiskLevel level = RiskLevel::medium;
    std::string factor = {};
    std::string consequence = {};
};

/// Full paths that count as a program's name in shell commands.
struct HostExecutable {
    std::string name;
    std::vector<std::string> paths;
};

struct Defaults {
    std::optional<Effect> decision;
    std::optional<Effect> unknown_tools;  ///< those that `tools` does not describe; else require
    std::optional<RiskCap> auto_risk_max;
    std::optional<OnError> on_error;
    std::vector<ApproverLine> approvers;
    Patience patience;
    Demands demands;
    Mark mark;

    /// What holds without a word: everything is held, and tools that nobody described are denied
    /// where the others are.
    Effect decision_or_default() const { return decision.value_or(Effect::require); }
    Effect unknown_tools_or_default() const {
        const bool is_denial = decision_or_default() == Effect::deny;
        return unknown_tools.value_or(is_denial ? Effect::deny : Effect::require);
    }

    // From code only: what the flags of a server without a policy file say.
    std::optional<RiskLevel> unknown_risk;  ///< of tools that are not described
    std::optional<core::Requirement> requirement;
    std::optional<core::Timing> timing;
};

/// One unit test in the file.
struct Test {
    std::string name;
    Mark mark;
    json::value call;      ///< as explain takes it: tool, args, event, plan, response, context
    json::value counters;  ///< name -> value
    json::value grants;    ///< list of {tool, pins, at_most}
    std::optional<Timestamp> now;

    std::optional<std::string> decision;  ///< allow, require, deny
    std::optional<std::string> rule, gate, risk, why;
    std::optional<std::vector<ApproverLine>> approvals;
};

/// A whole file. Where sections are lists, order has no meaning but for what is reported first.
struct PolicyFile {
    std::string name;
    std::string extends;
    Mark extends_mark;
    Layer layer = Layer::project;
    bool is_disabled = false;  ///< master switch: everything passes and is recorded
    Defaults defaults;
    std::vector<Tool> tools;
    std::vector<std::string> always_require, never_require;
    std::vector<std::string> required_below_denial;  ///< set by extend(): those of always_require
                                                     ///< below a layer that denies by default
    std::vector<Pattern> auto_allow_patterns, always_require_patterns;
    std::vector<ApproverGroup> approvers;
    std::vector<Gate> gates;
    std::vector<Rule> rules;
    std::vector<Counter> counters;
    std::vector<Variable> vars;
    std::optional<GrantRules> grants;
    std::optional<TrustRules> trust;
    std::vector<RiskRule> risk;
    std::vector<std::string> delegate;  ///< what the layer below may allow
    std::vector<HostExecutable> host_executables;
    std::vector<Test> tests;

    std::string source;              ///< the text it came from
    std::vector<std::string> above;  ///< those of what it extends, the nearest first
};

/// Reads one file's text; `extends` is not followed (see extend.h). Errors begin with line and
/// column, and name the nearest word where one is misspelt.
Result<PolicyFile> read_policy(std::string_view text);

/// The same from a tree that was read already.
Result<PolicyFile> read_policy(const yaml::Node& root);

}  // namespace holdpoint::policy
