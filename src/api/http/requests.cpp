// What agents do with requests, and what everybody may read.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "api/http/answers.h"
#include "api/wire/decide.h"
#include "api/wire/errors.h"
#include "api/wire/query.h"
#include "api/wire/request.h"
#include "api/wire/submit.h"
#include "service/follow_up.h"
#include "service/inbox.h"
#include "service/read.h"
#include "service/submit.h"

namespace holdpoint::api {
namespace {

using core::RequestPtr;
using Requests = std::vector<RequestPtr>;

/// A wait ends with the credential that asked for it.
std::int64_t within_credential(const Call& call, std::int64_t wait_ms) {
    const std::optional<Timestamp>& ends = call.caller.expires_at;
    return ends ? std::clamp<std::int64_t>(*ends - call.now, 1, wait_ms) : wait_ms;
}

std::vector<RequestId> ids_of(const Requests& requests) {
    std::vector<RequestId> ids;
    for (const RequestPtr& request : requests) ids.push_back(request->id);
    return ids;
}

/// The last event a client has seen, from the header or, for browsers' first connection, the query.
Result<std::optional<std::int64_t>> parse_last_event(std::string_view text,
                                                     std::string_view field) {
    if (text.empty()) return std::nullopt;
    std::int64_t seq = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seq);
    if (error != std::errc() || end != text.data() + text.size() || seq < 0)
        return Error{ErrorCode::invalid_argument, "is not an event id", std::string(field)};
    return seq;
}

}  // namespace

void Api::submit(const CallPtr& call) {
    Body body;
    if (!read_body(call, body)) return;
    Result<core::Proposal> proposal = wire::parse_proposal(*body, "");
    if (!proposal) return respond_error(call, proposal.error());
    std::vector<core::Proposal> proposals;
    proposals.push_back(std::move(*proposal));
    propose(call, std::move(proposals), std::nullopt);
}

void Api::submit_batch(const CallPtr& call) {
    Body body;
    if (!read_body(call, body)) return;
    Result<std::vector<core::Proposal>> proposals = wire::parse_batch(*body);
    if (!proposals) return respond_error(call, proposals.error());
    propose(call, std::move(*proposals), BatchId::fresh(call->now));
}

void Api::propose(const CallPtr& call, std::vector<core::Proposal> proposals,
                  std::optional<BatchId> batch) {
    const Result<std::int64_t> wait_ms =
        wire::parse_wait(call->request.query, options_.wait_ms_max);
    if (!wait_ms) return respond_error(call, wait_ms.error());
    std::optional<service::Idempotency> idempotency = read_idempotency(call);
    if (!idempotency) return;

    service::SubmitCall submit;
    submit.proposals = std::move(proposals);
    for (std::size_t i = 0; i < submit.proposals.size(); ++i)
        submit.ids.push_back(RequestId::fresh(call->now));
    submit.batch = batch;
    submit.agent = call->caller.actor;
    submit.owner = call->caller.owner;
    submit.idempotency = std::move(*idempotency);
    submit.pending_max = options_.pending_max;
    submit.now = call->now;
    submit.draw = auth::random_share();
    const auto policy = policy_.current();
    service::Foreseen foreseen = service::foresee(*policy, submit);
    auto work = [policy, submit = std::move(submit),
                 foreseen = std::move(foreseen)](store::Transaction& tx) mutable {
        return service::submit(tx, *policy, submit, &foreseen);
    };
    auto done = [this, call, wait_ms = *wait_ms](Result<service::Submitted> submitted) {
        if (!submitted) return respond_error(call, submitted.error());
        const Shape shape{submitted->is_replay ? 200 : 201, submitted->is_replay, submitted->batch};
        if (wait_ms == 0 || are_settled(submitted->requests))
            return call->exchange->respond(render(shape, submitted->requests));
        polls_.answer(call->exchange, ids_of(submitted->requests), call->caller.actor,
                      within_credential(*call, wait_ms), shape);
    };
    store_.run(std::move(work), std::move(done));
}

