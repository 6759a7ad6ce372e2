// The policy in force, what it would say, and what people granted under it.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <ranges>

#include "api/http/answers.h"
#include "api/wire/policy.h"
#include "api/wire/query.h"
#include "api/wire/submit.h"
#include "base/json_fields.h"
#include "policy/compile.h"
#include "policy/evaluate.h"
#include "service/grants.h"
#include "service/history.h"
#include "service/judge.h"

namespace holdpoint::api {
namespace {

using json::Fields;

constexpr int history_page = 200;
constexpr std::size_t history_max = 20'000;

}  // namespace

void Api::check(const CallPtr& call) {
    if (!has_no_query(call)) return;
    Body body;
    if (!read_body(call, body)) return;
    Result<core::Proposal> proposal = wire::parse_proposal(*body, "");
    if (!proposal) return respond_error(call, proposal.error());
    store_.run(
        [policy = policy_.current(), proposal = std::move(*proposal), caller = call->caller,
         now = call->now](store::Transaction& tx) -> Result<core::Verdict> {
            Result<service::Judgement> judgement = service::preview(
                tx, *policy, proposal, service::Proposer{caller.actor, caller.owner}, now);
            if (!judgement) return judgement.error();
            return std::move(judgement->verdict);
        },
        [call](Result<core::Verdict> verdict) {
            if (!verdict) return respond_error(call, verdict.error());
            respond_json(call, wire::to_json(*verdict));
        });
}

// ---- grants

void Api::list_grants(const CallPtr& call) {
    wire::Query query(call->request.query);
    store::GrantFilter filter;
    filter.agent = query.text("agent");
    filter.tool = query.text("tool");
    const std::optional<std::string> state = query.text("state");
    if (state && *state != "active" && *state != "all")
        query.refuse("state", "must be `active` or `all`");
    filter.limit = static_cast<int>(query.integer("limit", 1, 1000).value_or(100));
    if (Result<void> ok = query.finish(); !ok) return respond_error(call, ok.error());
    if (!state || *state == "active") filter.alive_at = call->now;
    store_.run([filter](store::Transaction& tx) { return tx.grants(filter); },
               [this, call](Result<std::vector<store::GrantRecord>> grants) {
                   if (!grants) return respond_error(call, grants.error());
                   const std::string version = policy_.current()->version;
                   std::string out = "{\"grants\":[";
                   for (std::size_t i = 0; i < grants->size(); ++i) {
                       if (i > 0) out += ',';
                       out += wire::to_json((*grants)[i], version, call->now);
                   }
                   respond_json(call, out + "]}");
               });
}

void Api::respond_grant(const CallPtr& call, const Result<store::GrantRecord>& record) {
    if (!record) return respond_error(call, record.error());
    respond_json(call, wire::to_json(*record, policy_.current()->version, call->now));
}

void Api::get_grant(const CallPtr& call) {
    if (!has_no_query(call)) return;
    store_.run([id = call->id](store::Transaction& tx) { return service::read_grant(tx, id); },
               [this, call](Result<store::GrantRecord> record) { respond_grant(call, record); });
}

void Api::revoke_grant(const CallPtr& call) {
    if (!has_no_query(call)) return;
    Body body;
    if (!read_body(call, body, true)) return;
    Fields fields(*body, "");
    if (Result<void> ok = fields.finish(); !ok) return respond_error(call, ok.error());
    store_.run(
        [id = call->id, person = call->caller.actor, now = call->now](store::Transaction& tx) {
            return service::revoke_grant(tx, id, person, now);
        },
        [this, call](Result<store::GrantRecord> record) {
            if (record)
                spdlog::info("grant {} revoked by `{}`", record->grant.id, call->caller.actor.name);
            respond_grant(call, record);
        });
}

// ---- the policy

void Api::get_policy(const CallPtr& call) {
    if (!has_no_query(call)) return;
    const service::PolicyInForce::Pointer policy = policy_.current();
    respond_json(call, wire::to_json(wire::PolicySummary{*policy, policy_source_.origin}));
}

void Api::list_policies(const CallPtr& call) {
    if (!has_no_query(call)) return;
    store_.run([](store::Transaction& tx) { return tx.policy_versions(100); },
               [this, call](Result<std::vector<store::PolicyVersion>> versions) {
                   if (!versions) return respond_error(call, versions.error());
                   const std::string in_force = policy_.current()->version;
                   std::string out = "{\"versions\":[";
                   for (std::size_t i = 0; i < versions->size(); ++i) {
                       if (i > 0) out += ',';
                       const store::PolicyVersion& version = (*versions)[i];
                       out += wire::to_json(version, version.version == in_force, false);
                   }
                   respond_json(call, out + "]}");
               });
}

void Api::get_policy_version(const CallPtr& call) {
    if (!has_no_query(call)) return;
    store_.run([id = call->id](store::Transaction& tx) { return tx.find_policy(id); },
               [this, call](Result<std::optional<store::PolicyVersion>> found) {
                   if (!found) return respond_error(call, found.error());
                   if (!*found)
                       return respond_error(
                           call, {ErrorCode::not_found, "no policy was in force by this version"});
                   respond_json(
                       call, wire::to_json(**found, (*found)->version == policy_.current()->version,
                                           true));
               });
}

void Api::put_policy(const CallPtr& call) {
    if (!has_no_query(call)) return;
    Body body;
    if (!read_policy_body(call, body)) return;
    Fields fields(*body, "");
    const std::string text = fields.required_text("text", {.min = 1, .max = 1 << 20});
    const std::vector<std::string> acknowledged =
        fields.texts("acknowledge", 10'000, {.max = 100}).value_or(std::vector<std::string>{});
    if (Result<void> ok = fields.finish(); !ok) return respond_error(call, ok.error());
    if (policy_source_.read_file)
        return respond_error(call, {ErrorCode::conflict,
                                    "the policy comes from a file; change the file and reload it"});
    with_policy(call, {text}, [this, call, acknowledged](service::PolicyInForce::Pointer policy) {
        activate(call, policy, acknowledged);
    });
}

void Api::reload_policy(const CallPtr& call) {
    if (!has_no_query(call)) return;
    Body body;
    if (!read_body(call, body, true)) return;
    Fields fields(*body, "");
    if (Result<void> ok = fields.finish(); !ok) return respond_error(call, ok.error());
    if (!policy_source_.read_file)
        return respond_error(
            call, {ErrorCode::conflict,
                   "the policy does not come from a file; send it with `PUT /v1/policy`"});
    auto loaded = std::make_shared<Result<service::PolicyInForce::Pointer>>(
        Error{ErrorCode::internal, "not loaded"});
    offload_([this, loaded] { *loaded = policy_source_.read_file(); },
             [this, call, loaded] {
                 if (!*loaded) return respond_error(call, loaded->error());
                 put_in_force(call, **loaded);
             });
}

/// Stored first, in force afterwards: a verdict never names a version that nobody can look up.
void Api::put_in_force(const CallPtr& call, const service::PolicyInForce::Pointer& policy) {
    store::PolicyVersion version{policy->version, policy->file.source, call->caller.actor.name,
                                 call->now, policy->file.above};
    const bool must_keep = !policy_source_.read_file;
    auto work = [version, must_keep](store::Transaction& tx) -> Result<void> {
        if (Result<void> ok = tx.save_policy(version); !ok) return ok;
        if (!must_keep) return {};
        return tx.set_setting(service::policy_setting, version.version);
    };
    store_.run(std::move(work), [this, call, policy](Result<void> saved) {
        if (!saved) return respond_error(call, saved.error());
        policy_.replace(policy);
        if (!policy_source_.read_file) policy_source_.origin = "store";
        spdlog::info("policy {} put in force by `{}`", policy->version, call->caller.actor.name);
        respond_json(call, wire::to_json(wire::PolicySummary{*policy, policy_source_.origin}));
    });
}

bool Api::read_policy_body(const CallPtr& call, Body& body) {
    // A policy file may be larger than a proposal; it comes as one string.
    json::Limits limits = options_.json;
    limits.bytes_max = std::max<std::size_t>(limits.bytes_max, 2 << 20);
    limits.string_bytes_max = limits.bytes_max;
    return read_body(call, body, false, limits);
}

void Api::with_policy(const CallPtr& call, Candidate candidate, OnPolicy then) {
    if (!candidate.text) return then(policy_.current());
    auto loaded = std::make_shared<Result<service::PolicyInForce::Pointer>>(
        Error{ErrorCode::internal, "not loaded"});
    policy::LoadOptions options;
    options.may_fail_tests = candidate.may_fail_tests;
    // Compiling a large policy takes milliseconds that nobody else should wait for.
    offload_([loaded, options,
              text = std::move(*candidate.text)] { *loaded = policy::load(text, options); },
             [call, loaded, field = candidate.field, then = std::move(then)]() mutable {
                 if (*loaded) return then(**loaded);
                 Error error = loaded->error();
                 error.field = field;
                 respond_error(call, error);
             });
}

void Api::read_history(std::optional<Timestamp> since, OnHistory done) {
    struct Reading {
        std::optional<Timestamp> since;
        std::vector<policy::PastCall> calls;
        OnHistory done;
        std::function<void(std::int64_t)> next;
    };
    auto reading =
        std::make_shared<Reading>(since, std::vector<policy::PastCall>{}, std::move(done));
    reading->next = [this, weak = std::weak_ptr(reading)](std::int64_t before_row) {
        // Held by the store's answer until the last page.
        const std::shared_ptr<Reading> held = weak.lock();
        store_.run(
            [since = held->since, before_row](store::Transaction& tx) {
                return service::read_history(tx, since, before_row, history_page);
            },
            [held](Result<service::HistoryPage> page) {
                if (!page) return held->done(page.error());
                std::ranges::move(page->calls, std::back_inserter(held->calls));
                const bool is_last =
                    page->next_before_row == 0 || held->calls.size() >= history_max;
                if (!is_last) return held->next(page->next_before_row);
                // The past is played in its order.
                std::ranges::reverse(held->calls);
                held->done(std::move(held->calls));
            });
    };
    reading->next(0);
}

/// What people refused and the new policy would let pass has to be looked at, case by case.
void Api::activate(const CallPtr& call, const service::PolicyInForce::Pointer& policy,
                   const std::vector<std::string>& acknowledged) {
    read_history(std::nullopt, [this, call, policy,
                                acknowledged](Result<std::vector<policy::PastCall>> calls) {
        if (!calls) return respond_error(call, calls.error());
        auto open = std::make_shared<std::vector<policy::Changed>>();
        offload_(
            [open, policy, acknowledged, calls = std::move(*calls)] {
                *open = policy::unacknowledged(policy::backtest(*policy, calls), acknowledged);
            },
            [this, call, policy, open] {
                if (open->empty()) return put_in_force(call, policy);
                std::string ids;
                for (const policy::Changed& changed : *open | std::views::take(20))
                    ids += (ids.empty() ? "" : ", ") + changed.id;
                respond_error(call, {ErrorCode::refused,
                                     fmt::format("it would let pass what people refused or changed "
                                                 "({}): {}; look at each and name it here",
                                                 open->size(), ids),
                                     "acknowledge"});
            });
    });
}

}  // namespace holdpoint::api
