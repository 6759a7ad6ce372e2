#pragma once

#include <boost/json/monotonic_resource.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/auth/authenticator.h"
#include "api/auth/challenges.h"
#include "api/auth/hash_queue.h"
#include "api/auth/password_tries.h"
#include "api/auth/secrets.h"
#include "api/http/event_streams.h"
#include "api/http/http.h"
#include "api/http/long_poll.h"
#include "api/http/presence.h"
#include "api/http/site.h"
#include "api/http/timers.h"
#include "api/wire/request.h"
#include "base/clock.h"
#include "base/json.h"
#include "core/decide.h"
#include "policy/backtest.h"
#include "service/decide.h"
#include "service/idempotency.h"
#include "service/identity.h"
#include "service/policy_in_force.h"
#include "service/wait.h"
#include "service/webauthn/ceremony.h"
#include "store/store.h"

namespace holdpoint::api {

using auth::Offload;

struct ApiOptions {
    std::int64_t pending_max = 10'000;   ///< per agent
    std::int64_t wait_ms_max = 300'000;  ///< of one long-poll
    std::int64_t session_ms = 12 * 3'600'000LL;
    std::int64_t link_ms = 600'000;
    std::int64_t undo_ms_max = 30'000;     ///< how long a decision may be held; 0: not at all
    webauthn::RelyingParty relying_party;  ///< whom passkeys are for; without an id there are none
    bool may_push_to_loopback = false;     ///< for tests: push services on this machine, over http
    json::Limits json;
    std::string base_url;          ///< for sign-in links
    bool is_behind_proxy = false;  ///< believe X-Forwarded-For and X-Forwarded-Proto
    auth::Authenticator::Options auth;
    const Site* site = &site_not_built();  ///< what people see at `/`; no route is hidden by it
};

/// One call on its way through: who, what, and where the answer goes. Lives until answered.
struct Call {
    http::Request request;
    std::shared_ptr<http::Exchange> exchange;
    auth::Caller caller;
    std::string id;  ///< what stood at `{id}` in the path
    Timestamp now;
};
using CallPtr = std::shared_ptr<Call>;

/// A parsed body and the memory it lives in: most bodies fit into it without an allocation. What
/// is needed longer than the handler's own frame is copied out.
struct Body {
    unsigned char buffer[8192];
    boost::json::monotonic_resource memory{buffer, sizeof buffer};
    std::optional<json::value> value;

    const json::value& operator*() const { return *value; }
};

/// The REST door: matches paths, names the caller, and hands each call to its use case. Everything
/// runs on the network thread; the store answers back on it.
class Api {
  public:
    Api(store::Store& store, Clock& clock, service::PolicyInForce& policy, Offload offload,
        ApiOptions options);

    void handle(http::Request&& request, std::shared_ptr<http::Exchange> exchange);

    /// The store's listener.
    void on_commit(const std::vector<store::Change>& changes);
    /// A few times per second, with the milliseconds since the door was made.
    void on_tick(std::int64_t now_ms);
    /// Everybody who waits is told to come back.
    void stop();

    /// False makes /readyz answer 503.
    void set_ready(bool is_ready) { is_ready_ = is_ready; }
    /// The text of /metrics, made by the owner.
    using Metrics = std::move_only_function<std::string(const store::Counters&)>;
    void set_metrics(Metrics metrics) { metrics_ = std::move(metrics); }

    /// Where the policy comes from: `file`, `store` or `flags`, and how to read the file again.
    struct PolicySource {
        std::string origin = "flags";
        std::function<Result<service::PolicyInForce::Pointer>()> read_file;  ///< blocks
    };
    void set_policy_source(PolicySource source) { policy_source_ = std::move(source); }

    /// What push needs: the server's public key, and the key that seals the tokens in its messages.
    /// Without it nobody can subscribe.
    struct Push {
        std::string public_key;  ///< 65 bytes
        std::string token_key;
    };
    void set_push(Push push) { push_ = std::move(push); }

    std::size_t waiters() const { return polls_.size(); }
    std::size_t streams() const { return streams_.size(); }

