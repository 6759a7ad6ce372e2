#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "core/request.h"
#include "policy/state.h"

namespace holdpoint::store {

enum class Role { agent, approver, auditor, admin };

std::string_view to_string(Role role);
std::optional<Role> parse_role(std::string_view text);

/// An agent or a person. Names are unique; a person may hold several keys and a password.
struct Principal {
    PrincipalId id;
    std::string name;
    Role role = Role::agent;
    std::vector<std::string> groups;
    std::string owner;          ///< agents: the person responsible, may be empty
    std::string password_hash;  ///< argon2id, empty if none
    bool is_disabled = false;
    Timestamp created_at;
};

/// Whoever may decide at all: approver or admin, and not disabled.
bool may_decide(Role role);
bool is_decider(const Principal& person);

/// A key is shown once and stored only as its SHA-256.
struct Key {
    KeyId id;
    PrincipalId principal;
    std::string hash;  ///< 32 bytes
    std::string hint;  ///< the key's first characters, to recognise it
    Timestamp created_at;
    std::optional<Timestamp> expires_at;
    std::optional<Timestamp> revoked_at;
};

/// A signed-in browser, or a one-time sign-in link not yet used.
struct Session {
    std::string hash;  ///< SHA-256 of the token, 32 bytes
    PrincipalId principal;
    bool is_link = false;
    std::string csrf;
    Timestamp created_at;
    Timestamp expires_at;
    std::string address;
    SessionId id = {};  ///< what it is called; says nothing about the token
    Timestamp last_seen_at = {};
    std::string user_agent = {};
};

/// A person's passkey (WebAuthn credential).
struct Passkey {
    PasskeyId id;
    PrincipalId principal;
    std::string credential;    ///< the authenticator's id for it; unique
    std::string public_key;    ///< COSE, as the authenticator gave it
    std::int64_t counter = 0;  ///< of signatures; 0 where the authenticator does not count
    std::string name;
    std::vector<std::string> transports;
    bool is_backed_up = false;
    Timestamp created_at;
    std::optional<Timestamp> last_used_at;
};

/// A browser that wants to be told by push.
struct PushSubscription {
    PushSubscriptionId id;
    PrincipalId principal;
    std::string endpoint;    ///< URL at the browser's push service; unique
    std::string public_key;  ///< P-256 point of the browser, 65 bytes
    std::string secret;      ///< shared with the browser, 16 bytes
    std::string name;
    Timestamp created_at;
    std::optional<Timestamp> last_sent_at;
    SessionId session = {};  ///< the sign-in that asked for it; the store drops it with that
};

/// A stored answer to a repeated call.
struct IdempotencyRecord {
    PrincipalId principal;
    std::string key;
    std::string body_hash;            ///< SHA-256 of method, path and body, 32 bytes
    std::vector<RequestId> requests;  ///< what the call made or decided
    Timestamp at;
};

struct StoredEvent {
    std::int64_t seq = 0;
    core::Event event;
};

/// A change as the commit made it; what waiters and streams are woken with.
struct Change {
    StoredEvent event;
    std::shared_ptr<const core::Request> request;
};

/// Whether a request has ended once this happened to it. What came before stays what it was: an
/// event of somebody who waited is not one of a rejected request later.
bool is_after_the_end(core::EventKind kind);

/// Every field narrows the list; unset means any.
struct ListFilter {
    std::optional<core::State> state;
    std::optional<core::Outcome> outcome;
    std::optional<std::string> session, thread, task, user, agent, tool;
    std::optional<core::RiskLevel> risk;
    std::optional<core::Kind> kind;
    std::optional<BatchId> batch;
    std::optional<Timestamp> since, until;  ///< created at or after, created before
    std::optional<PrincipalId> agent_id;    ///< set by the door for agents: they see their own only
    std::optional<bool> is_released = {};   ///< whether the action may run now
    /// What a person has put off until later, or everything but that.
    struct Snoozed {
        PrincipalId person;
        bool is_snoozed = false;
        Timestamp now;
    };
    std::optional<Snoozed> snoozed = {};
};

struct ListQuery {
    ListFilter filter;
    std::int64_t before_row = 0;  ///< from the cursor; 0 starts with the newest
    int limit = 100;
    /// Set: oldest first, from the row after this one; 0 starts with the oldest.
    std::optional<std::int64_t> after_row = {};
};

struct ListPage {
    std::vector<std::shared_ptr<const core::Request>> requests;  ///< in the order of the query
    std::int64_t next_before_row = 0;                            ///< 0: that was all
    std::int64_t next_after_row = 0;                             ///< the same, oldest first
};

struct Counters {
    std::int64_t pending = 0;
    std::vector<std::pair<core::Outcome, std::int64_t>> by_outcome;  ///< every outcome, zeros too
    std::int64_t decision_count = 0;                                 ///< settled by people
    std::int64_t decision_ms_total = 0;  ///< their waiting time, for the mean
    std::optional<Timestamp> oldest_pending;
};

struct OutboxRow {
    std::int64_t id = 0;
    std::string channel;
    core::Effect effect;
    Timestamp due_at;
    int attempts = 0;
    std::string target = {};  ///< whom it is for, in the channel's own terms; empty: everybody
};

/// A grant as it is kept: what policy sees of it, and its story.
struct GrantRecord {
    policy::Grant grant;
    RequestId request;  ///< the one it was given with
    Timestamp created_at;
    int uses = 0;
    std::optional<Timestamp> ended_at;  ///< revoked, or ended by a rejection
    std::string ended_by;               ///< who or what ended it
};

/// Every field narrows the list; unset means any.
struct GrantFilter {
    std::optional<std::string> agent, tool;
    std::optional<Timestamp> alive_at;  ///< neither ended nor expired at this moment
    int limit = 1000;
};

/// A policy text that was put in force.
struct PolicyVersion {
    std::string version;  ///< `sha256:…`
    std::string text;
    std::string by;
    Timestamp at;                         ///< when it was put in force last
    std::vector<std::string> above = {};  ///< the texts of what it extends, the nearest first
};

/// Sequence numbers of events: all after one, up to another.
struct EventSpan {
    std::int64_t after = 0;
    std::int64_t up_to = std::numeric_limits<std::int64_t>::max();
};

/// One use case's view of the store. Reads see what this transaction wrote. Everything written is
/// committed together; a use case that writes and then fails is rolled back alone.
class Transaction {
  public:
    virtual ~Transaction() = default;

