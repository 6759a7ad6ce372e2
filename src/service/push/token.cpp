#include "service/push/token.h"

#include <algorithm>

#include <sodium.h>

#include "base/sha256.h"

namespace holdpoint::webpush {
namespace {

constexpr std::string_view domain = "holdpoint-push-token-v2\n";
constexpr std::string_view digest_prefix = "sha256:";
constexpr std::size_t body_size = 16 + 16 + 16 + 8 + 32, mac_size = 32;

std::string from_hex(std::string_view digits) {
    const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
    std::string bytes;
    for (std::size_t i = 0; i + 1 < digits.size(); i += 2)
        bytes += static_cast<char>(digit(digits[i]) * 16 + digit(digits[i + 1]));
    return bytes;
}

}  // namespace

std::string seal(const Token& token, std::string_view key) {
    std::string body(as_text(token.person.ulid.bytes));
    body += as_text(token.session.ulid.bytes);
    body += as_text(token.request.ulid.bytes);
    const auto ms = static_cast<std::uint64_t>(token.expires_at.ms);
    for (int shift = 56; shift >= 0; shift -= 8) body += static_cast<char>((ms >> shift) & 0xFFU);
    body += from_hex(std::string_view(token.digest).substr(digest_prefix.size()));
    const Sha256 mac = hmac_sha256(key, {domain, body});
    return base64url_of(body + std::string(as_text(mac)));
}

std::optional<Token> unseal(std::string_view text, std::string_view key) {
    const std::optional<std::string> bytes = from_base64url(text);
    if (!bytes || bytes->size() != body_size + mac_size) return std::nullopt;
    const std::string_view body = std::string_view(*bytes).substr(0, body_size);
    const Sha256 mac = hmac_sha256(key, {domain, body});
    if (sodium_memcmp(bytes->data() + body_size, mac.data(), mac_size) != 0) return std::nullopt;
    Token token;
    std::copy_n(body.begin(), 16, token.person.ulid.bytes.begin());
    std::copy_n(body.begin() + 16, 16, token.session.ulid.bytes.begin());
    std::copy_n(body.begin() + 32, 16, token.request.ulid.bytes.begin());
    std::uint64_t ms = 0;
    for (const char c : body.substr(48, 8)) ms = (ms << 8) | static_cast<unsigned char>(c);
    token.expires_at = {static_cast<std::int64_t>(ms)};
    const std::string_view digest = body.substr(56);
    token.digest = std::string(digest_prefix) +
                   hex({reinterpret_cast<const unsigned char*>(digest.data()), digest.size()});
    return token;
}

}  // namespace holdpoint::webpush
