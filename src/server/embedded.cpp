#include "server/embedded.h"

#include <fmt/format.h>
#include <sodium.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>

#include "agent/client.h"
#include "api/wire/request.h"
#include "base/sha256.h"
#include "server/embedded_engine.h"
#include "server/embedded_policy.h"
#include "server/tool_facts.h"
#include "service/expire.h"
#include "store/sqlite/sqlite.h"

namespace holdpoint::server {
namespace {

using core::RequestPtr;
using SteadyTime = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds sleep_max{5000};

/// The same id for the same name in every process.
PrincipalId id_of(const std::string& name) {
    const Sha256 hash = sha256("holdpoint.embedded\n" + name);
    PrincipalId id;
    std::copy_n(hash.begin(), id.ulid.bytes.size(), id.ulid.bytes.begin());
    return id;
}

/// What happened to a request that still waits, and that its people should look at once more.
bool must_ask_again(core::EventKind kind) {
    return kind == core::EventKind::reminded || kind == core::EventKind::escalated ||
           kind == core::EventKind::retried;
}

}  // namespace

Json resource_of(const core::Request& request) {
    const Result<Json> json = Json::parse(wire::to_json(request));
    return json ? *json : Json();
}

core::Actor Embedded::actor(const std::string& name, bool is_agent) const {
    core::Actor actor;
    actor.id = id_of(name);
    actor.name = name;
    actor.is_agent = is_agent;
    actor.via = "embedded";
    if (is_agent) return actor;
    for (const auto& [group, members] : options_.groups)
        if (std::find(members.begin(), members.end(), name) != members.end())
            actor.groups.push_back(group);
    return actor;
}

std::vector<store::Principal> Embedded::people() const {
    std::vector<std::string> names{options_.person};
    if (!options_.labels.user.empty()) names.push_back(options_.labels.user);
    for (const auto& [group, members] : options_.groups)
        names.insert(names.end(), members.begin(), members.end());
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    std::vector<store::Principal> all;
    for (const std::string& name : names) {
        store::Principal person;
        person.id = id_of(name);
        person.name = name;
        person.role = store::Role::approver;
        person.groups = actor(name, false).groups;
        person.created_at = clock_->now();
        all.push_back(std::move(person));
    }
    return all;
}

Result<void> Embedded::open() {
    if (sodium_init() < 0) return Error{ErrorCode::internal, "libsodium does not start"};
    if (options_.agent == options_.person)
        return Error{ErrorCode::invalid_argument, "agent and person must differ", "person"};
    clock_ = std::make_unique<SteadyClock>(read_system_clock());
    Result<std::shared_ptr<const policy::Policy>> policy =
        make_policy(options_, merged(options_.tools, {}));
    if (!policy) return policy.error();
    policy_ = std::make_unique<service::PolicyInForce>(std::move(*policy));
    agent_ = actor(options_.agent, true);

    store::sqlite::Options store;
    store.path = ":memory:";
    if (!options_.data.empty()) {
        std::error_code failed;
        std::filesystem::create_directories(options_.data, failed);
        if (failed)
            return Error{ErrorCode::unavailable,
                         fmt::format("`{}`: {}", options_.data, failed.message()), "data"};
        ::chmod(options_.data.c_str(), 0700);
        store.path = options_.data + "/holdpoint.db";
    }
    store.executor = [this](std::move_only_function<void()> work) { loop_.post(std::move(work)); };
    store.listener = [this](const std::vector<store::Change>& changes) { on_commit(changes); };
    Result<std::unique_ptr<store::Store>> opened = store::sqlite::open_sqlite(std::move(store));
    if (!opened) return opened.error();
    store_ = std::move(*opened);
    std::vector<store::Principal> all = people();
    store::Principal agent;
    agent.id = agent_.id;
    agent.name = agent_.name;
    agent.created_at = clock_->now();
    all.push_back(std::move(agent));
    const Result<void> saved = ask([all](store::Transaction& tx) -> Result<void> {
        for (const store::Principal& principal : all)
            if (Result<void> ok = tx.save_principal(principal); !ok) return ok;
        return {};
    });
    if (!saved) return saved;
    if (options_.human) {
        HumanDesk::Engine engine;
        engine.read = [this](const std::string& id) -> Result<Request> {
            const std::optional<RequestId> wanted = RequestId::parse(id);
            if (!wanted) return Error{ErrorCode::not_found, "no request has this id"};
            auto work = [this, wanted, policy = policy_->current()](store::Transaction& tx) {
                return service::load_now(tx, *policy, *wanted, clock_->now());
            };
            const Result<RequestPtr> request = ask(std::move(work));
            if (!request) return request.error();
            return Request::read(resource_of(**request));
        };
        engine.decide = [this](const Request& seen, const Decision& decision) -> Result<Request> {
            const Json body = agent::body_of(decision, seen.kind).with("digest", seen.digest);
            const Result<Json> answer = agent::blocking<Result<Json>>(
                [&](Done done) { decide(seen.id, body, decision.by, std::move(done)); });
            if (!answer) return answer.error();
            return Request::read(*answer);
        };
        engine.give_up = [this](const std::string& id, const std::string& why) {
            give_up(id, why);
        };
        desk_ = std::make_unique<HumanDesk>(options_.human, options_.when_unavailable,
                                            std::move(engine));
    }
    loop_.post([this] { let_time_pass(); });
    return {};
}

Embedded::~Embedded() {
    is_closing_ = true;
    // The desk needs the engine until it has stopped, and the loop tells it of what is settled.
    if (desk_) desk_->stop();
    if (store_) store_->stop();
    loop_.post([this] {
        while (!waiting_.empty())
            finish_waits(RequestId(waiting_.begin()->first),
                         Error{ErrorCode::unavailable, "the engine was closed"});
    });
    loop_.stop();
    const std::lock_guard lock(listening_mutex_);
    for (const std::shared_ptr<Listening>& listening : listening_) {
        const std::lock_guard inner(listening->mutex);
        listening->is_closed = true;
        listening->is_changed.notify_all();
    }
}

void Embedded::on_commit(const std::vector<store::Change>& changes) {
    for (const store::Change& change : changes) {
        const core::Request& request = *change.request;
        if (request.state == core::State::pending) {
            wake_at(request.next_at);
            if (desk_ && must_ask_again(change.event.event.kind))
                desk_->ask_again(request.id.text());
            continue;
        }
        if (change.event.event.kind != core::EventKind::settled) continue;
        if (desk_) desk_->settled(request.id.text());
        finish_waits(request.id, resource_of(request));
    }
    const std::lock_guard lock(listening_mutex_);
    for (const std::shared_ptr<Listening>& listening : listening_) {
        const std::lock_guard inner(listening->mutex);
        listening->changes.insert(listening->changes.end(), changes.begin(), changes.end());
        if (listening->changes.size() > Listening::changes_max) {
            if (!listening->forgotten_after)
                listening->forgotten_after = listening->changes.front().event.seq - 1;
            listening->changes.clear();
        }
        listening->is_changed.notify_all();
    }
}

void Embedded::finish_waits(const RequestId& id, const Result<Json>& answer) {
    std::vector<Done> woken;
    const auto [begin, end] = waiting_.equal_range(id);
    for (auto it = begin; it != end; ++it) woken.push_back(std::move(it->second.done));
    waiting_.erase(begin, end);
    for (Done& done : woken) done(answer);
}

void Embedded::wake_at(Timestamp due) {
    if (due_at_ && *due_at_ <= due) return;
    due_at_ = due;
    const milliseconds left{
        std::clamp<std::int64_t>(due.ms - clock_->now().ms, 0, sleep_max.count())};
    loop_.at(SteadyTime::now() + left, [this] { let_time_pass(); });
}

void Embedded::let_time_pass() {
    if (is_letting_time_pass_) return;
    is_letting_time_pass_ = true;
    auto work = [this, policy = policy_->current()](store::Transaction& tx) {
        return service::expire_due(tx, *policy, clock_->now(), service::expire_at_once);
    };
    store_->run(std::move(work), [this](Result<service::Expired> expired) {
        is_letting_time_pass_ = false;
        due_at_.reset();
        if (is_closing_) return;
        if (!expired) {
            spdlog::error("time could not pass: {}", expired.error().message);
            return wake_at(clock_->now() + sleep_max.count());
        }
        if (expired->next) wake_at(*expired->next);
    });
}

void Embedded::give_up(const std::string& id, const std::string& why) {
    const std::optional<RequestId> wanted = RequestId::parse(id);
    if (!wanted) return;
    // Whoever waits hears that nobody was there, not that the request was withdrawn.
    loop_.post([this, wanted = *wanted, why] {
        finish_waits(wanted, Error{ErrorCode::unavailable, why});
    });
    cancel(id, why, [](const Result<Json>&) {});
}

/// The policy with everything that is declared now.
Result<void> Embedded::renew_policy() {
    std::vector<ToolFacts> facts;
    for (const auto& [number, tools] : declared_)
        facts.insert(facts.end(), tools.begin(), tools.end());
    Result<std::shared_ptr<const policy::Policy>> policy =
        make_policy(options_, merged(options_.tools, facts));
    if (!policy) return policy.error();
    policy_->replace(std::move(*policy));
    return {};
}

Result<std::uint64_t> Embedded::declare(const std::vector<ToolFacts>& tools) {
    const std::lock_guard lock(tools_mutex_);
    const std::uint64_t number = ++last_declared_;
    declared_.emplace(number, tools);
    if (Result<void> ok = renew_policy(); !ok) {
        declared_.erase(number);
        return ok.error();
    }
    return number;
}

void Embedded::undeclare(std::uint64_t number) {
    const std::lock_guard lock(tools_mutex_);
    const auto found = declared_.find(number);
    if (found == declared_.end()) return;
    const bool has_code = std::ranges::any_of(
        found->second, [](const ToolFacts& facts) { return bool(facts.approval_condition); });
    declared_.erase(found);
    // What is plain may stay in force until the next word; code may refer to what goes away now.
    if (!has_code) return;
    if (Result<void> ok = renew_policy(); !ok)
        spdlog::error("a tool could not be forgotten: {}", ok.error().message);
}

void Embedded::notify(const Notification& notification) {
    if (desk_) desk_->notify(notification);
}

Result<std::unique_ptr<agent::Backend>> make_embedded_backend(const EmbeddedOptions& options) {
    auto embedded = std::make_unique<Embedded>(options);
    if (Result<void> ok = embedded->open(); !ok) return ok.error();
    return embedded;
}

}  // namespace holdpoint::server

namespace holdpoint {

Result<Holdpoint> Holdpoint::embedded(EmbeddedOptions options) {
    Result<std::unique_ptr<agent::Backend>> backend = server::make_embedded_backend(options);
    if (!backend) return backend.error();
    agent::Client::Setup setup{
        options.labels, options.data.empty() ? "" : options.data + "/sessions", options.resume_on};
    Result<std::shared_ptr<agent::Client>> client =
        agent::Client::open(std::move(*backend), std::move(setup));
    if (!client) return client.error();
    return Holdpoint(std::move(*client));
}

}  // namespace holdpoint
