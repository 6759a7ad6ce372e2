#include "server/running.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sodium.h>
#include <spdlog/spdlog.h>
#include <sys/resource.h>

#include <boost/asio/post.hpp>
#include <csignal>

#include "api/wire/errors.h"
#include "base/json.h"
#include "base/sha256.h"
#include "notify/log_channel.h"
#include "notify/push/push_channel.h"
#include "policy/compile.h"
#include "policy/template.h"
#include "server/admin_key.h"
#include "server/embedded_site.h"
#include "server/policy_file.h"
#include "service/expire.h"
#include "service/identity.h"
#include "store/sqlite/sqlite.h"

namespace holdpoint::server {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds tick_every{100};
constexpr int ticks_per_look = 10;  // rows of the outbox that are due again
constexpr std::int64_t sleep_ms_max =
    5000;  // the boot clock counts through suspend, a timer does not
constexpr std::chrono::minutes clean_every{10};
constexpr int forget_at_once = 2000;  // old records in one transaction: some milliseconds
constexpr milliseconds stop_deadline{5000};
constexpr std::int64_t idempotency_ms = 7LL * 86'400'000;
/// Longer than any window a policy can name, and than sessions and tasks are counted.
constexpr std::int64_t sums_ms = 401LL * 86'400'000;
constexpr const char* clock_setting = "clock";
constexpr const char* first_admin = "admin";

/// As many descriptors as the system lets us have: every waiting agent holds one.
void raise_descriptor_limit() {
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= limit.rlim_max) return;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

/// Keeps the text of a policy for whoever looks up a verdict. What is in force already was put
/// there by somebody else, earlier.
Result<void> keep_version(store::Transaction& tx, const policy::Policy& policy, Timestamp now) {
    const Result<std::vector<store::PolicyVersion>> latest = tx.policy_versions(1);
    if (!latest) return latest.error();
    if (!latest->empty() && latest->front().version == policy.version) return {};
    return tx.save_policy({policy.version, policy.file.source, "", now, policy.file.above});
}

std::string clock_text(const ClockReading& reading) {
    json::object object;
    object["boot_id"] = reading.boot_id;
    object["boot_ms"] = reading.boot_ms;
    object["wall_ms"] = reading.wall.ms;
    return json::canonical(object);
}

std::optional<ClockReading> parse_clock(const std::string& text) {
    const Result<json::value> value = json::parse(text);
    if (!value || !value->is_object()) return std::nullopt;
    const json::object& object = value->get_object();
    const json::value* boot_id = object.if_contains("boot_id");
    const json::value* boot_ms = object.if_contains("boot_ms");
    const json::value* wall_ms = object.if_contains("wall_ms");
    if (!boot_id || !boot_ms || !wall_ms || !boot_id->is_string() || !boot_ms->is_int64() ||
        !wall_ms->is_int64())
        return std::nullopt;
    return ClockReading{{wall_ms->get_int64()},
                        boot_ms->get_int64(),
                        std::string(boot_id->get_string().data(), boot_id->get_string().size())};
}

/// Whoever may write to the data directory owns the server, whatever an admin did to this account.
Result<void> enable_first_admin(store::Transaction& tx) {
    const Result<std::optional<store::Principal>> found = tx.find_principal(first_admin);
    if (!found) return found.error();
    if (!*found || !(*found)->is_disabled) return {};
    const Result<store::Principal> enabled = service::set_disabled(tx, first_admin, false);
    if (!enabled) return enabled.error();
    spdlog::warn("`{}` was disabled; it is enabled again, with the keys and the password it had",
                 first_admin);
    return {};
}

std::int64_t steady_ms() {
    return std::chrono::duration_cast<milliseconds>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

}  // namespace

Running::Running(const Config& config)
    : config_(config), signals_(io_), tick_timer_(io_), due_timer_(io_), clean_timer_(io_) {}

Running::~Running() {
    if (store_) store_->stop();
    outgoing_.stop();
    outgoing_.join();
    blocking_.join();
}

template <class Work>
std::invoke_result_t<Work&, store::Transaction&> Running::ask(Work work) {
    std::optional<std::invoke_result_t<Work&, store::Transaction&>> answer;
    store_->run(std::move(work), [&answer](auto result) { answer.emplace(std::move(result)); });
    while (!answer) {
        io_.restart();
        io_.run_one();
    }
    return std::move(*answer);
}

Result<Started> Running::start() {
    raise_descriptor_limit();
    std::signal(SIGPIPE, SIG_IGN);
    if (Result<void> ok = prepare_data_directory(config_.data); !ok) return ok.error();
    if (Result<void> ok =
            check_store_is_there(config_.data + "/holdpoint.db", config_.data + "/admin.key");
        !ok)
        return ok.error();
    if (Result<void> ok = open_store(); !ok) return ok.error();
    if (Result<void> ok = start_clock(); !ok) return ok.error();
    if (Result<void> ok = load_policy(); !ok) return ok.error();

    const bool has_push = std::find(config_.channels.begin(), config_.channels.end(), "push") !=
                          config_.channels.end();
    std::optional<PushSecrets> secrets;
    if (has_push) {
        Result<PushSecrets> loaded = load_push_secrets();
        if (!loaded) return loaded.error();
        secrets = std::move(*loaded);
    }

    // From here on calls come in whenever the loop runs: nothing may ask the store before all that
    // a call or a commit reaches is there.
    Started started;
    http::Options http = config_.http;
    http.error_body = wire::engine_error;
    http_ = std::make_unique<http::Server>(
        io_, http, [this](http::Request&& request, std::shared_ptr<http::Exchange> exchange) {
            api_->handle(std::move(request), std::move(exchange));
        });
    if (Result<void> ok = listen(started); !ok) return ok.error();
    api::ApiOptions options = config_.api;
    options.base_url = started.url;
    options.is_behind_proxy = config_.is_behind_proxy;
    options.relying_party = webauthn::relying_party_of(started.url);
    options.site = &embedded_site();
    started_ms_ = steady_ms();
    api_ = std::make_unique<api::Api>(*store_, *clock_, *policy_, offload_to(blocking_), options);
    api_->set_policy_source(policy_source_);
    api_->set_metrics([this](const store::Counters& counters) {
        return metrics_.text(
            {counters, http_->statistics(), api_->waiters(), api_->streams(), clock_->skew_ms()});
    });
    std::vector<std::unique_ptr<notify::Channel>> channels;
    for (const std::string& channel : config_.channels)
        if (channel == "log") channels.push_back(std::make_unique<notify::LogChannel>());
    if (secrets) channels.push_back(make_push(*secrets, started));
    outbox_ = std::make_unique<notify::OutboxWorker>(*store_, *clock_, std::move(channels));
    if (Result<void> ok = make_first_admin(started); !ok) return ok.error();

    if (policy_->current()->file.is_disabled)
        spdlog::warn("approvals are switched off: every action passes, and is recorded");
    watch_signals();
    tick();
    clean_up();
    let_time_pass();
    api_->set_ready(true);
    return started;
}

auth::Offload Running::offload_to(boost::asio::thread_pool& pool) {
    return
        [this, &pool](std::move_only_function<void()> work, std::move_only_function<void()> then) {
            auto both = std::make_shared<
                std::pair<std::move_only_function<void()>, std::move_only_function<void()>>>(
                std::move(work), std::move(then));
            boost::asio::post(pool, [this, both] {
                both->first();
                boost::asio::post(io_, [both] { both->second(); });
            });
        };
}

Result<void> Running::open_store() {
    store::sqlite::Options options;
    options.path = config_.data + "/holdpoint.db";
    options.executor = [this](std::move_only_function<void()> work) {
        boost::asio::post(io_, std::move(work));
    };
    options.listener = [this](const std::vector<store::Change>& changes) { on_commit(changes); };
    options.channels = config_.channels;
    options.check_always = config_.must_check_store;
    Result<std::unique_ptr<store::Store>> opened = store::sqlite::open_sqlite(std::move(options));
    if (!opened) return opened.error();
    store_ = std::move(*opened);
    return {};
}

Result<void> Running::start_clock() {
    const Result<std::optional<std::string>> stored =
        ask([](store::Transaction& tx) { return tx.setting(clock_setting); });
    if (!stored) return stored.error();
    const ClockReading reading = read_system_clock();
    const std::optional<ClockReading> last = *stored ? parse_clock(**stored) : std::nullopt;
    SteadyClock followed(reading, last ? &*last : nullptr);
    const std::int64_t skew_ms = followed.skew_ms();
    if (config_.must_accept_clock && skew_ms != 0) {
        const Result<void> shifted =
            ask([skew_ms](store::Transaction& tx) { return tx.shift_deadlines(skew_ms); });
        if (!shifted) return shifted.error();
        spdlog::warn("took the wall clock as it is; every deadline moved by {} s", skew_ms / 1000);
        clock_ = std::make_unique<SteadyClock>(reading);
    } else {
        clock_ = std::make_unique<SteadyClock>(reading, last ? &*last : nullptr);
    }
    return save_clock();
}

/// A policy that cannot be read stops the start: a server without its rules must not serve.
Result<void> Running::load_policy() {
    service::PolicyInForce::Pointer policy;
    const Result<std::optional<std::string>> kept =
        ask([](store::Transaction& tx) { return tx.setting(service::policy_setting); });
    if (!kept) return kept.error();
    if (!config_.policy_file.empty()) {
        Result<service::PolicyInForce::Pointer> loaded = load_policy_file(config_.policy_file);
        if (!loaded) return loaded.error();
        policy = *loaded;
        policy_source_.origin = "file";
        policy_source_.read_file = [path = config_.policy_file] { return load_policy_file(path); };
    } else if (*kept) {
        const Result<std::optional<store::PolicyVersion>> stored =
            ask([&](store::Transaction& tx) { return tx.find_policy(**kept); });
        if (!stored) return stored.error();
        if (!*stored)
            return Error{
                ErrorCode::unavailable,
                fmt::format("the policy {} that was in force is not in the store", **kept)};
        Result<service::PolicyInForce::Pointer> loaded = policy::load((*stored)->text);
        if (!loaded)
            return Error{
                ErrorCode::unavailable,
                fmt::format("the policy {} that was in force cannot be loaded any more: {}; "
                            "start with --policy FILE",
                            **kept, loaded.error().message)};
        policy = *loaded;
        policy_source_.origin = "store";
        if (!config_.builtin_flags.empty())
            spdlog::warn(
                "{} is ignored: the policy {} was put in force over the API and says it all. Apply "
                "one that says the same (`holdpoint policy show`, `holdpoint policy apply`), or "
                "start with --policy FILE",
                fmt::join(config_.builtin_flags, ", "), **kept);
    } else {
        policy = policy::compose(config_.policy);
    }
    if (!policy->file.source.empty())
        if (Result<void> ok = ask([&, now = clock_->now()](store::Transaction& tx) {
                return keep_version(tx, *policy, now);
            });
            !ok)
            return ok;
    for (const policy::Warning& warning : policy->warnings)
        spdlog::warn("policy, line {}: {}", warning.mark.line, warning.message);
    policy_ =
        std::make_unique<service::PolicyInForce>(std::move(policy), config_.policy.is_disabled);
    return {};
}

void Running::reload_policy() {
    if (!policy_source_.read_file) return;
    boost::asio::post(blocking_, [this] {
        boost::asio::post(io_, [this, loaded = policy_source_.read_file()] {
            if (!loaded) {
                metrics_.on_policy(false);
                return spdlog::error("the old policy stays in force: {}", loaded.error().message);
            }
            store_->run([policy = *loaded, now = clock_->now()](
                            store::Transaction& tx) { return keep_version(tx, *policy, now); },
                        [this, policy = *loaded](Result<void> saved) {
                            metrics_.on_policy(saved.has_value());
                            if (!saved)
                                return spdlog::error("the old policy stays in force: {}",
                                                     saved.error().message);
                            policy_->replace(policy);
                            spdlog::info("policy {} is in force", policy->version);
                        });
        });
    });
}

Result<void> Running::save_clock() {
    ClockReading reading = read_system_clock();
    reading.wall = clock_->now();
    return ask([text = clock_text(reading)](store::Transaction& tx) {
        return tx.set_setting(clock_setting, text);
    });
}

/// The keys of push are drawn once and kept: a new one would make every subscription worthless.
Result<std::string> Running::kept_secret(const char* name, const std::string& fresh) {
    return ask([name, fresh](store::Transaction& tx) -> Result<std::string> {
        const Result<std::optional<std::string>> kept = tx.setting(name);
        if (!kept) return kept.error();
        if (*kept) {
            std::optional<std::string> bytes = from_base64url(**kept);
            if (!bytes) return Error{ErrorCode::internal, "a stored key cannot be read"};
            return std::move(*bytes);
        }
        if (Result<void> ok = tx.set_setting(name, base64url_of(fresh)); !ok) return ok.error();
        return fresh;
    });
}

Result<Running::PushSecrets> Running::load_push_secrets() {
    using notify::push::KeyPair;
    const Result<std::string> server_key =
        kept_secret("push.server_key", KeyPair::generate().private_scalar());
    if (!server_key) return server_key.error();
    std::string fresh(32, '\0');
    randombytes_buf(fresh.data(), fresh.size());
    const Result<std::string> token_key = kept_secret("push.token_key", fresh);
    if (!token_key) return token_key.error();
    Result<KeyPair> keys = KeyPair::from_private(*server_key);
    if (!keys) return keys.error();
    return PushSecrets{std::move(*keys), *token_key};
}

std::unique_ptr<notify::Channel> Running::make_push(const PushSecrets& secrets,
                                                    const Started& started) {
    namespace push = notify::push;
    api_->set_push({secrets.keys.public_point(), secrets.token_key});
    const bool may_be_loopback = config_.api.may_push_to_loopback;
    auto post = [may_be_loopback](const push::Call& call) {
        return push::post(call, may_be_loopback);
    };
    auto is_secret = [this](std::string_view tool, std::string_view path) {
        const service::PolicyInForce::Pointer policy = policy_->current();
        const auto known = policy->tools.find(tool);
        return policy::is_secret(fmt::format("args.{}", path),
                                 known == policy->tools.end() ? nullptr : known->second.tool);
    };
    return std::make_unique<push::PushChannel>(
        *store_, *clock_, offload_to(outgoing_), post,
        push::PushChannel::Options{secrets.keys, secrets.token_key, started.url,
                                   config_.push_contact, is_secret});
}

/// What was staged is the admin key if its commit came through, and nothing otherwise.
Result<void> Running::finish_admin_key(const std::string& path) {
    const std::optional<std::string> staged = staged_admin_key(path);
    if (!staged) return {};
    const Result<service::Authenticated> found =
        ask([hash = auth::hash_of(*staged), now = clock_->now()](store::Transaction& tx) {
            return service::authenticate_key(tx, hash, now);
        });
    if (found) return keep_admin_key(path);
    if (found.error().code != ErrorCode::unauthenticated) return found.error();
    drop_admin_key(path);
    return {};
}

Result<void> Running::make_first_admin(Started& started) {
    started.admin_key_file = config_.data + "/admin.key";
    if (Result<void> ok = finish_admin_key(started.admin_key_file); !ok) return ok;
    const Result<std::vector<store::Principal>> all =
        ask([](store::Transaction& tx) { return tx.principals(); });
    if (!all) return all.error();
    const bool has_admin = std::any_of(all->begin(), all->end(), [](const store::Principal& other) {
        return other.role == store::Role::admin;
    });
    if (has_admin && !config_.must_make_admin_key) return {};

    const auth::Secret secret = auth::new_key(store::Role::admin);
    const auth::Secret link = auth::new_token();
    if (Result<void> ok = stage_admin_key(started.admin_key_file, secret.text); !ok) return ok;
    if (Result<void> ok = store_admin_key(secret, link); !ok) return ok;
    if (Result<void> ok = keep_admin_key(started.admin_key_file); !ok) return ok;
    started.is_first = !has_admin;
    started.sign_in_link = started.url + "/sign-in#" + link.text;
    return {};
}

Result<void> Running::store_admin_key(const auth::Secret& secret, const auth::Secret& link) {
    return ask([&](store::Transaction& tx) -> Result<void> {
        const Timestamp now = clock_->now();
        if (Result<void> ok = enable_first_admin(tx); !ok) return ok;
        service::KeySpec spec;
        spec.role = store::Role::admin;
        spec.name = first_admin;
        store::Key key;
        key.id = KeyId::fresh(now);
        key.hash = secret.hash;
        key.hint = secret.hint;
        const Result<service::IssuedKey> issued =
            service::create_key(tx, spec, key, PrincipalId::fresh(now), now);
        if (!issued) return issued.error();
        store::Session session;
        session.hash = link.hash;
        session.principal = issued->principal.id;
        session.is_link = true;
        session.id = SessionId::fresh(now);
        session.created_at = now;
        session.expires_at = now + config_.api.link_ms;
        return tx.save_session(session);
    });
}

Result<void> Running::listen(Started& started) {
    const bool is_tls = !config_.tls_certificate.empty();
    if (is_tls) {
        Result<void> ok = http_->use_certificate(config_.tls_certificate, config_.tls_key);
        if (!ok) return ok.error();
    }
    const Result<std::uint16_t> port = http_->listen({config_.address, config_.port, is_tls});
    if (!port) return port.error();
    const bool is_v6 = config_.address.find(':') != std::string::npos;
    started.url = config_.base_url;
    if (started.url.empty())
        started.url = fmt::format("{}://{}{}{}:{}", is_tls ? "https" : "http", is_v6 ? "[" : "",
                                  config_.address, is_v6 ? "]" : "", *port);
    return {};
}

void Running::on_commit(const std::vector<store::Change>& changes) {
    if (!api_) return;
    api_->on_commit(changes);
    metrics_.on_commit(changes);
    for (const store::Change& change : changes) {
        const core::Request& request = *change.request;
        const bool is_earlier =
            request.state == core::State::pending && (!due_at_ || request.next_at < *due_at_);
        if (is_earlier) {
            due_at_ = request.next_at;
            sleep_until_due();
        }
    }
    outbox_->poke();
}

void Running::watch_signals() {
    signals_.add(SIGINT);
    signals_.add(SIGTERM);
    signals_.add(SIGHUP);
    signals_.async_wait([this](const boost::system::error_code& failed, int signal) {
        if (failed) return;
        if (signal != SIGHUP) return stop();
        reload_policy();
        if (!config_.tls_certificate.empty()) {
            const Result<void> reloaded = http_->reload_certificate();
            if (reloaded)
                spdlog::info("certificate read again");
            else
                spdlog::error("the old certificate stays in use: {}", reloaded.error().message);
        }
        watch_signals();
    });
}

void Running::tick() {
    tick_timer_.expires_after(tick_every);
    tick_timer_.async_wait([this](const boost::system::error_code& failed) {
        if (failed) return;
        api_->on_tick(steady_ms() - started_ms_);
        if (++ticks_ % ticks_per_look == 0) outbox_->poke();
        tick();
    });
}

void Running::sleep_until_due() {
    if (is_stopping_ || !due_at_) return;
    const std::int64_t ms = std::clamp<std::int64_t>(*due_at_ - clock_->now(), 0, sleep_ms_max);
    due_timer_.expires_after(milliseconds(ms));
    due_timer_.async_wait([this](const boost::system::error_code& failed) {
        if (!failed) let_time_pass();
    });
}

void Running::let_time_pass() {
    if (is_letting_time_pass_ || is_stopping_) return;
    is_letting_time_pass_ = true;
    due_at_ = std::nullopt;
    auto work = [policy = policy_->current(), now = clock_->now()](store::Transaction& tx) {
        return service::expire_due(tx, *policy, now, service::expire_at_once);
    };
    store_->run(std::move(work), [this](Result<service::Expired> expired) {
        is_letting_time_pass_ = false;
        if (!expired) {
            spdlog::error("cannot let time pass: {}", expired.error().message);
            due_at_ = clock_->now() + sleep_ms_max;
        } else if (expired->next && (!due_at_ || *expired->next < *due_at_)) {
            due_at_ = expired->next;
        }
        sleep_until_due();
    });
}

void Running::clean_up() {
    const Timestamp now = clock_->now();
    const bool is_skewed = std::abs(clock_->skew_ms()) > SteadyClock::jump_ms_max;
    if (is_skewed && !has_warned_of_clock_)
        spdlog::warn(
            "the wall clock was set by {} s; deadlines keep their length. Restart with "
            "--accept-clock to follow it",
            clock_->skew_ms() / 1000);
    has_warned_of_clock_ = is_skewed;
    ClockReading reading = read_system_clock();
    reading.wall = now;
    auto work = [now, text = clock_text(reading)](store::Transaction& tx) -> Result<void> {
        if (Result<int> ok = tx.drop_sessions_before(now); !ok) return ok.error();
        if (Result<int> ok = tx.drop_snoozes_before(now); !ok) return ok.error();
        return tx.set_setting(clock_setting, text);
    };
    store_->run(std::move(work), [](Result<void> cleaned) {
        if (!cleaned) spdlog::warn("cannot clean up: {}", cleaned.error().message);
    });
    forget_old();
    outbox_->poke();
    clean_timer_.expires_after(clean_every);
    clean_timer_.async_wait([this](const boost::system::error_code& failed) {
        if (!failed) clean_up();
    });
}

void Running::forget_old() {
    auto work = [now = clock_->now()](store::Transaction& tx) -> Result<bool> {
        const Result<int> records = tx.forget_idempotent(now + -idempotency_ms, forget_at_once);
        if (!records) return records.error();
        const Result<int> sums = tx.forget_sums(now + -sums_ms, forget_at_once);
        if (!sums) return sums.error();
        return *records == forget_at_once || *sums == forget_at_once;
    };
    store_->run(std::move(work), [this](Result<bool> has_more) {
        if (!has_more) return spdlog::warn("cannot clean up: {}", has_more.error().message);
        if (*has_more && !is_stopping_) forget_old();
    });
}

void Running::stop() {
    if (is_stopping_) return;
    is_stopping_ = true;
    spdlog::info("stopping: waiting agents are told to ask again");
    api_->stop();
    due_timer_.cancel();
    clean_timer_.cancel();
    http_->stop(stop_deadline, [this] {
        tick_timer_.cancel();
        signals_.cancel();
        io_.stop();
    });
}

void Running::run() {
    io_.restart();
    io_.run();
    if (const Result<void> saved = save_clock(); !saved)
        spdlog::warn("cannot note the time: {}", saved.error().message);
    store_->stop();
    store_ = nullptr;
    spdlog::info("stopped");
}

}  // namespace holdpoint::server
