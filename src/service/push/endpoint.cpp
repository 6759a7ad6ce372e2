#include "service/push/endpoint.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstring>
#include <optional>

namespace holdpoint::webpush {
namespace {

constexpr std::size_t url_max = 2000;

Error refused(const char* why) { return {ErrorCode::refused, why, "subscription.endpoint"}; }

struct Net {
    std::uint32_t address;
    int bits;
};
// RFC 6890 and later: what is not the internet.
constexpr Net closed_nets[] = {
    {0x00000000, 8},  {0x0A000000, 8},  {0x64400000, 10}, {0x7F000000, 8},  {0xA9FE0000, 16},
    {0xAC100000, 12}, {0xC0000000, 24}, {0xC0000200, 24}, {0xC0586300, 24}, {0xC0A80000, 16},
    {0xC6120000, 15}, {0xC6336400, 24}, {0xCB007100, 24}, {0xE0000000, 3},
};

bool is_public_v4(std::uint32_t address) {
    for (const Net& net : closed_nets)
        if ((address >> (32 - net.bits)) == (net.address >> (32 - net.bits))) return false;
    return true;
}

std::uint32_t read_v4(const unsigned char* bytes) {
    return (std::uint32_t{bytes[0]} << 24) | (std::uint32_t{bytes[1]} << 16) |
           (std::uint32_t{bytes[2]} << 8) | bytes[3];
}

/// The IPv4 address inside one of IPv6, by whichever way of writing it so.
std::optional<std::uint32_t> embedded_v4(const unsigned char (&bytes)[16]) {
    static constexpr unsigned char mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF};
    static constexpr unsigned char translated[12] = {0, 0x64, 0xFF, 0x9B, 0, 0, 0, 0, 0, 0, 0, 0};
    if (std::memcmp(bytes, mapped, 12) == 0 || std::memcmp(bytes, translated, 12) == 0)
        return read_v4(bytes + 12);
    if (bytes[0] == 0x20 && bytes[1] == 0x02) return read_v4(bytes + 2);
    return std::nullopt;
}

bool is_public_v6(const in6_addr& address) {
    unsigned char bytes[16];
    std::memcpy(bytes, &address, 16);
    if (const std::optional<std::uint32_t> inside = embedded_v4(bytes))
        return is_public_v4(*inside);
    // Only what is given out as global unicast, without the range for documentation and Teredo.
    if ((bytes[0] & 0xE0) != 0x20) return false;
    const bool is_special = bytes[0] == 0x20 && bytes[1] == 0x01 && (bytes[2] & 0xFE) == 0x00;
    const bool is_documentation =
        bytes[0] == 0x20 && bytes[1] == 0x01 && bytes[2] == 0x0D && bytes[3] == 0xB8;
    return !is_special && !is_documentation;
}

bool has_only(std::string_view text, std::string_view allowed) {
    return text.find_first_not_of(allowed) == std::string_view::npos;
}

constexpr std::string_view host_characters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-";

/// The address that a host is, if it is one.
std::optional<sockaddr_storage> address_of(std::string_view host) {
    sockaddr_storage storage{};
    std::string text(host);
    if (text.starts_with('[')) {
        text = text.substr(1, text.size() - 2);
        auto* v6 = reinterpret_cast<sockaddr_in6*>(&storage);
        v6->sin6_family = AF_INET6;
        if (inet_pton(AF_INET6, text.c_str(), &v6->sin6_addr) == 1) return storage;
        return std::nullopt;
    }
    auto* v4 = reinterpret_cast<sockaddr_in*>(&storage);
    v4->sin_family = AF_INET;
    if (inet_pton(AF_INET, text.c_str(), &v4->sin_addr) == 1) return storage;
    return std::nullopt;
}

bool is_host_name(std::string_view host) {
    // A last part of digits would be read as an address by some and as a name by others.
    const std::string_view last = host.substr(host.rfind('.') + 1);
    return !host.empty() && host.size() <= 253 && has_only(host, host_characters) &&
           host.find('.') != std::string_view::npos && !last.empty() &&
           !has_only(last.substr(0, 1), "0123456789-") &&
           host.find("..") == std::string_view::npos && !host.starts_with('.') &&
           !host.starts_with('-');
}

bool is_inner_name(std::string_view host) {
    for (const std::string_view end : {".localhost", ".local", ".internal", ".lan", ".home.arpa"})
        if (host.ends_with(end)) return true;
    return false;
}

}  // namespace

bool is_public(const sockaddr& address) {
    if (address.sa_family == AF_INET)
        return is_public_v4(ntohl(reinterpret_cast<const sockaddr_in&>(address).sin_addr.s_addr));
    if (address.sa_family == AF_INET6)
        return is_public_v6(reinterpret_cast<const sockaddr_in6&>(address).sin6_addr);
    return false;
}

bool is_loopback(const sockaddr& address) {
    if (address.sa_family == AF_INET)
        return (ntohl(reinterpret_cast<const sockaddr_in&>(address).sin_addr.s_addr) >> 24) == 127;
    if (address.sa_family == AF_INET6) {
        const in6_addr& v6 = reinterpret_cast<const sockaddr_in6&>(address).sin6_addr;
        return IN6_IS_ADDR_LOOPBACK(&v6);
    }
    return false;
}

Result<Endpoint> read_endpoint(std::string_view url, bool may_be_loopback) {
    if (url.size() > url_max) return refused("is too long");
    for (const char c : url)
        if (c <= 0x20 || c >= 0x7F) return refused("has characters that a URL has not");
    const bool is_secure = url.starts_with("https://");
    if (!is_secure && !url.starts_with("http://")) return refused("must be an https URL");
    if (url.find('#') != std::string_view::npos || url.find('\\') != std::string_view::npos)
        return refused("must have neither fragment nor backslash");
    const std::size_t begin = url.find("://") + 3;
    const std::string_view authority =
        url.substr(begin, std::min(url.find_first_of("/?", begin), url.size()) - begin);
    if (authority.find('@') != std::string_view::npos) return refused("must not carry credentials");
    const std::size_t bracket = authority.starts_with('[') ? authority.find(']') : 0;
    if (bracket == std::string_view::npos) return refused("has no host that could be called");
    const std::size_t colon = authority.find(':', bracket);
    const std::string_view host = authority.substr(0, colon);
    if (colon != std::string_view::npos) {
        const std::string_view port = authority.substr(colon + 1);
        if (port.empty() || port.size() > 5 || !has_only(port, "0123456789"))
            return refused("has no port that could be called");
    }
    const Endpoint endpoint{std::string(host),
                            std::string(url.substr(0, begin)) + std::string(authority)};
    const std::optional<sockaddr_storage> address = address_of(host);
    const auto* raw = address ? reinterpret_cast<const sockaddr*>(&*address) : nullptr;
    const bool is_here = host == "localhost" || (raw && is_loopback(*raw));
    if (may_be_loopback && is_here) return endpoint;
    if (!is_secure) return refused("must be an https URL");
    if (raw && !is_public(*raw)) return refused("must be a public address");
    if (!raw && (!is_host_name(host) || is_inner_name(host)))
        return refused("must be a public host");
    return endpoint;
}

}  // namespace holdpoint::webpush
