#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "base/text.h"
#include "cli/app.h"
#include "cli/decision.h"
#include "cli/detail.h"
#include "cli/grant_flags.h"
#include "cli/resource.h"

namespace holdpoint::cli {
namespace {

struct DecideOptions {
    std::vector<std::string> ids;
    std::string note, reason, guidance, to;
    std::vector<int> steps;
    Sureness sureness;
    GrantFlags grant;
};

ExitCode release(Session& session, const Request& request, json::object body,
                 const DecideOptions& options) {
    if (Result<void> ok = put_grant(body, options.grant); !ok) return session.out.fail(ok.error());
    const Result<std::string> code = confirm_release(session.out, request, options.sureness);
    if (!code) return session.out.fail(code.error());
    if (!code->empty()) body["confirm"] = *code;
    return send_decision(session, request, std::move(body));
}

ExitCode announce(Session& session, const Request& request, json::object body) {
    name_request(session.out, request);
    return send_decision(session, request, std::move(body));
}

/// Each request is fetched, shown and decided alone; one that fails does not stop the others.
ExitCode decide_each(Session& session, const DecideOptions& options, const char* decision,
                     bool is_release) {
    ExitCode worst = ExitCode::fine;
    for (const std::string& id : options.ids) {
        ExitCode code = ExitCode::fine;
        const Answer<Request> request = find_request(session.client, id);
        if (!request) {
            code = session.out.fail(request.error());
        } else {
            json::object body{{"decision", decision}};
            const auto put = [&body](const char* key, const std::string& text) {
                if (!text.empty()) body[key] = text;
            };
            put("note", options.note);
            put("reason", options.reason);
            put("guidance", options.guidance);
            put("to", options.to);
            if (!options.steps.empty())
                body["approved_steps"] = json::array(options.steps.begin(), options.steps.end());
            code = is_release ? release(session, *request, std::move(body), options)
                              : announce(session, *request, std::move(body));
        }
        worst = std::max(worst, code);
        if (code == ExitCode::unreachable) break;
    }
    return worst;
}

Command add_decision(Command app, Commands& commands, const char* name, const char* what,
                     const std::shared_ptr<DecideOptions>& options, bool is_release = false) {
    Command command = app.add_subcommand(name, what);
    command.add_option("id", options->ids, "Ids, or unique parts of pending ones").required();
    on_session(command, commands, [options, name, is_release](Session& session) {
        return decide_each(session, *options, name, is_release);
    });
    return command;
}

}  // namespace

void add_decide(Command app, Commands& commands) {
    auto approve = std::make_shared<DecideOptions>();
    Command command =
        add_decision(app, commands, "approve", "Release requests as they are", approve, true);
    command.add_option("--note", approve->note, "A note for the record");
    command
        .add_option("--steps", approve->steps, "Steps of a plan, like 1,2,4; the others optional")
        .separated_by(',')
        .one_each();
    add_sureness(command, approve->sureness);
    add_grant_flags(command, approve->grant);

    auto reject = std::make_shared<DecideOptions>();
    command = add_decision(app, commands, "reject", "Refuse requests", reject);
    command.add_option("--reason", reject->reason, "Why; the agent is told");
    command.add_option("--note", reject->note, "A note for the record");

    auto defer = std::make_shared<DecideOptions>();
    command = add_decision(app, commands, "defer", "Ask the agent for another way", defer);
    command.add_option("--guidance", defer->guidance, "Which way; the agent is told").required();

    auto escalate = std::make_shared<DecideOptions>();
    command = add_decision(app, commands, "escalate", "Hand requests to somebody else", escalate);
    command.add_option("--to", escalate->to, "group:NAME or a person").required();
    command.add_option("--note", escalate->note, "A note for the record");

    auto abort = std::make_shared<DecideOptions>();
    command = add_decision(app, commands, "abort", "Stop the agent's whole run", abort);
    command.add_option("--reason", abort->reason, "Why; the agent is told");
}

}  // namespace holdpoint::cli
