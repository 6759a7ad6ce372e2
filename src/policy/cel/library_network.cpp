#include <fmt/format.h>

#include "policy/cel/address.h"
#include "policy/cel/library.h"

namespace holdpoint::cel {
namespace {

using Arguments = std::span<const Value>;

Value refused(Call& call, const Value& text, std::string_view fault) {
    return call.fail(Fault::invalid_argument, fmt::format("{}: {}", to_text(text, 80), fault));
}

Value to_ip(Call& call, const Value& text) {
    const ParsedAddress parsed = parse_ip(text.as_text());
    if (!parsed.address) return refused(call, text, parsed.fault);
    return Value::address(*parsed.address, call.arena());
}

Value to_cidr(Call& call, const Value& text) {
    const ParsedAddress parsed = parse_cidr(text.as_text());
    if (!parsed.address) return refused(call, text, parsed.fault);
    return Value::address(*parsed.address, call.arena());
}

Value ip(Call& call, Arguments arguments) { return to_ip(call, arguments[0]); }
Value cidr(Call& call, Arguments arguments) { return to_cidr(call, arguments[0]); }
Value same_network_value(Call&, Arguments arguments) { return arguments[0]; }

Value is_ip(Call&, Arguments arguments) {
    return Value::boolean(parse_ip(arguments[0].as_text()).address.has_value());
}

Value is_cidr(Call&, Arguments arguments) {
    return Value::boolean(parse_cidr(arguments[0].as_text()).address.has_value());
}

Value is_canonical(Call& call, Arguments arguments) {
    const Value address = to_ip(call, arguments[0]);
    if (address.is_error()) return address;
    return Value::boolean(to_string(address.as_address()) == arguments[0].as_text());
}

Value text_of(Call& call, Arguments arguments) {
    return Value::string(call.arena().copy(to_string(arguments[0].as_address())));
}

Value family(Call&, Arguments arguments) {
    return Value::integer(arguments[0].as_address().is_v6 ? 6 : 4);
}

// --- what kind of address

/// ::ffff:a.b.c.d is the IPv4 address to every system that connects to it, so it is judged as such.
Address unmapped(const Address& address) {
    if (!address.is_v6) return address;
    for (int i = 0; i < 12; ++i) {
        if (address.octets[i] != (i < 10 ? 0 : 0xff)) return address;
    }
    Address v4;
    for (int i = 0; i < 4; ++i) v4.octets[i] = address.octets[12 + i];
    return v4;
}

bool is_all_zero(const Address& address, int except_last) {
    for (int i = 0; i < 16; ++i) {
        if (address.octets[i] != (i == 15 ? except_last : 0)) return false;
    }
    return true;
}

bool is_unspecified(const Address& a) { return is_all_zero(a, 0); }

bool is_loopback(const Address& a) { return a.is_v6 ? is_all_zero(a, 1) : a.octets[0] == 127; }

bool is_multicast(const Address& a) {
    return a.is_v6 ? a.octets[0] == 0xff : (a.octets[0] & 0xf0) == 0xe0;
}

bool is_link_local_multicast(const Address& a) {
    if (a.is_v6) return a.octets[0] == 0xff && (a.octets[1] & 0x0f) == 2;
    return a.octets[0] == 224 && a.octets[1] == 0 && a.octets[2] == 0;
}

bool is_link_local_unicast(const Address& a) {
    if (a.is_v6) return a.octets[0] == 0xfe && (a.octets[1] & 0xc0) == 0x80;
    return a.octets[0] == 169 && a.octets[1] == 254;
}

bool is_broadcast(const Address& a) {
    return !a.is_v6 && a.octets[0] == 255 && a.octets[1] == 255 && a.octets[2] == 255 &&
           a.octets[3] == 255;
}

bool is_global_unicast(const Address& a) {
    return !is_unspecified(a) && !is_loopback(a) && !is_multicast(a) && !is_link_local_unicast(a) &&
           !is_broadcast(a);
}

template <bool (*Predicate)(const Address&)>
Value judged(Call&, Arguments arguments) {
    return Value::boolean(Predicate(unmapped(arguments[0].as_address())));
}

// --- networks

bool holds(const Address& network, const Address& inner) {
    // A larger network is never inside of a smaller one.
    if (inner.prefix_bits >= 0 && inner.prefix_bits < network.prefix_bits) return false;
    return same_prefix(network, inner, network.prefix_bits);
}

Value contains_network(Call&, Arguments arguments) {
    return Value::boolean(holds(arguments[0].as_address(), arguments[1].as_address()));
}

Value contains_ip_text(Call& call, Arguments arguments) {
    const Value inner = to_ip(call, arguments[1]);
    if (inner.is_error()) return inner;
    return Value::boolean(holds(arguments[0].as_address(), inner.as_address()));
}

Value contains_cidr_text(Call& call, Arguments arguments) {
    const Value inner = to_cidr(call, arguments[1]);
    if (inner.is_error()) return inner;
    return Value::boolean(holds(arguments[0].as_address(), inner.as_address()));
}

Value address_of(Call& call, Arguments arguments) {
    Address address = arguments[0].as_address();
    address.prefix_bits = -1;
    return Value::address(address, call.arena());
}

Value mask(Call& call, Arguments arguments) {
    return Value::address(masked(arguments[0].as_address()), call.arena());
}

Value prefix_length(Call&, Arguments arguments) {
    return Value::integer(arguments[0].as_address().prefix_bits);
}

}  // namespace

void add_network_functions(Library& library) {
    const Type address = Type::ip();
    const Type network = Type::cidr();
    const Type string = Type::string();
    const Type boolean = Type::boolean();
    const Library::Cost parsing{4};

    library.function("ip", {string}, address, ip, parsing);
    library.function("ip", {address}, address, same_network_value);
    library.function("cidr", {string}, network, cidr, parsing);
    library.function("cidr", {network}, network, same_network_value);
    library.function("isIP", {string}, boolean, is_ip, parsing);
    library.function("isCIDR", {string}, boolean, is_cidr, parsing);
    library.function("ip.isCanonical", {string}, boolean, is_canonical, parsing);
    library.function("string", {address}, string, text_of, parsing);
    library.function("string", {network}, string, text_of, parsing);
    library.method("family", {address}, Type::integer(), family);
    library.method("isUnspecified", {address}, boolean, judged<is_unspecified>);
    library.method("isLoopback", {address}, boolean, judged<is_loopback>);
    library.method("isGlobalUnicast", {address}, boolean, judged<is_global_unicast>);
    library.method("isLinkLocalMulticast", {address}, boolean, judged<is_link_local_multicast>);
    library.method("isLinkLocalUnicast", {address}, boolean, judged<is_link_local_unicast>);
    library.method("containsIP", {network, address}, boolean, contains_network);
    library.method("containsIP", {network, string}, boolean, contains_ip_text, parsing);
    library.method("containsCIDR", {network, network}, boolean, contains_network);
    library.method("containsCIDR", {network, string}, boolean, contains_cidr_text, parsing);
    library.method("ip", {network}, address, address_of);
    library.method("masked", {network}, network, mask);
    library.method("prefixLength", {network}, Type::integer(), prefix_length);
}

}  // namespace holdpoint::cel
