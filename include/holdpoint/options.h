#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <holdpoint/human.h>
#include <holdpoint/task.h>

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

enum class GateType {
    tool_execution,       ///< every tool call
    specific_tools,       ///< `tools`
    destructive_actions,  ///< tools whose facts say so
    final_response,       ///< the final answer
    plan_approval,        ///< plans
    threshold_based,      ///< confidence below `confidence_below`
    budget_based,         ///< cost or tokens above the threshold
    custom,               ///< `condition`
};

/// When an action is held, and for whom (G1 to G9).
struct Gate {
    std::string name = {};
    GateType type = GateType::tool_execution;
    std::vector<std::string> tools = {};
    std::optional<double> confidence_below = {};
    std::optional<double> cost_above = {};
    std::optional<double> tokens_above = {};
    enum class Window { action, task, session, day } window = Window::session;
    /// custom: true holds; where it throws the action is held.
    std::function<bool(const Action& action)> condition = {};
    std::optional<std::chrono::milliseconds> timeout = {};
    std::optional<TimeoutAction> on_timeout = {};
    bool may_modify = true;
    bool is_reason_required = false;
    struct Approvers {
        std::string group;
        int quorum = 1;
    };
    std::vector<Approvers> approvers = {};  ///< empty: anybody
    std::optional<RiskLevel> risk = {};
};

/// What holds for every proposal of this process, embedded or remote.
struct Labels {
    /// Names the run. With a session of its own choice a program that was killed goes on where it
    /// was: the same actions find the same requests, and what ran does not run again but gives its
    /// old result. So a name is for one run: what shall be done anew needs a new one. Empty: a
    /// random one.
    std::string session = {};
    std::string thread = {}, task = {}, user = {};
};

/// What happens to a request while nobody can be asked. Nothing here ever lets it pass.
enum class WhenUnavailable {
    refuse,  ///< it is withdrawn at once and not run
    wait,    ///< it stays pending until somebody comes or its deadline passes
};

/// Policy, store and service in this process; no server.
struct EmbeddedOptions {
    std::string data = {};        ///< folder of the store; empty: in memory, gone with the process
    std::string agent = "agent";  ///< the agent's name in requests and in the log

    std::string preset = {};       ///< minimal, standard, strict or paranoid
    std::string policy = {};       ///< the text of a policy file; wins over `preset`
    std::string policy_file = {};  ///< wins over both
    /// Added to the above. Gates alone, without preset and policy, hold what they name and let the
    /// other declared tools pass; without anything every action is held.
    std::vector<Gate> gates = {};
    std::vector<ToolFacts> tools = {};  ///< more can be declared later
    std::chrono::milliseconds timeout{300'000};
    TimeoutAction on_timeout = TimeoutAction::reject;

    std::shared_ptr<HumanInterface> human = {};  ///< without one only Holdpoint::decide() decides
    std::string person = "operator";             ///< who decides where the interface names nobody
    /// The groups of people, by name; `person` and others decide for the groups they are in.
    std::vector<std::pair<std::string, std::vector<std::string>>> groups = {};
    WhenUnavailable when_unavailable = WhenUnavailable::refuse;

    Labels labels = {};
    Executor resume_on = {};  ///< where coroutines go on; a thread of ours if empty
};

/// A Holdpoint server, reached with an agent's key.
struct RemoteOptions {
    std::string url = "http://127.0.0.1:7480";
    std::string key = {};
    std::string ca_file = {};   ///< beside the system's
    bool may_use_http = false;  ///< send the key unencrypted beyond this machine
    /// How long an unreachable server is tried again before the action is given up, not run.
    std::chrono::milliseconds unreachable_after{30'000};
    /// Where the journal of named sessions is kept; empty: `$XDG_STATE_HOME/holdpoint`, else
    /// `~/.local/state/holdpoint`.
    std::string state = {};

    Labels labels = {};
    Executor resume_on = {};
};

}  // namespace holdpoint
