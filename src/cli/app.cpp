#include "cli/app.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <cerrno>
#include <cstdio>
#include <exception>
#include <memory>

#include "base/text.h"

namespace holdpoint::cli {
namespace {

void add_global_flags(Command app, Flags& flags) {
    app.add_option("--url", flags.url, "Address of the server (HOLDPOINT_URL)");
    app.add_option("--token-file", flags.token_file,
                   "File that holds the key (HOLDPOINT_TOKEN_FILE)");
    app.add_option("--ca-file", flags.ca_file,
                   "Certificate authority to trust (HOLDPOINT_CA_FILE)");
    app.add_option("--config", flags.config, "Config file to read instead of the usual two");
    app.add_option("--color", flags.color, "Colour: auto, always, never")
        .one_of({"auto", "always", "never"});
    app.add_flag("--json", flags.is_json,
                 "JSON on standard output, one value per line; errors as JSON on standard error");
    app.add_flag("-q,--quiet", flags.is_quiet, "No messages, only data and errors");
    app.add_flag("--allow-http", flags.may_use_http,
                 "Send the key unencrypted beyond this machine (HOLDPOINT_ALLOW_HTTP=1)");
}

/// For a line that was not understood: whoever says --json gets it, wherever it stands.
bool asks_for_json(int argc, const char* const* argv) {
    for (int i = 1; i < argc && std::string_view(argv[i]) != "--"; ++i)
        if (std::string_view(argv[i]) == "--json") return true;
    return false;
}

/// Whoever closed one of the three standard descriptors would have the next file or connection
/// opened in its place, and what is printed written into that. Writing to a closed standard output
/// still has to fail, so nothing can be written to what stands there.
void hold_standard_descriptors() {
    for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
        if (::fcntl(fd, F_GETFD) < 0 && errno == EBADF)
            ::open("/dev/null", fd == STDERR_FILENO ? O_WRONLY : O_RDONLY);
}

/// The first word that looks like an option and is none, wherever it stands.
std::string unknown_option(const CLI::App& app) {
    for (const std::string& word : app.remaining(true))
        if (word.size() > 1 && word.front() == '-' && word != "--") return word;
    return {};
}

int end_with(const CLI::App& app, const CLI::ParseError& error, bool is_json) {
    // --help and --version arrive as errors with code 0.
    if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) return app.exit(error);
    Error usage{ErrorCode::invalid_argument, error.what()};
    const std::vector<std::string> unknown = app.remaining();
    if (app.get_subcommands().empty() && !unknown.empty())
        usage.message = fmt::format("there is no `{}`", visible(cut_utf8(unknown.front(), 60)));
    // What is missing beside it may be what it was meant to be.
    else if (const std::string option = unknown_option(app); !option.empty())
        usage.message = fmt::format("there is no option `{}`", visible(cut_utf8(option, 60)));
    complain(usage, "see `holdpoint --help`", is_json);
    return static_cast<int>(ExitCode::usage);
}

/// Released arguments that never reached the reader must not look like success.
int end_with(ExitCode code, bool is_json) {
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return static_cast<int>(code);
    complain({ErrorCode::internal, "cannot write to standard output"}, "", is_json);
    return static_cast<int>(code == ExitCode::fine ? ExitCode::failed : code);
}

}  // namespace

void on_run(Command command, Commands& commands, std::function<ExitCode(const Flags&)> work) {
    command.when_named([&commands, work = std::move(work)] { commands.run = work; });
}

void on_session(Command command, Commands& commands, std::function<ExitCode(Session&)> work) {
    on_run(command, commands,
           [work = std::move(work)](const Flags& flags) { return in_session(flags, work); });
}

ExitCode in_session(const Flags& flags, const std::function<ExitCode(Session&)>& work) {
    Result<Settings> settings = resolve(flags, real_surroundings());
    if (!settings) {
        complain(settings.error(), "see `holdpoint doctor`", flags.is_json);
        return ExitCode::usage;
    }
    Session session{*settings, Output(*settings, flags),
                    Client({settings->url.value, settings->token.value, settings->ca_file.value,
                            settings->may_use_http})};
    return work(session);
}

Output local_output(const Flags& flags) {
    Settings settings;
    settings.color = {flags.color.empty() ? "auto" : flags.color, "--color"};
    return Output(settings, flags);
}

void add_commands(Command top, Commands& commands) {
    CLI::App& app = top.get();
    app.description("The place where an AI agent's action waits for a human decision.");
    app.footer(
        "Every command has --help; the global options above may also follow the command.\n"
        "Exit codes: 0 released or fine, 1 failed, 2 usage, 3 not released, 4 expired, 5 server "
        "unreachable.");
    app.set_version_flag("--version", "holdpoint " HOLDPOINT_VERSION);
    app.fallthrough();
    app.require_subcommand(1);
    app.get_formatter()->column_width(26);
    add_global_flags(app, commands.flags);

    add_serve(app, commands);
    add_request(app, commands);
    add_list(app, commands);
    add_show(app, commands);
    add_watch(app, commands);
    add_inbox(app, commands);
    add_decide(app, commands);
    add_modify(app, commands);
    add_answer(app, commands);
    add_cancel(app, commands);
    add_key(app, commands);
    add_session(app, commands);
    add_user(app, commands);
    add_policy(app, commands);
    add_grant(app, commands);
    add_stats(app, commands);
    add_agent(app, commands);
    add_doctor(app, commands);
    add_completion(app, commands);
    add_version(app, commands);
}

int run(int argc, const char* const* argv) {
    hold_standard_descriptors();
    use_utf8_locale();
    CLI::App app;
    app.name("holdpoint");
    Commands commands;
    add_commands(app, commands);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return end_with(app, error, asks_for_json(argc, argv));
    }
    try {
        return end_with(commands.run(commands.flags), commands.flags.is_json);
    } catch (const std::exception& error) {
        complain({ErrorCode::internal, visible(error.what())}, "", commands.flags.is_json);
        return static_cast<int>(ExitCode::failed);
    }
}

}  // namespace holdpoint::cli
