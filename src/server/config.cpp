#include "server/config.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <boost/asio/ip/address.hpp>
#include <charconv>

#include "core/follow_up.h"

namespace holdpoint::server {

Result<void> parse_listen(const std::string& text, Config& config) {
    const Error bad{ErrorCode::invalid_argument,
                    fmt::format("`{}` is not an address like 127.0.0.1:7480 or [::1]:7480", text),
                    "--listen"};
    const std::size_t colon = text.rfind(':');
    if (colon == std::string::npos) return bad;
    std::string host = text.substr(0, colon);
    const bool has_brackets = host.starts_with('[') && host.ends_with(']') && host.size() > 2;
    if (has_brackets) host = host.substr(1, host.size() - 2);
    if (host == "localhost") host = "127.0.0.1";
    boost::system::error_code failed;
    const auto address = boost::asio::ip::make_address(host, failed);
    if (failed || address.is_v6() != has_brackets) return bad;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data() + colon + 1, end, config.port);
    if (error != std::errc() || stop != end) return bad;
    config.address = host;
    return {};
}

Result<void> check(const Config& config) {
    const auto bad = [](std::string message, std::string field) {
        return Error{ErrorCode::invalid_argument, std::move(message), std::move(field)};
    };
    if (config.tls_certificate.empty() != config.tls_key.empty())
        return bad("a certificate and its key go together", "--tls-cert");
    boost::system::error_code failed;
    const bool is_loopback = boost::asio::ip::make_address(config.address, failed).is_loopback();
    if (!is_loopback && config.tls_certificate.empty() && !config.is_behind_proxy)
        return bad(fmt::format("`{}` can be reached from other machines: give --tls-cert and "
                               "--tls-key, or --behind-proxy if a proxy does TLS",
                               config.address),
                   "--listen");
    if (!config.policy_file.empty() && !config.builtin_flags.empty())
        return bad(fmt::format("{} holds only without a policy, and --policy names one: say it in "
                               "`{}`, or leave one of them out",
                               fmt::join(config.builtin_flags, ", "), config.policy_file),
                   config.builtin_flags.front());
    const core::Timing& timing = config.policy.timing;
    for (const auto& [ms, flag] : {std::pair(timing.timeout_ms, "--timeout"),
                                   std::pair(timing.remind_every_ms, "--remind-every"),
                                   std::pair(timing.escalate_after_ms, "--escalate-after")})
        if (ms > core::timeout_ms_max) return bad("must be at most 30d", flag);
    const bool must_escalate =
        timing.on_timeout == core::TimeoutAction::escalate || timing.escalate_after_ms > 0;
    if (must_escalate && timing.escalate_to.empty())
        return bad("escalation needs somebody to escalate to", "--escalate-to");
    if (timing.on_timeout == core::TimeoutAction::use_default && timing.default_decision.is_null())
        return bad("`default` needs a decision to take", "--default-decision");
    if (timing.on_timeout != core::TimeoutAction::use_default && !timing.default_decision.is_null())
        return bad("is taken only with --on-timeout default", "--default-decision");
    for (const std::string& channel : config.channels)
        if (channel != "log" && channel != "push")
            return bad(fmt::format("there is no channel `{}`; there are `log` and `push`", channel),
                       "--notify");
    const bool is_contact = config.push_contact.empty() ||
                            config.push_contact.starts_with("mailto:") ||
                            config.push_contact.starts_with("https://");
    if (!is_contact) return bad("must be a mailto: or https: URL", "--push-contact");
    return {};
}

}  // namespace holdpoint::server
