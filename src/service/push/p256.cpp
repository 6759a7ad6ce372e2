#include "service/push/p256.h"

#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>

#include "base/assert.h"

namespace holdpoint::webpush {
namespace {

constexpr const char* curve = "prime256v1";
constexpr std::size_t scalar_size = 32, point_size = 65;

const unsigned char* bytes_of(std::string_view text) {
    return reinterpret_cast<const unsigned char*>(text.data());
}
unsigned char* bytes_of(std::string& text) { return reinterpret_cast<unsigned char*>(text.data()); }

/// The point that belongs to a private number; empty when it is not one of the curve's.
std::string point_of(const BIGNUM* scalar) {
    EC_GROUP* group = EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1);
    EC_POINT* point = EC_POINT_new(group);
    const bool is_in_range = !BN_is_zero(scalar) && BN_cmp(scalar, EC_GROUP_get0_order(group)) < 0;
    std::string bytes(point_size, '\0');
    const bool is_made = is_in_range &&
                         EC_POINT_mul(group, point, scalar, nullptr, nullptr, nullptr) == 1 &&
                         EC_POINT_point2oct(group, point, POINT_CONVERSION_UNCOMPRESSED,
                                            bytes_of(bytes), bytes.size(), nullptr) == point_size;
    EC_POINT_free(point);
    EC_GROUP_free(group);
    return is_made ? bytes : std::string();
}

EVP_PKEY* key_from(std::string_view point, const BIGNUM* scalar) {
    OSSL_PARAM_BLD* builder = OSSL_PARAM_BLD_new();
    OSSL_PARAM_BLD_push_utf8_string(builder, OSSL_PKEY_PARAM_GROUP_NAME, curve, 0);
    OSSL_PARAM_BLD_push_octet_string(builder, OSSL_PKEY_PARAM_PUB_KEY, point.data(), point.size());
    if (scalar) OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_PRIV_KEY, scalar);
    OSSL_PARAM* parameters = OSSL_PARAM_BLD_to_param(builder);
    EVP_PKEY_CTX* context = EVP_PKEY_CTX_new_from_name(nullptr, "EC", nullptr);
    EVP_PKEY* key = nullptr;
    const bool is_made =
        parameters && context && EVP_PKEY_fromdata_init(context) == 1 &&
        EVP_PKEY_fromdata(context, &key, scalar ? EVP_PKEY_KEYPAIR : EVP_PKEY_PUBLIC_KEY,
                          parameters) == 1;
    EVP_PKEY_CTX_free(context);
    OSSL_PARAM_free(parameters);
    OSSL_PARAM_BLD_free(builder);
    if (is_made) return key;
    EVP_PKEY_free(key);
    return nullptr;
}

std::unique_ptr<EVP_PKEY, void (*)(EVP_PKEY*)> read_point(std::string_view bytes) {
    std::unique_ptr<EVP_PKEY, void (*)(EVP_PKEY*)> key(nullptr, EVP_PKEY_free);
    if (bytes.size() != point_size || bytes[0] != '\x04') return key;
    key.reset(key_from(bytes, nullptr));
    if (!key) return key;
    EVP_PKEY_CTX* context = EVP_PKEY_CTX_new_from_pkey(nullptr, key.get(), nullptr);
    if (!context || EVP_PKEY_public_check(context) != 1) key.reset();
    EVP_PKEY_CTX_free(context);
    return key;
}

}  // namespace

void KeyPair::Free::operator()(evp_pkey_st* key) const { EVP_PKEY_free(key); }

KeyPair KeyPair::generate() {
    EVP_PKEY* key = EVP_EC_gen(curve);
    HOLDPOINT_ASSERT(key != nullptr);
    return KeyPair(key);
}

Result<KeyPair> KeyPair::from_private(std::string_view scalar) {
    const Error bad{ErrorCode::invalid_argument, "this is no private key of P-256"};
    if (scalar.size() != scalar_size) return bad;
    BIGNUM* number = BN_bin2bn(bytes_of(scalar), static_cast<int>(scalar.size()), nullptr);
    const std::string point = point_of(number);
    EVP_PKEY* key = point.empty() ? nullptr : key_from(point, number);
    BN_clear_free(number);
    if (!key) return bad;
    return KeyPair(key);
}

std::string KeyPair::public_point() const {
    std::string bytes(point_size, '\0');
    std::size_t size = 0;
    const int rc = EVP_PKEY_get_octet_string_param(key_.get(), OSSL_PKEY_PARAM_PUB_KEY,
                                                   bytes_of(bytes), bytes.size(), &size);
    HOLDPOINT_ASSERT(rc == 1 && size == point_size);
    return bytes;
}

std::string KeyPair::private_scalar() const {
    BIGNUM* number = nullptr;
    HOLDPOINT_ASSERT(EVP_PKEY_get_bn_param(key_.get(), OSSL_PKEY_PARAM_PRIV_KEY, &number) == 1);
    std::string bytes(scalar_size, '\0');
    HOLDPOINT_ASSERT(BN_bn2binpad(number, bytes_of(bytes), static_cast<int>(bytes.size())) ==
                     static_cast<int>(scalar_size));
    BN_clear_free(number);
    return bytes;
}

Result<std::string> KeyPair::shared_secret(std::string_view public_point) const {
    const Error bad{ErrorCode::refused, "this is no point of P-256"};
    const auto peer = read_point(public_point);
    if (!peer) return bad;
    EVP_PKEY_CTX* context = EVP_PKEY_CTX_new_from_pkey(nullptr, key_.get(), nullptr);
    std::string secret(scalar_size, '\0');
    std::size_t size = secret.size();
    const bool is_derived = context && EVP_PKEY_derive_init(context) == 1 &&
                            EVP_PKEY_derive_set_peer(context, peer.get()) == 1 &&
                            EVP_PKEY_derive(context, bytes_of(secret), &size) == 1;
    EVP_PKEY_CTX_free(context);
    if (!is_derived || size != scalar_size) return bad;
    return secret;
}

std::string KeyPair::sign(std::string_view text) const {
    EVP_MD_CTX* context = EVP_MD_CTX_new();
    std::string der(80, '\0');
    std::size_t size = der.size();
    const bool is_signed =
        EVP_DigestSignInit(context, nullptr, EVP_sha256(), nullptr, key_.get()) == 1 &&
        EVP_DigestSign(context, bytes_of(der), &size, bytes_of(text), text.size()) == 1;
    EVP_MD_CTX_free(context);
    HOLDPOINT_ASSERT(is_signed);
    const unsigned char* at = bytes_of(std::string_view(der));
    ECDSA_SIG* signature = d2i_ECDSA_SIG(nullptr, &at, static_cast<long>(size));
    HOLDPOINT_ASSERT(signature != nullptr);
    std::string raw(2 * scalar_size, '\0');
    BN_bn2binpad(ECDSA_SIG_get0_r(signature), bytes_of(raw), scalar_size);
    BN_bn2binpad(ECDSA_SIG_get0_s(signature), bytes_of(raw) + scalar_size, scalar_size);
    ECDSA_SIG_free(signature);
    return raw;
}

bool is_point(std::string_view bytes) { return read_point(bytes) != nullptr; }

}  // namespace holdpoint::webpush