void Api::get_request(const CallPtr& call) {
    const Result<std::int64_t> wait_ms =
        wire::parse_wait(call->request.query, options_.wait_ms_max);
    if (!wait_ms) return respond_error(call, wait_ms.error());
    const std::optional<RequestId> id = read_request_id(call);
    if (!id) return;
    if (*wait_ms > 0)
        return polls_.answer(call->exchange, {*id}, call->caller.actor,
                             within_credential(*call, *wait_ms), {});
    if (!call->caller.actor.is_agent) return get_for_person(call, *id);
    store_.run([id = *id, actor = call->caller.actor](
                   store::Transaction& tx) { return service::read(tx, id, actor); },
               [call](Result<RequestPtr> request) {
                   if (!request) return respond_error(call, request.error());
                   call->exchange->respond(render({}, {*request}));
               });
}

void Api::get_for_person(const CallPtr& call, const RequestId& id) {
    struct Found {
        RequestPtr request;
        std::optional<Timestamp> snoozed_until;
    };
    auto work = [id, actor = call->caller.actor,
                 now = call->now](store::Transaction& tx) -> Result<Found> {
        Result<RequestPtr> request = service::read(tx, id, actor);
        if (!request) return request.error();
        const Result<std::optional<Timestamp>> until =
            service::snoozed_until(tx, **request, actor, now);
        if (!until) return until.error();
        return Found{std::move(*request), *until};
    };
    store_.run(std::move(work), [this, call](const Result<Found>& found) {
        if (!found) return respond_error(call, found.error());
        const wire::Aside aside{presence_.viewers(found->request->id, clock_.now()),
                                found->snoozed_until};
        std::string body;
        wire::append_request(body, *found->request, &aside);
        respond_json(call, std::move(body));
    });
}

void Api::get_batch(const CallPtr& call) {
    const Result<std::int64_t> wait_ms =
        wire::parse_wait(call->request.query, options_.wait_ms_max);
    if (!wait_ms) return respond_error(call, wait_ms.error());
    const std::optional<BatchId> id = BatchId::parse(call->id);
    const Error unknown{ErrorCode::not_found, "no batch has this id"};
    if (!id) return respond_error(call, unknown);
    auto done = [this, call, id = *id, unknown, wait_ms = *wait_ms](Result<Requests> requests) {
        if (!requests) return respond_error(call, requests.error());
        const bool is_visible =
            !requests->empty() && service::may_see(call->caller.actor, *requests->front());
        if (!is_visible) return respond_error(call, unknown);
        const Shape shape{200, false, id};
        if (wait_ms == 0 || are_settled(*requests))
            return call->exchange->respond(render(shape, *requests));
        polls_.answer(call->exchange, ids_of(*requests), call->caller.actor,
                      within_credential(*call, wait_ms), shape);
    };
    store_.run([id = *id](store::Transaction& tx) { return tx.batch(id); }, std::move(done));
}

void Api::get_timeline(const CallPtr& call) {
    if (!has_no_query(call)) return;
    const std::optional<RequestId> id = read_request_id(call);
    if (!id) return;
    auto work = [id = *id, actor = call->caller.actor](
                    store::Transaction& tx) -> Result<std::vector<store::StoredEvent>> {
        if (Result<RequestPtr> request = service::read(tx, id, actor); !request)
            return request.error();
        return tx.events_of(id);
    };
    store_.run(std::move(work), [call](Result<std::vector<store::StoredEvent>> events) {
        if (!events) return respond_error(call, events.error());
        respond_json(call, wire::events_json(*events));
    });
}

