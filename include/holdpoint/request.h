#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <holdpoint/json.h>
#include <holdpoint/words.h>

namespace holdpoint {

/// What people should know before they decide. Everything here is the agent's word, and is shown as
/// such.
struct Context {
    std::string task_description = {};
    std::string conversation_summary = {};
    std::vector<std::string> steps_completed = {};
    std::string current_reasoning = {};
    std::string user_prompt = {};
    Json relevant_history = {};  ///< an array

    Json json() const;
};

/// What every proposal may say beside what it is about. Nothing in it can make it easier to pass.
struct Asking {
    std::optional<RiskLevel> risk = {};                     ///< a claim; counts only upwards
    std::optional<double> confidence = {};                  ///< 0 to 1, as the agent states it
    std::optional<std::chrono::milliseconds> timeout = {};  ///< policy's own, if not said
    std::optional<TimeoutAction> on_timeout = {};
    Context context = {};
    Json metadata = {};   ///< an object
    Json suggested = {};  ///< an answer that the agent suggests
};

/// One tool call that may have to wait for a person.
struct Action {
    std::string tool = {};
    Json arguments = Json::object();
    std::string description = {};  ///< for people, in the agent's words
    std::string expected_outcome = {};
    std::optional<bool> reversible = {};
    std::optional<double> estimated_cost = {};
    Asking asking = {};
};

struct PlanStep {
    std::string action = {};
    std::string tool = {};  ///< that it will call; policy may look at it
    std::string description = {};
    bool is_optional = false;  ///< may be left out by whoever approves
    int order = 0;             ///< filled in by Holdpoint where it is 0
};

/// Several steps that are approved together, before the first.
struct Plan {
    std::string title = {};
    std::vector<PlanStep> steps = {};
    std::optional<std::chrono::seconds> estimated_duration = {};
    bool is_modifiable = true;
    Asking asking = {};
};

enum class InputType { text, number, choice, multi_choice, date, file };

/// Something that only a person knows.
struct Question {
    std::string question = {};
    InputType type = InputType::text;
    std::vector<std::string> options = {};  ///< of the two choices
    std::optional<double> min = {}, max = {};
    bool is_required = true;
    Json default_value = {};
    Asking asking = {};
};

/// A yes or no with its two labels.
struct Confirmation {
    std::string message = {};
    std::string details = {};
    std::string confirm_label = "Confirm";
    std::string cancel_label = "Cancel";
    Asking asking = {};
};

/// One person's answer.
struct Decision {
    DecisionKind kind = DecisionKind::reject;
    std::string by = {};  ///< who; filled in from the credential where a server decides
    std::string note = {}, reason = {}, guidance = {};
    std::string to = {};                                  ///< escalate: `group:NAME` or a person
    Json replacement = {};                                ///< modify: arguments, plan or response
    Json answer = {};                                     ///< answer
    std::optional<std::vector<int>> approved_steps = {};  ///< approve a plan in part
    std::string confirm = {};  ///< the code, where the request asks for one
    std::string at = {};       ///< when, as the server says
    /// Of the request that the person saw (Request::digest). Without it approving and modifying
    /// count only while nobody has changed the request.
    std::string digest = {};
};

/// What may run now: exactly this, whatever was proposed.
struct Release {
    std::string request_id;
    std::string tool;  ///< of an action
    Json arguments;    ///< of an action; else the plan, confirmation or response
    std::string digest;
    bool is_modified = false;  ///< a person changed it
    std::string message;       ///< what to tell the model
};

/// A request as Holdpoint has it: the resource of the REST API, read.
struct Request {
    std::string id;
    Kind kind = Kind::action;
    State state = State::pending;
    std::optional<Outcome> outcome;
    std::string session, thread, task, user, agent, batch;
    Json subject;   ///< the action, plan, input, confirmation or response
    Json proposed;  ///< what it was before people changed it; null if unchanged
    std::string headline;
    RiskLevel risk = RiskLevel::medium;
    std::vector<std::string> risk_factors, consequences;
    VerdictKind verdict = VerdictKind::hold;
    std::string rule, gate, because;
    bool is_reason_required = false;
    bool is_modifiable = true;
    std::string confirm;              ///< the code to type when approving; empty: none
    std::vector<std::string> voters;  ///< whose decisions count already
    std::string digest, created_at, expires_at, settled_at;
    Json context;
    std::optional<Decision> decision;
    std::optional<Release> release;
    std::optional<TimeoutAction> timed_out;  ///< nobody decided in time, and this was done instead
    std::string message_for_agent;
    Json report;  ///< null until the agent said what happened
    Json json;    ///< all of it, as it came

    bool is_settled() const { return state == State::settled; }
    std::string tool() const { return subject["tool"].text_or(""); }
    Json arguments() const { return subject["arguments"]; }

    /// Reads the resource. A field that is missing or of the wrong kind is an error (`internal`):
    /// an answer that cannot be understood releases nothing.
    static Result<Request> read(const Json& resource);
};

}  // namespace holdpoint
