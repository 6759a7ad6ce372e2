#include "api/auth/address.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>
#include <utility>

namespace holdpoint::auth {
namespace {

/// `:443`, or nothing.
bool is_port_or_nothing(std::string_view text) {
    constexpr std::size_t digits_max = 5;
    if (text.empty()) return true;
    if (!text.starts_with(':') || text.size() > digits_max + 1) return false;
    text.remove_prefix(1);
    return std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; }) && !text.empty();
}

/// `1.2.3.4`, `1.2.3.4:5678`, `2001:db8::9`, `[2001:db8::9]` and `[2001:db8::9]:5678` without the
/// port, in the one spelling that each address has; empty for anything else. With the port every
/// connection would be an address of its own, and no limit would hold.
std::string address_in(std::string_view text) {
    std::string_view rest;
    if (text.starts_with('[')) {
        const std::size_t close = text.find(']');
        if (close == std::string_view::npos) return {};
        rest = text.substr(close + 1);
        text = text.substr(1, close - 1);
        if (text.find(':') == std::string_view::npos) return {};
    } else if (std::ranges::count(text, ':') == 1) {
        rest = text.substr(text.find(':'));
        text = text.substr(0, text.find(':'));
    }
    if (!is_port_or_nothing(rest)) return {};
    const int family = text.find(':') == std::string_view::npos ? AF_INET : AF_INET6;
    std::array<unsigned char, sizeof(in6_addr)> parsed{};
    if (inet_pton(family, std::string(text).c_str(), parsed.data()) != 1) return {};
    std::array<char, INET6_ADDRSTRLEN> spelled{};
    inet_ntop(family, parsed.data(), spelled.data(), spelled.size());
    return spelled.data();
}

}  // namespace

void take_forwarded(http::Request& request) {
    const std::string_view chain = request.last_header("x-forwarded-for");
    std::string_view last = chain.substr(chain.rfind(',') + 1);
    while (last.starts_with(' ') || last.starts_with('\t')) last.remove_prefix(1);
    while (last.ends_with(' ') || last.ends_with('\t')) last.remove_suffix(1);
    if (std::string address = address_in(last); !address.empty()) request.peer = std::move(address);
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