    /// Runs `work`; when it fails, what it wrote is taken back and what came before stays. Where
    /// the store itself has failed, the whole use case fails all the same.
    virtual Result<void> attempt(const std::function<Result<void>()>& work) = 0;

    /// not_found if there is none.
    virtual Result<std::shared_ptr<const core::Request>> load(const RequestId& id) = 0;
    /// Writes the request (inserts it when `row` is 0), its votes, events and effects. Returns the
    /// request as stored. A version that is not the stored one plus one is a bug and asserts.
    virtual Result<std::shared_ptr<const core::Request>> apply(core::Step step) = 0;
    virtual Result<ListPage> list(const ListQuery& query) = 0;
    virtual Result<std::vector<std::shared_ptr<const core::Request>>> batch(const BatchId& id) = 0;
    /// Pending requests of one agent in one session, oldest first.
    virtual Result<std::vector<RequestId>> pending_in_session(const PrincipalId& agent,
                                                              const std::string& session) = 0;
    /// Those of them whose `next_at` has come, in no order.
    virtual Result<std::vector<RequestId>> due_in_session(const PrincipalId& agent,
                                                          const std::string& session,
                                                          Timestamp now) = 0;
    virtual Result<std::int64_t> pending_count(const PrincipalId& agent) = 0;

    /// Pending requests whose `next_at` has come, earliest first.
    virtual Result<std::vector<RequestId>> due(Timestamp now, int limit) = 0;
    virtual Result<std::optional<Timestamp>> next_due() = 0;
    /// Lets the timer come back to this request then, without reading it: for one that is damaged.
    virtual Result<void> look_again(const RequestId& id, Timestamp at) = 0;
    /// Moves every pending deadline, and what reminders and escalations count from; for an operator
    /// who accepts a clock that was set. A decision that is held counts no earlier than it said.
    virtual Result<void> shift_deadlines(std::int64_t ms) = 0;

    /// Events of the span, oldest first, with the request as it stands now. State, outcome and risk
    /// of a filter are those that the request had when it happened, so that whoever reads later
    /// finds what whoever listened was told. Every event of the span may be looked at, however few
    /// pass the filter: who has time for some only, bounds it.
    virtual Result<std::vector<Change>> events(const EventSpan& span, const ListFilter& filter,
                                               int limit) = 0;
    virtual Result<std::vector<StoredEvent>> events_of(const RequestId& id) = 0;
    virtual Result<std::int64_t> last_event() = 0;

