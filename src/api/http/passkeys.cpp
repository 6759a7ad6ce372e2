// Passkeys: adding and removing them, signing in, confirming a decision.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "api/auth/address.h"
#include "api/http/answers.h"
#include "api/http/list_answer.h"
#include "api/http/passkey_proof.h"
#include "api/wire/decide.h"
#include "api/wire/write.h"
#include "base/json_fields.h"
#include "base/sha256.h"
#include "service/passkeys.h"
#include "service/read.h"

namespace holdpoint::api {
namespace {

using core::RequestPtr;
using store::Passkey;
using wire::ObjectWriter;

constexpr std::int64_t lately_ms = 15 * 60'000;
constexpr std::string_view adding = "a passkey is added";

Error no_host_name() {
    return {ErrorCode::refused,
            "passkeys need a host name: start with --base-url https://NAME, or open the server as "
            "localhost"};
}

std::string passkey_json(const Passkey& passkey) {
    std::string out;
    ObjectWriter writer(out);
    writer.word("id", passkey.id.text());
    writer.text("name", passkey.name);
    writer.time("created_at", passkey.created_at);
    writer.time("last_used_at", passkey.last_used_at);
    const Result<webauthn::PublicKey> key = webauthn::PublicKey::read(passkey.public_key);
    writer.word("algorithm", key ? to_string(key->algorithm()) : "ES256");
    writer.boolean("backed_up", passkey.is_backed_up);
    writer.texts("transports", passkey.transports);
    writer.close();
    return out;
}

void append_descriptors(std::string& out, const std::vector<Passkey>& passkeys) {
    out += '[';
    for (std::size_t i = 0; i < passkeys.size(); ++i) {
        if (i > 0) out += ',';
        ObjectWriter writer(out);
        writer.word("type", "public-key");
        writer.word("id", base64url_of(passkeys[i].credential));
        writer.texts("transports", passkeys[i].transports);
        writer.close();
    }
    out += ']';
}

std::string create_options_json(const webauthn::RelyingParty& party, const core::Actor& person,
                                const std::string& challenge,
                                const std::vector<Passkey>& passkeys) {
    std::string out = "{\"publicKey\":";
    ObjectWriter writer(out);
    ObjectWriter rp(writer.name("rp"));
    rp.text("id", party.id);
    rp.word("name", "Holdpoint");
    rp.close();
    ObjectWriter user(writer.name("user"));
    user.word("id", base64url(person.id.ulid.bytes));
    user.text("name", person.name);
    user.text("displayName", person.name);
    user.close();
    writer.word("challenge", base64url_of(challenge));
    writer.raw("pubKeyCredParams",
               R"([{"type":"public-key","alg":-7},{"type":"public-key","alg":-8},)"
               R"({"type":"public-key","alg":-257}])");
    writer.number("timeout", auth::Challenges::life_ms);
    append_descriptors(writer.name("excludeCredentials"), passkeys);
    writer.raw("authenticatorSelection", R"({"residentKey":"required","requireResidentKey":true,)"
                                         R"("userVerification":"required"})");
    writer.word("attestation", "none");
    writer.close();
    return out + '}';
}

std::string get_options_json(const webauthn::RelyingParty& party, const std::string& challenge,
                             const std::vector<Passkey>& passkeys) {
    std::string out = "{\"publicKey\":";
    ObjectWriter writer(out);
    writer.word("challenge", base64url_of(challenge));
    writer.number("timeout", auth::Challenges::life_ms);
    writer.text("rpId", party.id);
    append_descriptors(writer.name("allowCredentials"), passkeys);
    writer.word("userVerification", "required");
    writer.close();
    return out + '}';
}

auth::Challenges::Purpose to_register(const PrincipalId& person) {
    return {"register", person.text()};
}
auth::Challenges::Purpose to_sign_in() { return {"sign-in", ""}; }

}  // namespace

auth::Challenges::Purpose to_decide(const PrincipalId& person, const RequestId& id,
                                    const std::string& digest,
                                    const core::DecisionCommand& command) {
    std::string bound =
        fmt::format("{}\n{}\n{}\n{}\n", person.text(), id.text(), digest, to_string(command.kind));
    bound += command.replacement.text + '\n';
    if (command.approved_steps)
        for (const int step : *command.approved_steps) bound += fmt::format("{},", step);
    return {"decide", std::move(bound)};
}

core::JsonText proof_of(const store::Passkey& passkey, const webauthn::Assertion& assertion) {
    std::string out;
    ObjectWriter writer(out);
    writer.word("authenticator_data", base64url_of(assertion.authenticator_data));
    writer.word("client_data", base64url_of(assertion.client_data));
    writer.word("id", passkey.id.text());
    writer.word("public_key", base64url_of(passkey.public_key));
    writer.word("signature", base64url_of(assertion.signature));
    writer.close();
    return {std::move(out)};
}

bool Api::has_signed_in_lately(const CallPtr& call, std::string_view what) {
    const auth::Caller& caller = call->caller;
    // Whoever finds an open browser, or a key, must not make themselves a way to come back.
    const bool is_lately =
        caller.is_cookie && caller.signed_in_at && call->now - *caller.signed_in_at < lately_ms;
    if (!is_lately)
        respond_error(call, {ErrorCode::permission_denied,
                             fmt::format("sign in again first: {} within 15 minutes of it", what)});
    return is_lately;
}

void Api::list_passkeys(const CallPtr& call) {
    if (!has_no_query(call)) return;
    store_.run([id = call->caller.actor.id](store::Transaction& tx) { return tx.passkeys_of(id); },
               [call](Result<std::vector<Passkey>> passkeys) {
                   respond_list(call, "passkeys", passkeys, passkey_json);
               });
}

void Api::passkey_create_options(const CallPtr& call) {
    if (!has_no_query(call) || !has_no_fields(call) || !has_signed_in_lately(call, adding)) return;
    if (!options_.relying_party.is_set()) return respond_error(call, no_host_name());
    store_.run([id = call->caller.actor.id](store::Transaction& tx) { return tx.passkeys_of(id); },
               [this, call](Result<std::vector<Passkey>> passkeys) {
                   if (!passkeys) return respond_error(call, passkeys.error());
                   const std::string challenge =
                       challenges_.issue(to_register(call->caller.actor.id), call->now);
                   respond_json(call,
                                create_options_json(options_.relying_party, call->caller.actor,
                                                    challenge, *passkeys));
               });
}

void Api::add_passkey(const CallPtr& call) {
    if (!has_no_query(call)) return;
    Body body;
    if (!read_body(call, body)) return;
    if (!has_signed_in_lately(call, adding)) return;
    if (!options_.relying_party.is_set()) return respond_error(call, no_host_name());
    json::Fields fields(*body, "");
    Passkey passkey;
    passkey.name = fields.required_text("name", name_rule);
    const json::value* given = fields.required("credential");
    if (Result<void> ok = fields.finish(); !ok) return respond_error(call, ok.error());
    Result<webauthn::NewCredential> credential =
        webauthn::read_new_credential(*given, "credential");
    if (!credential) return respond_error(call, credential.error());
    const std::string challenge = webauthn::challenge_in(credential->client_data);
    if (Result<void> ok =
            challenges_.take(challenge, to_register(call->caller.actor.id), call->now);
        !ok)
        return respond_error(call, {ErrorCode::invalid_argument, ok.error().message,
                                    "credential.response.clientDataJSON"});

    passkey.id = PasskeyId::fresh(call->now);
    passkey.principal = call->caller.actor.id;
    passkey.created_at = call->now;
    auto work = [party = options_.relying_party, challenge, credential = std::move(*credential),
                 passkey](store::Transaction& tx) {
        return service::add_passkey(tx, party, challenge, credential, passkey);
    };
    store_.run(std::move(work), [this, call, challenge](Result<Passkey> added) {
        if (!added) {
            challenges_.give_back(challenge);
            return respond_error(call, added.error());
        }
        spdlog::info("passkey {} added by `{}`", added->id.text(), call->caller.actor.name);
        respond_json(call, passkey_json(*added), 201);
    });
}

void Api::rename_passkey(const CallPtr& call) {
    if (!has_no_query(call)) return;
    Body body;
    if (!read_body(call, body)) return;
    json::Fields fields(*body, "");
    const std::string name = fields.required_text("name", name_rule);
    if (Result<void> ok = fields.finish(); !ok) return respond_error(call, ok.error());
    const std::optional<PasskeyId> id = PasskeyId::parse(call->id);
    if (!id) return respond_error(call, {ErrorCode::not_found, "no passkey has this id"});
    store_.run(
        [id = *id, person = call->caller.actor.id, name](store::Transaction& tx) {
            return service::rename_passkey(tx, id, person, name);
        },
        [call](Result<Passkey> passkey) {
            if (!passkey) return respond_error(call, passkey.error());
            respond_json(call, passkey_json(*passkey));
        });
}

void Api::remove_passkey(const CallPtr& call) {
    if (!has_no_query(call)) return;
    const std::optional<PasskeyId> id = PasskeyId::parse(call->id);
    if (!id) return respond_error(call, {ErrorCode::not_found, "no passkey has this id"});
    store_.run([id = *id, person = call->caller.actor.id](
                   store::Transaction& tx) { return service::remove_passkey(tx, id, person); },
               [call](Result<void> removed) {
                   if (!removed) return respond_error(call, removed.error());
                   spdlog::info("passkey {} removed by `{}`", call->id, call->caller.actor.name);
                   respond_json(call, "{}");
               });
}

void Api::passkey_get_options(const CallPtr& call) {
    if (!has_no_query(call) || !has_no_fields(call)) return;
    const std::string counted_as = "sign-in " + auth::network_of(call->request.peer);
    if (const std::optional<Error> blocked = authenticator_.check_failures(counted_as))
        return respond_error(call, *blocked);
    if (const std::optional<Error> refused = auth::check_origin(call->request))
        return respond_error(call, *refused);
    if (!options_.relying_party.is_set()) return respond_error(call, no_host_name());
    // No list of credentials: who has a passkey here is nobody's business before they sign in.
    respond_json(call, get_options_json(options_.relying_party,
                                        challenges_.issue(to_sign_in(), call->now), {}));
}

void Api::sign_in_with_passkey(const json::value& given, store::Session session, Timestamp now,
                               std::move_only_function<void(Result<service::Authenticated>)> done) {
    if (!options_.relying_party.is_set()) return done(no_host_name());
    Result<webauthn::Assertion> assertion = webauthn::read_assertion(given, "passkey");
    if (!assertion) return done(assertion.error());
    const std::string challenge = webauthn::challenge_in(assertion->client_data);
    if (Result<void> ok = challenges_.take(challenge, to_sign_in(), now); !ok)
        return done(Error{ErrorCode::unauthenticated, ok.error().message});
    auto work = [party = options_.relying_party, challenge, assertion = std::move(*assertion),
                 session, now](store::Transaction& tx) -> Result<service::Authenticated> {
        Result<service::UsedPasskey> used =
            service::use_passkey(tx, party, challenge, assertion, std::nullopt, now);
        if (!used) return used.error();
        store::Session opened = session;
        opened.principal = used->person.id;
        if (Result<void> ok = tx.save_session(opened); !ok) return ok.error();
        return service::Authenticated{std::move(used->person), opened.expires_at, opened.csrf};
    };
    store_.run(std::move(work), [this, challenge, done = std::move(done)](
                                    Result<service::Authenticated> found) mutable {
        if (found) return done(std::move(found));
        challenges_.give_back(challenge);
        Error error = found.error();
        // Whoever is not signed in learns that it did not work, and no more.
        if (error.code == ErrorCode::permission_denied) {
            spdlog::info("a passkey was refused: {}", error.message);
            error = {ErrorCode::unauthenticated, "the passkey was not accepted"};
        }
        done(std::move(error));
    });
}

void Api::challenge_decision(const CallPtr& call) {
    if (!has_no_query(call)) return;
    const std::optional<RequestId> id = read_request_id(call);
    if (!id) return;
    Body body;
    if (!read_body(call, body, false, decision_limits())) return;
    Result<wire::Decision> decision = wire::parse_decision(*body);
    if (!decision) return respond_error(call, decision.error());
    if (decision->passkey)
        return respond_error(
            call, {ErrorCode::invalid_argument, "comes with the decision itself", "passkey"});
    if (!options_.relying_party.is_set()) return respond_error(call, no_host_name());
    struct Found {
        RequestPtr request;
        std::vector<Passkey> passkeys;
    };
    auto work = [id = *id, actor = call->caller.actor](store::Transaction& tx) -> Result<Found> {
        Result<RequestPtr> request = service::read(tx, id, actor);
        if (!request) return request.error();
        Result<std::vector<Passkey>> passkeys = tx.passkeys_of(actor.id);
        if (!passkeys) return passkeys.error();
        return Found{std::move(*request), std::move(*passkeys)};
    };
    auto done = [this, call, command = std::move(decision->command)](const Result<Found>& found) {
        if (!found) return respond_error(call, found.error());
        const core::Request& request = *found->request;
        std::optional<Error> conflict;
        if (request.state == core::State::settled)
            conflict =
                Error{ErrorCode::conflict, fmt::format("already {}", to_string(*request.outcome))};
        else if (!command.digest.empty() && command.digest != request.digest)
            conflict =
                Error{ErrorCode::conflict,
                      "the request is not what you looked at any more; look again", "digest"};
        if (conflict) return call->exchange->respond(wire::to_response(*conflict, &request));
        if (found->passkeys.empty())
            return respond_error(call, {ErrorCode::refused, "you have no passkey; add one first"});
        const std::string challenge = challenges_.issue(
            to_decide(call->caller.actor.id, request.id, request.digest, command), call->now);
        respond_json(call, get_options_json(options_.relying_party, challenge, found->passkeys));
    };
    store_.run(std::move(work), std::move(done));
}

}  // namespace holdpoint::api
