#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/id.h"
#include "base/time.h"
#include "core/words.h"

namespace holdpoint::core {

/// Canonical JSON (RFC 8785) kept as its text. Most of a request is carried through untouched: it
/// is validated once at the door, and then stored, hashed and shown as these very bytes.
struct JsonText {
    std::string text;  ///< empty means null

    bool is_null() const { return text.empty(); }
    bool operator==(const JsonText&) const = default;
};

/// Who did something, from where. Built from the credential at the door, never from a payload.
struct Actor {
    PrincipalId id;
    std::string name;
    bool is_agent = false;
    std::vector<std::string> groups;
    std::string via;      ///< the door: `api`, `cookie`, `alias`, `timer`, …
    std::string address;  ///< peer address as text
};

/// One place in a requirement: so many people of this group, or of these names, or of anybody who
/// may decide when both are empty.
struct RequirementLine {
    std::string group;
    std::vector<std::string> people;
    int quorum = 1;
    int have = 0;                                ///< how many places are filled by the votes so far
    std::vector<std::string> other_groups = {};  ///< whose people count as well

    bool operator==(const RequirementLine&) const = default;
};

/// What it takes to settle a request. Each person fills one place: two lines mean two people.
struct Requirement {
    std::vector<RequirementLine> lines{RequirementLine{}};
    int reject_threshold = 1;      ///< that many rejections end it
    bool reason_required = false;  ///< a rejection or abort must say why
    bool modifiable = true;
    bool exclude_requester = false;  ///< the agent's owner and the user it works for may not decide
    bool confirm_required = false;   ///< approving needs a confirmation code or a passkey

    bool operator==(const Requirement&) const = default;
};

/// One person's decision, as recorded.
struct Decision {
    DecisionKind kind = DecisionKind::reject;
    PrincipalId by_id;
    std::string by;
    std::string via;
    std::string address;
    Timestamp at;
    std::string digest;  ///< what the person saw
    std::string note;
    std::string reason;
    std::string guidance;
    std::string target;    ///< escalate: a person or a group
    JsonText replacement;  ///< modify: the arguments, plan or response that run instead
    JsonText answer;
};

/// What a person wants done with a request.
struct DecisionCommand {
    DecisionKind kind = DecisionKind::reject;
    std::string digest;  ///< what the person saw; empty: the request as the agent proposed it
    std::string note;
    std::string reason;
    std::string guidance;
    std::string target;                              ///< escalate: `group:NAME` or a person
    JsonText replacement;                            ///< modify
    std::optional<Kind> replacement_kind;            ///< of what kind of request; unset: of this
    std::optional<std::vector<int>> approved_steps;  ///< approve a plan in part
    JsonText answer;                                 ///< answer; canonical, not yet checked
    std::string confirm;                             ///< the code, where the request asks for it
    /// A passkey's signature over this very decision, checked by the door; stands in for the code.
    JsonText proof = {};

    bool operator==(const DecisionCommand&) const = default;
};

/// A decision that is recorded and takes effect at `until`, unless its author takes it back.
struct Held {
    DecisionCommand command;  ///< its digest is that of the request when it was made
    Actor person;
    Timestamp at;
    Timestamp until;
};

/// A decision that still counts towards the requirement.
struct Vote {
    Decision decision;
    std::vector<std::string> groups;  ///< the voter's groups when voting
};

/// The reminder, escalation and timeout rules of one request, and how far they have gone.
struct Timing {
    std::int64_t timeout_ms = 300'000;
    TimeoutAction on_timeout = TimeoutAction::reject;
    RiskLevel approve_risk_max = RiskLevel::low;  ///< on_timeout approve never releases above this
    JsonText default_decision;                    ///< for on_timeout default
    std::int64_t remind_every_ms = 0;             ///< 0: never
    int reminders_max = 3;
    int reminders_sent = 0;
    std::int64_t escalate_after_ms = 0;  ///< 0: never
    std::string escalate_to;             ///< `group:NAME` or a person's name
    bool is_escalated = false;
    int retries_max = 1;
    int retries_done = 0;
    std::int64_t shifted_ms = 0;  ///< how far an operator who accepted a clock moved the deadlines
};

/// What policy said, kept with the request.
struct VerdictRecord {
    VerdictKind kind = VerdictKind::hold;
    std::string rule;
    std::string gate;
    std::string because;
    std::string policy = {};  ///< version of the policy that said it
};

struct Report {
    bool is_success = false;
    JsonText result;
    std::string error;
    Timestamp at;
};

/// What an agent asks, and everything that came of it.
struct Request {
    RequestId id;
    std::int64_t row = 0;  ///< the store's own number; ascends with creation; 0 until stored
    int version = 0;       ///< grows with every change
    Kind kind = Kind::action;
    State state = State::pending;
    std::optional<Outcome> outcome;

    std::string session;
    std::string thread;
    std::string task;
    std::string user;  ///< the person the agent says it works for
    PrincipalId agent_id;
    std::string agent;  ///< name of the agent, from its credential
    std::string owner;  ///< the person who owns that credential, may be empty
    std::optional<BatchId> batch;
    std::string tool;  ///< of an action, else empty

    JsonText
        subject;  ///< the object named like the kind: action, plan, input, confirmation, response
    JsonText proposed;  ///< the arguments, plan or response before people changed them; null if
                        ///< unchanged
    std::string headline;
    RiskLevel risk = RiskLevel::medium;
    JsonText risk_detail;  ///< factors, consequences, reversibility, confidence, what the agent
                           ///< claimed
    VerdictRecord verdict;
    Requirement requirement;
    Timing timing;
    std::string digest;
    Timestamp created_at;
    Timestamp expires_at;
    Timestamp next_at;  ///< when the timer must look at it next; meaningful while pending
    std::optional<Timestamp> settled_at;

    JsonText context;
    JsonText suggested;
    JsonText metadata;

    std::vector<Vote> votes;
    std::vector<Held> holds;                     ///< at most one of each person; none once settled
    std::optional<Decision> decision;            ///< the one that settled it
    std::optional<TimeoutAction> timeout_taken;  ///< set when time settled it
    bool is_released = false;
    std::string message_for_agent;
    std::optional<Report> report;
};

/// A request that nobody changes any more: how it passes between threads.
using RequestPtr = std::shared_ptr<const Request>;

/// One row of the event log (and, later, one leaf of the audit tree).
struct Event {
    EventKind kind = EventKind::requested;
    RequestId request;
    Timestamp at;
    std::string actor;  ///< name, or empty for the timer
    std::string via;
    std::string address;
    JsonText detail;
};

/// Something to tell the outside world: a row of the outbox, sent after the commit.
struct Effect {
    EventKind about = EventKind::requested;
    RequestId request;
};

/// What one accepted command changes. Committed whole or not at all.
struct Step {
    Request request;  ///< the state afterwards
    std::vector<Event> events;
    std::vector<Effect> effects;
};

}  // namespace holdpoint::core
