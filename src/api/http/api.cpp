#include "api/http/api.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "api/auth/address.h"
#include "api/http/path_pattern.h"
#include "api/wire/errors.h"
#include "api/wire/query.h"
#include "base/json_fields.h"
#include "base/sha256.h"
#include "base/text.h"

namespace holdpoint::api {
namespace {

using auth::Need;

bool is_json(std::string_view content_type) {
    const std::string_view type = content_type.substr(0, content_type.find(';'));
    const std::size_t end = type.find_last_not_of(' ');
    return http::equal_ignoring_case(type.substr(0, end + 1), "application/json");
}

constexpr std::size_t query_name_bytes_max = 64;

}  // namespace

const std::vector<Api::Route>& Api::routes() {
    // The busiest first.
    static const std::vector<Route> table{
        {"POST", "/v1/requests", Need::propose, &Api::submit},
        {"GET", "/v1/requests/{id}", Need::anybody, &Api::get_request},
        {"POST", "/v1/requests/{id}/decision", Need::decide, &Api::decide, true},
        {"GET", "/v1/requests", Need::anybody, &Api::list},
        {"POST", "/v1/requests/{id}/cancel", Need::propose, &Api::cancel},
        {"POST", "/v1/requests/{id}/extend", Need::decide, &Api::extend, true},
        {"POST", "/v1/requests/{id}/undo", Need::decide, &Api::undo, true, Repeats::anew},
        {"POST", "/v1/requests/{id}/challenge", Need::decide, &Api::challenge_decision, true},
        {"POST", "/v1/requests/{id}/presence", Need::oversee, &Api::tell_presence},
        {"POST", "/v1/requests/{id}/snooze", Need::oversee, &Api::snooze},
        {"GET", "/v1/requests/{id}/similar", Need::oversee, &Api::similar},
        {"POST", "/v1/requests/{id}/report", Need::propose, &Api::report},
        {"GET", "/v1/requests/{id}/events", Need::anybody, &Api::get_timeline},
        {"POST", "/v1/batches", Need::propose, &Api::submit_batch},
        {"GET", "/v1/batches/{id}", Need::anybody, &Api::get_batch},
        {"POST", "/v1/decisions", Need::decide, &Api::decide_many, true},
        {"GET", "/v1/events", Need::anybody, &Api::events},
        {"POST", "/v1/check", Need::anybody, &Api::check},
        {"GET", "/v1/grants", Need::oversee, &Api::list_grants},
        {"GET", "/v1/grants/{id}", Need::oversee, &Api::get_grant},
        {"POST", "/v1/grants/{id}/revoke", Need::decide, &Api::revoke_grant, true},
        {"GET", "/v1/policy", Need::oversee, &Api::get_policy},
        {"PUT", "/v1/policy", Need::admin, &Api::put_policy},
        {"POST", "/v1/policy/reload", Need::admin, &Api::reload_policy},
        {"GET", "/v1/policy/versions", Need::oversee, &Api::list_policies},
        {"GET", "/v1/policy/versions/{id}", Need::oversee, &Api::get_policy_version},
        {"POST", "/v1/policy/check", Need::oversee, &Api::check_policy},
        {"POST", "/v1/policy/test", Need::oversee, &Api::test_policy},
        {"POST", "/v1/policy/diff", Need::oversee, &Api::diff_policy},
        {"POST", "/v1/policy/explain", Need::oversee, &Api::explain},
        {"POST", "/v1/policy/backtest", Need::oversee, &Api::backtest},
        {"POST", "/v1/policy/suggest", Need::oversee, &Api::suggest},
        {"GET", "/v1/stats", Need::oversee, &Api::stats},
        {"GET", "/v1/me", Need::anybody, &Api::me},
        {"POST", "/v1/keys", Need::admin, &Api::create_key, false, Repeats::anew},
        {"GET", "/v1/keys", Need::admin, &Api::list_keys},
        {"POST", "/v1/keys/{id}/revoke", Need::admin, &Api::revoke_key},
        {"POST", "/v1/users", Need::admin, &Api::create_user},
        {"GET", "/v1/users", Need::oversee, &Api::list_users},
        {"POST", "/v1/users/{id}/password", Need::oversee, &Api::set_password},
        {"POST", "/v1/users/{id}/disable", Need::admin, &Api::disable_user},
        {"POST", "/v1/users/{id}/enable", Need::admin, &Api::enable_user},
        {"POST", "/v1/users/{id}/groups", Need::admin, &Api::set_groups},
        {"POST", "/v1/session", Need::nothing, &Api::sign_in, false, Repeats::anew},
        {"GET", "/v1/session", Need::oversee, &Api::get_session},
        {"DELETE", "/v1/session", Need::oversee, &Api::sign_out},
        {"POST", "/v1/session/options", Need::nothing, &Api::passkey_get_options},
        {"GET", "/v1/passkeys", Need::oversee, &Api::list_passkeys},
        {"POST", "/v1/passkeys", Need::oversee, &Api::add_passkey},
        {"POST", "/v1/passkeys/options", Need::oversee, &Api::passkey_create_options},
        {"PUT", "/v1/passkeys/{id}", Need::oversee, &Api::rename_passkey},
        {"DELETE", "/v1/passkeys/{id}", Need::oversee, &Api::remove_passkey},
        {"GET", "/v1/push/key", Need::oversee, &Api::push_key},
        {"GET", "/v1/push/subscriptions", Need::oversee, &Api::list_push},
        {"POST", "/v1/push/subscriptions", Need::oversee, &Api::add_push},
        {"DELETE", "/v1/push/subscriptions/{id}", Need::oversee, &Api::remove_push},
        {"POST", "/v1/push/decision", Need::nothing, &Api::decide_pushed, true, Repeats::anew},
        {"GET", "/v1/sessions", Need::oversee, &Api::list_sessions},
        {"POST", "/v1/sessions/{id}/revoke", Need::oversee, &Api::revoke_session},
        {"POST", "/v1/links", Need::admin, &Api::create_link, false, Repeats::anew},
        {"GET", "/api/approvals", Need::anybody, &Api::alias_list},
        {"GET", "/api/approvals/pending", Need::anybody, &Api::alias_pending},
        {"POST", "/api/approvals/{id}/approve", Need::decide, &Api::alias_approve, true,
         Repeats::anew},
        {"POST", "/api/approvals/{id}/reject", Need::decide, &Api::alias_reject, true,
         Repeats::anew},
        {"POST", "/api/agent/approve", Need::decide, &Api::alias_agent_approve, true,
         Repeats::anew},
        {"GET", "/healthz", Need::nothing, &Api::health},
        {"GET", "/readyz", Need::nothing, &Api::ready},
        {"GET", "/metrics", Need::nothing, &Api::metrics},
        {"GET", "/openapi.json", Need::nothing, &Api::openapi},
    };
    return table;
}

Api::Api(store::Store& store, Clock& clock, service::PolicyInForce& policy, Offload offload,
         ApiOptions options)
    : store_(store),
      clock_(clock),
      policy_(policy),
      offload_(std::move(offload)),
      options_(std::move(options)),
      authenticator_(store, clock, options_.auth),
      timers_(0),
      polls_(store, waiters_, timers_),
      streams_(store, timers_),
      hashes_(offload_),
      started_at_(clock.now()) {}

bool Api::is_probe(const Route& route) {
    // Numbers for others than this machine's are counted with the credential that they take.
    return route.handle == &Api::health || route.handle == &Api::ready ||
           route.handle == &Api::metrics;
}

const Api::Route* Api::find(const http::Request& request, std::string& id,
                            std::string& allowed) const {
    // HEAD is GET whose body the engine leaves out.
    const std::string_view method =
        request.method == "HEAD" ? "GET" : std::string_view(request.method);
    for (const Route& route : routes()) {
        if (!matches(request.path, route.path, id)) continue;
        if (route.method == method) return &route;
        if (!allowed.empty()) allowed += ", ";
        allowed += route.method;
    }
    return nullptr;
}

void Api::handle(http::Request&& request, std::shared_ptr<http::Exchange> exchange) {
    if (options_.is_behind_proxy) auth::take_forwarded(request);
    auto call = std::make_shared<Call>(Call{std::move(request), std::move(exchange), {}, {}, {}});
    std::string allowed;
    const Route* route = find(call->request, call->id, allowed);
    const SiteFile* file =
        !route && allowed.empty() ? find_file(*options_.site, call->request.path) : nullptr;
    const bool is_get = call->request.method == "GET" || call->request.method == "HEAD";
    // A page takes a dozen files at once, all of them from memory; probes must not be turned away
    // because of their neighbours. Everything else counts, also what leads nowhere.
    const bool is_free = (file && is_get) || (route && is_probe(*route));
    const http::Request::QueryFault& fault = call->request.query_fault;
    const bool has_useless_key =
        route && route->repeats == Repeats::anew && call->request.has_header("idempotency-key");
    const bool is_counted_later =
        route && route->need != Need::nothing && fault.message.empty() && !has_useless_key;
    if (!is_free && !is_counted_later)
        if (const std::optional<Error> limited = authenticator_.check_address(call->request.peer))
            return call->exchange->respond(wire::to_response(*limited));
    // A page takes no query: one that cannot be read keeps nobody from it.
    const bool is_page = (file && is_get) || (!route && allowed.empty());
    if (!fault.message.empty() && !is_page)
        return call->exchange->respond(
            wire::to_response({ErrorCode::invalid_argument, std::string(fault.message),
                               visible(cut_utf8(fault.name, query_name_bytes_max))}));
    if (file && is_get)
        return call->exchange->respond(render_file(*options_.site, *file, call->request));
    if (file) allowed = "GET";
    if (call->request.path == "*") {
        http::Response response{204, "", "", {}};
        response.headers.emplace_back("Allow", "GET, HEAD, POST, PUT, DELETE");
        return call->exchange->respond(std::move(response));
    }
    if (!route && allowed.empty()) {
        if (std::optional<http::Response> page = render_lost(*options_.site, call->request))
            return call->exchange->respond(std::move(*page));
        return call->exchange->respond(
            wire::to_response({ErrorCode::not_found, "there is nothing at this path"}));
    }
    if (!route) {
        http::Response response = wire::to_response(
            {ErrorCode::method_not_allowed, fmt::format("this path takes {}", allowed)});
        response.headers.emplace_back("Allow", allowed);
        return call->exchange->respond(std::move(response));
    }
    if (has_useless_key)
        return call->exchange->respond(
            wire::to_response({ErrorCode::invalid_argument,
                               "this call takes no idempotency key: sent again, it is done again",
                               "Idempotency-Key"}));
    call->now = clock_.now();
    if (route->need == Need::nothing) return (this->*route->handle)(call);

    authenticator_.authenticate(call->request, [this, route, call](Result<auth::Caller> caller) {
        if (!caller) return call->exchange->respond(wire::to_response(caller.error()));
        call->caller = std::move(*caller);
        call->exchange->trust();
        admit(*route, call);
    });
}

bool Api::is_change(const Route& route) {
    // A page explains what is on the screen and says who looks at it; whoever reads on quickly must
    // not find that the next decision is refused.
    return route.method != "GET" && route.handle != &Api::explain &&
           route.handle != &Api::tell_presence;
}

void Api::admit(const Route& route, const CallPtr& call) {
    if (is_change(route))
        if (const std::optional<Error> limited = authenticator_.check_change(call->caller))
            return call->exchange->respond(wire::to_response(*limited));
    if (auth::may(call->caller.role, route.need)) {
        if (route.is_decision)
            if (const std::optional<Error> limited = authenticator_.check_decision(call->caller))
                return call->exchange->respond(wire::to_response(*limited));
        return (this->*route.handle)(call);
    }
    const bool is_agent = call->caller.role == store::Role::agent;
    const Error error{ErrorCode::permission_denied,
                      is_agent && route.is_decision ? "an agent cannot decide"
                                                    : fmt::format("the role `{}` may not do this",
                                                                  to_string(call->caller.role))};
    call->exchange->respond(wire::to_response(error));
}

json::Limits Api::decision_limits() const {
    json::Limits limits = options_.json;
    limits.string_bytes_max = limits.bytes_max;
    return limits;
}

bool Api::read_body(const CallPtr& call, Body& body, bool may_be_empty) {
    return read_body(call, body, may_be_empty, options_.json);
}

bool Api::read_body(const CallPtr& call, Body& body, bool may_be_empty,
                    const json::Limits& limits) {
    const http::Request& request = call->request;
    if (request.body.empty() && may_be_empty) {
        body.value.emplace(json::object{});
        return true;
    }
    if (!is_json(request.header("content-type"))) {
        call->exchange->respond(wire::to_response(
            {ErrorCode::unsupported_media_type, "send `Content-Type: application/json`"}));
        return false;
    }
    Result<json::value> parsed = json::parse(request.body, limits, &body.memory);
    if (!parsed) {
        call->exchange->respond(wire::to_response(parsed.error()));
        return false;
    }
    body.value.emplace(std::move(*parsed));
    return true;
}

std::optional<RequestId> Api::read_request_id(const CallPtr& call) {
    const std::optional<RequestId> id = RequestId::parse(call->id);
    // A malformed id is an unknown one: ids are opaque to callers.
    if (!id)
        call->exchange->respond(
            wire::to_response({ErrorCode::not_found, "no request has this id"}));
    return id;
}

std::optional<service::Idempotency> Api::read_idempotency(const CallPtr& call) {
    constexpr std::size_t key_bytes_max = 255;
    const http::Request& request = call->request;
    service::Idempotency idempotency;
    if (!request.has_header("idempotency-key")) return idempotency;
    const std::string_view key = request.header("idempotency-key");
    bool is_good = !key.empty() && key.size() <= key_bytes_max;
    for (const char c : key) is_good = is_good && c > 0x20 && c < 0x7F;
    if (!is_good || request.header_count("idempotency-key") > 1) {
        call->exchange->respond(wire::to_response(
            {ErrorCode::invalid_argument, "must be one text of 1 to 255 visible ASCII characters",
             "Idempotency-Key"}));
        return std::nullopt;
    }
    idempotency.key = key;
    const auto hash = sha256({request.method, "\n", request.path, "\n", request.body});
    idempotency.call_hash.assign(reinterpret_cast<const char*>(hash.data()), hash.size());
    return idempotency;
}

bool Api::has_no_query(const CallPtr& call) {
    const Result<void> ok = wire::expect_no_query(call->request.query);
    if (!ok) call->exchange->respond(wire::to_response(ok.error()));
    return ok.has_value();
}

bool Api::has_no_fields(const CallPtr& call) {
    Body body;
    if (!read_body(call, body, true)) return false;
    const Result<void> ok = json::Fields(*body, "").finish();
    if (!ok) call->exchange->respond(wire::to_response(ok.error()));
    return ok.has_value();
}

void Api::on_commit(const std::vector<store::Change>& changes) {
    waiters_.on_commit(changes);
    streams_.on_commit(changes);
}

void Api::on_tick(std::int64_t now_ms) {
    constexpr std::int64_t presence_every_ms = 1000;
    timers_.advance(now_ms);
    if (presence_.is_empty() || now_ms - presence_at_ms_ < presence_every_ms) return;
    presence_at_ms_ = now_ms;
    for (const RequestId& id : presence_.forget(clock_.now())) announce_presence(id);
}

void Api::stop() {
    is_stopping_ = true;
    is_ready_ = false;
    polls_.stop();
    streams_.stop();
}

void Api::identity_changed() {
    authenticator_.forget();
    streams_.recheck(authenticator_);
}

void Api::identity_ended(const PrincipalId& whose) {
    identity_changed();
    // They ask again, and are judged by the credential they then have.
    polls_.send_back(whose);
}

}  // namespace holdpoint::api