    virtual Result<std::optional<IdempotencyRecord>> find_idempotent(const PrincipalId& principal,
                                                                     const std::string& key) = 0;
    virtual Result<void> remember(const IdempotencyRecord& record) = 0;
    /// Drops records older than `before`, at most `limit`; returns how many.
    virtual Result<int> forget_idempotent(Timestamp before, int limit) = 0;

    virtual Result<std::optional<Principal>> find_principal(const PrincipalId& id) = 0;
    virtual Result<std::optional<Principal>> find_principal(const std::string& name) = 0;
    virtual Result<std::vector<Principal>> principals() = 0;
    virtual Result<void> save_principal(const Principal& principal) = 0;
    virtual Result<bool> is_group(const std::string& group) = 0;  ///< has a member who may decide

    virtual Result<std::optional<Key>> find_key(const std::string& hash) = 0;
    virtual Result<std::optional<Key>> find_key(const KeyId& id) = 0;
    virtual Result<std::vector<Key>> keys() = 0;
    virtual Result<void> save_key(const Key& key) = 0;

    virtual Result<std::optional<Session>> find_session(const std::string& hash) = 0;
    virtual Result<std::optional<Session>> find_session(const SessionId& id) = 0;
    virtual Result<std::vector<Session>> sessions_of(const PrincipalId& principal) = 0;
    virtual Result<void> save_session(const Session& session) = 0;
    /// Writes when the session was last used; one that is gone stays gone.
    virtual Result<void> touch_session(const std::string& hash, Timestamp now) = 0;
    /// With a session go the push subscriptions that it asked for, however it ends.
    virtual Result<void> drop_session(const std::string& hash) = 0;
    virtual Result<void> drop_sessions_of(const PrincipalId& principal) = 0;
    virtual Result<int> drop_sessions_before(Timestamp now) = 0;

    virtual Result<std::optional<Passkey>> find_passkey(const std::string& credential) = 0;
    virtual Result<std::optional<Passkey>> find_passkey(const PasskeyId& id) = 0;
    /// Oldest first.
    virtual Result<std::vector<Passkey>> passkeys_of(const PrincipalId& principal) = 0;
    virtual Result<void> save_passkey(const Passkey& passkey) = 0;
    virtual Result<void> drop_passkey(const PasskeyId& id) = 0;

    virtual Result<std::optional<PushSubscription>> find_push(const PushSubscriptionId& id) = 0;
    virtual Result<std::optional<PushSubscription>> find_push(const std::string& endpoint) = 0;
    /// Of one person or of everybody, oldest first.
    virtual Result<std::vector<PushSubscription>> push_subscriptions(
        const std::optional<PrincipalId>& principal) = 0;
    virtual Result<void> save_push(const PushSubscription& subscription) = 0;
    /// Writes when a message went out, unless the subscription is another one by now: removed, or
    /// renewed for somebody else or with other keys.
    virtual Result<void> note_push_sent(const PushSubscription& as_sent, Timestamp now) = 0;
    virtual Result<void> drop_push(const PushSubscriptionId& id) = 0;

    /// Until when this person does not want to see the request; nothing ends it.
    virtual Result<void> save_snooze(const PrincipalId& person, const RequestId& id,
                                     std::optional<Timestamp> until) = 0;
    struct Snooze {
        std::int64_t row = 0;  ///< of the request
        Timestamp until;
    };
    /// What this person has put off beyond `now`.
    virtual Result<std::vector<Snooze>> snoozes_of(const PrincipalId& person, Timestamp now) = 0;
    virtual Result<int> drop_snoozes_before(Timestamp now) = 0;

    /// Requests of the same agent with the same tool before this one, newest first. Looks at no
    /// more than `looks_max` uses of that tool.
    virtual Result<std::vector<std::shared_ptr<const core::Request>>> similar(
        const core::Request& request, int looks_max, int limit) = 0;

