#include "policy/match/url.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "base/ascii.h"
#include "base/text.h"
#include "policy/match/characters.h"

namespace holdpoint::policy::match {
namespace {

using ascii::is_digit;
using ascii::is_letter;
using ascii::lowered;

constexpr std::size_t url_bytes_max = 8192;

Error url_refused(std::string_view text, std::string_view why) {
    return {ErrorCode::invalid_argument, fmt::format("url `{}`: {}", quotable(text, 128), why)};
}

/// The schemes whose URLs always have a host, with their ports.
int default_port(std::string_view scheme) {
    if (scheme == "http" || scheme == "ws") return 80;
    if (scheme == "https" || scheme == "wss") return 443;
    if (scheme == "ftp") return 21;
    return -1;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    while (true) {
        const std::size_t end = text.find(separator);
        parts.push_back(text.substr(0, end));
        if (end == std::string_view::npos) return parts;
        text.remove_prefix(end + 1);
    }
}

bool is_number(std::string_view label) {
    if (label.starts_with("0x")) label.remove_prefix(2);
    // `0x` alone counts as zero for browsers.
    return std::ranges::all_of(label, [](char c) { return is_digit(c) || (c >= 'a' && c <= 'f'); });
}

/// Browsers read a host as an address when its last label is a number.
bool is_address(const std::vector<std::string_view>& labels) {
    const std::string_view last = labels.back();
    if (!last.empty() && std::ranges::all_of(last, is_digit)) return true;
    return last.starts_with("0x") && is_number(last);
}

struct Host {
    std::string text;
    HostKind kind;
};
using HostResult = std::expected<Host, std::string_view>;  // else why not

HostResult ipv4_of(const std::vector<std::string_view>& labels) {
    if (labels.size() > 4) return std::unexpected("an address has at most four numbers");
    std::uint32_t address = 0;
    for (std::size_t i = 0; i < labels.size(); ++i) {
        std::string_view digits = labels[i];
        const bool is_hex = digits.starts_with("0x");
        if (is_hex) digits.remove_prefix(2);
        if (!is_hex && digits.size() > 1 && digits[0] == '0') {
            return std::unexpected("a number with leading zeros is octal to some");
        }
        std::uint64_t value = 0;
        const char* end = digits.data() + digits.size();
        const auto [stopped, code] =
            std::from_chars(digits.data(), digits.data() + digits.size(), value, is_hex ? 16 : 10);
        if (digits.empty() || code != std::errc() || stopped != end) {
            return std::unexpected("an address with something that is no number");
        }
        // The last number fills all bytes that are left: 127.1 is 127.0.0.1.
        const bool is_last = i + 1 == labels.size();
        const unsigned bytes = is_last ? 4 - static_cast<unsigned>(i) : 1;
        if (value >> (8 * bytes) != 0)
            return std::unexpected("a number of the address is too large");
        const unsigned shift = is_last ? 0 : 24 - 8 * static_cast<unsigned>(i);
        address |= static_cast<std::uint32_t>(value << shift);
    }
    return Host{fmt::format("{}.{}.{}.{}", address >> 24, address >> 16 & 255, address >> 8 & 255,
                            address & 255),
                HostKind::ipv4};
}

HostResult ipv6_of(std::string_view text) {
    if (text.contains('%')) return std::unexpected("an address with a zone");
    const std::string copy(text);
    in6_addr address{};
    if (inet_pton(AF_INET6, copy.c_str(), &address) != 1)
        return std::unexpected("not an IPv6 address");
    const std::uint8_t* bytes = address.s6_addr;
    const bool has_zeros = std::all_of(bytes, bytes + 10, [](std::uint8_t b) { return b == 0; });
    if (has_zeros && bytes[10] == 255 && bytes[11] == 255) {
        // The kernel connects to the IPv4 address inside.
        return Host{fmt::format("{}.{}.{}.{}", bytes[12], bytes[13], bytes[14], bytes[15]),
                    HostKind::ipv4};
    }
    std::array<char, INET6_ADDRSTRLEN> buffer{};
    if (!inet_ntop(AF_INET6, &address, buffer.data(), buffer.size())) {
        return std::unexpected("not an IPv6 address");
    }
    return Host{buffer.data(), HostKind::ipv6};
}

std::string_view why_no_label(std::string_view label) {
    if (label.empty()) return "a host with an empty label";
    if (label.size() > 63) return "a label of the host is too long";
    if (label.starts_with('-')) return "a label of the host begins with a dash";
    // Punycode of plain ASCII is the name itself to some readers.
    if (label.starts_with("xn--") && (label.size() == 4 || label.ends_with('-'))) {
        return "a host whose punycode stands for nothing";
    }
    return {};
}

HostResult host_of(std::string_view text) {
    if (text.empty()) return std::unexpected("the host is missing");
    if (text[0] == '[') {
        if (text.back() != ']') return std::unexpected("an address that is not closed");
        return ipv6_of(text.substr(1, text.size() - 2));
    }
    for (const char c : text) {
        if (static_cast<unsigned char>(c) >= 0x80) {
            return std::unexpected("the host is not ASCII; write it in punycode");
        }
        if (!is_letter(c) && !is_digit(c) && c != '-' && c != '_' && c != '.') {
            return std::unexpected("the host holds a character that is read differently");
        }
    }
    std::string host = lowered(text);
    if (host.ends_with('.')) host.pop_back();
    if (host.size() > 253) return std::unexpected("the host is too long");
    const std::vector<std::string_view> labels = split(host, '.');
    for (const std::string_view label : labels) {
        if (const std::string_view why = why_no_label(label); !why.empty())
            return std::unexpected(why);
    }
    if (is_address(labels)) return ipv4_of(labels);
    return Host{host, HostKind::name};
}

std::string_view read_port(std::string_view text, int& port) {
    if (text.empty()) return {};
    int value = 0;
    const char* end = text.data() + text.size();
    const auto [stopped, code] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.size() > 5 || !std::ranges::all_of(text, is_digit) || code != std::errc() ||
        stopped != end || value > 65535) {
        return "the port is not a number up to 65535";
    }
    port = value;
    return {};
}

/// Reads `user@host:port` into `url`; the answer is why not, or empty.
std::string_view read_authority(std::string_view authority, Url& url) {
    const std::size_t at = authority.find('@');
    if (at != std::string_view::npos) {
        if (authority.find('@', at + 1) != std::string_view::npos) return "more than one `@`";
        url.has_user = true;
        authority.remove_prefix(at + 1);
    }
    const std::size_t closing = authority.rfind(']');
    const std::size_t colon = authority.find(':', closing == std::string_view::npos ? 0 : closing);
    const std::string_view host = authority.substr(0, colon);
    if (colon != std::string_view::npos) {
        if (const auto why = read_port(authority.substr(colon + 1), url.port); !why.empty())
            return why;
    }
    const HostResult read = host_of(host);
    if (!read) return read.error();
    url.host = read->text;
    url.host_kind = read->kind;
    return {};
}

/// Servers and proxies differ in whether they decode these before they look for the file.
bool has_ambiguous_escape(std::string_view path) {
    const std::string folded = lowered(path);
    return std::ranges::any_of(std::to_array<std::string_view>({"%2e", "%2f", "%5c", "%00", "%25"}),
                               [&](std::string_view escape) { return folded.contains(escape); });
}

/// Resolves `.` and `..`; empty segments stay, for `//` is another place on some servers.
void read_path(std::string_view path, Url& url) {
    std::vector<std::string_view> parts;
    bool ends_open = false;
    if (path.starts_with('/')) path.remove_prefix(1);
    for (const std::string_view part : split(path, '/')) {
        ends_open = part == "." || part == "..";
        if (part == "..") {
            if (!parts.empty()) parts.pop_back();
        } else if (part != ".") {
            parts.push_back(part);
        }
    }
    if (ends_open) parts.emplace_back();
    for (const std::string_view part : parts) {
        url.path += '/';
        url.path += part;
    }
    if (url.path.empty()) url.path = "/";
}

}  // namespace

