#include <fmt/format.h>

#include <memory>

#include "cli/app.h"
#include "cli/change.h"
#include "cli/decision.h"
#include "cli/diff.h"
#include "cli/editor.h"
#include "cli/grant_flags.h"
#include "cli/json_text.h"
#include "cli/resource.h"
#include "cli/terminal.h"

namespace holdpoint::cli {
namespace {

struct ModifyOptions {
    std::string id, args, args_file, note;
    Sureness sureness;
    GrantFlags grant;
};

Result<std::string> changed_text(const Request& request, const ModifyOptions& options) {
    if (!options.args.empty()) return options.args;
    if (!options.args_file.empty()) return read_input(options.args_file);
    if (!may_prompt())
        return Error{ErrorCode::invalid_argument,
                     "no terminal to edit at; give --args or --args-file"};
    return edit_text(change_text(request), change_suffix(request));
}

void show_diff(const Output& out, const Change& change) {
    for (const Line& line : diff_lines(pretty(change.before), pretty(change.after))) out.say(line);
}

ExitCode modify(Session& session, const ModifyOptions& options) {
    const Answer<Request> request = find_request(session.client, options.id);
    if (!request) return session.out.fail(request.error());
    if (const auto refusal = change_refusal(*request)) return session.out.fail(*refusal);
    const Result<std::string> text = changed_text(*request, options);
    if (!text) return session.out.fail(text.error());
    const Result<Change> change = read_change(*request, *text);
    if (!change) return session.out.fail(change.error());
    if (!change->is_change()) {
        session.out.say("unchanged; nothing was sent (to release it as it is, use approve)");
        return ExitCode::fine;
    }
    show_diff(session.out, *change);
    json::object body = change_body(*request, *change);
    if (!options.note.empty()) body["note"] = options.note;
    if (Result<void> ok = put_grant(body, options.grant); !ok) return session.out.fail(ok.error());
    const Result<std::string> code = confirm_release(session.out, *request, options.sureness);
    if (!code) return session.out.fail(code.error());
    if (!code->empty()) body["confirm"] = *code;
    // High, critical and a code have been confirmed above; here the person confirms the change.
    const bool was_asked = request->risk >= core::RiskLevel::high || !code->empty();
    if (may_prompt() && !was_asked && !options.sureness.is_yes &&
        !ask_yes("release it with these changes? [y/N] "))
        return session.out.fail(Error{ErrorCode::refused, "not confirmed; nothing was sent"});
    return send_decision(session, *request, std::move(body), options.sureness);
}

}  // namespace

void add_modify(Command app, Commands& commands) {
    auto options = std::make_shared<ModifyOptions>();
    Command command = app.add_subcommand("modify", "Release a request with changes");
    command.add_option("id", options->id, "Id, or a unique part of one that is pending").required();
    Option args =
        command.add_option("--args", options->args, "The arguments (plan, text) to run instead");
    command.add_option("--args-file", options->args_file, "The same from a file, or - for stdin")
        .excludes(args);
    command.add_option("--note", options->note, "A note for the record");
    add_sureness(command, options->sureness);
    add_grant_flags(command, options->grant);
    command.footer("Without --args your editor ($VISUAL, $EDITOR) opens on what was proposed.");
    on_session(command, commands,
               [options](Session& session) { return modify(session, *options); });
}

}  // namespace holdpoint::cli
