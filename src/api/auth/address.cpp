#include "api/auth/address.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

namespace holdpoint::auth {
namespace {

constexpr std::size_t address_bytes_max = 64;

/// Address, perhaps with a port, in the letters that these can have.
bool looks_like_address(std::string_view text) {
    return text.size() <= address_bytes_max && text.find_first_of(".:") != text.npos &&
           std::all_of(text.begin(), text.end(), [](char c) {
               return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F') ||
                      c == '.' || c == ':' || c == '[' || c == ']';
           });
}

}  // namespace

void take_forwarded(http::Request& request) {
    const std::string_view chain = request.last_header("x-forwarded-for");
    std::string_view last = chain.substr(chain.rfind(',') + 1);
    while (last.starts_with(' ')) last.remove_prefix(1);
    if (looks_like_address(last)) request.peer = last;
    request.is_tls = request.last_header("x-forwarded-proto") == "https";
}

std::string network_of(const std::string& address) {
    constexpr std::size_t network_bytes = 8;
    in6_addr parsed{};
    if (address.find(':') == std::string::npos ||
        inet_pton(AF_INET6, address.c_str(), &parsed) != 1 || IN6_IS_ADDR_V4MAPPED(&parsed))
        return address;
    std::memset(parsed.s6_addr + network_bytes, 0, sizeof parsed.s6_addr - network_bytes);
    std::array<char, INET6_ADDRSTRLEN> text{};
    inet_ntop(AF_INET6, &parsed, text.data(), text.size());
    return std::string(text.data()) + "/64";
}

}  // namespace holdpoint::auth
