#include "cli/policy.h"

#include <memory>

namespace holdpoint::cli {
namespace {

using Options = std::shared_ptr<PolicyOptions>;

/// The two shapes of a command: with and without a server.
struct Family {
    Command family;
    Commands& commands;
    Options options;

    Command local(const char* name, const char* what,
                  ExitCode (*work)(const Flags&, const PolicyOptions&)) {
        Command command = family.add_subcommand(name, what);
        on_run(command, commands,
               [given = options, work](const Flags& flags) { return work(flags, *given); });
        return command;
    }
    Command asking(const char* name, const char* what,
                   ExitCode (*work)(Session&, const PolicyOptions&)) {
        Command command = family.add_subcommand(name, what);
        on_session(command, commands,
                   [given = options, work](Session& session) { return work(session, *given); });
        return command;
    }
};

void add_local(Family& family, PolicyOptions& options) {
    Command check =
        family.local("check", "Load a policy file: errors, warnings, version", check_policy);
    check.add_option("file", options.file, "The policy, or - for stdin").required();

    Command test = family.local("test", "Run the tests inside a policy file", test_policy);
    test.add_option("file", options.file, "The policy, or - for stdin").required();

    Command explain = family.local("explain", "What policy says to a call, and why", explain_calls);
    explain.add_option("call", options.call_file, "A call as JSON, or one per line; - for stdin")
        .required();
    explain.add_option("--policy", options.file,
                       "Judge by this file, without a server; else by the policy in force");
    explain.footer(
        "A call is {\"tool\": …, \"args\": {…}}, and may have context, counters, grants and now.\n"
        "--json prints {\"verdict\": {…}} for each call, a line each.");

    Command diff = family.local("diff", "What differs in meaning between two files", diff_policies);
    diff.add_option("old", options.file, "The policy before").required();
    diff.add_option("new", options.other_file, "The policy after").required();

    Command presets =
        family.local("presets", "The built-in policies that files may extend", print_presets);
    presets.add_option("name", options.name, "Print this one's text");
}

void add_asking(Family& family, PolicyOptions& options) {
    Command show = family.asking("show", "The policy in force, or an earlier one", show_policy);
    Option version =
        show.add_option("version", options.name, "A version, or a unique beginning of one");
    show.add_flag("--versions", options.is_list, "List the versions instead").excludes(version);

    Command apply = family.asking("apply", "Put a policy in force (admin)", apply_policy);
    apply.add_option("file", options.file, "The policy, or - for stdin").required();
    apply
        .add_option("--acknowledge", options.acknowledged,
                    "A request that people refused and this policy would let pass; repeatable")
        .one_each();

    family.asking("reload", "Read the server's policy file again (admin)", reload_policy);

    Command backtest =
        family.asking("backtest", "What a policy would have done with the past", backtest_policy);
    backtest.add_option("file", options.file, "The policy, or - for stdin").required();
    backtest.add_option("--since", options.since, "How far back, like 30d; all by default");

    Command suggest =
        family.asking("suggest", "Rules that cover what people kept approving; nothing is applied",
                      suggest_rules);
    suggest.add_option("--since", options.since, "How far back, like 30d; all by default");
    suggest
        .add_option("--approvals-min", options.approvals_min,
                    "Approvals of one kind before anything is suggested")
        .between(2, 10'000);
}

}  // namespace

void add_policy(Command app, Commands& commands) {
    Command command =
        app.add_subcommand("policy", "Policy files and the policy in force: check, explain, apply");
    command.needs_subcommand();
    auto options = std::make_shared<PolicyOptions>();
    Family family{command, commands, options};
    add_local(family, *options);
    add_asking(family, *options);
}

}  // namespace holdpoint::cli
