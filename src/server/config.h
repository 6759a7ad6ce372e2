#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "api/http/api.h"
#include "api/http/server.h"
#include "policy/builtin.h"

namespace holdpoint::server {

/// Everything that can be set about a server; the command line fills it.
struct Config {
    std::string data;  ///< directory of the store and the admin key
    std::string address = "127.0.0.1";
    std::uint16_t port = 7480;  ///< 0: any free one
    std::string tls_certificate, tls_key;
    bool is_behind_proxy = false;  ///< trust X-Forwarded-*, and listen beyond loopback without TLS
    std::string base_url;          ///< how people reach it; made from the address if empty
    policy::Builtin policy;        ///< where neither a file nor the store has one
    std::vector<std::string> builtin_flags;  ///< that said something of it, but for the switch
    std::string policy_file;                 ///< wins over everything else; empty: none
    api::ApiOptions api;
    http::Options http;
    std::vector<std::string> channels = {"push"};  ///< of the outbox: `log`, `push`
    std::string push_contact;          ///< how a push service reaches whoever runs this server
    bool must_accept_clock = false;    ///< take the wall clock as it is, moving deadlines along
    bool must_make_admin_key = false;  ///< write a new admin.key although there is an admin
    bool must_check_store = false;     ///< full check at start, whatever the size
};

/// `host:port`, `[v6]:port`; a host name is refused, addresses are numbers.
Result<void> parse_listen(const std::string& text, Config& config);

/// What contradicts itself or is unsafe, said before anything is opened.
Result<void> check(const Config& config);

}  // namespace holdpoint::server
