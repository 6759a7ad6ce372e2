#include "agent/client.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "agent/await.h"
#include "agent/blocking.h"
#include "base/clock.h"
#include "base/id.h"
#include "base/sha256.h"

namespace holdpoint::agent {
namespace {

using std::chrono::milliseconds;
using SteadyTime = std::chrono::steady_clock;

constexpr milliseconds wait_slice{25'000};
constexpr milliseconds withdrawal_time_max{1'000};
constexpr std::size_t settled_max = 10'000;

std::string random_name(std::string_view prefix) {
    std::string name(prefix);
    append_ulid(name, new_ulid(read_system_clock().wall));
    return name;
}

Error not_understood(std::string_view what) {
    return {ErrorCode::internal, fmt::format("the answer to {} cannot be understood", what)};
}

NotRun stopped() { return {Why::stopped, "It was not run: the agent stopped waiting.", {}, {}}; }

bool is_over(const Wait& wait) {
    return wait.stop.stop_requested() || (wait.deadline && *wait.deadline <= SteadyTime::now());
}

std::vector<std::string> ids_of(const Json& made) {
    const Json requests = made["requests"];
    std::vector<std::string> ids;
    for (const Json& one : requests.is_array() ? requests.items() : std::vector<Json>{made})
        ids.push_back(one["id"].text_or(""));
    return ids;
}

/// A proposal that is under way, and whether anybody still waits for its answer.
class Parcel {
  public:
    /// True when nobody wants it any more.
    bool arrive(std::vector<std::string> ids) {
        const std::lock_guard lock(mutex_);
        ids_ = std::move(ids);
        return is_abandoned_;
    }
    /// What has arrived already.
    std::vector<std::string> abandon() {
        const std::lock_guard lock(mutex_);
        is_abandoned_ = true;
        return ids_;
    }

  private:
    std::mutex mutex_;
    std::vector<std::string> ids_;  // guarded by mutex_
    bool is_abandoned_ = false;     // guarded by mutex_
};

}  // namespace

Result<std::shared_ptr<Client>> Client::open(std::unique_ptr<Backend> backend, Setup setup) {
    std::shared_ptr<Client> client(new Client());
    client->backend_ = std::move(backend);
    client->labels_ = std::move(setup.labels);
    if (client->labels_.session.empty()) {
        client->labels_.session = random_name("s-");
    } else if (!setup.journal_folder.empty()) {
        const Result<void> opened =
            client->journal_.open(setup.journal_folder, client->labels_.session, setup.server);
        if (!opened) return opened.error();
    }
    client->resume_on_ = std::move(setup.resume_on);
    if (!client->resume_on_) {
        client->resumer_ = std::make_shared<Resumer>();
        client->resume_on_ = [resumer = client->resumer_](std::move_only_function<void()> work) {
            resumer->loop.post(std::move(work));
        };
        client->resumer_->thread = std::thread(
            [resumer = client->resumer_] { resumer->loop.run_until(resumer->is_over); });
    }
    return client;
}

Client::~Client() {
    // A program that is about to end still takes back what it asked, if somebody listens.
    if (backend_) {
        std::unique_lock lock(withdrawals_->mutex);
        withdrawals_->is_changed.wait_for(lock, withdrawal_time_max,
                                          [this] { return withdrawals_->open == 0; });
    }
    // The backend first: it ends every wait, and what waited may still want to go on.
    backend_.reset();
    if (!resumer_) return;
    Resumer& resumer = *resumer_;
    resumer.loop.post([&resumer] { resumer.is_over = true; });
    // A coroutine may have held the last reference; its thread cannot wait for itself.
    if (resumer.thread.get_id() == std::this_thread::get_id())
        resumer.thread.detach();
    else
        resumer.thread.join();
}

Json Client::labelled(const Json& body) const {
    Json out = body.with("session", labels_.session);
    const auto put = [&](std::string_view name, const std::string& text) {
        if (!text.empty()) out = out.with(name, text);
    };
    put("thread", labels_.thread);
    put("task", labels_.task);
    put("user", labels_.user);
    return out;
}

/// The same for the nth proposal of the same thing in a session, whatever the context says: that is
/// what a process that was started again will propose.
std::string Client::next_key(const Json& body) {
    // What is passed on from somewhere else is one thing, however often it is asked.
    const std::string origin = body["metadata"]["forwarded_from"].text_or("");
    if (!origin.empty())
        return hex(sha256(labels_.session + "\nforwarded_from\n" + origin)).substr(0, 40);
    const Json subject = body[body["kind"].text_or("action")];
    const std::string identity = labels_.session + "\n" + body["kind"].text_or("") + "\n" +
                                 subject.without("description").dump() + "\n";
    const std::string digest = hex(sha256(identity)).substr(0, 40);
    const std::lock_guard lock(mutex_);
    return fmt::format("{}-{}", digest, ++occurrences_[digest]);
}

void Client::tell(const std::function<void(Observer&)>& call) {
    std::vector<std::shared_ptr<Observer>> observers;
    {
        const std::lock_guard lock(mutex_);
        observers = observers_.all();
    }
    for (const std::shared_ptr<Observer>& observer : observers) {
        try {
            call(*observer);
        } catch (const std::exception& thrown) {
            spdlog::error("an observer failed: {}", thrown.what());
        } catch (...) {
            spdlog::error("an observer failed");
        }
    }
}

std::optional<NotRun> Client::refusal(const Action& action) {
    std::vector<std::shared_ptr<Advisor>> advisors;
    {
        const std::lock_guard lock(mutex_);
        advisors = advisors_.all();
    }
    for (const std::shared_ptr<Advisor>& advisor : advisors) {
        std::optional<std::string> reason;
        try {
            reason = advisor->refuses(action);
        } catch (...) {
            reason = "It was not run: whether it was rejected before cannot be told.";
        }
        if (reason) return NotRun{Why::refused, std::move(*reason), {}, {}};
    }
    return std::nullopt;
}

std::string Client::advice() {
    std::vector<std::shared_ptr<Advisor>> advisors;
    {
        const std::lock_guard lock(mutex_);
        advisors = advisors_.all();
    }
    std::string all;
    for (const std::shared_ptr<Advisor>& advisor : advisors) {
        try {
            const std::string one = advisor->advice();
            if (!one.empty()) all += (all.empty() ? "" : "\n") + one;
        } catch (const std::exception& thrown) {
            spdlog::error("an advisor failed: {}", thrown.what());
        }
    }
    return all;
}

void Client::add(std::shared_ptr<Observer> observer) {
    const std::lock_guard lock(mutex_);
    observers_.add(std::move(observer));
}

void Client::add(std::shared_ptr<Advisor> advisor) {
    const std::lock_guard lock(mutex_);
    advisors_.add(std::move(advisor));
}

void Client::remove(const std::shared_ptr<Observer>& observer) {
    const std::lock_guard lock(mutex_);
    observers_.remove(observer);
}

void Client::remove(const std::shared_ptr<Advisor>& advisor) {
    const std::lock_guard lock(mutex_);
    advisors_.remove(advisor);
}

void Client::withdraw(Backend& backend, const std::shared_ptr<Withdrawals>& withdrawals,
                      const std::string& id) {
    {
        const std::lock_guard lock(withdrawals->mutex);
        ++withdrawals->open;
    }
    backend.cancel(id, "the agent stopped waiting", [withdrawals](const Result<Json>&) {
        const std::lock_guard lock(withdrawals->mutex);
        --withdrawals->open;
        withdrawals->is_changed.notify_all();
    });
}

void Client::withdraw(const std::string& id) { withdraw(*backend_, withdrawals_, id); }

void Client::remember(const Request& request) {
    if (!request.release) return;
    const std::lock_guard lock(mutex_);
    settled_.insert_or_assign(request.id, request);
    // Ids ascend with time: what was released longest ago and never run goes first.
    if (settled_.size() > settled_max) settled_.erase(settled_.begin());
}

Result<Json> Client::ask(const std::function<void(Backend::Done)>& call) {
    return blocking<Result<Json>>(call);
}

Task<Run<std::vector<Json>>> Client::send(std::shared_ptr<Client> self, Journal::Proposed call,
                                          Wait wait, Executor executor) {
    const auto parcel = std::make_shared<Parcel>();
    const bool is_batch = call.body["requests"].is_array();
    Answer proposing(executor, wait.stop, [&](Backend::Done done) {
        // Without the client, which must not end on the backend's thread.
        auto arrived = [parcel, backend = self->backend_.get(), withdrawals = self->withdrawals_,
                        done = std::move(done)](Result<Json> answer) mutable {
            if (answer && parcel->arrive(ids_of(*answer)))
                for (const std::string& id : ids_of(*answer)) withdraw(*backend, withdrawals, id);
            done(std::move(answer));
        };
        self->backend_->propose(call.body, is_batch, call.key, wait.deadline, std::move(arrived));
    });
    std::optional<Result<Json>> answer = co_await proposing;
    if (!answer) {
        // What was proposed all the same must not wait for a person in vain.
        if (!wait.must_keep_request)
            for (const std::string& id : parcel->abandon()) self->withdraw(id);
        co_return std::unexpected(stopped());
    }
    if (!*answer) {
        if (is_over(wait)) co_return std::unexpected(stopped());
        co_return std::unexpected(not_run(answer->error()));
    }
    std::vector<Json> made =
        is_batch ? (**answer)["requests"].items() : std::vector<Json>{**answer};
    if (made.size() != call.keys.size())
        co_return std::unexpected(not_run(not_understood("a proposal")));
    const std::vector<std::string> ids = ids_of(**answer);
    if (Result<void> ok = self->journal_.accepted(call.key, ids); !ok)
        co_return std::unexpected(not_run(ok.error()));
    co_return made;
}

/// The request of something that was proposed before a restart; nothing where the server does not
/// know it any more and it was never begun: then it may be proposed anew.
Task<std::optional<Run<Json>>> Client::recall(std::shared_ptr<Client> self, Journal::Known known,
                                              Wait wait, Executor executor) {
    using Recalled = std::optional<Run<Json>>;
    if (known.call.ids.empty()) {
        // The answer never came: the same key gives the same requests.
        Task<Run<std::vector<Json>>> sending = send(self, known.call, wait, executor);
        Run<std::vector<Json>> made = co_await sending;
        if (!made) co_return Recalled(std::unexpected(made.error()));
        co_return Recalled(std::move((*made)[known.at]));
    }
    const std::string id = known.call.ids.at(known.at);
    Answer reading(executor, wait.stop, [&](Backend::Done done) {
        self->backend_->wait(id, milliseconds(0), wait.deadline, std::move(done));
    });
    std::optional<Result<Json>> read = co_await reading;
    if (!read || (!*read && is_over(wait))) co_return Recalled(std::unexpected(stopped()));
    if (*read) co_return Recalled(std::move(**read));
    if (read->error().code != ErrorCode::not_found)
        co_return Recalled(std::unexpected(not_run(read->error())));
    const Journal::Standing standing = self->journal_.standing(id);
    if (standing.progress == Journal::Progress::fresh) co_return std::nullopt;
    if (standing.progress == Journal::Progress::finished)
        co_return Recalled(std::unexpected(already_ran({}, standing.result)));
    co_return Recalled(std::unexpected(interrupted({})));
}

Task<std::vector<Run<Json>>> Client::propose(std::shared_ptr<Client> self,
                                             std::vector<Proposal> proposals, bool is_batch,
                                             Wait wait, Executor executor) {
    std::vector<Run<Json>> made(proposals.size(), std::unexpected(stopped()));
    if (is_over(wait)) co_return made;
    std::vector<std::size_t> fresh;
    Journal::Proposed call;
    std::vector<Json> bodies;
    std::string identity;
    for (std::size_t i = 0; i < proposals.size(); ++i) {
        const Proposal& proposal = proposals[i];
        const std::optional<Journal::Known> known = self->journal_.find(proposal.key);
        if (known) {
            Task<std::optional<Run<Json>>> recalling = recall(self, *known, wait, executor);
            std::optional<Run<Json>> recalled = co_await recalling;
            if (recalled) {
                made[i] = std::move(*recalled);
                continue;
            }
            identity += random_name("again-");
        }
        fresh.push_back(i);
        call.keys.push_back(proposal.key);
        bodies.push_back(proposal.body);
        identity += proposal.key + "\n";
    }
    if (fresh.empty()) co_return made;
    const bool is_same = !is_batch && identity == call.keys.front() + "\n";
    call.key = is_same ? call.keys.front() : hex(sha256(identity)).substr(0, 40);
    call.body = self->labelled(is_batch ? Json::object({{"requests", Json::array(bodies)}})
                                        : bodies.front());
    Run<std::vector<Json>> answers = std::unexpected(NotRun{});
    if (Result<void> ok = self->journal_.propose(call); !ok) {
        answers = std::unexpected(not_run(ok.error()));
    } else {
        Task<Run<std::vector<Json>>> sending = send(self, std::move(call), wait, executor);
        answers = co_await sending;
    }
    for (std::size_t at = 0; at < fresh.size(); ++at) {
        if (answers)
            made[fresh[at]] = std::move((*answers)[at]);
        else
            made[fresh[at]] = std::unexpected(answers.error());
    }
    co_return made;
}

Task<Run<Request>> Client::wait_for(std::shared_ptr<Client> self, Request request, Wait wait,
                                    Executor executor) {
    while (!request.is_settled()) {
        milliseconds slice = wait_slice;
        if (wait.deadline) {
            const auto left =
                std::chrono::duration_cast<milliseconds>(*wait.deadline - SteadyTime::now());
            slice = std::min(slice, left);
        }
        if (slice.count() <= 0 || wait.stop.stop_requested()) {
            if (!wait.must_keep_request) self->withdraw(request.id);
            NotRun not_run = stopped();
            not_run.request = std::move(request);
            co_return std::unexpected(std::move(not_run));
        }
        Answer waiting(executor, wait.stop, [&](Backend::Done done) {
            self->backend_->wait(request.id, slice, wait.deadline, std::move(done));
        });
        std::optional<Result<Json>> answer = co_await waiting;
        // Stopped, or out of time: the next round says so.
        if (!answer || (!*answer && is_over(wait))) continue;
        if (!*answer) {
            NotRun failed = not_run(answer->error());
            failed.request = std::move(request);
            co_return std::unexpected(std::move(failed));
        }
        Result<Request> read = Request::read(**answer);
        if (!read) co_return std::unexpected(not_run(read.error()));
        if (read->id != request.id) co_return std::unexpected(not_run(not_understood("a wait")));
        request = std::move(*read);
    }
    self->tell([&](Observer& observer) { observer.on_decided(request); });
    self->remember(request);
    co_return request;
}

Task<Run<Request>> Client::settle(std::shared_ptr<Client> self, Json body, Wait wait,
                                  Executor executor) {
    std::vector<Proposal> proposals;
    proposals.push_back({self->next_key(body), std::move(body)});
    Task<Run<Request>> settling = settle_one(self, std::move(proposals), wait, executor);
    Run<Request> settled = co_await settling;
    co_return settled;
}

Task<Run<Request>> Client::settle_one(std::shared_ptr<Client> self, std::vector<Proposal> one,
                                      Wait wait, Executor executor) {
    Task<std::vector<Run<Json>>> proposing = propose(self, std::move(one), false, wait, executor);
    const std::vector<Run<Json>> made = co_await proposing;
    if (!made.front()) co_return std::unexpected(made.front().error());
    Result<Request> request = Request::read(*made.front());
    if (!request) co_return std::unexpected(not_run(request.error()));
    if (!request->is_settled())
        self->tell([&](Observer& observer) { observer.on_asked(*request); });
    Task<Run<Request>> waiting = wait_for(self, std::move(*request), wait, executor);
    Run<Request> settled = co_await waiting;
    co_return settled;
}

/// The key is counted before anybody is asked whether to propose at all: what an advisor says may
/// be another word after a restart, and what was proposed must be found again all the same.
std::optional<NotRun> Client::prepare(const Action& action, std::vector<Proposal>& proposals) {
    Json body = body_of(action);
    std::string key = next_key(body);
    if (!journal_.find(key))
        if (std::optional<NotRun> refused = refusal(action)) return refused;
    proposals.push_back({std::move(key), std::move(body)});
    return std::nullopt;
}

Task<Run<Release>> Client::request(std::shared_ptr<Client> self, Action action, Wait wait,
                                   Executor executor) {
    std::vector<Proposal> proposals;
    if (std::optional<NotRun> refused = self->prepare(action, proposals))
        co_return std::unexpected(std::move(*refused));
    Task<Run<Request>> settling = settle_one(self, std::move(proposals), wait, executor);
    Run<Request> settled = co_await settling;
    if (!settled) co_return std::unexpected(settled.error());
    co_return conclude(*settled, action);
}

Task<std::vector<Run<Release>>> Client::batch(std::shared_ptr<Client> self,
                                              std::vector<Action> actions, Wait wait,
                                              Executor executor) {
    std::vector<Run<Release>> answers(actions.size(), std::unexpected(NotRun{}));
    std::vector<std::size_t> proposed;
    std::vector<Proposal> proposals;
    for (std::size_t i = 0; i < actions.size(); ++i) {
        if (std::optional<NotRun> refused = self->prepare(actions[i], proposals))
            answers[i] = std::unexpected(std::move(*refused));
        else
            proposed.push_back(i);
    }
    if (proposed.empty()) co_return answers;
    Task<std::vector<Run<Json>>> proposing =
        propose(self, std::move(proposals), true, wait, executor);
    const std::vector<Run<Json>> made = co_await proposing;
    std::vector<std::pair<std::size_t, Request>> waiting_for;
    for (std::size_t at = 0; at < proposed.size(); ++at) {
        const std::size_t i = proposed[at];
        if (!made[at]) {
            answers[i] = std::unexpected(made[at].error());
            continue;
        }
        Result<Request> request = Request::read(*made[at]);
        if (!request) {
            answers[i] = std::unexpected(not_run(request.error()));
            continue;
        }
        if (!request->is_settled())
            self->tell([&](Observer& observer) { observer.on_asked(*request); });
        waiting_for.emplace_back(i, std::move(*request));
    }
    for (const auto& [i, request] : waiting_for) {
        Task<Run<Request>> waiting = wait_for(self, request, wait, executor);
        Run<Request> settled = co_await waiting;
        if (settled)
            answers[i] = conclude(*settled, actions[i]);
        else
            answers[i] = std::unexpected(settled.error());
    }
    co_return answers;
}

}  // namespace holdpoint::agent
