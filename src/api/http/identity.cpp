// Keys, users and sessions.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "api/auth/address.h"
#include "api/http/answers.h"
#include "api/http/list_answer.h"
#include "api/wire/write.h"
#include "base/json_fields.h"
#include "base/text.h"
#include "service/identity.h"

namespace holdpoint::api {
namespace {

using json::Fields;
using store::Principal;
using store::Role;
using wire::ObjectWriter;

constexpr json::TextRule password_rule{.min = 10, .max = 1000};
constexpr std::size_t user_agent_max = 300;
constexpr std::int64_t key_lifetime_s_max = 10LL * 366 * 86'400;

/// A name becomes part of paths, lists and `group:NAME`; what would be ambiguous there is refused.
void check_name(Fields& fields, std::string_view field, const std::string& name) {
    for (const char c : name)
        if (c == '/' || c == ':' || c == ',' || c == '?' || c == '#' || c == '%' || c == '\\')
            return fields.refuse(field, fmt::format("must not contain `{}`", c));
    if (name == "." || name == "..") fields.refuse(field, "is not a name");
    // What else does not show is made visible wherever a name is read; a space there is not.
    if (name.starts_with(' ') || name.ends_with(' '))
        fields.refuse(field, "must not begin or end with a space");
}

std::optional<std::vector<std::string>> read_groups(Fields& fields) {
    std::optional<std::vector<std::string>> groups = fields.texts("groups", 100, name_rule);
    for (std::size_t i = 0; groups && i < groups->size(); ++i)
        check_name(fields, fmt::format("groups[{}]", i), (*groups)[i]);
    return groups;
}

std::string user_json(const Principal& user) {
    std::string out;
    ObjectWriter writer(out);
    writer.word("id", user.id.text());
    writer.text("name", user.name);
    writer.word("role", to_string(user.role));
    writer.texts("groups", user.groups);
    writer.text_or_null("owner", user.owner);
    writer.boolean("has_password", !user.password_hash.empty());
    writer.boolean("disabled", user.is_disabled);
    writer.time("created_at", user.created_at);
    writer.close();
    return out;
}

std::string key_json(const store::Key& key, const Principal& principal,
                     std::string_view secret = {}) {
    std::string out;
    ObjectWriter writer(out);
    writer.word("id", key.id.text());
    writer.word("role", to_string(principal.role));
    writer.text("name", principal.name);
    if (!secret.empty()) writer.word("key", secret);
    writer.texts("groups", principal.groups);
    writer.text_or_null("owner", principal.owner);
    writer.word("hint", key.hint);
    writer.time("created_at", key.created_at);
    writer.time("expires_at", key.expires_at);
    writer.time("revoked_at", key.revoked_at);
    writer.close();
    return out;
}

std::string session_json(const std::string& name, Role role, const std::string& csrf,
                         const std::optional<Timestamp>& expires_at, std::int64_t undo_ms_max) {
    std::string out;
    ObjectWriter writer(out);
    writer.text("name", name);
    writer.word("role", to_string(role));
    writer.text("csrf", csrf);
    writer.time("expires_at", expires_at);
    // Whole seconds, as a decision asks for them.
    writer.number("undo_max_s", undo_ms_max / 1000);
    writer.close();
    return out;
}

/// Answers with a user, or with why not.
void respond_user(const CallPtr& call, const Result<Principal>& user, int status = 200) {
    if (!user) return respond_error(call, user.error());
    respond_json(call, user_json(*user), status);
}

std::string cookie(bool is_tls, std::string_view value, std::int64_t seconds) {
    return fmt::format("{}={}; Path=/; HttpOnly; SameSite=Strict; Max-Age={}{}",
                       auth::Authenticator::cookie_name(is_tls), value, seconds,
                       is_tls ? "; Secure" : "");
}

}  // namespace

void Api::me(const CallPtr& call) {
    if (!has_no_query(call)) return;
    const auth::Caller& caller = call->caller;
    std::string out;
    ObjectWriter writer(out);
    writer.word("id", caller.actor.id.text());
    writer.text("name", caller.actor.name);
    writer.word("role", to_string(caller.role));
    writer.texts("groups", caller.actor.groups);
    writer.text_or_null("owner", caller.owner);
    writer.close();
    respond_json(call, std::move(out));
}

void Api::create_key(const CallPtr& call) {
    if (!has_no_query(call)) return;
    Body body;
    if (!read_body(call, body)) return;
    Fields fields(*body, "");
    service::KeySpec spec;
    const std::optional<std::string> role =
        fields.word("role", {"agent", "approver", "auditor", "admin"});
    if (!role && !fields.has_failed()) fields.refuse("role", "is missing");
    if (role) spec.role = *store::parse_role(*role);
    spec.name = fields.required_text("name", name_rule);
    check_name(fields, "name", spec.name);
    spec.groups = read_groups(fields);
    spec.owner = fields.text("owner", name_rule).value_or("");
    if (spec.role == Role::agent && spec.groups && !spec.groups->empty())
        fields.refuse("groups", "an agent is in no group of people");
    if (spec.role != Role::agent && !spec.owner.empty())
        fields.refuse("owner", "only an agent has an owner");
    if (const auto seconds = fields.integer("expires_in_s", 1, key_lifetime_s_max))
        spec.expires_at = call->now + *seconds * 1000;
    if (Result<void> ok = fields.finish(); !ok) return respond_error(call, ok.error());

    const auth::Secret secret = auth::new_key(spec.role);
    store::Key key;
    key.id = KeyId::fresh(call->now);
    key.hash = secret.hash;
    key.hint = secret.hint;
    auto work = [spec, key, principal = PrincipalId::fresh(call->now),
                 now = call->now](store::Transaction& tx) {
        return service::create_key(tx, spec, key, principal, now);
    };
    store_.run(std::move(work), [this, call, secret](Result<service::IssuedKey> issued) {
        if (!issued) return respond_error(call, issued.error());
        identity_changed();
        spdlog::info("key {} for {} `{}` created by `{}`", issued->key.id.text(),
                     to_string(issued->principal.role), issued->principal.name,
                     call->caller.actor.name);
        respond_json(call, key_json(issued->key, issued->principal, secret.text), 201);
    });
}

void Api::list_keys(const CallPtr& call) {
    if (!has_no_query(call)) return;
    store_.run([](store::Transaction& tx) { return service::list_keys(tx); },
               [call](Result<std::vector<service::KeyEntry>> entries) {
                   if (!entries) return respond_error(call, entries.error());
                   std::string out = "{\"keys\":[";
                   for (std::size_t i = 0; i < entries->size(); ++i) {
                       if (i > 0) out += ',';
                       out += key_json((*entries)[i].key, (*entries)[i].principal);
                   }
                   respond_json(call, out + "]}");
               });
}

void Api::revoke_key(const CallPtr& call) {
    if (!has_no_query(call)) return;
    Body body;
    if (!read_body(call, body, true)) return;
    if (Result<void> ok = Fields(*body, "").finish(); !ok) return respond_error(call, ok.error());
    const std::optional<KeyId> id = KeyId::parse(call->id);
    if (!id) return respond_error(call, {ErrorCode::not_found, "no key has this id"});
    store_.run([id = *id, now = call->now](
                   store::Transaction& tx) { return service::revoke_key(tx, id, now); },
               [this, call](Result<service::KeyEntry> revoked) {
                   if (!revoked) return respond_error(call, revoked.error());
                   identity_ended(revoked->principal.id);
                   spdlog::info("key {} of `{}` revoked by `{}`", revoked->key.id.text(),
                                revoked->principal.name, call->caller.actor.name);
                   respond_json(call, key_json(revoked->key, revoked->principal));
               });
}

void Api::create_user(const CallPtr& call) {
    if (!has_no_query(call)) return;
    Body body;
    if (!read_body(call, body)) return;
    Fields fields(*body, "");
    Principal user;
    user.id = PrincipalId::fresh(call->now);
    user.created_at = call->now;
    user.name = fields.required_text("name", name_rule);
    check_name(fields, "name", user.name);
    const std::optional<std::string> role = fields.word("role", {"approver", "auditor", "admin"});
    user.role = role ? *store::parse_role(*role) : Role::approver;
    user.groups = read_groups(fields).value_or(std::vector<std::string>{});
    const std::optional<std::string> password = fields.text("password", password_rule);
    if (Result<void> ok = fields.finish(); !ok) return respond_error(call, ok.error());

    auto save = [this, call](const Principal& fresh) {
        store_.run([fresh](store::Transaction& tx) { return service::create_user(tx, fresh); },
                   [call](Result<Principal> saved) { respond_user(call, saved, 201); });
    };
    if (!password) return save(user);
    if (const std::optional<Error> full = hashes_.full()) return respond_error(call, *full);
    const auto hash = std::make_shared<Result<std::string>>(Error{});
    hashes_.run([hash, password = *password] { *hash = auth::hash_password(password); },
                [call, hash, user, save]() mutable {
                    if (!*hash) return respond_error(call, hash->error());
                    user.password_hash = **hash;
                    save(user);
                });
}

void Api::list_users(const CallPtr& call) {
    if (!has_no_query(call)) return;
    store_.run([](store::Transaction& tx) { return tx.principals(); },
               [call](Result<std::vector<Principal>> users) {
                   respond_list(call, "users", users, user_json);
               });
}

void Api::set_password(const CallPtr& call) {
    if (!has_no_query(call)) return;
    Body body;
    if (!read_body(call, body)) return;
    Fields fields(*body, "");
    const std::string password = fields.required_text("password", password_rule);
    const std::optional<std::string> current = fields.text("current", {.max = 1000});
    if (Result<void> ok = fields.finish(); !ok) return respond_error(call, ok.error());
    const std::string name = call->id;
    const bool is_own = name == call->caller.actor.name;
    if (call->caller.role != Role::admin && !is_own)
        return respond_error(
            call, {ErrorCode::permission_denied, "only an admin sets somebody else's password"});
    // Whoever finds an open browser or a key must not be able to lock its owner out.
    const bool must_prove = is_own && (call->caller.is_cookie || call->caller.role != Role::admin);
    // Nor to find out the password by trying.
    if (current)
        if (const std::optional<int> wait =
                password_tries_.take(name, call->request.peer, call->now.ms))
            return respond_error(call, {ErrorCode::rate_limited,
                                        "too many passwords tried for this user", "", *wait});

    auto on_user = [this, call, name, password, current, must_prove](Result<Principal> user) {
        if (!user) return respond_error(call, user.error());
        // Nobody can prove a password that is not there yet; a first one is a new way in, and a key
        // that was stolen must not become one that outlives it.
        if (must_prove && user->password_hash.empty() &&
            !has_signed_in_lately(call, "a first password is set"))
            return;
        if (must_prove && !current && !user->password_hash.empty())
            return respond_error(call, {ErrorCode::invalid_argument, "is missing", "current"});
        if (const std::optional<Error> full = hashes_.full()) return respond_error(call, *full);
        struct Work {
            bool is_current = true;
            Result<std::string> hash = Error{};
        };
        const auto outcome = std::make_shared<Work>();
        hashes_.run(
            [outcome, old_hash = user->password_hash, password, current] {
                if (current && !old_hash.empty())
                    outcome->is_current = auth::is_password(old_hash, *current);
                if (outcome->is_current) outcome->hash = auth::hash_password(password);
            },
            [this, call, name, outcome, has_tried = current.has_value()] {
                if (has_tried && outcome->is_current)
                    password_tries_.give_back(name, call->request.peer, call->now.ms);
                if (!outcome->is_current) {
                    authenticator_.count_failure(call->request.peer);
                    return respond_error(call, {ErrorCode::permission_denied,
                                                "the current password is wrong", "current"});
                }
                if (!outcome->hash) return respond_error(call, outcome->hash.error());
                store_.run(
                    [name, hash = *outcome->hash](store::Transaction& tx) {
                        return service::set_password(tx, name, hash);
                    },
                    [this, call](Result<Principal> saved) {
                        if (saved) identity_ended(saved->id);
                        respond_user(call, saved);
                    });
            });
    };
    store_.run([name](store::Transaction& tx) { return service::find_user(tx, name); },
               std::move(on_user));
}

void Api::set_user_disabled(const CallPtr& call, bool is_disabled) {
    if (!has_no_query(call)) return;
    Body body;
    if (!read_body(call, body, true)) return;
    if (Result<void> ok = Fields(*body, "").finish(); !ok) return respond_error(call, ok.error());
    store_.run([name = call->id, is_disabled](
                   store::Transaction& tx) { return service::set_disabled(tx, name, is_disabled); },
               [this, call](Result<Principal> user) {
                   if (user) identity_ended(user->id);
                   respond_user(call, user);
               });
}

void Api::disable_user(const CallPtr& call) { set_user_disabled(call, true); }
void Api::enable_user(const CallPtr& call) { set_user_disabled(call, false); }

void Api::set_groups(const CallPtr& call) {
    if (!has_no_query(call)) return;
    Body body;
    if (!read_body(call, body)) return;
    Fields fields(*body, "");
    std::optional<std::vector<std::string>> groups = read_groups(fields);
    if (!groups && !fields.has_failed()) fields.refuse("groups", "is missing");
    if (Result<void> ok = fields.finish(); !ok) return respond_error(call, ok.error());
    store_.run([name = call->id, groups = std::move(*groups)](
                   store::Transaction& tx) { return service::set_groups(tx, name, groups); },
               [this, call](Result<Principal> user) {
                   if (user) identity_changed();
                   respond_user(call, user);
               });
}

void Api::open_session(const CallPtr& call, service::Authenticated found,
                       const auth::Secret& token) {
    http::Response response;
    response.status = 201;
    response.body = session_json(found.principal.name, found.principal.role, found.csrf,
                                 found.expires_at, options_.undo_ms_max);
    response.headers.emplace_back(
        "Set-Cookie", cookie(call->request.is_tls, token.text, options_.session_ms / 1000));
    spdlog::info("`{}` signed in from {}", found.principal.name, call->request.peer);
    call->exchange->respond(std::move(response));
}

void Api::sign_in(const CallPtr& call) {
    if (!has_no_query(call)) return;
    // Counted apart from wrong keys: an agent on the same host must not lock people out.
    const std::string counted_as = "sign-in " + auth::network_of(call->request.peer);
    if (const std::optional<Error> blocked = authenticator_.check_failures(counted_as))
        return respond_error(call, *blocked);
    // A page elsewhere must not sign somebody in as somebody else.
    if (const std::optional<Error> refused = auth::check_origin(call->request))
        return respond_error(call, *refused);
    Body body;
    if (!read_body(call, body)) return;
    Fields fields(*body, "");
    const std::optional<std::string> link = fields.text("link", {.min = 1, .max = 200});
    const std::optional<std::string> name = fields.text("name", name_rule);
    const std::optional<std::string> password = fields.text("password", {.max = 1000});
    const json::value* passkey = fields.any("passkey");
    if (passkey && passkey->is_null()) passkey = nullptr;
    const bool is_alone = !name && !password && !(link && passkey);
    if ((link || passkey) && !is_alone)
        fields.refuse(link ? "link" : "passkey", "give a link, a passkey, or a name and password");
    if (!link && !passkey && !name) fields.refuse("name", "is missing");
    if (!link && !passkey && !password) fields.refuse("password", "is missing");
    if (Result<void> ok = fields.finish(); !ok) return respond_error(call, ok.error());

    const auth::Secret token = auth::new_token();
    store::Session session;
    session.hash = token.hash;
    session.csrf = auth::new_token().text;
    session.created_at = call->now;
    session.expires_at = call->now + options_.session_ms;
    session.address = call->request.peer;
    session.id = SessionId::fresh(call->now);
    session.last_seen_at = call->now;
    session.user_agent = cut_utf8(visible(call->request.header("user-agent")), user_agent_max);
    const bool has_password = !link && !passkey;
    if (has_password)
        if (const std::optional<int> wait =
                password_tries_.take(*name, call->request.peer, call->now.ms))
            return respond_error(
                call, {ErrorCode::rate_limited, "too many sign-ins as this user", "", *wait});
    auto give_back = [this, call, name, has_password] {
        if (has_password) password_tries_.give_back(*name, call->request.peer, call->now.ms);
    };
    // Counted before it is known: a thousand guesses at once must not all be looked at.
    if (const std::optional<Error> blocked = authenticator_.take_failure(counted_as)) {
        give_back();
        return respond_error(call, *blocked);
    }
    auto done = [this, call, token, counted_as, give_back](Result<service::Authenticated> found) {
        // A store that cannot answer says nothing about the credential.
        if (found || found.error().code != ErrorCode::unauthenticated) {
            authenticator_.give_back_failure(counted_as);
            give_back();
        }
        if (found) return open_session(call, std::move(*found), token);
        respond_error(call, found.error());
    };
    if (passkey)
        return sign_in_with_passkey(*passkey, std::move(session), call->now, std::move(done));
    if (link)
        return store_.run(
            [hash = auth::hash_of(*link), session, now = call->now](store::Transaction& tx) {
                return service::redeem_link(tx, hash, session, now);
            },
            std::move(done));
    sign_in_with_password(*name, *password, std::move(session), std::move(done));
}

void Api::sign_in_with_password(
    const std::string& name, const std::string& password, store::Session session,
    std::move_only_function<void(Result<service::Authenticated>)> done) {
    auto on_user = [this, password, session,
                    done = std::move(done)](Result<std::optional<Principal>> user) mutable {
        if (!user) return done(user.error());
        if (const std::optional<Error> full = hashes_.full()) return done(*full);
        const auto is_right = std::make_shared<bool>(false);
        auto check = [is_right, password, user = *user] {
            if (user && !user->is_disabled && !user->password_hash.empty())
                *is_right = auth::is_password(user->password_hash, password);
            else
                auth::waste_a_password_check(password);
        };
        auto then = [this, is_right, session, user = *user, done = std::move(done)]() mutable {
            if (!*is_right)
                return done(Error{ErrorCode::unauthenticated, "the name or the password is wrong"});
            session.principal = user->id;
            auto save = [session, hash = user->password_hash](store::Transaction& tx) {
                return service::open_session(tx, session, hash);
            };
            store_.run(std::move(save), std::move(done));
        };
        hashes_.run(std::move(check), std::move(then));
    };
    store_.run([name](store::Transaction& tx) { return tx.find_principal(name); },
               std::move(on_user));
}

void Api::get_session(const CallPtr& call) {
    if (!has_no_query(call)) return;
    const auth::Caller& caller = call->caller;
    if (!caller.is_cookie)
        return respond_error(call, {ErrorCode::not_found, "a key has no session"});
    respond_json(call, session_json(caller.actor.name, caller.role, caller.csrf, caller.expires_at,
                                    options_.undo_ms_max));
}

void Api::sign_out(const CallPtr& call) {
    if (!has_no_query(call)) return;
    if (!call->caller.is_cookie)
        return respond_error(call, {ErrorCode::not_found, "a key has no session"});
    store_.run(
        [hash = call->caller.credential](store::Transaction& tx) { return tx.drop_session(hash); },
        [this, call](Result<void> dropped) {
            if (!dropped) return respond_error(call, dropped.error());
            identity_ended(call->caller.actor.id);
            http::Response response;
            response.body = "{}";
            response.headers.emplace_back("Set-Cookie", cookie(call->request.is_tls, "", 0));
            call->exchange->respond(std::move(response));
        });
}

void Api::create_link(const CallPtr& call) {
    if (!has_no_query(call)) return;
    Body body;
    if (!read_body(call, body, true)) return;
    Fields fields(*body, "");
    const std::string name = fields.text("name", name_rule).value_or(call->caller.actor.name);
    if (Result<void> ok = fields.finish(); !ok) return respond_error(call, ok.error());
    const auth::Secret token = auth::new_token();
    const Timestamp expires_at = call->now + options_.link_ms;
    auto work = [name, hash = token.hash, id = SessionId::fresh(call->now), now = call->now,
                 expires_at](store::Transaction& tx) -> Result<void> {
        const Result<Principal> user = service::find_user(tx, name);
        if (!user) return user.error();
        if (user->role == Role::agent)
            return Error{ErrorCode::refused, "an agent does not sign in", "name"};
        store::Session link;
        link.hash = hash;
        link.principal = user->id;
        link.is_link = true;
        link.id = id;
        link.created_at = now;
        link.expires_at = expires_at;
        return tx.save_session(link);
    };
    store_.run(std::move(work), [this, call, token, expires_at](Result<void> saved) {
        if (!saved) return respond_error(call, saved.error());
        std::string out;
        ObjectWriter writer(out);
        // The token stands behind the `#`: it is in no request line, log or Referer.
        writer.text("url", options_.base_url + "/sign-in#" + token.text);
        writer.time("expires_at", expires_at);
        writer.close();
        respond_json(call, std::move(out), 201);
    });
}

}  // namespace holdpoint::api
