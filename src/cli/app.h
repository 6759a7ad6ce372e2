#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "cli/arguments.h"
#include "cli/client.h"
#include "cli/exit_code.h"
#include "cli/output.h"
#include "cli/settings.h"

namespace holdpoint::cli {

/// What a command that talks to the server works with.
struct Session {
    Settings settings;
    Output out;
    Client client;
};

/// What the command line asks for. Parsing only fills this in: it touches no file, no network and
/// no environment, so that it can be fuzzed and walked for completions.
struct Commands {
    Flags flags;
    std::function<ExitCode(const Flags&)> run;  ///< empty until a command was named
};

/// Says what `command` does once the whole line was understood.
void on_run(Command command, Commands& commands, std::function<ExitCode(const Flags&)> work);
/// The same for what needs settings and a server; settings that cannot be had end in usage.
void on_session(Command command, Commands& commands, std::function<ExitCode(Session&)> work);

/// Does `work` with settings and a client, or ends in usage.
ExitCode in_session(const Flags& flags, const std::function<ExitCode(Session&)>& work);
/// For what needs no server: only the flags count, a broken config file does not matter.
Output local_output(const Flags& flags);

/// Every command and the global flags. The CLI::App must live as long as `commands.run` may be
/// called.
void add_commands(Command app, Commands& commands);

/// The whole program: parse, run, and see that what was printed got out.
int run(int argc, const char* const* argv);

// One function per command or family, each in a file of that name. All have this shape, so that a
// new command is one file and two lines.
void add_serve(Command app, Commands& commands);
void add_request(Command app, Commands& commands);
void add_list(Command app, Commands& commands);
void add_show(Command app, Commands& commands);
void add_watch(Command app, Commands& commands);
void add_inbox(Command app, Commands& commands);
void add_decide(Command app, Commands& commands);  // approve reject defer escalate abort
void add_modify(Command app, Commands& commands);
void add_answer(Command app, Commands& commands);
void add_cancel(Command app, Commands& commands);  // cancel extend undo
void add_session(Command app, Commands& commands);
void add_key(Command app, Commands& commands);
void add_user(Command app, Commands& commands);
void add_policy(Command app, Commands& commands);
void add_grant(Command app, Commands& commands);
void add_stats(Command app, Commands& commands);  // stats whoami
void add_agent(Command app, Commands& commands);
void add_doctor(Command app, Commands& commands);
void add_completion(Command app, Commands& commands);
void add_version(Command app, Commands& commands);

}  // namespace holdpoint::cli
