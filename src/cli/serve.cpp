#include <fmt/format.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include "cli/app.h"
#include "cli/duration.h"
#include "server/server.h"

namespace holdpoint::cli {
namespace {

using server::Config;

/// What the flags say, as text; turned into a Config when the command runs.
struct ServeFlags {
    std::string data;
    std::string listen = "127.0.0.1:7480";
    std::string tls_certificate, tls_key, base_url;
    bool is_behind_proxy = false;
    std::vector<std::string> require, allow;
    std::string default_verdict = "hold";
    bool is_disabled = false;
    std::string risk = "medium";
    std::string timeout = "5m";
    std::string on_timeout = "reject";
    std::string default_decision;
    std::string remind_every;
    int reminders_max = 3;
    std::string escalate_after, escalate_to;
    int retries_max = 1;
    std::vector<std::string> groups;
    int quorum = 1;
    int reject_threshold = 1;
    bool is_reason_required = false, is_not_modifiable = false, is_requester_excluded = false;
    std::int64_t pending_max = 10'000;
    std::size_t body_max = 256 * 1024;
    std::size_t connections_max = 20'000;
    std::int64_t connections_per_address = -1;  // not said
    std::string wait_max = "5m";
    std::string undo_max = "30s";
    std::string session_time = "12h";
    double rate_per_key = 0, rate_per_address = 0, decisions_per_key = 5000;
    std::vector<std::string> notify = {"push"};
    std::string push_contact;
    bool may_push_to_loopback = false;
    std::string log_level = "info";
    std::string policy_file;
    bool must_accept_clock = false, must_make_admin_key = false, must_check_store = false;
};

constexpr const char* policy_group = "What waits for a person";
constexpr const char* time_group = "Time";

void add_policy_options(Command command, ServeFlags& flags) {
    const char* group = policy_group;
    command
        .add_option(
            "--policy", flags.policy_file,
            "Policy file; of this group and the next only --approvals-disabled goes with it")
        .existing_file()
        .group(group);
    command.add_option("--require-tool", flags.require, "Tool that always waits (repeatable)")
        .group(group);
    command.add_option("--allow-tool", flags.allow, "Tool that passes unless required (repeatable)")
        .group(group);
    command
        .add_option("--default-verdict", flags.default_verdict,
                    "For all other tools: hold, allow, deny")
        .one_of({"hold", "allow", "deny"})
        .group(group);
    command
        .add_flag("--approvals-disabled", flags.is_disabled,
                  "Master switch, above any policy: everything passes, and is still recorded")
        .group(group);
    command.add_option("--risk", flags.risk, "Risk of every action; an agent can only raise it")
        .one_of({"low", "medium", "high", "critical"})
        .group(group);
    command
        .add_option("--group", flags.groups,
                    "People who decide: a group (repeatable: one line each)")
        .group(group);
    command.add_option("--quorum", flags.quorum, "How many people of each group")
        .between(1, 100)
        .group(group);
    command.add_option("--reject-threshold", flags.reject_threshold, "How many rejections end it")
        .between(1, 100)
        .group(group);
    command.add_flag("--reason-required", flags.is_reason_required, "A rejection must say why")
        .group(group);
    command.add_flag("--not-modifiable", flags.is_not_modifiable, "Arguments may not be changed")
        .group(group);
    command
        .add_flag("--exclude-requester", flags.is_requester_excluded,
                  "The agent's owner and user may not decide")
        .group(group);
}

void add_time_options(Command command, ServeFlags& flags) {
    const char* group = time_group;
    command.add_option("--timeout", flags.timeout, "How long a request waits, like 90s, 5m, 1h30m")
        .group(group);
    command.add_option("--on-timeout", flags.on_timeout, "What happens then")
        .one_of({"reject", "approve", "retry", "escalate", "abort", "skip", "default"})
        .group(group);
    command.add_option("--default-decision", flags.default_decision, "For --on-timeout default")
        .one_of({"approve", "reject", "skip", "abort"})
        .group(group);
    command.add_option("--remind-every", flags.remind_every, "Remind people this often")
        .group(group);
    command.add_option("--reminders-max", flags.reminders_max, "At most so many times")
        .between(0, 100)
        .group(group);
    command.add_option("--escalate-after", flags.escalate_after, "Ask other people after this time")
        .group(group);
    command.add_option("--escalate-to", flags.escalate_to, "`group:NAME` or a person").group(group);
    command.add_option("--retries-max", flags.retries_max, "Rounds of --on-timeout retry")
        .between(0, 100)
        .group(group);
}

void add_limit_options(Command command, ServeFlags& flags) {
    const char* group = "Limits";
    command.add_option("--pending-max", flags.pending_max, "Waiting requests of one agent")
        .between(1, 100'000'000)
        .group(group);
    command.add_option("--body-max", flags.body_max, "Bytes of one request body")
        .between(1024, 16 << 20)
        .group(group);
    command.add_option("--connections-max", flags.connections_max, "Open connections")
        .between(1, 1'000'000)
        .group(group);
    command
        .add_option(
            "--connections-per-address", flags.connections_per_address,
            "Open connections of one address; 0: no limit (default: 2000, behind a proxy 0)")
        .between(0, 1'000'000)
        .group(group);
    command.add_option("--wait-max", flags.wait_max, "Longest wait of one call").group(group);
    command
        .add_option("--session-time", flags.session_time,
                    "How long a browser stays signed in, and gets push messages: 5m to 30d")
        .group(group);
    command
        .add_option("--undo-max", flags.undo_max,
                    "Longest time a decision can be held for undo; 0s: not at all")
        .group(group);
    command
        .add_option("--rate-per-key", flags.rate_per_key,
                    "Calls per second of one key; 0: no limit")
        .not_negative()
        .group(group);
    command
        .add_option("--decisions-per-key", flags.decisions_per_key,
                    "Decisions per second of one key, ten seconds' worth at once; 0: no limit")
        .not_negative()
        .group(group);
    command
        .add_option(
            "--rate-per-address", flags.rate_per_address,
            "Calls per second of one address, probes, metrics and the inbox's files aside; 0: no "
            "limit")
        .not_negative()
        .group(group);
}

bool has_empty(const std::vector<std::string>& words) {
    return std::ranges::find(words, "") != words.end();
}

/// What a config file says for one option, as the command line would have said it.
Result<void> take_config_value(CLI::App& command, const std::string& name,
                               const ConfigValue& value) {
    CLI::Option* option = command.get_option_no_throw("--" + name);
    const auto fail = [&](std::string_view why) {
        return Error{ErrorCode::invalid_argument,
                     fmt::format("line {}: `{}` {}", value.line, name, why)};
    };
    if (!option || option == command.get_help_ptr()) return fail("is no setting of serve");
    const bool is_flag = option->get_items_expected_max() == 0;
    if (is_flag != (value.kind == ConfigValue::Kind::truth))
        return fail(is_flag ? "is true or false" : "cannot be true or false");
    // Nothing at all would leave the default in force, which may be something.
    if (value.words.empty()) return fail("is an empty list; leave it out");
    if (has_empty(value.words)) return fail("must not be empty");
    if (option->count() > 0) return {};
    try {
        option->add_result(value.words);
        option->run_callback();
    } catch (const std::exception& error) {
        return fail(fmt::format("is wrong: {}", error.what()));
    }
    return {};
}

/// A key of the `[serve]` table is the flag of the same name; flags and environment win over it.
Result<void> take_config_file(Command command, const std::string& path,
                              const Surroundings& surroundings) {
    const Result<ConfigFile> file = read_config_file(path, surroundings);
    if (!file) return file.error();
    for (const auto& [name, value] : file->serve)
        if (Result<void> ok = take_config_value(command.get(), name, value); !ok)
            return Error{ok.error().code, fmt::format("{}: {}", path, ok.error().message)};
    return {};
}

Result<void> take_config_files(Command command, const Flags& global) {
    const Surroundings surroundings = real_surroundings();
    std::vector<std::string> paths = config_paths(surroundings);
    if (!global.config.empty()) paths = {global.config};
    for (const std::string& path : paths) {
        const Result<void> taken = take_config_file(command, path, surroundings);
        if (taken) continue;
        const bool is_missing = taken.error().code == ErrorCode::not_found;
        if (!is_missing || !global.config.empty()) return taken.error();
    }
    return {};
}

/// A variable that was never set comes as an empty word. Left to itself, `--group ""` would be
/// anybody and `--tls-cert ""` no encryption.
Result<void> check_words(Command command) {
    for (const CLI::Option* option : command.get().get_options())
        if (has_empty(option->results()))
            return Error{ErrorCode::invalid_argument, "must not be empty", option->get_name()};
    return {};
}

/// Milliseconds; 0 for an empty text.
Result<std::int64_t> to_ms(const std::string& text, const char* flag) {
    if (text.empty()) return 0;
    const Result<std::int64_t> seconds = parse_duration_s(text);
    if (!seconds) return Error{ErrorCode::invalid_argument, seconds.error().message, flag};
    return *seconds * 1000;
}

Result<void> take_timing(const ServeFlags& flags, core::Timing& timing) {
    const Result<std::int64_t> timeout = to_ms(flags.timeout, "--timeout");
    if (!timeout) return timeout.error();
    const Result<std::int64_t> remind = to_ms(flags.remind_every, "--remind-every");
    if (!remind) return remind.error();
    const Result<std::int64_t> escalate = to_ms(flags.escalate_after, "--escalate-after");
    if (!escalate) return escalate.error();
    if (*timeout < 1000)
        return Error{ErrorCode::invalid_argument, "must be at least a second", "--timeout"};
    timing.timeout_ms = *timeout;
    timing.on_timeout = *core::parse_word<core::TimeoutAction>(flags.on_timeout);
    if (!flags.default_decision.empty())
        timing.default_decision.text =
            fmt::format("{{\"decision\":\"{}\"}}", flags.default_decision);
    timing.remind_every_ms = *remind;
    timing.reminders_max = flags.reminders_max;
    timing.escalate_after_ms = *escalate;
    timing.escalate_to = flags.escalate_to;
    timing.retries_max = flags.retries_max;
    return {};
}

void take_policy(const ServeFlags& flags, policy::Builtin& policy) {
    policy.require = flags.require;
    policy.allow = flags.allow;
    policy.otherwise = *core::parse_word<core::VerdictKind>(flags.default_verdict);
    policy.is_disabled = flags.is_disabled;
    policy.risk = *core::parse_word<core::RiskLevel>(flags.risk);
    policy.requirement.lines.clear();
    for (const std::string& group : flags.groups)
        policy.requirement.lines.push_back({group, {}, flags.quorum, 0});
    if (flags.groups.empty()) policy.requirement.lines.push_back({"", {}, flags.quorum, 0});
    policy.requirement.reject_threshold = flags.reject_threshold;
    policy.requirement.reason_required = flags.is_reason_required;
    policy.requirement.modifiable = !flags.is_not_modifiable;
    policy.requirement.exclude_requester = flags.is_requester_excluded;
}

/// The flags that were given, here or in the config file, and hold only without a policy.
std::vector<std::string> given_builtin_flags(Command command) {
    std::vector<std::string> names;
    for (const CLI::Option* option : command.get().get_options()) {
        const bool is_ours =
            option->get_group() == policy_group || option->get_group() == time_group;
        const std::string name = option->get_name();
        const bool goes_with_all = name == "--policy" || name == "--approvals-disabled";
        if (is_ours && !goes_with_all && option->count() > 0) names.push_back(name);
    }
    return names;
}

Result<Config> to_config(const ServeFlags& flags) {
    Config config;
    config.data = flags.data;
    if (Result<void> ok = server::parse_listen(flags.listen, config); !ok) return ok.error();
    config.tls_certificate = flags.tls_certificate;
    config.tls_key = flags.tls_key;
    config.is_behind_proxy = flags.is_behind_proxy;
    if (!flags.base_url.empty()) {
        Result<std::string> base_url = checked_url(flags.base_url, "--base-url");
        if (!base_url) return base_url.error();
        config.base_url = std::move(*base_url);
    }
    config.policy_file = flags.policy_file;
    take_policy(flags, config.policy);
    if (Result<void> ok = take_timing(flags, config.policy.timing); !ok) return ok.error();
    const Result<std::int64_t> wait_max = to_ms(flags.wait_max, "--wait-max");
    if (!wait_max) return wait_max.error();
    config.api.wait_ms_max = *wait_max;
    const Result<std::int64_t> undo_max = to_ms(flags.undo_max, "--undo-max");
    if (!undo_max) return undo_max.error();
    if (*undo_max > 30'000)
        return Error{ErrorCode::invalid_argument, "must be at most 30s", "--undo-max"};
    config.api.undo_ms_max = *undo_max;
    const Result<std::int64_t> session_time = to_ms(flags.session_time, "--session-time");
    if (!session_time) return session_time.error();
    if (*session_time < 5 * 60'000 || *session_time > 30 * 86'400'000LL)
        return Error{ErrorCode::invalid_argument, "must be from 5m to 30d", "--session-time"};
    config.api.session_ms = *session_time;
    config.api.pending_max = flags.pending_max;
    config.api.json.bytes_max = flags.body_max;
    // A second's worth may come at once.
    config.api.auth.per_key = {flags.rate_per_key, std::max(1.0, flags.rate_per_key)};
    config.api.auth.decisions_per_key = {flags.decisions_per_key,
                                         std::max(1.0, 10 * flags.decisions_per_key)};
    config.api.auth.per_address = {flags.rate_per_address, std::max(1.0, flags.rate_per_address)};
    config.http.limits.body_bytes_max = flags.body_max;
    config.http.connections_max = flags.connections_max;
    if (flags.connections_per_address >= 0)
        config.http.connections_per_peer_max =
            static_cast<std::size_t>(flags.connections_per_address);
    else if (flags.is_behind_proxy)
        config.http.connections_per_peer_max = 0;  // all of them are the proxy's
    config.channels = flags.notify;
    config.push_contact = flags.push_contact;
    config.api.may_push_to_loopback = flags.may_push_to_loopback;
    config.must_accept_clock = flags.must_accept_clock;
    config.must_make_admin_key = flags.must_make_admin_key;
    config.must_check_store = flags.must_check_store;
    return config;
}

void start_log(const std::string& level) {
    auto logger = std::make_shared<spdlog::logger>(
        "holdpoint", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    logger->set_pattern("%Y-%m-%dT%H:%M:%S.%eZ %l %v", spdlog::pattern_time_type::utc);
    logger->set_level(spdlog::level::from_str(level));
    logger->flush_on(spdlog::level::info);
    spdlog::set_default_logger(std::move(logger));
}

void greet(const server::Started& started, bool is_json) {
    if (is_json) {
        fmt::print("{{\"url\":\"{}\",\"admin_key_file\":\"{}\"}}\n", started.url,
                   started.admin_key_file);
    } else {
        fmt::print("Holdpoint {} serves on {}\n", HOLDPOINT_VERSION, started.url);
        if (!started.sign_in_link.empty())
            fmt::print("Admin key: {}\nSign in once, within 10 minutes: {}\n",
                       started.admin_key_file, started.sign_in_link);
    }
    std::fflush(stdout);
    // A server whose greeting nobody can read serves all the same.
    std::clearerr(stdout);
}

ExitCode serve(const ServeFlags& flags, std::vector<std::string> builtin_flags, bool is_json) {
    start_log(flags.log_level);
    Result<void> served = {};
    Result<Config> config = to_config(flags);
    if (config) config->builtin_flags = std::move(builtin_flags);
    if (config)
        served = server::serve(
            *config, [is_json](const server::Started& started) { greet(started, is_json); });
    if (config && served) return ExitCode::fine;
    Error error = config ? served.error() : config.error();
    // What keeps a server from starting does not go away by itself.
    error.retry_after_s = 0;
    complain(error, "", is_json);
    return error.code == ErrorCode::invalid_argument ? ExitCode::usage : ExitCode::failed;
}

}  // namespace

void add_serve(Command app, Commands& commands) {
    Command command = app.add_subcommand("serve", "Run the server");
    const auto flags = std::make_shared<ServeFlags>();
    command
        .add_option("--data", flags->data,
                    "Directory of the store and the admin key (HOLDPOINT_DATA)")
        .from_environment("HOLDPOINT_DATA");
    command.add_option("--listen", flags->listen, "Address and port (HOLDPOINT_LISTEN)")
        .from_environment("HOLDPOINT_LISTEN");
    command.add_option("--tls-cert", flags->tls_certificate,
                       "Certificate chain, PEM; SIGHUP reads it again");
    command.add_option("--tls-key", flags->tls_key, "Its private key, PEM");
    command.add_flag("--behind-proxy", flags->is_behind_proxy,
                     "A proxy does TLS; believe its X-Forwarded-* headers");
    command.add_option("--base-url", flags->base_url, "How people reach this server, for links");
    command.add_option("--notify", flags->notify,
                       "Tell people through these channels: push, log (default: push)");
    command.add_option("--push-contact", flags->push_contact,
                       "mailto: or https: URL for push services to reach you");
    command.add_flag("--push-to-loopback", flags->may_push_to_loopback,
                     "Push services on this machine, over http; for tests");
    command.add_option("--log-level", flags->log_level, "debug, info, warn, error")
        .one_of({"debug", "info", "warn", "error"});
    command.add_flag("--accept-clock", flags->must_accept_clock,
                     "Follow a wall clock that was set; deadlines move along");
    command.add_flag("--new-admin-key", flags->must_make_admin_key,
                     "Write a new admin.key, when the old one is lost");
    command.add_flag("--check-store", flags->must_check_store,
                     "Check the whole store before serving");
    add_policy_options(command, *flags);
    add_time_options(command, *flags);
    add_limit_options(command, *flags);
    on_run(command, commands, [command, flags](const Flags& global) {
        const Result<void> configured = take_config_files(command, global);
        if (!configured) {
            complain(configured.error(), "", global.is_json);
            return ExitCode::usage;
        }
        if (const Result<void> ok = check_words(command); !ok) {
            complain(ok.error(), "", global.is_json);
            return ExitCode::usage;
        }
        if (flags->data.empty()) {
            complain({ErrorCode::invalid_argument, "say where the data lives: --data DIR"}, "",
                     global.is_json);
            return ExitCode::usage;
        }
        return serve(*flags, given_builtin_flags(command), global.is_json);
    });
}

}  // namespace holdpoint::cli
