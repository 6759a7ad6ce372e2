#include "policy/cel/encode.h"

#include <array>
#include <cstdint>

namespace holdpoint::cel {
namespace {

constexpr std::string_view alphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

std::string encode_base64(std::string_view bytes) {
    std::string out;
    out.reserve((bytes.size() + 2) / 3 * 4);
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        std::uint32_t group = 0;
        for (std::size_t j = 0; j < 3; ++j) {
            group <<= 8;
            if (i + j < bytes.size()) group |= static_cast<unsigned char>(bytes[i + j]);
        }
        const std::size_t rest = bytes.size() - i;
        out += alphabet[group >> 18];
        out += alphabet[(group >> 12) & 63];
        out += rest > 1 ? alphabet[(group >> 6) & 63] : '=';
        out += rest > 2 ? alphabet[group & 63] : '=';
    }
    return out;
}

std::optional<std::string> decode_base64(std::string_view text) {
    const bool is_padded = text.ends_with('=');
    if (is_padded && text.size() % 4 != 0) return std::nullopt;
    if (text.ends_with("==")) {
        text.remove_suffix(2);
    } else if (is_padded) {
        text.remove_suffix(1);
    }
    if (text.size() % 4 == 1) return std::nullopt;
    std::string out;
    std::uint32_t bits = 0;
    int count = 0;
    for (const char c : text) {
        const std::size_t digit = alphabet.find(c);
        if (digit == alphabet.npos) return std::nullopt;
        bits = (bits << 6) | static_cast<std::uint32_t>(digit);
        count += 6;
        if (count < 8) continue;
        count -= 8;
        out += static_cast<char>((bits >> count) & 0xff);
    }
    return out;
}

}  // namespace holdpoint::cel
