#include <holdpoint/holdpoint.h>

#include <cstdlib>

#include "agent/client.h"
#include "agent/listen.h"
#include "agent/remote.h"

namespace holdpoint {
namespace {

using agent::Backend;
using agent::Client;

std::string state_folder(const RemoteOptions& options) {
    if (!options.state.empty()) return options.state;
    if (const char* state = std::getenv("XDG_STATE_HOME"); state && *state)
        return std::string(state) + "/holdpoint";
    if (const char* home = std::getenv("HOME"); home && *home)
        return std::string(home) + "/.local/state/holdpoint";
    return "holdpoint-state";
}

/// The blocking form of what is written as a coroutine: this thread runs it to its end.
template <class Form, class... Given>
auto run_here(const Form& form, const std::shared_ptr<Client>& client, const Given&... given) {
    RunLoop loop;
    return sync_wait(form(client, given..., loop.executor()), loop);
}

Run<Plan> plan_of(const Request& request, const Plan& proposed) {
    const Run<Release> release = agent::released(request, Kind::plan);
    if (!release) return std::unexpected(release.error());
    const Json json = release->arguments;
    Plan plan = proposed;
    plan.title = json["title"].text_or("");
    plan.steps.clear();
    for (const Json& step : json["steps"].items())
        plan.steps.push_back({.action = step["action"].text_or(""),
                              .tool = step["tool"].text_or(""),
                              .description = step["description"].text_or(""),
                              .is_optional = step["optional"].boolean().value_or(false),
                              .order = static_cast<int>(step["order"].integer().value_or(0))});
    // Without a change by a person it must be the plan that was proposed.
    bool is_same = plan.title == proposed.title && plan.steps.size() == proposed.steps.size();
    for (std::size_t i = 0; is_same && i < plan.steps.size(); ++i)
        is_same = plan.steps[i].action == proposed.steps[i].action &&
                  plan.steps[i].tool == proposed.steps[i].tool;
    if ((request.outcome != Outcome::modified && !is_same) || plan.steps.empty())
        return std::unexpected(
            NotRun{Why::broken, "It was not run: the answer is about another plan.", request, {}});
    return plan;
}

Run<Json> answer_from(const Request& request, const Question&) {
    if (request.outcome != Outcome::answered || !request.decision)
        return std::unexpected(agent::not_run(request));
    return request.decision->answer;
}

Run<bool> confirmation_of(const Request& request, const Confirmation& asked) {
    if (request.outcome == Outcome::rejected && !request.release) return false;
    const Run<Release> release = agent::released(request, Kind::confirmation);
    if (!release) return std::unexpected(release.error());
    // Silence that policy lets pass is still no word of a person.
    if (request.outcome == Outcome::expired) return std::unexpected(agent::not_run(request));
    if (request.subject["message"].text() != asked.message)
        return std::unexpected(
            NotRun{Why::broken, "The answer is about another question.", request, {}});
    return true;
}

struct Response {
    std::string text;
    Asking asking;
};

Run<std::string> response_of(const Request& request, const Response& proposed) {
    const Run<Release> release = agent::released(request, Kind::response);
    if (!release) return std::unexpected(release.error());
    std::optional<std::string> text = release->arguments["text"].text();
    if (!text || (*text != proposed.text && request.outcome != Outcome::modified))
        return std::unexpected(
            NotRun{Why::broken, "The answer that was released is another one.", request, {}});
    return std::move(*text);
}

/// Proposes something, waits, and reads what was made of it.
template <class T, class Proposed>
Task<Run<T>> settled_as(std::shared_ptr<Client> client, Proposed proposed, Json body, Wait wait,
                        Run<T> (*read)(const Request&, const Proposed&), Executor executor) {
    Task<Run<Request>> settling =
        Client::settle(std::move(client), std::move(body), std::move(wait), std::move(executor));
    Run<Request> settled = co_await settling;
    if (!settled) co_return std::unexpected(settled.error());
    co_return read(*settled, proposed);
}

Task<Run<Plan>> plan_task(std::shared_ptr<Client> client, Plan plan, Wait wait, Executor executor) {
    Json body = agent::body_of(plan);
    return settled_as(std::move(client), std::move(plan), std::move(body), std::move(wait),
                      &plan_of, std::move(executor));
}

Task<Run<Json>> ask_task(std::shared_ptr<Client> client, Question question, Wait wait,
                         Executor executor) {
    Json body = agent::body_of(question);
    return settled_as(std::move(client), std::move(question), std::move(body), std::move(wait),
                      &answer_from, std::move(executor));
}

Task<Run<bool>> confirm_task(std::shared_ptr<Client> client, Confirmation confirmation, Wait wait,
                             Executor executor) {
    Json body = agent::body_of(confirmation);
    return settled_as(std::move(client), std::move(confirmation), std::move(body), std::move(wait),
                      &confirmation_of, std::move(executor));
}

Task<Run<std::string>> respond_task(std::shared_ptr<Client> client, Response response, Wait wait,
                                    Executor executor) {
    Json body = agent::body_of_response(response.text, response.asking);
    return settled_as(std::move(client), std::move(response), std::move(body), std::move(wait),
                      &response_of, std::move(executor));
}

Task<Run<Json>> run_task(std::shared_ptr<Client> client, Action action, Holdpoint::Work work,
                         Wait wait, Executor executor) {
    Task<Run<Release>> requesting =
        Client::request(client, std::move(action), std::move(wait), executor);
    Run<Release> release = co_await requesting;
    if (!release) co_return std::unexpected(release.error());
    Task<Run<Json>> running =
        Client::run_released(client, {std::move(*release), std::move(work)}, executor);
    Run<Json> ran = co_await running;
    co_return ran;
}

}  // namespace

Result<Holdpoint> Holdpoint::connect(RemoteOptions options) {
    while (options.url.ends_with('/')) options.url.pop_back();
    Client::Setup setup{options.labels, state_folder(options), options.resume_on, options.url};
    Result<std::unique_ptr<Backend>> backend = agent::make_remote_backend(options);
    if (!backend) return backend.error();
    Result<std::shared_ptr<Client>> client = Client::open(std::move(*backend), std::move(setup));
    if (!client) return client.error();
    return Holdpoint(std::move(*client));
}

Run<Release> Holdpoint::request(const Action& action, const Wait& wait) {
    return run_here(&Client::request, client_, action, wait);
}
Task<Run<Release>> Holdpoint::request_async(Action action, Wait wait) {
    return Client::request(client_, std::move(action), std::move(wait), client_->resume_on());
}

std::vector<Run<Release>> Holdpoint::propose_batch(const std::vector<Action>& actions,
                                                   const Wait& wait) {
    return run_here(&Client::batch, client_, actions, wait);
}
Task<std::vector<Run<Release>>> Holdpoint::propose_batch_async(std::vector<Action> actions,
                                                               Wait wait) {
    return Client::batch(client_, std::move(actions), std::move(wait), client_->resume_on());
}

Run<Plan> Holdpoint::propose_plan(const Plan& plan, const Wait& wait) {
    return run_here(&plan_task, client_, plan, wait);
}
Task<Run<Plan>> Holdpoint::propose_plan_async(Plan plan, Wait wait) {
    return plan_task(client_, std::move(plan), std::move(wait), client_->resume_on());
}

Run<Json> Holdpoint::ask(const Question& question, const Wait& wait) {
    return run_here(&ask_task, client_, question, wait);
}
Task<Run<Json>> Holdpoint::ask_async(Question question, Wait wait) {
    return ask_task(client_, std::move(question), std::move(wait), client_->resume_on());
}

Run<bool> Holdpoint::confirm(const Confirmation& confirmation, const Wait& wait) {
    return run_here(&confirm_task, client_, confirmation, wait);
}
Task<Run<bool>> Holdpoint::confirm_async(Confirmation confirmation, Wait wait) {
    return confirm_task(client_, std::move(confirmation), std::move(wait), client_->resume_on());
}

Run<std::string> Holdpoint::respond(const std::string& text, const Asking& asking,
                                    const Wait& wait) {
    return run_here(&respond_task, client_, Response{text, asking}, wait);
}
Task<Run<std::string>> Holdpoint::respond_async(std::string text, Asking asking, Wait wait) {
    return respond_task(client_, {std::move(text), std::move(asking)}, std::move(wait),
                        client_->resume_on());
}

Run<Json> Holdpoint::run(const Action& action, const Work& work, const Wait& wait) {
    return run_here(&run_task, client_, action, work, wait);
}
Task<Run<Json>> Holdpoint::run_async(Action action, Work work, Wait wait) {
    return run_task(client_, std::move(action), std::move(work), std::move(wait),
                    client_->resume_on());
}

Run<Json> Holdpoint::run_released(const Release& release, const Work& work,
                                  const std::function<Spent()>& spent, bool may_repeat) {
    RunLoop loop;
    return sync_wait(
        Client::run_released(client_, {release, work, spent, may_repeat}, loop.executor()), loop);
}

Run<Request> Holdpoint::settle(const Json& body, const Wait& wait) {
    return run_here(&Client::settle, client_, body, wait);
}
Task<Run<Request>> Holdpoint::settle_async(Json body, Wait wait) {
    return Client::settle(client_, std::move(body), std::move(wait), client_->resume_on());
}

Result<Request> Holdpoint::decide(const std::string& request_id, const Decision& decision) {
    const Result<Request> request = find(request_id);
    if (!request) return request.error();
    // The digest is the person's to say: the one that was just read is not what they have seen.
    Json body = agent::body_of(decision, request->kind);
    if (!decision.digest.empty()) body = body.with("digest", decision.digest);
    const Result<Json> decided = client_->ask([&](Backend::Done done) {
        client_->backend().decide(request_id, body, decision.by, std::move(done));
    });
    if (!decided) return decided.error();
    return Request::read(*decided);
}

Result<Request> Holdpoint::find(const std::string& request_id) {
    const Result<Json> found = client_->ask(
        [&](Backend::Done done) { client_->backend().read(request_id, std::move(done)); });
    if (!found) return found.error();
    return Request::read(*found);
}

Result<std::vector<Request>> Holdpoint::list(const std::string& session) {
    const Result<Json> found = client_->ask(
        [&](Backend::Done done) { client_->backend().list(session, std::move(done)); });
    if (!found) return found.error();
    std::vector<Request> requests;
    for (const Json& item : (*found)["requests"].items()) {
        Result<Request> request = Request::read(item);
        if (!request) return request.error();
        requests.push_back(std::move(*request));
    }
    return requests;
}

Result<void> Holdpoint::events(const EventFilter& filter, const OnEvent& on_event,
                               std::stop_token stop) {
    return client_->backend().events(filter, on_event, stop);
}
Task<Result<void>> Holdpoint::events_async(EventFilter filter, OnEvent on_event,
                                           std::stop_token stop) {
    return agent::listen(client_, std::move(filter), std::move(on_event), std::move(stop),
                         client_->resume_on());
}

Result<void> Holdpoint::declare(const std::vector<ToolFacts>& tools) {
    const Result<std::uint64_t> declared = client_->backend().declare(tools);
    if (!declared) return declared.error();
    return {};
}
Result<std::shared_ptr<void>> Holdpoint::declare_while(const std::vector<ToolFacts>& tools) {
    const Result<std::uint64_t> declared = client_->backend().declare(tools);
    if (!declared) return declared.error();
    return std::shared_ptr<void>(client_.get(), [client = client_, number = *declared](void*) {
        client->backend().undeclare(number);
    });
}
void Holdpoint::add(std::shared_ptr<Observer> observer) { client_->add(std::move(observer)); }
void Holdpoint::add(std::shared_ptr<Advisor> advisor) { client_->add(std::move(advisor)); }
void Holdpoint::remove(const std::shared_ptr<Observer>& observer) { client_->remove(observer); }
void Holdpoint::remove(const std::shared_ptr<Advisor>& advisor) { client_->remove(advisor); }
std::string Holdpoint::advice() const { return client_->advice(); }
void Holdpoint::notify(const Notification& notification) {
    client_->backend().notify(notification);
}
const std::string& Holdpoint::session() const { return client_->labels().session; }
bool Holdpoint::is_remote() const { return client_->backend().is_remote(); }

}  // namespace holdpoint
