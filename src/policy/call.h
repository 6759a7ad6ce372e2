#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "core/proposal.h"
#include "policy/file.h"
#include "policy/state.h"

namespace holdpoint::policy {

/// What the agent says about its own action. Each of these can make policy stricter, none of them
/// can make it milder.
struct Claims {
    std::optional<RiskLevel> risk;
    bool is_destructive = false;  ///< MCP's destructiveHint
    bool is_open_world = false;   ///< MCP's openWorldHint
    bool is_irreversible = false;
    std::optional<double> cost;

    bool is_any() const {
        return risk || is_destructive || is_open_world || is_irreversible || cost;
    }
};

/// What policy judges: one event with everything that conditions can see but the state. A plain
/// value; its arguments and its subject live in the memory it was made with. Built once, then only
/// read.
struct Call {
    Call() = default;
    /// Its arguments and its subject live in `storage`.
    explicit Call(const json::storage_ptr& storage) : args(storage), subject(storage) {}

    Event event = Event::tool_call;
    std::string tool;
    json::object args;
    json::value subject;  ///< of a plan, response, input or confirmation: the whole object

    std::string agent, agent_role, agent_parent;
    int agent_depth = 0;
    std::string user;  ///< as the agent states it
    std::vector<std::string> user_roles;
    bool are_roles_known = true;  ///< false: whoever asks for the roles finds an error
    std::string session;
    std::string task;
    int task_steps = 0;
    std::optional<double> confidence;  ///< as the agent states it
    Claims claims;
    Timestamp now;
};

/// What a proposal does not say itself.
struct Caller {
    std::string agent = {};  ///< name, from the credential
    std::string role = {};   ///< of the agent
    std::string parent = {};
    int depth = 0;
    std::vector<std::string> user_roles = {};  ///< of the person the agent works for
    bool are_roles_known = true;               ///< false where nobody vouches for that person
    int task_steps = 0;
    Timestamp now = {};
};

/// Fails with invalid_argument where the proposal's texts are no JSON; policy then holds nothing
/// and allows nothing, since it was never asked. Who only looks at the call and lets go of it gives
/// memory that frees nothing one by one; it must outlive the call.
Result<Call> make_call(const core::Proposal& proposal, const Caller& caller,
                       const json::storage_ptr& storage = {});

/// The same of a stored request. Its risk is what was assessed, so nothing that the agent claimed
/// about it enters the call.
Result<Call> make_call(const core::Request& request, const Caller& caller,
                       const json::storage_ptr& storage = {});

/// A call as people write it down, with the state it meets: tests in files, `policy explain`.
struct Situation {
    Call call;
    StateView state;
    std::vector<std::pair<std::string, double>> counters;  ///< by name; see with_counters()
};

/// Reads `{tool, args, event?, plan?, response?, context?, counters?, grants?, now?}`. Fields that
/// are not understood are refused. `now` is taken where the document names no time.
Result<Situation> read_situation(const json::value& document, Timestamp now);

}  // namespace holdpoint::policy