    /// What comes of a call that is sent twice.
    enum class Repeats {
        harmless,  ///< nothing more than the first did, or it looks at the Idempotency-Key
        anew,  ///< a second thing, or another answer: an Idempotency-Key is refused, not ignored
    };
    struct Route {
        std::string_view method;
        std::string_view path;  ///< with at most one `{id}`
        auth::Need need;
        void (Api::*handle)(const CallPtr&);
        bool is_decision = false;  ///< agents are told that they can never do this
        Repeats repeats = Repeats::harmless;
    };
    /// Every route of this door, for matching, tests and the specification.
    static const std::vector<Route>& routes();

  private:
    static bool is_probe(const Route& route);
    static bool is_change(const Route& route);
    // requests.cpp
    void submit(const CallPtr& call);
    void submit_batch(const CallPtr& call);
    void get_request(const CallPtr& call);
    void get_for_person(const CallPtr& call, const RequestId& id);
    void get_batch(const CallPtr& call);
    void get_timeline(const CallPtr& call);
    void list(const CallPtr& call);
    void cancel(const CallPtr& call);
    void report(const CallPtr& call);
    void events(const CallPtr& call);
    // decisions.cpp
    void decide(const CallPtr& call);
    void decide_with_passkey(const CallPtr& call, service::DecideCall decide,
                             const json::value& assertion);
    /// Answers what this very call decided before; `refused` if it is new.
    void repeat_decision(const CallPtr& call, service::DecideCall decide, Error refused);
    void decide_many(const CallPtr& call);
    void extend(const CallPtr& call);
    void undo(const CallPtr& call);
    // inbox.cpp
    void tell_presence(const CallPtr& call);
    void snooze(const CallPtr& call);
    void similar(const CallPtr& call);
    // passkeys.cpp
    void list_passkeys(const CallPtr& call);
    void passkey_create_options(const CallPtr& call);
    void add_passkey(const CallPtr& call);
    void rename_passkey(const CallPtr& call);
    void remove_passkey(const CallPtr& call);
    void passkey_get_options(const CallPtr& call);
    void challenge_decision(const CallPtr& call);
    // push.cpp
    void push_key(const CallPtr& call);
    void list_push(const CallPtr& call);
    void add_push(const CallPtr& call);
    void remove_push(const CallPtr& call);
    void decide_pushed(const CallPtr& call);
    // aliases.cpp
    void alias_list(const CallPtr& call);
    void alias_pending(const CallPtr& call);
    void alias_approve(const CallPtr& call);
    void alias_reject(const CallPtr& call);
    void alias_agent_approve(const CallPtr& call);
    // identity.cpp
    void me(const CallPtr& call);
    void create_key(const CallPtr& call);
    void list_keys(const CallPtr& call);
    void revoke_key(const CallPtr& call);
    void create_user(const CallPtr& call);
    void list_users(const CallPtr& call);
    void set_password(const CallPtr& call);
    void disable_user(const CallPtr& call);
    void enable_user(const CallPtr& call);
    void set_groups(const CallPtr& call);
    void sign_in(const CallPtr& call);
    void get_session(const CallPtr& call);
    void sign_out(const CallPtr& call);
    void create_link(const CallPtr& call);
    // sessions.cpp
    void list_sessions(const CallPtr& call);
    void revoke_session(const CallPtr& call);
    // policies.cpp
    void check(const CallPtr& call);
    void list_grants(const CallPtr& call);
    void get_grant(const CallPtr& call);
    void revoke_grant(const CallPtr& call);
    void get_policy(const CallPtr& call);
    void list_policies(const CallPtr& call);
    void get_policy_version(const CallPtr& call);
    void put_policy(const CallPtr& call);
    void reload_policy(const CallPtr& call);
    void check_policy(const CallPtr& call);
    void test_policy(const CallPtr& call);
    void diff_policy(const CallPtr& call);
    void explain(const CallPtr& call);
    void backtest(const CallPtr& call);
    void suggest(const CallPtr& call);
    // operations.cpp
    void stats(const CallPtr& call);
    void health(const CallPtr& call);
    void ready(const CallPtr& call);
    void metrics(const CallPtr& call);
    void openapi(const CallPtr& call);

