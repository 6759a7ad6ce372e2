#include "api/auth/challenges.h"

#include <sodium.h>

#include "api/auth/secrets.h"
#include "base/sha256.h"

namespace holdpoint::auth {
namespace {

constexpr std::string_view domain = "holdpoint-challenge-v1\n";
constexpr std::size_t nonce_size = 16, expiry_size = 8, hash_size = 32;
constexpr std::size_t head_size = nonce_size + expiry_size;
constexpr std::size_t whole_size = head_size + 2 * hash_size;

std::string random_bytes(std::size_t size) {
    std::string bytes(size, '\0');
    randombytes_buf(bytes.data(), bytes.size());
    return bytes;
}

void append_time(std::string& out, Timestamp time) {
    const auto ms = static_cast<std::uint64_t>(time.ms);
    for (int shift = 56; shift >= 0; shift -= 8) out += static_cast<char>((ms >> shift) & 0xFFU);
}

Timestamp read_time(std::string_view bytes) {
    std::uint64_t ms = 0;
    for (const char c : bytes) ms = (ms << 8) | static_cast<unsigned char>(c);
    return {static_cast<std::int64_t>(ms)};
}

}  // namespace

Challenges::Challenges() : key_(random_bytes(hash_size)) {}

std::string Challenges::seal(std::string_view head, const Purpose& purpose) const {
    const Sha256 mac =
        hmac_sha256(key_, {domain, head, purpose.name, std::string_view("\0", 1), purpose.bound});
    return std::string(as_text(mac));
}

std::string Challenges::whole(std::string_view head, const Purpose& purpose) const {
    std::string bytes(head);
    bytes += seal(head, purpose);
    const Sha256 bound =
        sha256({domain, bytes, purpose.name, std::string_view("\0", 1), purpose.bound});
    return bytes + std::string(as_text(bound));
}

std::string Challenges::issue(const Purpose& purpose, Timestamp now) const {
    std::string head = random_bytes(nonce_size);
    append_time(head, now + life_ms);
    return whole(head, purpose);
}

Result<void> Challenges::take(std::string_view challenge, const Purpose& purpose, Timestamp now) {
    const Error wrong{ErrorCode::permission_denied,
                      "the challenge is not one that was given out for this; ask for another"};
    if (challenge.size() != whole_size) return wrong;
    const std::string_view head = challenge.substr(0, head_size);
    if (!equal_secret(challenge, whole(head, purpose))) return wrong;
    if (now >= read_time(head.substr(nonce_size)))
        return Error{ErrorCode::permission_denied, "the challenge is too old; ask for another"};
    std::erase_if(taken_, [&](const auto& entry) { return entry.second <= now; });
    const bool is_first =
        taken_.emplace(std::string(head), read_time(head.substr(nonce_size))).second;
    if (!is_first)
        return Error{ErrorCode::permission_denied,
                     "the challenge was used before; ask for another"};
    return {};
}

void Challenges::give_back(std::string_view challenge) {
    taken_.erase(std::string(challenge.substr(0, head_size)));
}

}  // namespace holdpoint::auth
