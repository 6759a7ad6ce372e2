#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <variant>
#include <vector>

#include "store/sqlite/database.h"
#include "store/sqlite/filing.h"
#include "store/sqlite/recent.h"
#include "store/sqlite/tally.h"
#include "store/store.h"

namespace holdpoint::store::sqlite {

/// A statement built from a filter. Parameter n is values[n - 1].
struct BuiltQuery {
    std::string sql;  ///< empty: nothing can match
    std::vector<std::variant<std::int64_t, std::string, Ulid>> values;

    int add(std::variant<std::int64_t, std::string, Ulid> value) {
        values.push_back(std::move(value));
        return static_cast<int>(values.size());
    }
};

/// The use cases' view of the one connection, made once and used for every transaction. Only the
/// store's thread calls it.
///
/// A statement that fails makes the method return an error and leaves the reason in
/// `database.fault()`; the store looks there after every job, whatever the job made of the error.
class SqliteTransaction final : public Transaction {
  public:
    struct Setup {
        std::vector<std::string> channels = {};
        /// Up to so many rows are looked at and skipped rather than searched another way; so many
        /// entries of a drawer are counted to see whether it is the better one.
        std::int64_t skip_max = 2000;
        std::int64_t unfiled_max = 0;  ///< see Filing; 0 files every request at once
    };

    SqliteTransaction(Database& database, Setup setup);

    /// Reads the counters. False when the database does not answer or holds nonsense.
    bool load_tally() { return tally_.load(); }

    // What the store's thread does around the jobs.
    bool begin();
    void begin_job();
    bool has_written() const;  ///< since begin_job()
    bool commit();
    /// Also when SQLite rolled back by itself. False when even that failed.
    bool rollback();
    std::vector<Change> take_changes() { return std::move(changes_); }

    Result<void> attempt(const std::function<Result<void>()>& work) override;
    Result<std::shared_ptr<const core::Request>> load(const RequestId& id) override;
    Result<std::shared_ptr<const core::Request>> apply(core::Step step) override;
    Result<ListPage> list(const ListQuery& query) override;
    Result<std::vector<std::shared_ptr<const core::Request>>> batch(const BatchId& id) override;
    Result<std::vector<RequestId>> pending_in_session(const PrincipalId& agent,
                                                      const std::string& session) override;
    Result<std::vector<RequestId>> due_in_session(const PrincipalId& agent,
                                                  const std::string& session,
                                                  Timestamp now) override;
    Result<std::int64_t> pending_count(const PrincipalId& agent) override;

    Result<std::vector<RequestId>> due(Timestamp now, int limit) override;
    Result<std::optional<Timestamp>> next_due() override;
    Result<void> look_again(const RequestId& id, Timestamp at) override;
    Result<void> shift_deadlines(std::int64_t ms) override;

    Result<std::vector<Change>> events(const EventSpan& span, const ListFilter& filter,
                                       int limit) override;
    Result<std::vector<StoredEvent>> events_of(const RequestId& id) override;
    Result<std::int64_t> last_event() override;

    Result<std::optional<IdempotencyRecord>> find_idempotent(const PrincipalId& principal,
                                                             const std::string& key) override;
    Result<void> remember(const IdempotencyRecord& record) override;
    Result<int> forget_idempotent(Timestamp before, int limit) override;

    Result<std::optional<Principal>> find_principal(const PrincipalId& id) override;
    Result<std::optional<Principal>> find_principal(const std::string& name) override;
    Result<std::vector<Principal>> principals() override;
    Result<void> save_principal(const Principal& principal) override;
    Result<bool> is_group(const std::string& group) override;

    Result<std::optional<Key>> find_key(const std::string& hash) override;
    Result<std::optional<Key>> find_key(const KeyId& id) override;
    Result<std::vector<Key>> keys() override;
    Result<void> save_key(const Key& key) override;

    Result<std::optional<Session>> find_session(const std::string& hash) override;
    Result<std::optional<Session>> find_session(const SessionId& id) override;
    Result<std::vector<Session>> sessions_of(const PrincipalId& principal) override;
    Result<void> save_session(const Session& session) override;
    Result<void> touch_session(const std::string& hash, Timestamp now) override;
    Result<void> drop_session(const std::string& hash) override;
    Result<void> drop_sessions_of(const PrincipalId& principal) override;
    Result<int> drop_sessions_before(Timestamp now) override;

    Result<std::optional<Passkey>> find_passkey(const std::string& credential) override;
    Result<std::optional<Passkey>> find_passkey(const PasskeyId& id) override;
    Result<std::vector<Passkey>> passkeys_of(const PrincipalId& principal) override;
    Result<void> save_passkey(const Passkey& passkey) override;
    Result<void> drop_passkey(const PasskeyId& id) override;

    Result<std::optional<PushSubscription>> find_push(const PushSubscriptionId& id) override;
    Result<std::optional<PushSubscription>> find_push(const std::string& endpoint) override;
    Result<std::vector<PushSubscription>> push_subscriptions(
        const std::optional<PrincipalId>& principal) override;
    Result<void> save_push(const PushSubscription& subscription) override;
    Result<void> note_push_sent(const PushSubscription& as_sent, Timestamp now) override;
    Result<void> drop_push(const PushSubscriptionId& id) override;

    Result<void> save_snooze(const PrincipalId& person, const RequestId& id,
                             std::optional<Timestamp> until) override;
    Result<std::vector<Snooze>> snoozes_of(const PrincipalId& person, Timestamp now) override;
    Result<int> drop_snoozes_before(Timestamp now) override;
    Result<std::vector<std::shared_ptr<const core::Request>>> similar(const core::Request& request,
                                                                      int looks_max,
                                                                      int limit) override;

