// Push: which browsers want to be told, and what the buttons of a message do.
#include "api/auth/address.h"
#include "api/http/answers.h"
#include "api/http/list_answer.h"
#include "api/wire/query.h"
#include "api/wire/write.h"
#include "base/json_fields.h"
#include "base/sha256.h"
#include "service/decide.h"
#include "service/identity.h"
#include "service/push/endpoint.h"
#include "service/push/p256.h"
#include "service/push/token.h"
#include "service/push_subscriptions.h"

namespace holdpoint::api {
namespace {

namespace push = webpush;
using store::PushSubscription;

std::string host_of(const PushSubscription& subscription) {
    const Result<push::Endpoint> endpoint = push::read_endpoint(subscription.endpoint, true);
    return endpoint ? endpoint->host : "";
}

std::string subscription_json(const PushSubscription& subscription) {
    std::string out;
    wire::ObjectWriter writer(out);
    writer.word("id", subscription.id.text());
    writer.text("name", subscription.name);
    writer.text("service", host_of(subscription));
    writer.time("created_at", subscription.created_at);
    writer.time("last_sent_at", subscription.last_sent_at);
    writer.close();
    return out;
}

/// Reads a key of the browser: base64url of so many bytes.
std::string read_key(json::Fields& keys, std::string_view name, std::size_t size) {
    const std::string text = keys.required_text(name, {.min = 1, .max = 200, .is_one_line = true});
    if (keys.has_failed()) return {};
    std::string_view given = text;
    while (given.ends_with('=')) given.remove_suffix(1);  // some browsers pad
    std::optional<std::string> bytes = from_base64url(given);
    if (!bytes || bytes->size() != size) {
        keys.refuse(name, "must be base64url of " + std::to_string(size) + " bytes");
        return {};
    }
    return std::move(*bytes);
}

Result<PushSubscription> read_subscription(const json::value& body, bool may_be_loopback) {
    json::Fields fields(body, "");
    PushSubscription subscription;
    subscription.name = fields.text("name", name_rule).value_or("browser");
    const json::value* given = fields.required("subscription");
    if (!given) return fields.finish().error();
    json::Fields inner(*given, "subscription");
    subscription.endpoint = inner.required_text("endpoint", {.min = 1, .max = 2000});
    (void)inner.any("expirationTime");
    if (const json::value* keys = inner.required("keys")) {
        json::Fields both(*keys, "subscription.keys");
        subscription.public_key = read_key(both, "p256dh", 65);
        subscription.secret = read_key(both, "auth", 16);
        if (!both.has_failed() && !push::is_point(subscription.public_key))
            both.refuse("p256dh", "must be a point of P-256");
        if (Result<void> ok = both.finish(); !ok) inner.fail(ok.error());
    }
    if (Result<void> ok = inner.finish(); !ok) fields.fail(ok.error());
    if (Result<void> ok = fields.finish(); !ok) return ok.error();
    const Result<push::Endpoint> endpoint =
        push::read_endpoint(subscription.endpoint, may_be_loopback);
    if (!endpoint) return endpoint.error();
    return subscription;
}

}  // namespace

bool Api::has_push(const CallPtr& call) {
    const bool is_on = !push_.public_key.empty();
    if (!is_on)
        respond_error(call, {ErrorCode::refused,
                             "this server tells nobody by push; start it with `--notify push`"});
    return is_on;
}

void Api::push_key(const CallPtr& call) {
    if (!has_no_query(call) || !has_push(call)) return;
    respond_json(call, "{\"key\":\"" + base64url_of(push_.public_key) + "\"}");
}

void Api::list_push(const CallPtr& call) {
    wire::Query query(call->request.query);
    const std::string name = query.text("user").value_or(call->caller.actor.name);
    if (Result<void> ok = query.finish(); !ok) return respond_error(call, ok.error());
    if (name != call->caller.actor.name && call->caller.role != store::Role::admin)
        return respond_error(call, {ErrorCode::permission_denied,
                                    "only an admin sees somebody else's subscriptions"});
    store_.run([name](store::Transaction& tx) { return service::list_push(tx, name); },
               [call](Result<std::vector<PushSubscription>> all) {
                   respond_list(call, "subscriptions", all, subscription_json);
               });
}

void Api::add_push(const CallPtr& call) {
    if (!has_no_query(call)) return;
    Body body;
    if (!read_body(call, body)) return;
    // A key has no sign-in that could end, and its messages would decide after it was revoked.
    if (!call->caller.is_cookie)
        return respond_error(call, {ErrorCode::permission_denied,
                                    "sign in with the browser that is to be told; a key cannot"});
    if (!has_push(call)) return;
    Result<PushSubscription> subscription = read_subscription(*body, options_.may_push_to_loopback);
    if (!subscription) return respond_error(call, subscription.error());
    subscription->id = PushSubscriptionId::fresh(call->now);
    subscription->created_at = call->now;
    store_.run(
        [subscription = std::move(*subscription), session = call->caller.credential,
         now = call->now](store::Transaction& tx) {
            return service::subscribe_push(tx, subscription, session, now);
        },
        [call](Result<PushSubscription> saved) {
            if (!saved) return respond_error(call, saved.error());
            respond_json(call, subscription_json(*saved), 201);
        });
}

void Api::remove_push(const CallPtr& call) {
    if (!has_no_query(call)) return;
    const std::optional<PushSubscriptionId> id = PushSubscriptionId::parse(call->id);
    if (!id) return respond_error(call, {ErrorCode::not_found, "no subscription has this id"});
    auto work = [id = *id, caller = call->caller.actor.id,
                 is_admin = call->caller.role == store::Role::admin](store::Transaction& tx) {
        return service::unsubscribe_push(tx, id, caller, is_admin);
    };
    store_.run(std::move(work), [call](Result<void> removed) {
        if (!removed) return respond_error(call, removed.error());
        respond_json(call, "{}");
    });
}

void Api::decide_pushed(const CallPtr& call) {
    if (!has_no_query(call)) return;
    const std::string counted_as = "push " + auth::network_of(call->request.peer);
    if (const std::optional<Error> blocked = authenticator_.check_failures(counted_as))
        return respond_error(call, *blocked);
    if (const std::optional<Error> refused = auth::check_origin(call->request))
        return respond_error(call, *refused);
    Body body;
    if (!read_body(call, body)) return;
    json::Fields fields(*body, "");
    const std::string text = fields.required_text("token", {.min = 1, .max = 500});
    const std::optional<std::string> word = fields.word("decision", {"approve", "reject"});
    if (!word && !fields.has_failed()) fields.refuse("decision", "is missing");
    if (Result<void> ok = fields.finish(); !ok) return respond_error(call, ok.error());
    const Error wrong{ErrorCode::permission_denied, "the token is wrong or too old", "token"};
    const std::optional<push::Token> token = push::unseal(text, push_.token_key);
    if (!token || push_.token_key.empty()) {
        authenticator_.count_failure(counted_as);
        return respond_error(call, wrong);
    }

    service::DecideCall decide;
    decide.id = token->request;
    decide.now = call->now;
    decide.command.kind =
        *word == "approve" ? core::DecisionKind::approve : core::DecisionKind::reject;
    decide.command.digest = token->digest;
    if (decide.command.kind == core::DecisionKind::reject)
        decide.command.reason = "denied from the notification";
    decide.person.id = token->person;
    decide.person.via = "push";
    decide.person.address = call->request.peer;
    // Works once: the second time finds that this very call was made, or another.
    decide.idempotency = {"push-token " + base64url(sha256(text)).substr(0, 32),
                          std::string(as_text(sha256(*word)))};
    auto work = [policy = policy_.current(), decide = std::move(decide), session = token->session,
                 expires_at = token->expires_at,
                 wrong](store::Transaction& tx) -> Result<service::Decided> {
        const Result<bool> is_signed_in =
            service::is_signed_in(tx, session, decide.person.id, decide.now);
        if (!is_signed_in) return is_signed_in.error();
        if (!*is_signed_in) return wrong;
        const Result<std::optional<store::Principal>> person = tx.find_principal(decide.person.id);
        if (!person) return person.error();
        if (!*person || !is_decider(**person)) return wrong;
        Result<std::shared_ptr<const core::Request>> request = tx.load(decide.id);
        if (!request) return wrong;
        // The risk may have been raised since the message went out.
        if ((*request)->risk > core::RiskLevel::medium) return wrong;
        // Whoever extends a request, or lets it be asked again, does not bring old messages back.
        if (decide.now >= expires_at)
            return service::Decided{
                *request, Error{ErrorCode::expired, "this message is too old to decide with"}};
        service::DecideCall known = decide;
        known.person.name = (*person)->name;
        known.person.groups = (*person)->groups;
        const Result<std::optional<std::vector<RequestId>>> before =
            service::find_replay(tx, known.person.id, known.idempotency);
        const bool is_other = !before && before.error().code == ErrorCode::refused;
        if (!before && !is_other) return before.error();
        if (is_other || *before)
            return service::Decided{*request,
                                    Error{ErrorCode::conflict, "this message has decided already"}};
        return service::decide(tx, *policy, known);
    };
    store_.run(std::move(work), [call](Result<service::Decided> decided) {
        // What wants a code or a reason of its own wants to be looked at.
        if (decided && decided->refusal && decided->refusal->code == ErrorCode::refused)
            return respond_error(call, {ErrorCode::permission_denied,
                                        "this needs more than a button: open it", "token"});
        respond_decided(call, decided);
    });
}

}  // namespace holdpoint::api
