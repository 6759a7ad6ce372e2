#include "api/auth/authenticator.h"

#include <fmt/format.h>

#include "api/auth/address.h"
#include "api/auth/secrets.h"

namespace holdpoint::auth {
namespace {

constexpr std::int64_t memory_ms = 5000;
constexpr std::int64_t seen_every_ms = 60'000;
constexpr std::size_t known_max = 100'000;
constexpr std::string_view bearer = "Bearer ";

Error limited(int retry_after_s) {
    return {ErrorCode::rate_limited, "too many calls; slow down", "", retry_after_s};
}

Error too_many_failures(int retry_after_s) {
    return {ErrorCode::rate_limited, "too many wrong credentials from this address", "",
            retry_after_s};
}

bool is_safe(const std::string& method) {
    return method == "GET" || method == "HEAD" || method == "OPTIONS";
}

Caller to_caller(service::Authenticated&& found, std::string hash, bool is_cookie) {
    Caller caller;
    caller.actor.id = found.principal.id;
    caller.actor.name = std::move(found.principal.name);
    caller.actor.is_agent = found.principal.role == store::Role::agent;
    caller.actor.groups = std::move(found.principal.groups);
    caller.actor.via = is_cookie ? "browser" : "key";
    caller.role = found.principal.role;
    caller.owner = std::move(found.principal.owner);
    caller.credential = std::move(hash);
    caller.is_cookie = is_cookie;
    caller.csrf = std::move(found.csrf);
    caller.expires_at = found.expires_at;
    caller.signed_in_at = found.signed_in_at;
    return caller;
}

}  // namespace

std::optional<std::string_view> find_cookie(std::string_view header, std::string_view name) {
    std::string_view found;
    int count = 0;
    while (!header.empty()) {
        const std::size_t end = std::min(header.find(';'), header.size());
        std::string_view pair = header.substr(0, end);
        header.remove_prefix(std::min(end + 1, header.size()));
        while (pair.starts_with(' ')) pair.remove_prefix(1);
        const std::size_t equals = pair.find('=');
        if (equals == std::string_view::npos || pair.substr(0, equals) != name) continue;
        found = pair.substr(equals + 1);
        ++count;
    }
    if (count > 1) return std::nullopt;
    return found;
}

Authenticator::Authenticator(store::Store& store, Clock& clock, Options options)
    : store_(store),
      clock_(clock),
      failures_(options.failures),
      per_key_(options.per_key),
      per_address_(options.per_address),
      per_cookie_(options.per_cookie),
      decisions_per_key_(options.decisions_per_key) {}

std::string_view Authenticator::cookie_name(bool is_tls) {
    return is_tls ? "__Host-holdpoint_session" : "holdpoint_session";
}

std::optional<Error> Authenticator::check_address(const std::string& peer) {
    const std::optional<int> wait = per_address_.take(network_of(peer), clock_.now().ms);
    if (!wait) return std::nullopt;
    return limited(*wait);
}

void Authenticator::count_failure(const std::string& peer) {
    failures_.take(network_of(peer), clock_.now().ms);
}

std::optional<Error> Authenticator::check_failures(const std::string& peer) {
    const std::optional<int> wait = failures_.blocked(network_of(peer), clock_.now().ms);
    if (!wait) return std::nullopt;
    return too_many_failures(*wait);
}

std::optional<Error> Authenticator::take_failure(const std::string& peer) {
    const std::optional<int> wait = failures_.take(network_of(peer), clock_.now().ms);
    if (!wait) return std::nullopt;
    return too_many_failures(*wait);
}

void Authenticator::give_back_failure(const std::string& peer) {
    failures_.give_back(network_of(peer), clock_.now().ms);
}

Result<Authenticator::Credential> Authenticator::read_credential(
    const http::Request& request) const {
    const Error bad{ErrorCode::unauthenticated, "the credential is not valid"};
    const std::optional<std::string_view> cookie =
        find_cookie(request.header("cookie"), cookie_name(request.is_tls));
    const std::size_t headers = request.header_count("authorization");
    if (!cookie || headers > 1 || (headers == 1 && !cookie->empty()))
        return Error{ErrorCode::invalid_argument, "give one credential, not several"};
    if (headers == 1) {
        const std::string_view value = request.header("authorization");
        const bool is_bearer = value.size() > bearer.size() &&
                               http::equal_ignoring_case(value.substr(0, bearer.size()), bearer);
        if (!is_bearer || !looks_like_key(value.substr(bearer.size()))) return bad;
        return Credential{hash_of(value.substr(bearer.size())), false};
    }
    if (!cookie->empty()) return Credential{hash_of(*cookie), true};
    return Error{ErrorCode::unauthenticated,
                 "no credential; send `Authorization: Bearer <key>` or sign in"};
}

std::optional<Error> check_origin(const http::Request& request) {
    const std::string_view site = request.header("sec-fetch-site");
    if (!site.empty() && site != "same-origin" && site != "none")
        return Error{ErrorCode::permission_denied, "cross-site call refused"};
    const std::string_view origin = request.header("origin");
    if (origin.empty()) return std::nullopt;
    const std::string own =
        fmt::format("{}://{}", request.is_tls ? "https" : "http", request.header("host"));
    const std::string proxied = fmt::format("https://{}", request.header("host"));
    if (origin == own || origin == proxied) return std::nullopt;
    return Error{ErrorCode::permission_denied, "cross-site call refused", "Origin"};
}

std::optional<Error> Authenticator::check_cookie(const http::Request& request,
                                                 const Caller& caller) {
    // A browser attaches cookies to whatever any page asks of it; only our own pages know the
    // token, and the browser itself says where a request comes from.
    if (is_safe(request.method)) return std::nullopt;
    if (request.header("sec-fetch-site") == "none")
        return Error{ErrorCode::permission_denied, "cross-site call refused"};
    if (std::optional<Error> refused = check_origin(request)) return refused;
    if (!equal_secret(request.header("x-holdpoint-csrf"), caller.csrf))
        return Error{ErrorCode::permission_denied, "the CSRF token is missing or wrong",
                     "X-Holdpoint-CSRF"};
    return std::nullopt;
}

std::optional<Error> Authenticator::check_rate(const Caller& caller) {
    const std::optional<int> wait = per_key_.take(caller.credential, clock_.now().ms);
    if (!wait) return std::nullopt;
    return limited(*wait);
}

std::optional<Error> Authenticator::check_change(const Caller& caller) {
    if (!caller.is_cookie) return std::nullopt;
    const std::optional<int> wait = per_cookie_.take(caller.credential, clock_.now().ms);
    if (!wait) return std::nullopt;
    return limited(*wait);
}

std::optional<Error> Authenticator::check_decision(const Caller& caller) {
    if (caller.is_cookie) return std::nullopt;
    const std::optional<int> wait = decisions_per_key_.take(caller.credential, clock_.now().ms);
    if (!wait) return std::nullopt;
    return Error{ErrorCode::rate_limited, "too many decisions with this key; slow down", "", *wait};
}

void Authenticator::count_more_decisions(const Caller& caller, std::size_t count) {
    if (caller.is_cookie) return;
    decisions_per_key_.charge(caller.credential, static_cast<double>(count), clock_.now().ms);
}

Result<Caller> Authenticator::admit(const http::Request& request, Caller caller) {
    if (caller.is_cookie)
        if (std::optional<Error> wrong = check_cookie(request, caller)) return *wrong;
    if (std::optional<Error> wrong = check_rate(caller)) return *wrong;
    caller.actor.address = request.peer;
    return caller;
}

void Authenticator::authenticate(const http::Request& request, Done done) {
    const std::int64_t now_ms = clock_.now().ms;
    if (const std::optional<Error> wait = check_address(request.peer)) return done(*wait);
    Result<Credential> credential = read_credential(request);
    if (!credential) {
        const std::optional<Error> blocked = check_failures(request.peer);
        if (request.has_header("authorization")) count_failure(request.peer);
        return done(blocked.value_or(credential.error()));
    }
    const auto known = known_.find(credential->hash);
    // A key is none in a cookie, also right after it was seen where it belongs.
    if (known != known_.end() && now_ms < known->second.until_ms &&
        known->second.caller.is_cookie == credential->is_cookie)
        return done(admit(request, known->second.caller));
    // The request outlives this call: its owner keeps it until `done`.
    ask_store(std::move(*credential), request.peer,
              [this, &request, done = std::move(done)](Result<Caller> caller) mutable {
                  if (!caller) return done(caller.error());
                  done(admit(request, std::move(*caller)));
              });
}

void Authenticator::ask_store(Credential credential, std::string peer, Done done) {
    auto work = [credential, now = clock_.now()](store::Transaction& tx) {
        return credential.is_cookie ? service::authenticate_session(tx, credential.hash, now)
                                    : service::authenticate_key(tx, credential.hash, now);
    };
    auto finish = [this, credential, peer = std::move(peer),
                   done = std::move(done)](Result<service::Authenticated> found) mutable {
        if (!found) {
            if (found.error().code != ErrorCode::unauthenticated) return done(found.error());
            // Only wrong credentials are slowed down. Agents and people share addresses: whoever
            // guesses must not lock out somebody who has the right key.
            const std::optional<Error> blocked = check_failures(peer);
            count_failure(peer);
            return done(blocked.value_or(found.error()));
        }
        note_seen(*found, credential);
        Caller caller = to_caller(std::move(*found), credential.hash, credential.is_cookie);
        std::int64_t until_ms = clock_.now().ms + memory_ms;
        if (caller.expires_at) until_ms = std::min(until_ms, caller.expires_at->ms);
        if (known_.size() >= known_max) known_.clear();
        known_.insert_or_assign(caller.credential, Known{caller, until_ms});
        done(std::move(caller));
    };
    store_.run(std::move(work), std::move(finish));
}

void Authenticator::note_seen(const service::Authenticated& found, const Credential& credential) {
    const Timestamp now = clock_.now();
    if (!found.last_seen_at || now - *found.last_seen_at < seen_every_ms) return;
    // On its own: whoever may come in must not be turned away because this could not be written.
    store_.run([hash = credential.hash,
                now](store::Transaction& tx) { return tx.touch_session(hash, now); },
               [](const Result<void>&) {});
}

void Authenticator::recheck(const std::string& credential, bool is_cookie,
                            std::move_only_function<void(bool)> done) {
    auto work = [hash = credential, is_cookie, now = clock_.now()](store::Transaction& tx) {
        return is_cookie ? service::authenticate_session(tx, hash, now)
                         : service::authenticate_key(tx, hash, now);
    };
    store_.run(std::move(work),
               [done = std::move(done)](Result<service::Authenticated> found) mutable {
                   done(found.has_value());
               });
}

}  // namespace holdpoint::auth
