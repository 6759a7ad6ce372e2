// What the agent asks of the engine in its own process.
#include <sodium.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "agent/json_value.h"
#include "api/wire/decide.h"
#include "api/wire/request.h"
#include "api/wire/submit.h"
#include "base/sha256.h"
#include "server/embedded_engine.h"
#include "service/expire.h"
#include "service/follow_up.h"
#include "service/read.h"
#include "service/submit.h"

namespace holdpoint::server {
namespace {

using core::RequestPtr;
using SteadyTime = std::chrono::steady_clock;
using std::chrono::milliseconds;

double random_share() { return std::ldexp(static_cast<double>(randombytes_random()), -32); }

}  // namespace

void Embedded::propose(Json body, bool is_batch, std::string key, Until, Done done) {
    Result<std::vector<core::Proposal>> proposals = std::vector<core::Proposal>{};
    if (is_batch) {
        proposals = wire::parse_batch(agent::value_of(body));
    } else {
        Result<core::Proposal> one = wire::parse_proposal(agent::value_of(body), "");
        if (one)
            proposals->push_back(std::move(*one));
        else
            proposals = one.error();
    }
    if (!proposals) return done(proposals.error());
    service::SubmitCall call;
    call.now = clock_->now();
    call.proposals = std::move(*proposals);
    for (std::size_t i = 0; i < call.proposals.size(); ++i)
        call.ids.push_back(RequestId::fresh(call.now));
    if (is_batch) call.batch = BatchId::fresh(call.now);
    call.agent = agent_;
    // Whoever opened this engine said for whom it works: that is no word of the agent.
    call.owner = options_.labels.user;
    call.idempotency.key = std::move(key);
    const Sha256 hash = sha256(body.dump());
    call.idempotency.call_hash.assign(reinterpret_cast<const char*>(hash.data()), hash.size());
    call.draw = random_share();
    auto work = [policy = policy_->current(), call = std::move(call)](store::Transaction& tx) {
        return service::submit(tx, *policy, call);
    };
    store_->run(std::move(work),
                [done = std::move(done), is_batch](Result<service::Submitted> made) mutable {
                    if (!made) return done(made.error());
                    if (!is_batch) return done(resource_of(*made->requests.front()));
                    std::vector<Json> all;
                    for (const RequestPtr& request : made->requests)
                        all.push_back(resource_of(*request));
                    done(Json::object({{"requests", Json::array(all)}}));
                });
}

void Embedded::wait(std::string id, milliseconds at_most, Until, Done done) {
    const std::optional<RequestId> wanted = RequestId::parse(id);
    if (!wanted) return done(Error{ErrorCode::not_found, "no request has this id"});
    loop_.post([this, wanted = *wanted, at_most, done = std::move(done)]() mutable {
        // First the subscription, then the look: a decision in between is not missed.
        const std::uint64_t number = ++last_number_;
        waiting_.emplace(wanted, Waiting{number, std::move(done)});
        const auto look = [this, wanted, number](bool is_last) {
            auto work = [this, wanted, policy = policy_->current()](store::Transaction& tx) {
                return service::load_now(tx, *policy, wanted, clock_->now());
            };
            store_->run(
                std::move(work), [this, wanted, number, is_last](Result<RequestPtr> request) {
                    const auto [begin, end] = waiting_.equal_range(wanted);
                    const auto mine = std::find_if(begin, end, [number](const auto& entry) {
                        return entry.second.number == number;
                    });
                    if (mine == end) return;
                    const bool is_settled = request && (*request)->state == core::State::settled;
                    if (request && !is_settled && desk_) desk_->ask(wanted.text());
                    if (request && !is_settled && !is_last) return;
                    Done finish = std::move(mine->second.done);
                    waiting_.erase(mine);
                    if (!request) return finish(request.error());
                    finish(resource_of(**request));
                });
        };
        look(false);
        loop_.at(SteadyTime::now() + at_most, [look] { look(true); });
    });
}

void Embedded::read(std::string id, Done done) {
    const std::optional<RequestId> wanted = RequestId::parse(id);
    if (!wanted) return done(Error{ErrorCode::not_found, "no request has this id"});
    store_->run([wanted = *wanted](store::Transaction& tx) { return tx.load(wanted); },
                [done = std::move(done)](Result<RequestPtr> request) mutable {
                    if (!request) return done(request.error());
                    done(resource_of(**request));
                });
}

void Embedded::answer_decided(const Result<service::Decided>& decided, Done& done) {
    if (!decided) return done(decided.error());
    if (decided->refusal) return done(*decided->refusal);
    done(resource_of(*decided->request));
}

void Embedded::cancel(std::string id, std::string reason, Done done) {
    const std::optional<RequestId> wanted = RequestId::parse(id);
    if (!wanted) return done(Error{ErrorCode::not_found, "no request has this id"});
    auto work = [this, wanted = *wanted, reason = std::move(reason),
                 policy = policy_->current()](store::Transaction& tx) {
        return service::cancel(tx, *policy, wanted, reason, agent_, clock_->now());
    };
    store_->run(std::move(work),
                [this, done = std::move(done)](const Result<service::Decided>& decided) mutable {
                    answer_decided(decided, done);
                });
}

void Embedded::report(std::string id, Json body, Done done) {
    const std::optional<RequestId> wanted = RequestId::parse(id);
    if (!wanted) return done(Error{ErrorCode::not_found, "no request has this id"});
    Result<wire::Reported> reported = wire::parse_report(agent::value_of(body));
    if (!reported) return done(reported.error());
    auto work = [this, wanted = *wanted, reported = std::move(*reported),
                 policy = policy_->current()](store::Transaction& tx) {
        return service::report(tx, *policy, wanted, reported.report, reported.usage, agent_,
                               clock_->now());
    };
    store_->run(std::move(work),
                [this, done = std::move(done)](const Result<service::Decided>& decided) mutable {
                    answer_decided(decided, done);
                });
}

void Embedded::decide(std::string id, Json body, std::string by, Done done) {
    const std::optional<RequestId> wanted = RequestId::parse(id);
    if (!wanted) return done(Error{ErrorCode::not_found, "no request has this id"});
    if (by.empty()) by = options_.person;
    if (by == options_.agent)
        return done(Error{ErrorCode::permission_denied, "an agent cannot decide", "by"});
    Result<wire::Decision> decision = wire::parse_decision(agent::value_of(body));
    if (!decision) return done(decision.error());
    service::DecideCall call;
    call.id = *wanted;
    call.command = std::move(decision->command);
    call.person = actor(by, false);
    call.now = clock_->now();
    auto work = [call = std::move(call), policy = policy_->current()](store::Transaction& tx) {
        return service::decide(tx, *policy, call);
    };
    store_->run(std::move(work),
                [this, done = std::move(done)](const Result<service::Decided>& decided) mutable {
                    answer_decided(decided, done);
                });
}

void Embedded::list(std::string session, Done done) {
    store::ListQuery query;
    if (!session.empty()) query.filter.session = std::move(session);
    store_->run([query](store::Transaction& tx) { return tx.list(query); },
                [done = std::move(done)](Result<store::ListPage> page) mutable {
                    if (!page) return done(page.error());
                    std::vector<Json> all;
                    for (const RequestPtr& request : page->requests)
                        all.push_back(resource_of(*request));
                    done(Json::object({{"requests", Json::array(all)}}));
                });
}

Result<void> Embedded::events(const EventFilter& filter, const Holdpoint::OnEvent& on_event,
                              const std::stop_token& stop) {
    store::ListFilter wanted;
    if (!filter.session.empty()) wanted.session = filter.session;
    auto listening = std::make_shared<Listening>();
    {
        const std::lock_guard lock(listening_mutex_);
        listening_.push_back(listening);
    }
    struct Leaving {
        Embedded& self;
        std::shared_ptr<Listening> listening;
        ~Leaving() {
            const std::lock_guard lock(self.listening_mutex_);
            std::erase(self.listening_, listening);
        }
    } leaving{*this, listening};

    std::int64_t seen = filter.after;
    const auto deliver = [&](const auto& changes) -> Result<bool> {
        for (const store::Change& change : changes) {
            if (change.event.seq <= seen) continue;
            seen = change.event.seq;
            if (!service::matches(wanted, change)) continue;
            Result<Request> request = Request::read(resource_of(*change.request));
            if (!request) return request.error();
            const std::string_view name = core::public_name(change.event.event.kind);
            if (!on_event({seen, std::string(name), std::move(*request)})) return false;
        }
        return true;
    };
    const auto catch_up = [&](std::int64_t after) -> Result<bool> {
        constexpr int page = 200;
        for (seen = std::max(seen, after);;) {
            const Result<std::vector<store::Change>> past = ask(
                [&](store::Transaction& tx) { return tx.events({.after = seen}, wanted, page); });
            if (!past) return past.error();
            const Result<bool> goes_on = deliver(*past);
            if (!goes_on || !*goes_on || static_cast<int>(past->size()) < page) return goes_on;
        }
    };
    std::optional<std::int64_t> read_after;
    if (filter.after >= 0) read_after = filter.after;
    while (!stop.stop_requested()) {
        if (read_after) {
            const Result<bool> goes_on = catch_up(*std::exchange(read_after, std::nullopt));
            if (!goes_on) return goes_on.error();
            if (!*goes_on) return {};
        }
        std::deque<store::Change> changes;
        {
            std::unique_lock lock(listening->mutex);
            listening->is_changed.wait(lock, stop, [&] {
                return !listening->changes.empty() || listening->forgotten_after ||
                       listening->is_closed;
            });
            if (listening->is_closed) return Error{ErrorCode::unavailable, "the engine was closed"};
            read_after = std::exchange(listening->forgotten_after, std::nullopt);
            // What was not forgotten comes with what the store has, in order.
            if (read_after) listening->changes.clear();
            changes.swap(listening->changes);
        }
        const Result<bool> goes_on = deliver(changes);
        if (!goes_on) return goes_on.error();
        if (!*goes_on) return {};
    }
    return {};
}

}  // namespace holdpoint::server
