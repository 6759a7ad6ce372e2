#include "service/webauthn/ceremony.h"

#include <algorithm>

#include "base/cbor.h"
#include "base/json_fields.h"
#include "base/sha256.h"

namespace holdpoint::webauthn {
namespace {

using cbor::Kind;

// Flags of authenticator data.
constexpr unsigned char is_present = 0x01, is_verified = 0x04, is_backup_eligible = 0x08,
                        is_backup = 0x10, has_credential = 0x40, has_extensions = 0x80;
constexpr std::size_t head_size = 37;  // hash of the relying party, flags, counter
constexpr std::size_t aaguid_size = 16;
constexpr std::size_t credential_id_max = 1023;
constexpr std::size_t part_max = 48 * 1024;

Error bad(std::string message, std::string field) {
    return {ErrorCode::invalid_argument, std::move(message), std::move(field)};
}

/// A member in base64url. Browsers write more members than we know; those are not our concern.
Result<std::string> read_bytes(const json::object& object, std::string_view name,
                               const std::string& path, std::size_t max) {
    const std::string field = path + "." + std::string(name);
    const json::value* value = object.if_contains(name);
    if (!value) return bad("is missing", field);
    if (!value->is_string()) return bad("must be base64url text", field);
    const std::string_view text(value->get_string().data(), value->get_string().size());
    if (text.size() > max * 4 / 3 + 4) return bad("is too long", field);
    std::optional<std::string> bytes = from_base64url(text);
    if (!bytes) return bad("must be base64url text without padding", field);
    return std::move(*bytes);
}

Result<const json::object*> read_response(const json::value& value, const std::string& path) {
    if (!value.is_object()) return bad("must be an object", path);
    const json::value* type = value.get_object().if_contains("type");
    if (!type || !type->is_string() || type->get_string() != "public-key")
        return bad("must be `public-key`", path + ".type");
    const json::value* response = value.get_object().if_contains("response");
    if (!response || !response->is_object()) return bad("must be an object", path + ".response");
    return &response->get_object();
}

/// Checks what the browser itself says about the ceremony.
Result<void> check_client_data(const RelyingParty& party, std::string_view challenge,
                               std::string_view client_data, std::string_view type) {
    const Result<json::value> parsed = json::parse(client_data);
    const std::string field = "clientDataJSON";
    if (!parsed || !parsed->is_object()) return bad("is not a JSON object", field);
    const json::object& object = parsed->get_object();
    const auto text = [&](std::string_view name) -> std::string_view {
        const json::value* member = object.if_contains(name);
        if (!member || !member->is_string()) return {};
        return {member->get_string().data(), member->get_string().size()};
    };
    if (text("type") != type) return bad("is of another ceremony", field);
    const std::optional<std::string> signed_challenge = from_base64url(text("challenge"));
    if (!signed_challenge || challenge.empty() || *signed_challenge != challenge)
        return bad("has another challenge", field);
    if (std::find(party.origins.begin(), party.origins.end(), text("origin")) ==
        party.origins.end())
        return bad("comes from another origin", field);
    const json::value* cross = object.if_contains("crossOrigin");
    if (cross && (!cross->is_bool() || cross->get_bool()))
        return bad("comes from a frame of another site", field);
    return {};
}

struct AuthenticatorData {
    unsigned char flags = 0;
    std::uint32_t counter = 0;
    std::string credential_id;  ///< of a new credential
    std::string public_key;     ///< of a new credential, COSE
};

Result<void> read_credential(std::string_view& rest, AuthenticatorData& data) {
    const std::string field = "authenticatorData";
    if (rest.size() < aaguid_size + 2) return bad("ends too early", field);
    rest.remove_prefix(aaguid_size);
    const std::size_t size =
        static_cast<unsigned char>(rest[0]) * 256U + static_cast<unsigned char>(rest[1]);
    rest.remove_prefix(2);
    if (size == 0 || size > credential_id_max || size > rest.size())
        return bad("has a credential id of an impossible length", field);
    data.credential_id = rest.substr(0, size);
    rest.remove_prefix(size);
    const Result<cbor::Read> key = cbor::read_front(rest);
    if (!key) return bad(key.error().message, field);
    data.public_key = rest.substr(0, key->size);
    rest.remove_prefix(key->size);
    return {};
}

/// Everything that authenticator data says, in full: bytes that nobody explains are refused.
Result<AuthenticatorData> read_authenticator_data(const RelyingParty& party,
                                                  std::string_view bytes) {
    const std::string field = "authenticatorData";
    if (bytes.size() < head_size) return bad("ends too early", field);
    if (bytes.substr(0, 32) != as_text(sha256(party.id)))
        return bad("is for another relying party", field);
    AuthenticatorData data;
    data.flags = static_cast<unsigned char>(bytes[32]);
    for (std::size_t i = 33; i < head_size; ++i)
        data.counter = (data.counter << 8) | static_cast<unsigned char>(bytes[i]);
    std::string_view rest = bytes.substr(head_size);
    if (data.flags & has_credential)
        if (Result<void> ok = read_credential(rest, data); !ok) return ok.error();
    if (data.flags & has_extensions) {
        const Result<cbor::Read> extensions = cbor::read_front(rest);
        if (!extensions) return bad(extensions.error().message, field);
        if (!extensions->value.is(Kind::map)) return bad("has extensions of a wrong form", field);
        rest.remove_prefix(extensions->size);
    }
    if (!rest.empty()) return bad("goes on after its end", field);
    if (!(data.flags & is_present)) return bad("says that nobody was there", field);
    if (!(data.flags & is_verified)) return bad("says that the person was not verified", field);
    if ((data.flags & is_backup) && !(data.flags & is_backup_eligible))
        return bad("contradicts itself about its backup", field);
    return data;
}

std::string signed_bytes(std::string_view authenticator_data, std::string_view client_data) {
    const Sha256 hash = sha256(client_data);
    return std::string(authenticator_data) + std::string(as_text(hash));
}

/// `none` says nothing. `packed` without certificates is signed by the very key it vouches for.
Result<void> check_attestation(const cbor::Value& object, const PublicKey& key,
                               const std::string& signed_text) {
    const std::string field = "attestationObject";
    const cbor::Value* format = object.find("fmt");
    const cbor::Value* statement = object.find("attStmt");
    if (!format || !format->is(Kind::text) || !statement || !statement->is(Kind::map))
        return bad("lacks a part", field);
    if (format->text == "none" && statement->items.empty()) return {};
    const cbor::Value* algorithm = statement->find("alg");
    const cbor::Value* signature = statement->find("sig");
    const bool is_self = format->text == "packed" && statement->items.size() == 4 && algorithm &&
                         signature && algorithm->is(Kind::integer) && signature->is(Kind::bytes);
    if (!is_self) return bad("has an attestation that nobody asked for", field);
    if (algorithm->number != static_cast<int>(key.algorithm()) ||
        !key.has_signed(signed_text, signature->text))
        return bad("is not signed by its own key", field);
    return {};
}

bool is_loopback(std::string_view host) {
    return host == "[::1]" || host == "localhost" || host.starts_with("127.");
}

bool is_address(std::string_view host) {
    if (host.starts_with('[')) return true;
    const std::string_view last = host.substr(host.rfind('.') + 1);
    return !last.empty() && last.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace

RelyingParty relying_party_of(std::string_view base_url) {
    const std::size_t scheme = base_url.find("://");
    if (scheme == std::string_view::npos) return {};
    const std::string_view authority =
        base_url.substr(scheme + 3, base_url.find('/', scheme + 3) - scheme - 3);
    const std::size_t bracket = authority.find(']');
    const std::size_t colon = authority.find(':', bracket == std::string_view::npos ? 0 : bracket);
    const std::string_view host = authority.substr(0, colon);
    const std::string_view port =
        colon == std::string_view::npos ? std::string_view() : authority.substr(colon);
    const std::string before = std::string(base_url.substr(0, scheme)) + "://";
    if (is_loopback(host)) return {"localhost", {before + "localhost" + std::string(port)}};
    const bool is_secure = base_url.starts_with("https://");
    if (!is_secure || host.empty() || is_address(host)) return {};
    return {std::string(host), {before + std::string(authority)}};
}

Result<NewCredential> read_new_credential(const json::value& value, const std::string& path) {
    const Result<const json::object*> response = read_response(value, path);
    if (!response) return response.error();
    NewCredential credential;
    Result<std::string> id = read_bytes(value.get_object(), "id", path, credential_id_max);
    if (!id) return id.error();
    Result<std::string> client =
        read_bytes(**response, "clientDataJSON", path + ".response", part_max);
    if (!client) return client.error();
    Result<std::string> attestation =
        read_bytes(**response, "attestationObject", path + ".response", part_max);
    if (!attestation) return attestation.error();
    credential.id = std::move(*id);
    credential.client_data = std::move(*client);
    credential.attestation = std::move(*attestation);
    const json::value* transports = (*response)->if_contains("transports");
    if (transports && transports->is_array())
        for (const json::value& transport : transports->get_array()) {
            // Hints for the browser, given back as they came; only words, and only a few.
            if (!transport.is_string() || credential.transports.size() >= 8) continue;
            const std::string_view word(transport.get_string().data(),
                                        transport.get_string().size());
            const bool is_word =
                !word.empty() && word.size() <= 32 &&
                word.find_first_not_of("abcdefghijklmnopqrstuvwxyz-") == std::string_view::npos;
            if (is_word) credential.transports.emplace_back(word);
        }
    return credential;
}

Result<Assertion> read_assertion(const json::value& value, const std::string& path) {
    const Result<const json::object*> response = read_response(value, path);
    if (!response) return response.error();
    Assertion assertion;
    struct Part {
        const json::object& object;
        std::string_view name;
        std::string path;
        std::string& out;
    };
    for (const Part& part :
         {Part{value.get_object(), "id", path, assertion.id},
          Part{**response, "clientDataJSON", path + ".response", assertion.client_data},
          Part{**response, "authenticatorData", path + ".response", assertion.authenticator_data},
          Part{**response, "signature", path + ".response", assertion.signature}}) {
        Result<std::string> bytes = read_bytes(part.object, part.name, part.path, part_max);
        if (!bytes) return bytes.error();
        part.out = std::move(*bytes);
    }
    const json::value* handle = (*response)->if_contains("userHandle");
    if (handle && !handle->is_null()) {
        Result<std::string> bytes = read_bytes(**response, "userHandle", path + ".response", 64);
        if (!bytes) return bytes.error();
        assertion.user_handle = std::move(*bytes);
    }
    return assertion;
}

std::string challenge_in(std::string_view client_data) {
    const Result<json::value> parsed = json::parse(client_data);
    if (!parsed || !parsed->is_object()) return {};
    const json::value* challenge = parsed->get_object().if_contains("challenge");
    if (!challenge || !challenge->is_string()) return {};
    return from_base64url({challenge->get_string().data(), challenge->get_string().size()})
        .value_or("");
}

Result<Registered> verify_registration(const RelyingParty& party, std::string_view challenge,
                                       const NewCredential& credential) {
    if (Result<void> ok =
            check_client_data(party, challenge, credential.client_data, "webauthn.create");
        !ok)
        return ok.error();
    const std::string field = "attestationObject";
    const Result<cbor::Value> object = cbor::read(credential.attestation);
    if (!object) return bad(object.error().message, field);
    if (!object->is(Kind::map) || object->items.size() != 6) return bad("lacks a part", field);
    const cbor::Value* bytes = object->find("authData");
    if (!bytes || !bytes->is(Kind::bytes)) return bad("lacks a part", field);
    const Result<AuthenticatorData> data = read_authenticator_data(party, bytes->text);
    if (!data) return data.error();
    if (!(data->flags & has_credential)) return bad("holds no credential", field);
    if (data->credential_id != credential.id) return bad("is of another credential", "id");
    const Result<PublicKey> key = PublicKey::read(data->public_key);
    if (!key) return bad(key.error().message, field);
    if (Result<void> ok =
            check_attestation(*object, *key, signed_bytes(bytes->text, credential.client_data));
        !ok)
        return ok.error();
    return Registered{data->public_key, key->algorithm(), data->counter,
                      (data->flags & is_backup) != 0};
}

Result<Asserted> verify_assertion(const RelyingParty& party, std::string_view challenge,
                                  std::string_view public_key, std::int64_t counter,
                                  const Assertion& assertion) {
    if (Result<void> ok =
            check_client_data(party, challenge, assertion.client_data, "webauthn.get");
        !ok)
        return ok.error();
    const Result<AuthenticatorData> data =
        read_authenticator_data(party, assertion.authenticator_data);
    if (!data) return data.error();
    const Result<PublicKey> key = PublicKey::read(public_key);
    if (!key) return Error{ErrorCode::internal, "a stored passkey cannot be read"};
    if (!key->has_signed(signed_bytes(assertion.authenticator_data, assertion.client_data),
                         assertion.signature))
        return bad("is not of this passkey", "signature");
    const bool is_counting = data->counter != 0 || counter != 0;
    if (is_counting && static_cast<std::int64_t>(data->counter) <= counter)
        return bad("counts backwards: the passkey may have been copied", "authenticatorData");
    return Asserted{data->counter, (data->flags & is_backup) != 0};
}

}  // namespace holdpoint::webauthn
