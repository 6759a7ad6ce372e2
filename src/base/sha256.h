#pragma once

#include <array>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>

/// SHA-256 and the two spellings of bytes that we use. Safe from any thread.
namespace holdpoint {

using Sha256 = std::array<unsigned char, 32>;

Sha256 sha256(std::string_view text);

/// Of all parts in a row, as if they were one text: `sha256({domain_prefix, body})`. Where the
/// first part ends does not show in the result, so a prefix must end in a byte it has only there.
Sha256 sha256(std::initializer_list<std::string_view> parts);

/// Lower case.
std::string hex(std::span<const unsigned char> bytes);

/// RFC 4648 §4, with padding.
std::string base64(std::string_view bytes);

/// RFC 4648 §5, without padding.
std::string base64url(std::span<const unsigned char> bytes);
std::string base64url_of(std::string_view bytes);
/// Undoes it. Nothing for padding, other characters, or bits that encoding would not set: each text
/// of bytes has one spelling.
std::optional<std::string> from_base64url(std::string_view text);

/// HMAC-SHA-256 (RFC 2104) over all parts in a row.
Sha256 hmac_sha256(std::string_view key, std::initializer_list<std::string_view> parts);

inline std::string_view as_text(std::span<const unsigned char> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace holdpoint
