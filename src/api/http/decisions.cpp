// What people do with requests.
#include <fmt/format.h>

#include "api/http/answers.h"
#include "api/http/passkey_proof.h"
#include "api/wire/decide.h"
#include "api/wire/request.h"
#include "service/decide.h"
#include "service/expire.h"
#include "service/follow_up.h"
#include "service/hold.h"
#include "service/passkeys.h"

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

/// A hold longer than this server allows is refused, not shortened: the page shows a countdown.
std::optional<Error> check_undo(const wire::Decision& decision, std::int64_t undo_ms_max) {
    if (decision.undo_ms <= undo_ms_max) return std::nullopt;
    if (undo_ms_max == 0)
        return Error{ErrorCode::refused, "this server holds no decisions", "undo_s"};
    return Error{ErrorCode::refused,
                 fmt::format("this server holds a decision for {} s at most", undo_ms_max / 1000),
                 "undo_s"};
}

/// Each decision of a call is remembered alone, under a key that no caller can send: those that
/// took effect are not repeated with the call, those that did not had no effect that could be.
service::Idempotency key_of_part(const service::Idempotency& whole, std::size_t index) {
    if (whole.key.empty()) return {};
    return {fmt::format("{} {}", whole.key, index), whole.call_hash};
}

/// The field of an error as a path from the top of the body, whoever found it.
Error placed(Error error, std::size_t place) {
    const bool is_placed = error.field.empty() || error.field.starts_with("decisions[");
    if (!is_placed) error.field = fmt::format("decisions[{}].{}", place, error.field);
    return error;
}