void Api::list(const CallPtr& call) {
    Result<store::ListQuery> query = wire::parse_list(call->request.query);
    if (!query) return respond_error(call, query.error());
    query->filter = service::visible_to(call->caller.actor, std::move(query->filter));
    if (query->filter.snoozed) {
        if (call->caller.actor.is_agent)
            return respond_error(
                call, {ErrorCode::invalid_argument, "only people put things off", "snoozed"});
        query->filter.snoozed->person = call->caller.actor.id;
        query->filter.snoozed->now = call->now;
    }
    auto work = [query = std::move(*query), actor = call->caller.actor,
                 now = call->now](store::Transaction& tx) {
        return service::personal_list(tx, query, actor, now);
    };
    store_.run(std::move(work), [this, call](const Result<service::PersonalPage>& personal) {
        if (!personal) return respond_error(call, personal.error());
        const store::ListPage& page = personal->page;
        std::string body = "{\"requests\":[";
        wire::Aside aside;
        for (std::size_t i = 0; i < page.requests.size(); ++i) {
            if (i > 0) body += ',';
            const core::Request& request = *page.requests[i];
            if (call->caller.actor.is_agent) {
                wire::append_request(body, request);
                continue;
            }
            const auto snoozed = personal->snoozed.find(request.row);
            aside.snoozed_until =
                snoozed == personal->snoozed.end() ? std::nullopt : std::optional(snoozed->second);
            aside.viewers = presence_.viewers(request.id, call->now);
            wire::append_request(body, request, &aside);
        }
        body += "],\"next_cursor\":";
        body +=
            page.next_before_row == 0 ? "null" : '"' + wire::cursor_of(page.next_before_row) + '"';
        body += '}';
        respond_json(call, std::move(body));
    });
}

void Api::cancel(const CallPtr& call) {
    if (!has_no_query(call)) return;
    const std::optional<RequestId> id = read_request_id(call);
    if (!id) return;
    Body body;
    if (!read_body(call, body, true)) return;
    const Result<std::string> reason = wire::parse_cancel(*body);
    if (!reason) return respond_error(call, reason.error());
    store_.run(
        [policy = policy_.current(), id = *id, reason = *reason, actor = call->caller.actor,
         now = call->now](store::Transaction& tx) {
            return service::cancel(tx, *policy, id, reason, actor, now);
        },
        [call](Result<service::Decided> decided) { respond_decided(call, decided); });
}

void Api::report(const CallPtr& call) {
    if (!has_no_query(call)) return;
    const std::optional<RequestId> id = read_request_id(call);
    if (!id) return;
    Body body;
    if (!read_body(call, body)) return;
    const Result<wire::Reported> reported = wire::parse_report(*body);
    if (!reported) return respond_error(call, reported.error());
    store_.run(
        [policy = policy_.current(), id = *id, reported = *reported, actor = call->caller.actor,
         now = call->now](store::Transaction& tx) {
            return service::report(tx, *policy, id, reported.report, reported.usage, actor, now);
        },
        [call](Result<service::Decided> decided) { respond_decided(call, decided); });
}

void Api::events(const CallPtr& call) {
    wire::Query query(call->request.query);
    store::ListFilter filter = wire::read_filter(query);
    const std::string last_in_query = query.text("last_event_id").value_or("");
    if (Result<void> ok = query.finish(); !ok) return respond_error(call, ok.error());
    const std::string_view header = call->request.header("last-event-id");
    if (call->request.header_count("last-event-id") > 1)
        return respond_error(
            call, {ErrorCode::invalid_argument, "was sent more than once", "Last-Event-ID"});
    // A browser that reconnects by itself repeats the address it began with: the header is newer.
    const Result<std::optional<std::int64_t>> after =
        header.empty() ? parse_last_event(last_in_query, "last_event_id")
                       : parse_last_event(header, "Last-Event-ID");
    if (!after) return respond_error(call, after.error());
    if (is_stopping_)
        return call->exchange->respond(wire::to_response(
            {ErrorCode::unavailable, "the server is stopping; ask again", "", 1}));
    streams_.start(*call->exchange, call->caller, std::move(filter), *after, call->now);
}

}  // namespace holdpoint::api