    void respond_grant(const CallPtr& call, const Result<store::GrantRecord>& record);
    void activate(const CallPtr& call, const service::PolicyInForce::Pointer& policy,
                  const std::vector<std::string>& acknowledged);
    void put_in_force(const CallPtr& call, const service::PolicyInForce::Pointer& policy);
    /// Reads the past page by page, newest first, and hands over what it found.
    using OnHistory = std::move_only_function<void(Result<std::vector<policy::PastCall>>)>;
    void read_history(std::optional<Timestamp> since, OnHistory done);
    struct Candidate {
        std::optional<std::string> text;  ///< without it: the policy in force
        const char* field = "text";       ///< which an error names
        bool may_fail_tests = false;
    };
    using OnPolicy = std::move_only_function<void(service::PolicyInForce::Pointer)>;
    /// Loads the candidate away from the network's thread, or answers why it cannot be loaded.
    void with_policy(const CallPtr& call, Candidate candidate, OnPolicy then);
    bool read_policy_body(const CallPtr& call, Body& body);

    const Route* find(const http::Request& request, std::string& id, std::string& allowed) const;
    void admit(const Route& route, const CallPtr& call);

    /// Parses the body; answers the error itself and returns false when it is wrong.
    bool read_body(const CallPtr& call, Body& body, bool may_be_empty = false);
    bool read_body(const CallPtr& call, Body& body, bool may_be_empty, const json::Limits& limits);
    /// A decision may carry a file as one long string.
    json::Limits decision_limits() const;
    std::optional<RequestId> read_request_id(const CallPtr& call);
    std::optional<service::Idempotency> read_idempotency(const CallPtr& call);
    bool has_no_query(const CallPtr& call);
    /// For routes whose body says nothing: absent or an empty object.
    bool has_no_fields(const CallPtr& call);
    void propose(const CallPtr& call, std::vector<core::Proposal> proposals,
                 std::optional<BatchId> batch);
    void decide_as_alias(const CallPtr& call, const std::string& id_text,
                         core::DecisionCommand command);
    void open_session(const CallPtr& call, service::Authenticated found, const auth::Secret& token);
    void sign_in_with_password(const std::string& name, const std::string& password,
                               store::Session session,
                               std::move_only_function<void(Result<service::Authenticated>)> done);
    /// Signs in with the assertion of a passkey.
    void sign_in_with_passkey(const json::value& assertion, store::Session session, Timestamp now,
                              std::move_only_function<void(Result<service::Authenticated>)> done);
    /// Answers itself and returns false unless a person sits there who signed in a moment ago.
    /// `what` is done then: `a passkey is added`.
    bool has_signed_in_lately(const CallPtr& call, std::string_view what);
    /// Answers itself and returns false where nobody is told by push.
    bool has_push(const CallPtr& call);
    /// Tells people's streams who looks at a request now.
    void announce_presence(const RequestId& id);
    std::string viewers_json(const RequestId& id);
    void set_user_disabled(const CallPtr& call, bool is_disabled);
    /// After an identity changed: caches are dropped, streams of dead credentials closed.
    void identity_changed();
    /// After a credential of this principal ended: whoever waits with it is sent back, too.
    void identity_ended(const PrincipalId& whose);

    store::Store& store_;
    Clock& clock_;
    service::PolicyInForce& policy_;
    PolicySource policy_source_;
    Offload offload_;
    ApiOptions options_;
    auth::Authenticator authenticator_;
    service::Waiters waiters_;
    Timers timers_;
    LongPolls polls_;
    EventStreams streams_;
    auth::PasswordTries password_tries_;
    auth::HashQueue hashes_;
    auth::Challenges challenges_;
    Presence presence_;
    std::int64_t presence_at_ms_ = 0;  ///< when it was looked through last
    Push push_;
    Metrics metrics_;
    Timestamp started_at_;
    bool is_ready_ = false;
    bool is_stopping_ = false;
};

}  // namespace holdpoint::api