    Result<std::vector<OutboxRow>> outbox_due(Timestamp now, int limit,
                                              const IsWanted& is_wanted) override;
    Result<void> outbox_sent(std::int64_t id) override;
    Result<void> outbox_retry(std::int64_t id, Timestamp due_at) override;
    Result<void> outbox_split(std::int64_t id, const std::vector<std::string>& targets) override;

    Result<policy::SlidingSum> sum(const std::string& name, const std::string& key) override;
    Result<void> save_sum(const std::string& name, const std::string& key,
                          const policy::SlidingSum& sum) override;
    Result<int> forget_sums(Timestamp before, int limit) override;
    Result<std::optional<GrantRecord>> find_grant(const std::string& id) override;
    Result<std::vector<GrantRecord>> grants(const GrantFilter& filter) override;
    Result<void> save_grant(const GrantRecord& record) override;
    Result<std::optional<policy::TrustEntry>> find_trust(const std::string& key) override;
    Result<void> save_trust(const policy::TrustEntry& entry) override;
    Result<bool> note_tool(const PrincipalId& agent, const std::string& tool) override;
    bool is_known_tool(const PrincipalId& agent, const std::string& tool) override;
    Result<std::vector<PolicyVersion>> policy_versions(int limit) override;
    Result<std::optional<PolicyVersion>> find_policy(const std::string& version) override;
    Result<void> save_policy(const PolicyVersion& policy) override;

    Result<Counters> counters() override;
    Result<std::optional<std::string>> setting(const std::string& name) override;
    Result<void> set_setting(const std::string& name, const std::string& value) override;

    /// The statements that list() and events() run; public so that tests can ask SQLite how
    /// it would run them.
    Result<BuiltQuery> build_list(const ListQuery& query);
    Result<BuiltQuery> build_events(const EventSpan& span, const ListFilter& filter, int limit);
    /// Finds what waits in a session, among what its agent has pending or what the session has.
    static std::string waiting_statement(bool is_by_agent);
    /// The texts of the statements that never change and search a table, for the same purpose.
    std::vector<std::string> fixed_statements();

  private:
    using RequestPointer = std::shared_ptr<const core::Request>;

    struct Requester {
        PrincipalId id;
        std::string name;
    };
    struct RowRange {
        std::int64_t first = 0;  ///< from this row on
        std::int64_t end = 0;    ///< up to but without this one
    };

    void forget_rows();
    Error failed() const;  ///< the error for a statement that did not run
    template <class T>
    Result<T> or_failed(T value) const;

    // requests.cpp
    Result<Seen> read_request(Statement& row);
    Result<void> read_head(Statement& row, core::Request& request);
    Result<void> read_body(Statement& row, core::Request& request);
    Result<void> read_votes(core::Request& request);
    Result<RequestPointer> load_row(std::int64_t row);
    Result<void> insert_request(core::Request& request, std::int64_t last_event);
    Result<void> update_request(const core::Request& request, const Seen& before,
                                std::int64_t last_event);
    Result<void> write_body(Statement& statement, const core::Request& request);
    Result<void> write_votes(const core::Request& request, const core::Request* before);
    Result<std::int64_t> append_event(const core::Event& event, const core::Request& request,
                                      std::int64_t previous);
    Result<void> append_effects(const core::Step& step, const core::Request& request);
    void count(const core::Request* before, const core::Request& after);
    Statement& update_statement(bool is_standing_changed, bool is_next_changed);

    Result<void> shift_holds(std::int64_t ms);
    /// Pending requests of the session that the timer looks at by then, oldest first.
    Result<std::vector<RequestId>> waiting_in_session(const PrincipalId& agent,
                                                      const std::string& session,
                                                      Timestamp next_by);

    // inbox.cpp
    /// Whether anybody wants to be told by push: without that, creating writes no row for it.
    bool has_push();

    // list.cpp
    std::string conditions(BuiltQuery& query, const ListFilter& filter,
                           const std::vector<std::int64_t>* requesters);
    Result<std::optional<std::vector<std::int64_t>>> requesters_of(const ListFilter& filter);
    Result<std::int64_t> first_row_since(std::int64_t created_at);
    Result<RowRange> row_range(const ListQuery& query);
    Statement& bound(const BuiltQuery& query);
    /// The number that a statement yields.
    Result<std::int64_t> number_of(const BuiltQuery& query);

    Result<std::int64_t> requester_ref(const PrincipalId& id, const std::string& name);
    Result<const Requester*> requester(std::int64_t ref);

    Database& database_;
    const Setup setup_;
    Tally tally_;
    Filing filing_;

    Statement begin_, commit_, rollback_;
    Statement savepoint_, keep_attempt_, undo_attempt_;
    Statement load_by_id_, load_by_row_, insert_head_, insert_body_, update_body_;
    Statement updates_[4];
    Statement votes_, insert_vote_, delete_votes_;
    Statement insert_event_, event_by_seq_, insert_outbox_;
    Statement created_from_, due_, next_due_, oldest_pending_;
    Statement requester_by_name_, requester_by_ref_, insert_requester_;

    Recent recent_;
    std::vector<Change> changes_;
    std::int64_t changes_at_start_ = 0;
    std::unordered_map<std::string, std::int64_t> requester_refs_;
    std::unordered_map<std::int64_t, Requester> requesters_;
    std::string requester_key_;
    std::optional<bool> has_push_;  ///< unset: look
    /// Tools that agents have used before, by agent and tool; a part of what the table holds.
    std::unordered_set<std::string> tools_seen_;
};

template <class T>
Result<T> SqliteTransaction::or_failed(T value) const {
    if (database_.fault() != 0) return failed();
    return value;
}

}  // namespace holdpoint::store::sqlite