Result<Url> parse_url(std::string_view text) {
    if (text.size() > url_bytes_max) return url_refused(text, "is longer than 8192 bytes");
    if (find_odd_character(text) || text.contains(' ')) {
        return url_refused(text, "holds a blank, a control or an invisible character");
    }
    const std::size_t colon = text.find(':');
    const std::string_view scheme = text.substr(0, colon);
    const bool is_scheme =
        colon != std::string_view::npos && !scheme.empty() && is_letter(scheme[0]) &&
        std::ranges::all_of(scheme, [](char c) {
            return is_letter(c) || is_digit(c) || c == '+' || c == '-' || c == '.';
        });
    if (!is_scheme) return url_refused(text, "has no scheme");

    Url url;
    url.scheme = lowered(scheme);
    url.port = default_port(url.scheme);
    const bool is_web = url.port != -1;
    std::string_view rest = text.substr(colon + 1);
    rest = rest.substr(0, rest.find_first_of("?#"));
    if (rest.contains('\\'))
        return url_refused(text, "holds a backslash, which is a slash to some");
    if (!rest.starts_with("//")) {
        if (is_web) return url_refused(text, "needs `//` and a host behind its scheme");
        url.path = rest;
        return url;
    }
    rest.remove_prefix(2);
    const std::size_t slash = std::min(rest.find('/'), rest.size());
    const std::string_view authority = rest.substr(0, slash);
    if (!authority.empty() || is_web) {
        if (const auto why = read_authority(authority, url); !why.empty())
            return url_refused(text, why);
    }
    const std::string_view path = rest.substr(slash);
    url.is_path_ambiguous = has_ambiguous_escape(path);
    read_path(path, url);
    return url;
}

