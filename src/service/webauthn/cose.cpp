#include "service/webauthn/cose.h"

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <openssl/rsa.h>

#include "base/cbor.h"

namespace holdpoint::webauthn {
namespace {

using cbor::Kind;
using cbor::Value;

// The members of a COSE_Key, and the kinds of key.
constexpr std::int64_t member_kind = 1, member_algorithm = 3;
constexpr std::int64_t member_curve = -1, member_x = -2, member_y = -3;
constexpr std::int64_t member_modulus = -1, member_exponent = -2;
constexpr std::int64_t kind_okp = 1, kind_ec2 = 2, kind_rsa = 3;
constexpr std::int64_t curve_p256 = 1, curve_ed25519 = 6;
constexpr std::size_t modulus_bytes_min = 256, modulus_bytes_max = 512;

Error bad_key(const char* why) {
    return {ErrorCode::invalid_argument, std::string("the public key ") + why};
}

const unsigned char* bytes_of(std::string_view text) {
    return reinterpret_cast<const unsigned char*>(text.data());
}

bool is_number(const Value* value, std::int64_t number) {
    return value && value->is(Kind::integer) && value->number == number;
}

bool is_bytes(const Value* value, std::size_t size) {
    return value && value->is(Kind::bytes) && value->text.size() == size;
}

/// A key of this type made from parameters; null when they are no key.
EVP_PKEY* key_from(const char* type, OSSL_PARAM_BLD* builder) {
    OSSL_PARAM* parameters = OSSL_PARAM_BLD_to_param(builder);
    EVP_PKEY_CTX* context = EVP_PKEY_CTX_new_from_name(nullptr, type, nullptr);
    EVP_PKEY* key = nullptr;
    const bool is_made = parameters && context && EVP_PKEY_fromdata_init(context) == 1 &&
                         EVP_PKEY_fromdata(context, &key, EVP_PKEY_PUBLIC_KEY, parameters) == 1;
    EVP_PKEY_CTX_free(context);
    OSSL_PARAM_free(parameters);
    if (is_made) return key;
    EVP_PKEY_free(key);
    return nullptr;
}

EVP_PKEY* make_p256(const std::string& x, const std::string& y) {
    const std::string point = '\x04' + x + y;
    OSSL_PARAM_BLD* builder = OSSL_PARAM_BLD_new();
    EVP_PKEY* key = nullptr;
    if (OSSL_PARAM_BLD_push_utf8_string(builder, OSSL_PKEY_PARAM_GROUP_NAME, "prime256v1", 0) ==
            1 &&
        OSSL_PARAM_BLD_push_octet_string(builder, OSSL_PKEY_PARAM_PUB_KEY, point.data(),
                                         point.size()) == 1)
        key = key_from("EC", builder);
    OSSL_PARAM_BLD_free(builder);
    return key;
}

EVP_PKEY* make_rsa(const std::string& modulus, const std::string& exponent) {
    OSSL_PARAM_BLD* builder = OSSL_PARAM_BLD_new();
    BIGNUM* n = BN_bin2bn(bytes_of(modulus), static_cast<int>(modulus.size()), nullptr);
    BIGNUM* e = BN_bin2bn(bytes_of(exponent), static_cast<int>(exponent.size()), nullptr);
    EVP_PKEY* key = nullptr;
    if (OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_N, n) == 1 &&
        OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_E, e) == 1)
        key = key_from("RSA", builder);
    BN_free(n);
    BN_free(e);
    OSSL_PARAM_BLD_free(builder);
    return key;
}

/// Whether OpenSSL finds the key sound: for a curve, that the point lies on it.
bool is_sound(EVP_PKEY* key) {
    EVP_PKEY_CTX* context = EVP_PKEY_CTX_new_from_pkey(nullptr, key, nullptr);
    const bool is_good = context && EVP_PKEY_public_check(context) == 1;
    EVP_PKEY_CTX_free(context);
    return is_good;
}

}  // namespace

std::string_view to_string(Algorithm algorithm) {
    switch (algorithm) {
        case Algorithm::es256:
            return "ES256";
        case Algorithm::eddsa:
            return "EdDSA";
        case Algorithm::rs256:
            return "RS256";
    }
    return "";
}

void PublicKey::Free::operator()(evp_pkey_st* key) const { EVP_PKEY_free(key); }

Result<PublicKey> PublicKey::read(std::string_view cose) {
    const Result<Value> map = cbor::read(cose);
    if (!map) return map.error();
    if (!map->is(Kind::map)) return bad_key("is not a map");
    const Value* kind = map->find(member_kind);
    const Value* algorithm = map->find(member_algorithm);
    const std::size_t members = map->items.size() / 2;
    if (is_number(kind, kind_ec2) && is_number(algorithm, static_cast<int>(Algorithm::es256))) {
        const Value* x = map->find(member_x);
        const Value* y = map->find(member_y);
        if (members != 5 || !is_number(map->find(member_curve), curve_p256) || !is_bytes(x, 32) ||
            !is_bytes(y, 32))
            return bad_key("is not one of P-256");
        PublicKey key(Algorithm::es256, make_p256(x->text, y->text));
        if (!key.key_ || !is_sound(key.key_.get())) return bad_key("is not a point of P-256");
        return key;
    }
    if (is_number(kind, kind_okp) && is_number(algorithm, static_cast<int>(Algorithm::eddsa))) {
        const Value* x = map->find(member_x);
        if (members != 4 || !is_number(map->find(member_curve), curve_ed25519) || !is_bytes(x, 32))
            return bad_key("is not one of Ed25519");
        PublicKey key(Algorithm::eddsa,
                      EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, bytes_of(x->text),
                                                  x->text.size()));
        if (!key.key_) return bad_key("is not one of Ed25519");
        return key;
    }
    if (is_number(kind, kind_rsa) && is_number(algorithm, static_cast<int>(Algorithm::rs256))) {
        const Value* n = map->find(member_modulus);
        const Value* e = map->find(member_exponent);
        const bool fits = members == 4 && n && e && n->is(Kind::bytes) && e->is(Kind::bytes) &&
                          n->text.size() >= modulus_bytes_min &&
                          n->text.size() <= modulus_bytes_max &&
                          e->text == std::string("\1\0\1", 3);
        if (!fits)
            return bad_key("is not one of RSA with 2,048 to 4,096 bits and the usual exponent");
        PublicKey key(Algorithm::rs256, make_rsa(n->text, e->text));
        if (!key.key_ || !is_sound(key.key_.get())) return bad_key("is not one of RSA");
        return key;
    }
    return bad_key("is of no kind that we offered");
}

bool PublicKey::has_signed(std::string_view bytes, std::string_view signature) const {
    EVP_MD_CTX* context = EVP_MD_CTX_new();
    const EVP_MD* digest = algorithm_ == Algorithm::eddsa ? nullptr : EVP_sha256();
    const bool is_good = context &&
                         EVP_DigestVerifyInit(context, nullptr, digest, nullptr, key_.get()) == 1 &&
                         EVP_DigestVerify(context, bytes_of(signature), signature.size(),
                                          bytes_of(bytes), bytes.size()) == 1;
    EVP_MD_CTX_free(context);
    return is_good;
}

}  // namespace holdpoint::webauthn