void append_result(std::string& out, std::size_t place, const std::string& id,
                   const Result<service::Decided>& decided) {
    std::string body;
    int status = 200;
    if (decided && !decided->refusal) {
        body = ",\"request\":" + wire::to_json(*decided->request);
    } else {
        const Error error = placed(decided ? *decided->refusal : decided.error(), place);
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
    if (const std::optional<Error> wrong = check_undo(*decision, options_.undo_ms_max))
        return respond_error(call, *wrong);
    std::optional<service::Idempotency> idempotency = read_idempotency(call);
    if (!idempotency) return;

    service::DecideCall decide{*id,
                               std::move(decision->command),
                               call->caller.actor,
                               std::move(*idempotency),
                               call->now,
                               given_by(call->caller, std::move(decision->grant), call->now),
                               decision->undo_ms};
    if (decision->passkey) return decide_with_passkey(call, std::move(decide), *decision->passkey);
    store_.run([policy = policy_.current(), decide = std::move(decide)](
                   store::Transaction& tx) { return service::decide(tx, *policy, decide); },
               [call](Result<service::Decided> decided) { respond_decided(call, decided); });
}

void Api::decide_with_passkey(const CallPtr& call, service::DecideCall decide,
                              const json::value& given) {
    Result<webauthn::Assertion> assertion = webauthn::read_assertion(given, "passkey");
    if (!assertion) return respond_error(call, assertion.error());
    const std::string challenge = webauthn::challenge_in(assertion->client_data);
    // The digest is part of what is signed: a passkey without one would confirm anything.
    if (decide.command.digest.empty())
        return respond_error(call, {ErrorCode::invalid_argument, "is missing", "digest"});
    const auth::Challenges::Purpose purpose =
        to_decide(decide.person.id, decide.id, decide.command.digest, decide.command);
    if (Result<void> ok = challenges_.take(challenge, purpose, call->now); !ok)
        return repeat_decision(
            call, std::move(decide),
            {ErrorCode::permission_denied, ok.error().message, "passkey.response.clientDataJSON"});
    auto work = [policy = policy_.current(), party = options_.relying_party, challenge,
                 assertion = std::move(*assertion),
                 decide = std::move(decide)](store::Transaction& tx) -> Result<service::Decided> {
        const Result<service::UsedPasskey> used =
            service::use_passkey(tx, party, challenge, assertion, decide.person.id, decide.now);
        if (!used) return used.error();
        service::DecideCall confirmed = decide;
        confirmed.command.proof = proof_of(used->passkey, assertion);
        return service::decide(tx, *policy, confirmed);
    };
    store_.run(std::move(work), [this, call, challenge](Result<service::Decided> decided) {
        if (!decided) {
            challenges_.give_back(challenge);
            Error error = decided.error();
            if (error.code == ErrorCode::unauthenticated) error.code = ErrorCode::permission_denied;
            return respond_error(call, error);
        }
        respond_decided(call, decided);
    });
}

void Api::repeat_decision(const CallPtr& call, service::DecideCall decide, Error refused) {
    // Whoever asks again because the answer was lost has used the challenge up with the first call.
    auto work = [policy = policy_.current(), decide = std::move(decide),
                 refused = std::move(refused)](store::Transaction& tx) -> Result<service::Decided> {
        const auto before = service::find_replay(tx, decide.person.id, decide.idempotency);
        if (!before) return before.error();
        if (!*before) return refused;
        return service::decide(tx, *policy, decide);
    };
    store_.run(std::move(work),
               [call](Result<service::Decided> decided) { respond_decided(call, decided); });
}

void Api::decide_many(const CallPtr& call) {
    if (!has_no_query(call)) return;
    Body body;
    if (!read_body(call, body, false, decision_limits())) return;
    Result<std::vector<wire::BulkDecision>> decisions = wire::parse_decisions(*body);
    if (!decisions) return respond_error(call, decisions.error());
    std::optional<service::Idempotency> idempotency = read_idempotency(call);
    if (!idempotency) return;
    authenticator_.count_more_decisions(call->caller, decisions->size() - 1);

    // Each is judged alone; they share a transaction, and a refusal of one does not touch another.
    struct Judged {
        std::string id;
        Result<service::Decided> decided;
    };
    struct JudgedAll {
        std::vector<Judged> each;
        bool is_replay = false;
    };
    auto work = [policy = policy_.current(), decisions = std::move(*decisions),
                 idempotency = std::move(*idempotency), caller = call->caller,
                 undo_ms_max = options_.undo_ms_max,
                 now = call->now](store::Transaction& tx) -> Result<JudgedAll> {
        const auto before = service::find_replay(tx, caller.actor.id, idempotency);
        if (!before) return before.error();
        JudgedAll results;
        results.is_replay = before->has_value();
        for (std::size_t i = 0; i < decisions.size(); ++i) {
            const wire::BulkDecision& decision = decisions[i];
            const std::optional<RequestId> id = RequestId::parse(decision.id);
            Result<service::Decided> decided =
                Error{ErrorCode::not_found, "no request has this id"};
            if (!decision.decision) {
                decided = decision.decision.error();
            } else if (id) {
                const wire::Decision& one = *decision.decision;
                std::optional<Error> wrong = check_digest(caller, one.command);
                if (!wrong) wrong = check_undo(one, undo_ms_max);
                if (!wrong && one.passkey)
                    wrong = Error{ErrorCode::refused, "a passkey confirms one decision at a time",
                                  "passkey"};
                decided = wrong ? Result<service::Decided>(*wrong)
                                : service::decide(
                                      tx, *policy,
                                      {*id, one.command, caller.actor, key_of_part(idempotency, i),
                                       now, given_by(caller, one.grant, now), one.undo_ms});
            }
            // What the store itself cannot do fails the whole call, so that nothing is half done.
            const bool is_broken = !decided && (decided.error().code == ErrorCode::internal ||
                                                decided.error().code == ErrorCode::unavailable);
            if (is_broken) return decided.error();
            results.each.push_back({decision.id, std::move(decided)});
        }
        if (!results.is_replay)
            if (Result<void> ok = service::remember(tx, caller.actor.id, idempotency, {}, now); !ok)
                return ok.error();
        return results;
    };
    store_.run(std::move(work), [call](Result<JudgedAll> results) {
        if (!results) return respond_error(call, results.error());
        http::Response response;
        response.body = "{\"results\":[";
        for (std::size_t i = 0; i < results->each.size(); ++i) {
            if (i > 0) response.body += ',';
            append_result(response.body, i, results->each[i].id, results->each[i].decided);
        }
        response.body += "]}";
        if (results->is_replay) response.headers.emplace_back("Idempotency-Replayed", "true");
        call->exchange->respond(std::move(response));
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
    std::optional<service::Idempotency> idempotency = read_idempotency(call);
    if (!idempotency) return;
    auto work = [policy = policy_.current(), id = *id, ms = *ms, actor = call->caller.actor,
                 idempotency = std::move(*idempotency),
                 now = call->now](store::Transaction& tx) -> Result<service::Decided> {
        const auto before = service::find_replay(tx, actor.id, idempotency);
        if (!before) return before.error();
        if (*before) {
            Result<core::RequestPtr> stands = service::load_now(tx, *policy, id, now);
            if (!stands) return stands.error();
            return service::Decided{std::move(*stands), std::nullopt, true};
        }
        Result<service::Decided> extended = service::extend(tx, *policy, id, ms, actor, now);
        if (!extended || extended->refusal) return extended;
        if (Result<void> ok = service::remember(tx, actor.id, idempotency, {id}, now); !ok)
            return ok.error();
        return extended;
    };
    store_.run(std::move(work),
               [call](Result<service::Decided> decided) { respond_decided(call, decided); });
}

void Api::undo(const CallPtr& call) {
    if (!has_no_query(call) || !has_no_fields(call)) return;
    const std::optional<RequestId> id = read_request_id(call);
    if (!id) return;
    store_.run([policy = policy_.current(), id = *id, actor = call->caller.actor, now = call->now](
                   store::Transaction& tx) { return service::undo(tx, *policy, id, actor, now); },
               [call](Result<service::Decided> decided) { respond_decided(call, decided); });
}

}  // namespace holdpoint::api
