#include "api/auth/secrets.h"

#include <sodium.h>

#include <array>
#include <cstdint>

#include "base/sha256.h"

namespace holdpoint::auth {
namespace {

constexpr std::size_t secret_text_size = 43;  // 32 bytes in base64url without padding
constexpr std::size_t random_in_hint = 4;

std::string random_text() {
    std::array<unsigned char, 32> bytes{};
    randombytes_buf(bytes.data(), bytes.size());
    return base64url(bytes);
}

Secret seal(std::string text, std::size_t hint_size) {
    std::string hash = hash_of(text);
    std::string hint = text.substr(0, hint_size);
    return {std::move(text), std::move(hash), std::move(hint)};
}

}  // namespace

Secret new_key(store::Role role) {
    const std::string prefix = "hp_" + std::string(to_string(role)) + "_";
    return seal(prefix + random_text(), prefix.size() + random_in_hint);
}

Secret new_token() { return seal(random_text(), random_in_hint); }

std::string hash_of(std::string_view secret_text) {
    const auto digest = sha256(secret_text);
    return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

bool looks_like_key(std::string_view text) {
    if (!text.starts_with("hp_")) return false;
    const std::size_t end = text.find('_', 3);
    return end != std::string_view::npos && text.size() == end + 1 + secret_text_size;
}

Result<std::string> hash_password(const std::string& password) {
    std::array<char, crypto_pwhash_STRBYTES> out{};
    const int rc = crypto_pwhash_str_alg(out.data(), password.data(), password.size(),
                                         crypto_pwhash_OPSLIMIT_MODERATE, 64U << 20,
                                         crypto_pwhash_ALG_ARGON2ID13);
    if (rc != 0) return Error{ErrorCode::unavailable, "not enough memory to hash a password"};
    return std::string(out.data());
}

bool is_password(const std::string& hash, const std::string& password) {
    return !hash.empty() &&
           crypto_pwhash_str_verify(hash.c_str(), password.data(), password.size()) == 0;
}

void waste_a_password_check(const std::string& password) {
    static const std::string hash = hash_password("no such user").value_or("");
    (void)is_password(hash, password);
}

bool equal_secret(std::string_view a, std::string_view b) {
    return a.size() == b.size() && sodium_memcmp(a.data(), b.data(), a.size()) == 0;
}

double random_share() {
    // Every proposal draws one, so they are fetched from the system by the dozen.
    static thread_local std::array<std::uint32_t, 64> drawn;
    static thread_local std::size_t left = 0;
    if (left == 0) {
        randombytes_buf(drawn.data(), sizeof drawn);
        left = drawn.size();
    }
    return static_cast<double>(drawn[--left]) / 4294967296.0;
}

}  // namespace holdpoint::auth
