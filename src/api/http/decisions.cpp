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
    if (!read_body(call, body)) return;
    Result<core::DecisionCommand> command = wire::parse_decision(*body);
    if (!command) return respond_error(call, command.error());
    if (const std::optional<Error> wrong = check_digest(call->caller, *command))
        return respond_error(call, *wrong);
    std::optional<service::Idempotency> idempotency = read_idempotency(call);
    if (!idempotency) return;

    service::DecideCall decide{*id, std::move(*command), call->caller.actor,
                               std::move(*idempotency), call->now};
    store_.run([decide = std::move(decide)](
                   store::Transaction& tx) { return service::decide(tx, decide); },
               [call](Result<service::Decided> decided) { respond_decided(call, decided); });
}

void Api::decide_many(const CallPtr& call) {
    if (!has_no_query(call)) return;
    Body body;
    if (!read_body(call, body)) return;
    Result<std::vector<wire::BulkDecision>> decisions = wire::parse_decisions(*body);
    if (!decisions) return respond_error(call, decisions.error());

    // Each is judged alone; they share a transaction, and a refusal of one does not touch another.
    struct Judged {
        std::string id;
        Result<service::Decided> decided;
    };
    auto work = [decisions = std::move(*decisions), caller = call->caller,
                 now = call->now](store::Transaction& tx) -> Result<std::vector<Judged>> {
        std::vector<Judged> results;
        for (const wire::BulkDecision& decision : decisions) {
            const std::optional<RequestId> id = RequestId::parse(decision.id);
            Result<service::Decided> decided =
                Error{ErrorCode::not_found, "no request has this id"};
            if (id && decision.command) {
                const std::optional<Error> wrong = check_digest(caller, *decision.command);
                decided =
                    wrong ? Result<service::Decided>(*wrong)
                          : service::decide(tx, {*id, *decision.command, caller.actor, {}, now});
            } else if (!decision.command) {
                decided = decision.command.error();
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
    store_.run([id = *id, ms = *ms, actor = call->caller.actor, now = call->now](
                   store::Transaction& tx) { return service::extend(tx, id, ms, actor, now); },
               [call](Result<service::Decided> decided) { respond_decided(call, decided); });
}

}  // namespace holdpoint::api
