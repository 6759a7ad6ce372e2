#include "notify/push/encrypt.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <algorithm>

#include "base/json.h"
#include "base/sha256.h"

namespace holdpoint::notify::push {
namespace {

constexpr std::size_t record_size = 4096, tag_size = 16, secret_size = 16;
constexpr std::size_t pad_to = 256;

std::string hmac(std::string_view key, std::initializer_list<std::string_view> parts) {
    const Sha256 mac = hmac_sha256(key, parts);
    return std::string(as_text(mac));
}

Result<std::string> seal(const std::string& key, const std::string& nonce,
                         const std::string& plaintext) {
    std::string out(plaintext.size() + tag_size, '\0');
    auto* bytes = reinterpret_cast<unsigned char*>(out.data());
    const auto* plain = reinterpret_cast<const unsigned char*>(plaintext.data());
    EVP_CIPHER_CTX* context = EVP_CIPHER_CTX_new();
    int size = 0, rest = 0;
    const bool is_sealed =
        EVP_EncryptInit_ex(context, EVP_aes_128_gcm(), nullptr,
                           reinterpret_cast<const unsigned char*>(key.data()),
                           reinterpret_cast<const unsigned char*>(nonce.data())) == 1 &&
        EVP_EncryptUpdate(context, bytes, &size, plain, static_cast<int>(plaintext.size())) == 1 &&
        EVP_EncryptFinal_ex(context, bytes + size, &rest) == 1 &&
        EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_GCM_GET_TAG, tag_size, bytes + plaintext.size()) == 1;
    EVP_CIPHER_CTX_free(context);
    if (!is_sealed) return Error{ErrorCode::internal, "a push message could not be encrypted"};
    return out;
}

}  // namespace

Result<std::string> encrypt(std::string_view plaintext, const Receiver& receiver,
                            const KeyPair& sender, std::string_view salt, bool is_padded) {
    using namespace std::string_view_literals;
    if (plaintext.size() > plaintext_max)
        return Error{ErrorCode::too_large, "a push message is too long"};
    if (receiver.secret.size() != secret_size || salt.size() != salt_size)
        return Error{ErrorCode::internal, "a push subscription is damaged"};
    const Result<std::string> shared = sender.shared_secret(receiver.public_point);
    if (!shared) return shared.error();
    const std::string own = sender.public_point();
    const std::string ikm = hmac(hmac(receiver.secret, {*shared}),
                                 {"WebPush: info\0"sv, receiver.public_point, own, "\1"sv});
    const std::string prk = hmac(salt, {ikm});
    const std::string key = hmac(prk, {"Content-Encoding: aes128gcm\0\1"sv}).substr(0, 16);
    const std::string nonce = hmac(prk, {"Content-Encoding: nonce\0\1"sv}).substr(0, 12);

    std::string padded(plaintext);
    padded += '\2';  // the last record
    if (is_padded)
        padded.resize(std::min((padded.size() + pad_to - 1) / pad_to * pad_to, plaintext_max + 1),
                      '\0');
    const Result<std::string> sealed = seal(key, nonce, padded);
    if (!sealed) return sealed.error();
    std::string out(salt);
    for (int shift = 24; shift >= 0; shift -= 8)
        out += static_cast<char>((record_size >> shift) & 0xFFU);
    out += static_cast<char>(own.size());
    return out + own + *sealed;
}

std::string vapid(const KeyPair& server, const std::string& audience, const std::string& contact,
                  std::int64_t expires_s) {
    std::string claims = "{\"aud\":";
    json::append_quoted(claims, audience);
    claims += fmt::format(",\"exp\":{},\"sub\":", expires_s);
    json::append_quoted(claims, contact);
    claims += '}';
    const std::string text =
        base64url_of(R"({"typ":"JWT","alg":"ES256"})") + '.' + base64url_of(claims);
    return fmt::format("vapid t={}.{}, k={}", text, base64url_of(server.sign(text)),
                       base64url_of(server.public_point()));
}

}  // namespace holdpoint::notify::push
