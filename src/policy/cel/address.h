#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "policy/cel/value.h"

/// IP addresses and networks as text and bits.
namespace holdpoint::cel {

/// The address, or why it is none. Refused besides what is not an address: zones (`%eth0`),
/// IPv4 inside IPv6 written with dots (`::ffff:192.168.0.1`), leading zeros in IPv4.
struct ParsedAddress {
    std::optional<Address> address;
    std::string_view fault;
};
ParsedAddress parse_ip(std::string_view text);
ParsedAddress parse_cidr(std::string_view text);

/// Canonical: RFC 5952 for IPv6, with `/bits` for networks.
std::string to_string(const Address& address);

/// Whether the first `bits` bits are the same; false for different families.
bool same_prefix(const Address& a, const Address& b, int bits);
Address masked(const Address& cidr);

}  // namespace holdpoint::cel