    /// Due rows that are wanted, the earliest first. The others are passed over and stay due: what
    /// somebody cannot take now does not keep what stands behind it.
    using IsWanted = std::function<bool(const OutboxRow&)>;
    virtual Result<std::vector<OutboxRow>> outbox_due(Timestamp now, int limit,
                                                      const IsWanted& is_wanted) = 0;
    virtual Result<void> outbox_sent(std::int64_t id) = 0;
    virtual Result<void> outbox_retry(std::int64_t id, Timestamp due_at) = 0;
    /// Puts one row for each target in the place of this one, so that each is sent and tried again
    /// on its own.
    virtual Result<void> outbox_split(std::int64_t id, const std::vector<std::string>& targets) = 0;

    // What policies remember (policy/state.h).

    /// A sliding sum by the counter's name and key; an empty one if nothing was counted yet.
    virtual Result<policy::SlidingSum> sum(const std::string& name, const std::string& key) = 0;
    virtual Result<void> save_sum(const std::string& name, const std::string& key,
                                  const policy::SlidingSum& sum) = 0;
    /// Drops sums that nothing was added to since `before`, at most `limit`; returns how many.
    virtual Result<int> forget_sums(Timestamp before, int limit) = 0;

    virtual Result<std::optional<GrantRecord>> find_grant(const std::string& id) = 0;
    /// Newest first.
    virtual Result<std::vector<GrantRecord>> grants(const GrantFilter& filter) = 0;
    virtual Result<void> save_grant(const GrantRecord& record) = 0;

    virtual Result<std::optional<policy::TrustEntry>> find_trust(const std::string& key) = 0;
    virtual Result<void> save_trust(const policy::TrustEntry& entry) = 0;

    /// Whether this agent has proposed this tool before; remembers that it has now.
    virtual Result<bool> note_tool(const PrincipalId& agent, const std::string& tool) = 0;
    /// Whether note_tool() would say so, as far as that is known without looking: a no proves
    /// nothing.
    virtual bool is_known_tool(const PrincipalId& agent, const std::string& tool) = 0;

    /// Newest first; the texts only of the one that is asked for by its version.
    virtual Result<std::vector<PolicyVersion>> policy_versions(int limit) = 0;
    virtual Result<std::optional<PolicyVersion>> find_policy(const std::string& version) = 0;
    virtual Result<void> save_policy(const PolicyVersion& policy) = 0;

    virtual Result<Counters> counters() = 0;
    virtual Result<std::optional<std::string>> setting(const std::string& name) = 0;
    virtual Result<void> set_setting(const std::string& name, const std::string& value) = 0;
};

/// The durable truth. Work is queued from any thread and runs on the store's own thread; works
/// that come together share one transaction and one sync. `done` is called only after that
/// transaction is durable (for reads: after everything they saw is durable), through the
/// executor given at construction, in the order of queueing.
class Store {
  public:
    /// Runs a function somewhere else (the network thread); must be callable from the store's
    /// thread.
    using Executor = std::function<void(std::move_only_function<void()>)>;
    /// Told of every commit before the `done`s of that commit, on the same executor.
    using Listener = std::function<void(const std::vector<Change>&)>;

    /// One queued use case.
    class Job {
      public:
        virtual ~Job() = default;
        /// May run more than once: a job of the same transaction that wrote and then failed makes
        /// the store roll back and run each one alone. So it must not consume what it captured.
        virtual Result<void> run(Transaction& tx) = 0;
        /// Exactly once. `failure` is set when the store could not do it, whatever run() said.
        virtual void done(std::optional<Error> failure) = 0;
    };

    virtual ~Store() = default;

    /// Refuses with unavailable (through done) when the queue is full or the store is stopping.
    virtual void enqueue(std::unique_ptr<Job> job) = 0;
    /// Answers what is queued, then closes. Called once, from outside the store's thread.
    virtual void stop() = 0;

    /// `work` is `Result<T>(Transaction&)`, `done` is `void(Result<T>)`.
    template <class Work, class Done>
    void run(Work work, Done done) {
        using Answer = std::invoke_result_t<Work&, Transaction&>;
        struct Queued : Job {
            Work work;
            Done finish;
            std::optional<Answer> answer;
            Queued(Work w, Done d) : work(std::move(w)), finish(std::move(d)) {}
            Result<void> run(Transaction& tx) override {
                answer.emplace(work(tx));
                if (!*answer) return answer->error();
                return {};
            }
            void done(std::optional<Error> failure) override {
                if (failure) answer.emplace(std::move(*failure));
                finish(std::move(*answer));
            }
        };
        enqueue(std::make_unique<Queued>(std::move(work), std::move(done)));
    }
};

}  // namespace holdpoint::store
