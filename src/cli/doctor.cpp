#include <curl/curl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <memory>

#include "base/text.h"
#include "cli/app.h"
#include "cli/duration.h"
#include "cli/json_text.h"
#include "cli/resource.h"

namespace holdpoint::cli {
namespace {

struct DoctorOptions {
    std::string data;
};

/// Prints one finding after the other and remembers the worst.
class Findings {
  public:
    explicit Findings(const Output& out) : out_(out) {}

    void ok(std::string_view what, std::string_view text) {
        add(Style::good, "OK", what, text, "");
    }
    void warn(std::string_view what, std::string_view text, std::string_view hint) {
        add(Style::high, "WARN", what, text, hint);
    }
    void fail(std::string_view what, std::string_view text, std::string_view hint) {
        has_failed_ = true;
        add(Style::bad, "FAIL", what, text, hint);
    }
    ExitCode code() const { return has_failed_ ? ExitCode::failed : ExitCode::fine; }

  private:
    void add(Style style, std::string_view mark, std::string_view what, std::string_view text,
             std::string_view hint) {
        if (out_.is_json()) {
            json::object line{{"check", what}, {"result", mark}, {"text", text}};
            if (!hint.empty()) line["hint"] = hint;
            out_.data(compact(line));
            return;
        }
        out_.print(Line{
            {style, fit(mark, 6)}, {Style::strong, fit(what, 9)}, {Style::plain, visible(text)}});
        if (!hint.empty())
            out_.print(
                Line{{Style::plain, std::string(15, ' ')}, {Style::faint, std::string(hint)}});
    }

    const Output& out_;
    bool has_failed_ = false;
};

void check_config(Findings& findings, const Settings& settings) {
    std::string files;
    for (const std::string& path : settings.config_files)
        files += (files.empty() ? "" : ", ") + path;
    findings.ok("config", files.empty() ? "no config file; defaults and environment" : files);
    findings.ok("url", fmt::format("{} (from {})", settings.url.value, settings.url.origin));
}

/// Where the server leaves the first key. It is only pointed at: acting as admin unasked would
/// surprise whoever expects to be nobody.
void check_for_admin_key(Findings& findings) {
    const auto data = real_surroundings().variable("HOLDPOINT_DATA");
    for (const std::string& folder : {data.value_or(""), std::string("run")}) {
        const std::string path = folder + "/admin.key";
        if (folder.empty() || ::access(path.c_str(), R_OK) != 0) continue;
        findings.warn("key", "none is set, and it is not used by itself: " + path,
                      fmt::format("use it with `export HOLDPOINT_TOKEN_FILE={}`", path));
        return;
    }
    findings.fail("key", "none is set",
                  "set HOLDPOINT_TOKEN_FILE or HOLDPOINT_TOKEN; an admin makes one with `holdpoint "
                  "key create`");
}

void check_token_file(Findings& findings, const Settings& settings) {
    findings.ok("key", fmt::format("from {}", settings.token.origin));
    const std::string path = settings.token.origin.substr(0, settings.token.origin.rfind(" ("));
    struct stat info{};
    if (path == settings.token.origin || ::stat(path.c_str(), &info) != 0) return;
    if ((info.st_mode & 077) != 0)
        findings.warn("key file", path + " can be read by others", "chmod 600 " + path);
}

void check_tls(Findings& findings, const Settings& settings) {
    if (settings.url.value.starts_with("https://"))
        findings.ok("tls", "the connection is encrypted and the certificate was checked");
    else if (is_loopback(settings.url.value))
        findings.ok("tls", "none, but the server is on this machine");
    else if (settings.may_use_http)
        findings.warn("tls", "none: whoever sees the network sees the key",
                      "use https in front of the server");
    else
        findings.fail("tls", "none: the key would be readable on the network",
                      "use https, or --allow-http where the network itself is trusted");
}

bool check_server(Findings& findings, Client& client) {
    const Answer<Reply> ready = client.call({.path = "/readyz", .is_anonymous = true});
    if (!ready) {
        findings.fail("server", ready.error().error.message, ready.error().hint);
        return false;
    }
    findings.ok("server", "answers and is ready");
    const std::time_t server_time = ::curl_getdate(ready->date.c_str(), nullptr);
    if (server_time < 0) {
        findings.warn("clock", "the server sent no Date header", "");
        return true;
    }
    const std::int64_t skew_s = now().ms / 1000 - server_time;
    if (std::llabs(skew_s) <= 2)
        findings.ok("clock", "agrees with the server's");
    else
        findings.warn("clock",
                      fmt::format("{} {} the server's", short_duration(std::llabs(skew_s) * 1000),
                                  skew_s > 0 ? "ahead of" : "behind"),
                      "deadlines are the server's; the times shown here are off by that much");
    return true;
}

void check_identity(Findings& findings, Client& client) {
    const Answer<Reply> me = client.call({.path = "/v1/me"});
    if (!me) {
        findings.fail("identity", me.error().error.message, me.error().hint);
        return;
    }
    const std::string role = text_of(me->body, "role");
    findings.ok("identity", fmt::format("{}, role {}", text_of(me->body, "name"), role));
    if (role == "agent") findings.ok("may", "propose, wait, cancel and report; not decide");
    if (role == "approver") findings.ok("may", "read everything and decide");
    if (role == "auditor") findings.ok("may", "read everything; not decide");
    if (role == "admin") findings.ok("may", "read everything, decide, manage keys and people");
}

void check_data(Findings& findings, const std::string& path) {
    struct stat info{};
    if (::stat(path.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) {
        findings.fail("data", path + " is not a directory",
                      "the server makes it on its first start");
        return;
    }
    if ((info.st_mode & 077) != 0)
        findings.warn("data", path + " is open to others", "chmod 700 " + path);
    else if (::access(path.c_str(), R_OK | W_OK | X_OK) != 0)
        findings.fail("data", path + " cannot be written by this user", "run as the server's user");
    else
        findings.ok("data", path + " belongs to its user alone");
    const std::string key = path + "/admin.key";
    if (::stat(key.c_str(), &info) == 0 && (info.st_mode & 077) != 0)
        findings.fail("data", key + " can be read by others",
                      "chmod 600 " + key + ", and revoke that key");
}

ExitCode examine(const Flags& flags, const DoctorOptions& options) {
    const Result<Settings> settings = resolve(flags, real_surroundings());
    const Output out(settings.value_or(Settings{}), flags);
    Findings findings(out);
    if (!settings) {
        findings.fail("config", settings.error().message, "mend or remove what it names");
        return findings.code();
    }
    check_config(findings, *settings);
    const bool has_token = !settings->token.value.empty();
    if (has_token)
        check_token_file(findings, *settings);
    else
        check_for_admin_key(findings);
    Client client({settings->url.value, settings->token.value, settings->ca_file.value,
                   settings->may_use_http});
    if (check_server(findings, client)) {
        check_tls(findings, *settings);
        if (has_token) check_identity(findings, client);
    }
    if (!options.data.empty()) check_data(findings, options.data);
    return findings.code();
}

}  // namespace

void add_doctor(Command app, Commands& commands) {
    auto options = std::make_shared<DoctorOptions>();
    Command command =
        app.add_subcommand("doctor", "Check settings, server, key and clock, with hints");
    command.add_option("--data", options->data,
                       "Data directory of the server, to check its rights");
    on_run(command, commands, [options](const Flags& flags) { return examine(flags, *options); });
}

}  // namespace holdpoint::cli
