#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <holdpoint/human.h>
#include <holdpoint/policy.h>
#include <holdpoint/task.h>

namespace holdpoint {

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

/// Policy, store and service in this process; no server. The parts of policy that come from code
/// (gates, rules, assessors, tools) are added to the preset, text or file.
struct EmbeddedOptions : PolicyPart {
    std::string data = {};        ///< folder of the store; empty: in memory, gone with the process
    std::string agent = "agent";  ///< the agent's name in requests and in the log

    std::string preset = {};       ///< minimal, standard, strict or paranoid
    std::string policy = {};       ///< the text of a policy file; wins over `preset`
    std::string policy_file = {};  ///< wins over both
    /// What happens to declared tools that nothing names, without policy and policy_file. Not said:
    /// the preset's word; without one, gates alone hold what they name and let the rest pass, and
    /// without gates everything is held.
    std::optional<Rule::Then> otherwise = {};
    /// The highest risk that passes without a person, without policy and policy_file. Not said: the
    /// preset's word; without one any, if the gates have been given in code.
    std::optional<RiskLevel> auto_risk_max = {};
    std::chrono::milliseconds timeout{300'000};
    TimeoutAction on_timeout = TimeoutAction::reject;

    std::shared_ptr<HumanInterface> human = {};  ///< without one only Holdpoint::decide() decides
    std::string person = "operator";             ///< who decides where the interface names nobody
    /// The groups of people, by name; `person` and others decide for the groups they are in. They
    /// are also the roles of Labels::user, the person for whom this program works.
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
