#include "policy/cel/address.h"

#include <algorithm>

#include <fmt/format.h>

namespace holdpoint::cel {
namespace {

/// A decimal number without leading zeros; -1 if it is not one or above `max`.
int read_decimal(std::string_view text, int max) {
    if (text.empty() || text.size() > 3 || (text.size() > 1 && text.front() == '0')) return -1;
    int number = 0;
    for (const char c : text) {
        if (c < '0' || c > '9') return -1;
        number = number * 10 + (c - '0');
    }
    return number > max ? -1 : number;
}

std::optional<Address> parse_v4(std::string_view text) {
    Address address;
    for (int i = 0; i < 4; ++i) {
        const std::size_t dot = i < 3 ? text.find('.') : text.size();
        if (dot == text.npos) return std::nullopt;
        const int octet = read_decimal(text.substr(0, dot), 255);
        if (octet < 0) return std::nullopt;
        address.octets[i] = static_cast<std::uint8_t>(octet);
        text.remove_prefix(std::min(dot + 1, text.size()));
    }
    return address;
}

int read_hex_group(std::string_view text) {
    if (text.empty() || text.size() > 4) return -1;
    int number = 0;
    for (const char c : text) {
        int digit = 0;
        if (c >= '0' && c <= '9') {
            digit = c - '0';
        } else if (c >= 'a' && c <= 'f') {
            digit = c - 'a' + 10;
        } else if (c >= 'A' && c <= 'F') {
            digit = c - 'A' + 10;
        } else {
            return -1;
        }
        number = number * 16 + digit;
    }
    return number;
}

/// Groups separated by colons into `groups`; the number of groups, or -1.
int read_groups(std::string_view text, std::uint16_t* groups, int max) {
    if (text.empty()) return 0;
    int count = 0;
    while (true) {
        const std::size_t colon = text.find(':');
        const int group = read_hex_group(text.substr(0, colon));
        if (group < 0 || count == max) return -1;
        groups[count++] = static_cast<std::uint16_t>(group);
        if (colon == text.npos) return count;
        text.remove_prefix(colon + 1);
    }
}

std::optional<Address> parse_v6(std::string_view text) {
    std::uint16_t groups[8] = {};
    const std::size_t gap = text.find("::");
    if (gap == text.npos) {
        if (read_groups(text, groups, 8) != 8) return std::nullopt;
    } else {
        std::uint16_t tail[8] = {};
        const std::string_view after = text.substr(gap + 2);
        if (after.starts_with(':')) return std::nullopt;
        const int before_count = read_groups(text.substr(0, gap), groups, 7);
        const int after_count = read_groups(after, tail, 7);
        if (before_count < 0 || after_count < 0 || before_count + after_count > 7) {
            return std::nullopt;
        }
        std::copy_n(tail, after_count, groups + 8 - after_count);
    }
    Address address;
    address.is_v6 = true;
    for (int i = 0; i < 8; ++i) {
        address.octets[2 * i] = static_cast<std::uint8_t>(groups[i] >> 8);
        address.octets[2 * i + 1] = static_cast<std::uint8_t>(groups[i] & 0xff);
    }
    return address;
}

std::string v6_text(const std::uint8_t* octets) {
    std::uint16_t groups[8];
    for (int i = 0; i < 8; ++i) {
        groups[i] = static_cast<std::uint16_t>(octets[2 * i] << 8 | octets[2 * i + 1]);
    }
    // RFC 5952: the first of the longest runs of zeros, if longer than one group.
    int gap = -1;
    int gap_length = 1;
    for (int i = 0; i < 8; ++i) {
        int length = 0;
        while (i + length < 8 && groups[i + length] == 0) ++length;
        if (length > gap_length) {
            gap = i;
            gap_length = length;
        }
        i += length;
    }
    std::string text;
    for (int i = 0; i < 8; ++i) {
        if (i == gap) {
            text += "::";
            i += gap_length - 1;
            continue;
        }
        if (!text.empty() && !text.ends_with(':')) text += ':';
        text += fmt::format("{:x}", groups[i]);
    }
    return text;
}

}  // namespace

ParsedAddress parse_ip(std::string_view text) {
    if (text.find(':') == text.npos) {
        const std::optional<Address> address = parse_v4(text);
        return {address, address ? "" : "not an IP address"};
    }
    if (text.find('%') != text.npos) return {{}, "an IP address with a zone is not allowed"};
    if (text.find('.') != text.npos) {
        return {{}, "an IPv4 address inside an IPv6 address is not allowed"};
    }
    const std::optional<Address> address = parse_v6(text);
    return {address, address ? "" : "not an IP address"};
}

ParsedAddress parse_cidr(std::string_view text) {
    const std::size_t slash = text.rfind('/');
    if (slash == text.npos) return {{}, "not a CIDR network"};
    ParsedAddress parsed = parse_ip(text.substr(0, slash));
    if (!parsed.address) return {{}, parsed.fault};
    const int bits = read_decimal(text.substr(slash + 1), parsed.address->is_v6 ? 128 : 32);
    if (bits < 0) return {{}, "not a CIDR network"};
    parsed.address->prefix_bits = static_cast<std::int16_t>(bits);
    return parsed;
}

std::string to_string(const Address& address) {
    const std::uint8_t* octets = address.octets;
    std::string text = address.is_v6
                           ? v6_text(octets)
                           : fmt::format("{}.{}.{}.{}", octets[0], octets[1], octets[2], octets[3]);
    if (address.prefix_bits >= 0) text += fmt::format("/{}", address.prefix_bits);
    return text;
}

bool same_prefix(const Address& a, const Address& b, int bits) {
    if (a.is_v6 != b.is_v6) return false;
    for (int i = 0; i < 16 && bits > 0; ++i, bits -= 8) {
        const int mask = bits >= 8 ? 0xff : (0xff00 >> bits) & 0xff;
        if ((a.octets[i] & mask) != (b.octets[i] & mask)) return false;
    }
    return true;
}

Address masked(const Address& cidr) {
    Address result = cidr;
    for (int i = 0; i < 16; ++i) {
        const int bits = std::clamp(cidr.prefix_bits - 8 * i, 0, 8);
        result.octets[i] &= static_cast<std::uint8_t>((0xff00 >> bits) & 0xff);
    }
    return result;
}

}  // namespace holdpoint::cel
