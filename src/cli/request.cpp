#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <memory>

#include "base/text.h"
#include "cli/app.h"
#include "cli/idempotency.h"
#include "cli/json_text.h"
#include "cli/marks.h"
#include "cli/proposal.h"
#include "cli/resource.h"
#include "cli/terminal.h"
#include "cli/wait.h"

namespace holdpoint::cli {
namespace {

struct RequestOptions {
    ProposalFlags proposal;
    std::string idempotency_key;
    std::string wait = "forever";
    bool is_waiting_off = false;
};

ExitCode interrupted_before_answer(const Session& session, const std::string& key) {
    session.out.say(fmt::format(
        "interrupted before the server answered; the request may exist. The same command with "
        "`--idempotency-key {}` finds it again",
        key));
    return ExitCode::interrupted;
}

ExitCode propose(Session& session, const RequestOptions& options) {
    Result<json::value> body = build_proposal(options.proposal);
    if (!body) return session.out.fail(body.error());
    Result<Patience> patience = parse_patience(options.is_waiting_off ? "0" : options.wait);
    if (!patience) return session.out.fail(patience.error());

    const Interrupt interrupt;
    Call call{.method = "POST", .path = "/v1/requests", .body = std::move(*body)};
    call.idempotency_key =
        options.idempotency_key.empty() ? fresh_idempotency_key() : options.idempotency_key;
    Answer<Request> request = request_of(call_safely(session.client, call, interrupt.fd()));
    if (!request) {
        if (request.error().is_interrupted)
            return interrupted_before_answer(session, call.idempotency_key);
        return session.out.fail(request.error());
    }

    const bool is_waiting = !*patience || **patience > 0;
    if (request->is_pending() && !is_waiting) {
        session.out.data(session.out.is_json() ? compact(request->json) : request->id);
        session.out.say(fmt::format("pending: {}", visible_again(request->headline)));
        return ExitCode::fine;
    }
    if (request->is_pending())
        session.out.say(fmt::format("waiting for a decision on {}: {}", request->id,
                                    visible_again(request->headline)));
    const std::string id = request->id;
    request = wait_for_outcome(session, std::move(*request), *patience, interrupt);
    if (request) return report_outcome(session, *request);
    if (request.error().is_interrupted) return report_interrupt(session, id);
    return session.out.fail(request.error());
}

void add_subject_flags(Command command, ProposalFlags& flags) {
    const auto action = [](Option option) { option.group("For an action"); };
    action(command.add_option("--tool", flags.tool, "Name of the tool"));
    action(command.add_option("--args", flags.args, "Its arguments, a JSON object"));
    action(
        command.add_option("--args-file", flags.args_file, "The same from a file, or - for stdin"));
    action(command.add_option("--description", flags.description, "What the agent says about it"));
    action(
        command.add_option("--expected-outcome", flags.expected_outcome, "What it should lead to"));

    const auto input = [](Option option) { option.group("For an input"); };
    input(command.add_option("--question", flags.question, "The question"));
    input(command.add_option("--type", flags.type, "text, number, choice, multi_choice, date, file")
              .one_of({"text", "number", "choice", "multi_choice", "date", "file"}));
    input(command.add_option("--option", flags.options, "One of the choices; may be repeated")
              .one_each());
    input(command.add_option("--min", flags.min, "Smallest number"));
    input(command.add_option("--max", flags.max, "Largest number"));
    input(command.add_option("--default", flags.default_value, "Value that is offered"));
    input(command.add_flag("--required", flags.is_required, "An answer must be given"));
    input(command.add_flag("--optional", flags.is_optional, "The answer may stay empty"));

    const auto confirmation = [](Option option) { option.group("For a confirmation"); };
    confirmation(command.add_option("--message", flags.message, "What is to be confirmed"));
    confirmation(command.add_option("--details", flags.details, "More about it"));
    confirmation(command.add_option("--confirm-label", flags.confirm_label, "Word for yes"));
    confirmation(command.add_option("--cancel-label", flags.cancel_label, "Word for no"));

    command.add_option("--text", flags.text, "The answer to be sent").group("For a response");
}

void add_common_flags(Command command, ProposalFlags& flags) {
    command.add_option("--kind", flags.kind, "Follows from the other flags where not given")
        .one_of({"action", "plan", "input", "confirmation", "response"});
    command.add_option("--session", flags.session, "Session of the agent");
    command.add_option("--thread", flags.thread, "Thread of the conversation");
    command.add_option("--task", flags.task, "Task it belongs to");
    command.add_option("--user", flags.user, "Person the agent works for");
    command.add_option("--risk", flags.risk, "low, medium, high, critical; can only raise")
        .one_of({"low", "medium", "high", "critical"});
    command.add_option("--context-file", flags.context_file, "JSON object for the reader, or -");
    command.add_option("--timeout", flags.timeout, "How long people have, like 5m");
    command.add_option("--on-timeout", flags.on_timeout, "reject, retry, escalate, abort, skip")
        .one_of({"reject", "retry", "escalate", "abort", "skip"});
    command.add_option("--remind-every", flags.remind_every, "Remind people at this interval");
    command.add_option("--escalate-after", flags.escalate_after, "Ask others after this time");
    command.add_option("--escalate-to", flags.escalate_to, "Whom: group:NAME or a person");
    command.add_option("--group", flags.groups, "Group that must agree as well; may be repeated")
        .one_each();
    command.add_option("--quorum", flags.quorum, "How many people must agree").between(1, 100);
}

/// Required and optional steps come from two flags, and their order on the line counts.
std::vector<ProposalFlags::Step> ordered_steps(Command command, Option required, Option optional) {
    const CLI::Option* step = required.get();
    const CLI::Option* optional_step = optional.get();
    std::vector<ProposalFlags::Step> steps;
    std::size_t required_seen = 0;
    std::size_t optional_seen = 0;
    for (const CLI::Option* option : command.get().parse_order()) {
        if (option == step && required_seen < step->results().size())
            steps.push_back({step->results()[required_seen++], false});
        if (option == optional_step && optional_seen < optional_step->results().size())
            steps.push_back({optional_step->results()[optional_seen++], true});
    }
    return steps;
}

}  // namespace

void add_request(Command app, Commands& commands) {
    auto options = std::make_shared<RequestOptions>();
    Command command = app.add_subcommand(
        "request", "Propose an action, plan, question or answer and wait for people");
    add_subject_flags(command, options->proposal);
    command.add_option("--title", options->proposal.title, "Title of the plan").group("For a plan");
    auto step_texts =
        std::make_shared<std::pair<std::vector<std::string>, std::vector<std::string>>>();
    Option step = command.add_option("--step", step_texts->first, "A step; may be repeated")
                      .one_each()
                      .group("For a plan");
    Option optional_step =
        command
            .add_option("--optional-step", step_texts->second, "A step that people may leave out")
            .one_each()
            .group("For a plan");
    add_common_flags(command, options->proposal);
    Option json_file = command.add_option("--json-file", options->proposal.json_file,
                                          "The complete proposal as JSON, or - for stdin");
    for (CLI::Option* other : command.get().get_options())
        if (other != json_file.get() && other != command.get().get_help_ptr())
            json_file.excludes(Option(other));
    command
        .add_option("--idempotency-key", options->idempotency_key,
                    "Sending again with the same key asks only once")
        .check([](const std::string& key) -> std::string {
            bool is_good = !key.empty() && key.size() <= 255;
            for (char c : key) is_good = is_good && c > ' ' && c < 0x7f;
            return is_good ? "" : "needs 1 to 255 visible ASCII characters";
        });
    Option wait =
        command.add_flag("--wait{forever}", options->wait,
                         "Wait this long for the outcome, like --wait=10m; without end by default");
    command.add_flag("--no-wait", options->is_waiting_off, "Print the id and go").excludes(wait);
    command.footer(
        "Prints what was released as JSON on standard output, the sentence for the agent on "
        "standard "
        "error.\nExit codes: 0 released, 3 not released, 4 expired, 5 server unreachable.");
    const auto collect_steps = [command, step, optional_step, options, step_texts] {
        options->proposal.steps = ordered_steps(command, step, optional_step);
    };
    on_session(command, commands, [options, collect_steps](Session& session) {
        collect_steps();
        return propose(session, *options);
    });
}

}  // namespace holdpoint::cli
