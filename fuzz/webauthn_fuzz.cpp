#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/assert.h"
#include "base/cbor.h"
#include "base/sha256.h"
#include "base/text.h"
#include "service/webauthn/ceremony.h"

namespace cbor = holdpoint::cbor;
namespace webauthn = holdpoint::webauthn;

namespace {

std::size_t check_value(const cbor::Value& value, int depth) {
    const cbor::Limits limits;
    HOLDPOINT_ASSERT(depth <= limits.depth_max);
    if (value.is(cbor::Kind::text)) HOLDPOINT_ASSERT(holdpoint::is_utf8(value.text));
    if (value.is(cbor::Kind::map)) HOLDPOINT_ASSERT(value.items.size() % 2 == 0);
    std::size_t count = 1;
    for (const cbor::Value& item : value.items) count += check_value(item, depth + 1);
    return count;
}

void check_refusal(const holdpoint::Error& error) {
    HOLDPOINT_ASSERT(error.code == holdpoint::ErrorCode::invalid_argument);
    HOLDPOINT_ASSERT(!error.message.empty() && error.message.size() < 200);
}

}  // namespace

/// Whatever an authenticator or a browser may send: it is read within the limits or refused with a
/// reason, and nothing that was not signed is ever taken for signed.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    const holdpoint::Result<cbor::Value> value = cbor::read(bytes);
    if (value)
        HOLDPOINT_ASSERT(check_value(*value, 0) <= cbor::Limits{}.values_max);
    else
        check_refusal(value.error());

    static const std::string no_signature(64, 'x');
    const holdpoint::Result<webauthn::PublicKey> key = webauthn::PublicKey::read(bytes);
    if (key)
        HOLDPOINT_ASSERT(!key->has_signed("what nobody signed", no_signature));
    else
        check_refusal(key.error());

    static const webauthn::RelyingParty party{"localhost", {"http://localhost:7480"}};
    static const std::string challenge(88, 'c');
    static const std::string client_data = R"({"type":"webauthn.create","challenge":")" +
                                           holdpoint::base64url_of(challenge) +
                                           R"(","origin":"http://localhost:7480"})";
    webauthn::NewCredential credential;
    credential.id = "id";
    credential.client_data = client_data;
    credential.attestation = bytes;
    if (const auto made = webauthn::verify_registration(party, challenge, credential); !made)
        check_refusal(made.error());
    credential.client_data = bytes;
    if (const auto made = webauthn::verify_registration(party, challenge, credential); !made)
        check_refusal(made.error());
    (void)webauthn::challenge_in(bytes);
    return 0;
}
