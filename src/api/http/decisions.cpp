// What people do with requests.
#include "api/http/answers.h"
#include "api/wire/decide.h"
#include "api/wire/request.h"
#include "service/decide.h"
#include "service/follow_up.h"

namespace holdpoint::api {
namespace {

/// A person at a screen decides on what they saw; a page that cannot say what it showed is too old
/// or not ours. Scripts with a key may leave the digest out.
std::optional<Error> check_digest(const auth::Caller& caller,
                                  const core::DecisionCommand& command) {
    if (!caller.is_cookie || !command.digest.empty()) return std::nullopt;
    return Error{ErrorCode::invalid_argument, "is missing", "digest"};
}

/// Who gives a grant, and under which name it will be known.
std::optional<policy::GrantTerms> given_by(const auth::Caller& caller,
                                           std::optional<policy::GrantTerms> terms, Timestamp now) {
    if (!terms) return terms;
    terms->id = "gr_";
    append_ulid(terms->id, new_ulid(now));
    terms->by = caller.actor.name;
    return terms;
}

void append_result(std::string& out, const std::string& id,
                   const Result<service::Decided>& decided) {
    std::string body;
    int status = 200;
    if (decided && !decided->refusal) {
        body = ",\"request\":" + wire::to_json(*decided->request);
    } else {
        const Error& error = decided ? *decided->refusal : decided.error();
        const http::Response response =
            wire::to_response(error, decided ? decided->request.get() : nullptr);
        status = response.status;
        body = ',' + response.body.substr(1, response.body.size() - 2);
    }
    out += "{\"id\":";
    json::append_quoted(out, id);
    out += ",\"status\":" + std::to_string(status) + body + '}';
}

}  // namespace

void Api::decide(const CallPtr& call) {
    if (!has_no_query(call)) return;
    const std::optional<RequestId> id = read_request_id(call);
    if (!id) return;
    Body body;
    if (!read_body(call, body, false, decision_limits())) return;
    Result<wire::Decision> decision = wire::parse_decision(*body);
    if (!decision) return respond_error(call, decision.error());
    if (const std::optional<Error> wrong = check_digest(call->caller, decision->command))
        return respond_error(call, *wrong);
    std::optional<service::Idempotency> idempotency = read_idempotency(call);
    if (!idempotency) return;

    service::DecideCall decide{*id,
                               std::move(decision->command),
                               call->caller.actor,
                               std::move(*idempotency),
                               call->now,
                               given_by(call->caller, std::move(decision->grant), call->now)};
    store_.run([policy = policy_.current(), decide = std::move(decide)](
                   store::Transaction& tx) { return service::decide(tx, *policy, decide); },
               [call](Result<service::Decided> decided) { respond_decided(call, decided); });
}

void Api::decide_many(const CallPtr& call) {
    if (!has_no_query(call)) return;
    Body body;
    if (!read_body(call, body, false, decision_limits())) return;
    Result<std::vector<wire::BulkDecision>> decisions = wire::parse_decisions(*body);
    if (!decisions) return respond_error(call, decisions.error());

    // Each is judged alone; they share a transaction, and a refusal of one does not touch another.
    struct Judged {
        std::string id;
        Result<service::Decided> decided;
    };
    auto work = [policy = policy_.current(), decisions = std::move(*decisions),
                 caller = call->caller,
                 now = call->now](store::Transaction& tx) -> Result<std::vector<Judged>> {
        std::vector<Judged> results;
        for (const wire::BulkDecision& decision : decisions) {
            const std::optional<RequestId> id = RequestId::parse(decision.id);
            Result<service::Decided> decided =
                Error{ErrorCode::not_found, "no request has this id"};
            if (!decision.decision) {
                decided = decision.decision.error();
            } else if (id) {
                const wire::Decision& one = *decision.decision;
                const std::optional<Error> wrong = check_digest(caller, one.command);
                decided = wrong ? Result<service::Decided>(*wrong)
                                : service::decide(tx, *policy,
                                                  {*id,
                                                   one.command,
                                                   caller.actor,
                                                   {},
                                                   now,
                                                   given_by(caller, one.grant, now)});
            }
            // What the store itself cannot do fails the whole call, so that nothing is half done.
            const bool is_broken = !decided && (decided.error().code == ErrorCode::internal ||
                                                decided.error().code == ErrorCode::unavailable);
            if (is_broken) return decided.error();
            results.push_back({decision.id, std::move(decided)});
        }
        return results;
    };
    store_.run(std::move(work), [call](Result<std::vector<Judged>> results) {
        if (!results) return respond_error(call, results.error());
        std::string out = "{\"results\":[";
        for (std::size_t i = 0; i < results->size(); ++i) {
            if (i > 0) out += ',';
            append_result(out, (*results)[i].id, (*results)[i].decided);
        }
        respond_json(call, out + "]}");
    });
}

void Api::extend(const CallPtr& call) {
    if (!has_no_query(call)) return;
    const std::optional<RequestId> id = read_request_id(call);
    if (!id) return;
    Body body;
    if (!read_body(call, body)) return;
    const Result<std::int64_t> ms = wire::parse_extend(*body);
    if (!ms) return respond_error(call, ms.error());
    store_.run(
        [policy = policy_.current(), id = *id, ms = *ms, actor = call->caller.actor,
         now = call->now](store::Transaction& tx) {
            return service::extend(tx, *policy, id, ms, actor, now);
        },
        [call](Result<service::Decided> decided) { respond_decided(call, decided); });
}

}  // namespace holdpoint::api
