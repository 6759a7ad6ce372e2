#include "agent/gated_runner.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "base/text.h"
#include "base/time.h"

namespace holdpoint::agent {
namespace {

using std::chrono::milliseconds;
using SteadyTime = std::chrono::steady_clock;

/// A request has room for so much of what was said; the rest is in the conversation.
constexpr std::size_t context_bytes_max = 8 * 1024;
constexpr std::size_t context_steps_max = 50;

milliseconds since(SteadyTime::time_point start) {
    return std::chrono::duration_cast<milliseconds>(SteadyTime::now() - start);
}

/// What the model reads of a result.
std::string words_of(const Json& result) {
    if (const std::optional<std::string> text = result.text()) return *text;
    return result.is_null() ? "done" : result.dump();
}

void refuse(Step& step, std::string message) {
    step.why = Why::refused;
    step.message = std::move(message);
}

void note_run(Step& step, const Json& output, bool is_replayed) {
    step.has_run = true;
    step.is_replayed = is_replayed;
    step.output = output;
    step.is_success = !output["error"].is_text();
    step.message = words_of(output);
    // A model that takes an old result for a new one believes that it did the thing twice.
    if (is_replayed)
        step.message =
            "It ran before a restart and was not run again. Result from then: " + step.message;
}

double seconds_between(const std::string& from, const std::string& to) {
    const Result<Timestamp> begin = parse_timestamp(from), end = parse_timestamp(to);
    if (!begin || !end) return 0;
    return static_cast<double>(*end - *begin) / 1000;
}

}  // namespace

void Chronicle::on_decided(const Request& request) {
    if (!is_ours()) return;
    requests_.push_back(request);
    audit.push_back({request.id, request.settled_at, request.gate, request.headline,
                     std::string(core::to_string(*request.outcome)),
                     request.decision ? request.decision->by : "", request.session,
                     seconds_between(request.created_at, request.settled_at), "not run"});
}

void Chronicle::on_ran(const Request& request, const Release&, const Ran& ran) {
    if (!is_ours()) return;
    for (AuditEntry& entry : audit)
        if (entry.request_id == request.id) entry.afterwards = ran.is_success ? "ran" : "failed";
}

void Chronicle::move_into(RunResult& result) {
    for (Request& request : requests_) {
        if (request.decision) result.responses.push_back(*request.decision);
        if (request.decision && request.outcome == Outcome::rejected)
            result.rejections.emplace_back(request, *request.decision);
        if (request.release && request.release->is_modified)
            result.modifications.push_back(*request.release);
        result.requests.push_back(std::move(request));
    }
    requests_.clear();
    result.audit.assign(audit.begin() + static_cast<std::ptrdiff_t>(audit_told_), audit.end());
    audit_told_ = audit.size();
}

std::vector<ConfirmedAction> GatedRunner::begin(const Agent& agent,
                                                const std::string& person_wrote) {
    prompt_ = person_wrote;
    steps_.clear();
    usage_ = {};
    human_time_ = milliseconds(0);
    is_aborted_ = false;
    if (const Result<void> ok = declare(agent); !ok)
        spdlog::warn("the tools of `{}` are not known to policy: {}", agent.name,
                     ok.error().message);
    return confirmations_.hear(person_wrote);
}

/// Policy knows the tools before the first of them is called; a tool that it does not know is held.
Result<void> GatedRunner::declare(const Agent& agent) {
    const std::vector<ToolFacts> facts = agent.tools.facts();
    std::string what = agent.name;
    bool has_code = false;
    for (const ToolFacts& one : facts) {
        what += fmt::format("\n{} {} {} {} {} {} {} {}", one.name, static_cast<int>(one.risk),
                            one.is_destructive, one.is_read_only, one.is_open_world,
                            one.is_reversible, one.requires_approval, one.estimated_cost);
        has_code = has_code || one.approval_condition;
    }
    // Code cannot be compared: that of another agent of the same name may say something else.
    if (!has_code && declared_.contains(what)) return {};
    Result<std::shared_ptr<void>> declared = holdpoint_.declare_while(facts);
    if (!declared) return declared.error();
    declared_.insert_or_assign(std::move(what), std::move(*declared));
    return {};
}

void GatedRunner::end(RunResult& result) {
    result.steps = std::move(steps_);
    result.usage = usage_;
    result.human_time = human_time_;
    result.is_aborted = is_aborted_;
    show_confirmations(result);
    chronicle_->move_into(result);
}

/// Whatever the model said of it: the person sees what their yes would do.
void GatedRunner::show_confirmations(RunResult& result) {
    if (!result.success) return confirmations_.forget();
    result.awaiting_confirmation = confirmations_.show();
    if (result.awaiting_confirmation.empty()) return;
    if (!result.output.empty()) result.output += "\n\n";
    result.output += confirmation_text(result.awaiting_confirmation);
}

std::string GatedRunner::advice() const { return holdpoint_.advice(); }

bool GatedRunner::is_confirmed(const Tool& tool, Json& arguments, Step& step) {
    const bool is_claimed = arguments["confirmed"].boolean().value_or(false);
    const std::optional<std::string> token = arguments["confirmation_token"].text();
    arguments = arguments.without("confirmed").without("confirmation_token");
    if (is_claimed && token && confirmations_.redeem(*token, tool.name, arguments)) return true;
    Result<Json> preview = tool.preview(arguments);
    if (!preview) {
        refuse(step, preview.error().message);
        return false;
    }
    confirmations_.ask(tool.name, arguments, words_of(*preview));
    Json answer = Json::object({{"requiresConfirmation", true}, {"would", *preview}});
    if (is_claimed)
        answer = answer.with("note",
                             "`confirmed` proves nothing without the token of a person's yes; "
                             "nothing was done");
    refuse(step, answer.dump());
    return false;
}

Context GatedRunner::context(const std::string& reasoning) const {
    Context context;
    context.user_prompt = cut_utf8(prompt_, context_bytes_max);
    context.current_reasoning = cut_utf8(reasoning, context_bytes_max);
    for (const Step& done : steps_)
        if (done.has_run) context.steps_completed.push_back(done.tool);
    const std::size_t count = context.steps_completed.size();
    if (count > context_steps_max)
        context.steps_completed.erase(
            context.steps_completed.begin(),
            context.steps_completed.end() - static_cast<std::ptrdiff_t>(context_steps_max));
    return context;
}

GatedRunner::Prepared GatedRunner::prepare(const Agent& agent, const ToolCall& call,
                                           const Context& about, Step& step) {
    step.agent = agent.name;
    step.tool = call.name;
    const Tool* tool = agent.tools.find(call.name);
    if (!tool || !tool->run) {
        refuse(step, fmt::format("There is no tool `{}`; nothing was run.", call.name));
        return {};
    }
    Result<Json> arguments = call.arguments.empty() ? Json::object() : Json::parse(call.arguments);
    if (!arguments || !arguments->is_object()) {
        refuse(step, fmt::format("The arguments are no JSON object ({}); nothing was run.",
                                 arguments ? "another kind of value" : arguments.error().message));
        return {};
    }
    step.arguments = *arguments;
    try {
        if (tool->preview) {
            const Json bare = arguments->without("confirmed").without("confirmation_token");
            if (const std::optional<std::string> wrong = check_schema(tool->schema, bare)) {
                refuse(step, *wrong + "; nothing was run.");
                return {};
            }
            if (!is_confirmed(*tool, *arguments, step)) return {};
            step.arguments = *arguments;
        }
        if (const std::optional<std::string> wrong = check_schema(tool->schema, *arguments)) {
            refuse(step, *wrong + "; nothing was run.");
            return {};
        }
        Prepared prepared{tool, {}};
        Action& action = prepared.action;
        action.tool = tool->name;
        action.arguments = *arguments;
        if (tool->describe) action.description = tool->describe(*arguments);
        if (!tool->facts.is_reversible) action.reversible = false;
        if (tool->facts.estimated_cost > 0) action.estimated_cost = tool->facts.estimated_cost;
        if (tool->facts.risk > RiskLevel::low) action.asking.risk = tool->facts.risk;
        Json metadata = Json::object({{"agent", agent.name}});
        if (tool->facts.is_destructive || tool->facts.is_open_world)
            metadata = metadata.with("annotations",
                                     Json::object({{"destructiveHint", tool->facts.is_destructive},
                                                   {"openWorldHint", tool->facts.is_open_world}}));
        if (tool->preview) metadata = metadata.with("confirmed_in_conversation", about.user_prompt);
        action.asking.metadata = metadata;
        action.asking.context = about;
        return prepared;
    } catch (const std::exception& thrown) {
        refuse(step,
               fmt::format("The call could not be prepared ({}); nothing was run.", thrown.what()));
        return {};
    }
}

std::vector<Run<Release>> GatedRunner::ask(const std::vector<Action>& actions) {
    const SteadyTime::time_point start = SteadyTime::now();
    const std::size_t before = chronicle_->audit.size();
    std::vector<Run<Release>> answers;
    const Wait wait{.stop = options_.stop, .must_keep_request = options_.must_keep_requests};
    if (actions.size() == 1)
        answers.push_back(holdpoint_.request(actions.front(), wait));
    else if (!actions.empty())
        answers = holdpoint_.propose_batch(actions, wait);
    const bool was_held =
        std::any_of(chronicle_->audit.begin() + static_cast<std::ptrdiff_t>(before),
                    chronicle_->audit.end(), [](const AuditEntry& entry) {
                        return entry.outcome != "allowed" && entry.outcome != "denied";
                    });
    if (was_held) human_time_ += since(start);
    return answers;
}

void GatedRunner::execute(const Agent& agent, const Tool& tool, const Release& release,
                          Step& step) {
    step.arguments = release.arguments;
    step.request_id = release.request_id;
    ToolContext context{.runner = this,
                        .agent = agent.name,
                        .stop = options_.stop,
                        .must_keep_requests = options_.must_keep_requests,
                        .about = this->context("")};
    const auto work = [&](const Json& arguments) -> Result<Json> {
        // What a person changed must still be what the tool can take.
        if (const std::optional<std::string> wrong = check_schema(tool.schema, arguments))
            return Error{ErrorCode::invalid_argument, *wrong};
        try {
            return tool.run(arguments, context);
        } catch (const std::exception& thrown) {
            return Error{ErrorCode::internal, thrown.what()};
        } catch (...) {
            return Error{ErrorCode::internal, "the tool failed"};
        }
    };
    const auto spent = [&] {
        return Spent{.cost = context.cost, .tokens = std::exchange(unreported_tokens_, 0)};
    };
    const Run<Json> ran = holdpoint_.run_released(release, work, spent, tool.only_asks);
    if (!ran && ran.error().why != Why::already_ran) {
        step.why = ran.error().why;
        step.message = ran.error().message;
        return;
    }
    note_run(step, ran ? *ran : ran.error().result, !ran);
    if (release.is_modified)
        step.message = fmt::format("{}\nArguments that ran: {}\nResult: {}", release.message,
                                   release.arguments.dump(), step.message);
}

std::vector<Step> GatedRunner::run(const Agent& agent, const Message& turn) {
    const Result<void> declared = declare(agent);
    const std::vector<ToolCall>& calls = turn.calls;
    const Context about = context(turn.text);
    std::vector<Step> steps(calls.size());
    for (Step& step : steps) step.reasoning = turn.text;
    std::vector<Prepared> prepared(calls.size());
    std::vector<Action> actions;
    for (std::size_t i = 0; i < calls.size(); ++i) {
        if (declared) {
            prepared[i] = prepare(agent, calls[i], about, steps[i]);
        } else {
            // Policy might let pass what the tool itself wants approved.
            steps[i].agent = agent.name;
            steps[i].tool = calls[i].name;
            refuse(steps[i], fmt::format("Policy does not know the tools ({}); nothing was run.",
                                         declared.error().message));
        }
        if (prepared[i].tool) actions.push_back(prepared[i].action);
    }
    const std::vector<Run<Release>> answers = ask(actions);
    for (const Run<Release>& answer : answers)
        is_aborted_ = is_aborted_ || (!answer && answer.error().why == Why::aborted);
    std::size_t at = 0;
    for (std::size_t i = 0; i < calls.size(); ++i) {
        Step& step = steps[i];
        if (prepared[i].tool) {
            const Run<Release>& answer = answers[at++];
            if (!answer && answer.error().why == Why::already_ran) {
                note_run(step, answer.error().result, true);
            } else if (!answer) {
                step.why = answer.error().why;
                step.message = answer.error().message;
                if (answer.error().request) step.request_id = answer.error().request->id;
            } else if (is_aborted_) {
                // What was approved before the whole run was stopped does not run after it.
                step.why = Why::aborted;
                step.request_id = answer->request_id;
                step.message = "It was not run: the whole run was stopped.";
            } else if (options_.stop.stop_requested()) {
                step.why = Why::stopped;
                step.request_id = answer->request_id;
                step.message = "It was not run: the run was stopped.";
            } else {
                execute(agent, *prepared[i].tool, *answer, step);
            }
        }
        steps_.push_back(step);
        if (options_.on_step) options_.on_step(step);
    }
    return steps;
}

}  // namespace holdpoint::agent
