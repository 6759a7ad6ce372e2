#include "base/sha256.h"

#include <cstdint>
#include <memory>

#include <openssl/evp.h>

#include "base/assert.h"

namespace holdpoint {
namespace {

struct FreeContext {
    void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};

// Looking the algorithm up by name costs more than hashing a request; the process keeps it.
const EVP_MD* algorithm() {
    static const EVP_MD* const fetched = EVP_MD_fetch(nullptr, "SHA256", nullptr);
    HOLDPOINT_ASSERT(fetched != nullptr);
    return fetched;
}

EVP_MD_CTX* context() {
    thread_local const std::unique_ptr<EVP_MD_CTX, FreeContext> owned(EVP_MD_CTX_new());
    HOLDPOINT_ASSERT(owned != nullptr);
    return owned.get();
}

}  // namespace

Sha256 sha256(std::string_view text) { return sha256({text}); }

Sha256 sha256(std::initializer_list<std::string_view> parts) {
    EVP_MD_CTX* const hashing = context();
    HOLDPOINT_ASSERT(EVP_DigestInit_ex2(hashing, algorithm(), nullptr) == 1);
    for (const std::string_view part : parts) {
        HOLDPOINT_ASSERT(EVP_DigestUpdate(hashing, part.data(), part.size()) == 1);
    }
    Sha256 result;
    unsigned size = 0;
    HOLDPOINT_ASSERT(EVP_DigestFinal_ex(hashing, result.data(), &size) == 1);
    HOLDPOINT_ASSERT(size == result.size());
    return result;
}

std::string hex(std::span<const unsigned char> bytes) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string result(bytes.size() * 2, '0');
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        result[2 * i] = digits[bytes[i] >> 4];
        result[2 * i + 1] = digits[bytes[i] & 15];
    }
    return result;
}

namespace {

std::string base64_with(std::string_view alphabet, std::span<const unsigned char> bytes) {
    std::string result;
    result.reserve((bytes.size() + 2) / 3 * 4);
    std::uint32_t pending = 0;
    int bits = 0;
    for (const unsigned char byte : bytes) {
        pending = (pending << 8) | byte;
        for (bits += 8; bits >= 6; bits -= 6) result += alphabet[(pending >> (bits - 6)) & 63];
    }
    if (bits > 0) result += alphabet[(pending << (6 - bits)) & 63];
    return result;
}

}  // namespace

std::string base64(std::string_view bytes) {
    std::string result =
        base64_with("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
                    {reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()});
    while (result.size() % 4 != 0) result += '=';
    return result;
}

std::string base64url(std::span<const unsigned char> bytes) {
    return base64_with("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_", bytes);
}

std::string base64url_of(std::string_view bytes) {
    return base64url(std::span(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()));
}

std::optional<std::string> from_base64url(std::string_view text) {
    if (text.size() % 4 == 1) return std::nullopt;
    std::string bytes;
    bytes.reserve(text.size() * 3 / 4);
    std::uint32_t pending = 0;
    int bits = 0;
    for (const char c : text) {
        std::uint32_t digit = 0;
        if (c >= 'A' && c <= 'Z')
            digit = static_cast<std::uint32_t>(c - 'A');
        else if (c >= 'a' && c <= 'z')
            digit = static_cast<std::uint32_t>(c - 'a') + 26;
        else if (c >= '0' && c <= '9')
            digit = static_cast<std::uint32_t>(c - '0') + 52;
        else if (c == '-' || c == '_')
            digit = c == '-' ? 62 : 63;
        else
            return std::nullopt;
        pending = ((pending << 6) | digit) & 0xFFFFU;
        bits += 6;
        if (bits < 8) continue;
        bits -= 8;
        bytes += static_cast<char>((pending >> bits) & 0xFFU);
    }
    if ((pending & ((1U << bits) - 1)) != 0) return std::nullopt;
    return bytes;
}

Sha256 hmac_sha256(std::string_view key, std::initializer_list<std::string_view> parts) {
    constexpr std::size_t block = 64;
    std::string padded(key);
    if (padded.size() > block) padded = as_text(sha256(key));
    padded.resize(block, '\0');
    std::string inner;
    std::string outer;
    for (const char c : padded) {
        inner += static_cast<char>(c ^ 0x36);
        outer += static_cast<char>(c ^ 0x5C);
    }
    for (const std::string_view part : parts) inner += part;
    const Sha256 inside = sha256(inner);
    return sha256({outer, as_text(inside)});
}

}  // namespace holdpoint
