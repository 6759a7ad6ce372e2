#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

/// URLs, read so that no client can take them for another place. Two parsers that disagree about
/// one URL are how a request reaches a host that nobody allowed, so whatever browsers, curl and RFC
/// 3986 read differently is refused instead of guessed.
namespace holdpoint::policy::match {

enum class HostKind : std::uint8_t { none, name, ipv4, ipv6 };

struct Url {
    std::string scheme;  ///< lower case
    std::string host;    ///< lower case, without a trailing dot and without brackets
    HostKind host_kind = HostKind::none;
    int port = -1;  ///< the scheme's own where none is written; -1 where there is none
    bool has_user = false;
    std::string path;                ///< dot segments resolved; `/` where it was empty
    bool is_path_ambiguous = false;  ///< encoded dots, slashes or zeros: servers differ
};

/// Refuses: blanks, control and invisible characters, backslashes before the query, more than one
/// `@`, a scheme of the web without exactly `//` and a host behind it, hosts with percent-encoding,
/// empty labels or anything but ASCII letters, digits, `-`, `_` and `.` (write Unicode names in
/// punycode), octal numbers in an address, bad ports, zones, more than 8192 bytes. Addresses in odd
/// forms (`0x7f.1`, `2130706433`, `::ffff:10.0.0.1`) come out as the IPv4 address they stand for.
Result<Url> parse_url(std::string_view text);

/// The parts for conditions. A URL without host is an error for url_host, an ambiguous path one
/// for url_path.
Result<std::string> url_host(std::string_view text);
Result<std::string> url_scheme(std::string_view text);
Result<std::string> url_path(std::string_view text);
Result<int> url_port(std::string_view text);

/// `example.com`, `*.example.com` (any name below it, not itself) or an address.
class HostPattern {
  public:
    static Result<HostPattern> compile(std::string_view pattern);

    /// `host` as it comes out of parse_url.
    bool matches(std::string_view host, HostKind kind) const;
    bool matches(const Url& url) const { return matches(url.host, url.host_kind); }

  private:
    std::string host_;  // of a wildcard: with the dot in front
    HostKind kind_ = HostKind::none;
    bool is_wildcard_ = false;
};

}  // namespace holdpoint::policy::match