Result<std::string> url_host(std::string_view text) {
    Result<Url> url = parse_url(text);
    if (!url) return url.error();
    if (url->host_kind == HostKind::none) return url_refused(text, "has no host");
    return std::move(url->host);
}

Result<std::string> url_scheme(std::string_view text) {
    Result<Url> url = parse_url(text);
    if (!url) return url.error();
    return std::move(url->scheme);
}

Result<std::string> url_path(std::string_view text) {
    Result<Url> url = parse_url(text);
    if (!url) return url.error();
    if (url->is_path_ambiguous)
        return url_refused(text, "the path holds escapes that servers read differently");
    return std::move(url->path);
}

Result<int> url_port(std::string_view text) {
    const Result<Url> url = parse_url(text);
    if (!url) return url.error();
    if (url->port < 0) return url_refused(text, "has no port");
    return url->port;
}

Result<HostPattern> HostPattern::compile(std::string_view pattern) {
    HostPattern result;
    std::string_view host = pattern;
    if (host.starts_with("*.")) {
        result.is_wildcard_ = true;
        host.remove_prefix(2);
    }
    // An address may be written without the brackets that a URL needs.
    const std::string bracketed = host.contains(':') && !host.starts_with('[')
                                      ? fmt::format("[{}]", host)
                                      : std::string(host);
    const HostResult read = host_of(bracketed);
    if (!read) return url_refused(pattern, read.error());
    if (result.is_wildcard_ && (read->kind != HostKind::name || !read->text.contains('.'))) {
        return url_refused(pattern, "`*.` needs a name with at least two labels behind it");
    }
    result.kind_ = read->kind;
    result.host_ = result.is_wildcard_ ? "." + read->text : read->text;
    return result;
}

bool HostPattern::matches(std::string_view host, HostKind kind) const {
    if (kind != kind_ || kind == HostKind::none) return false;
    if (!is_wildcard_) return host == host_;
    return host.size() > host_.size() && host.ends_with(host_);
}

}  // namespace holdpoint::policy::match
