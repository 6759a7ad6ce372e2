// What helps people on their way to a decision: who else looks, what can wait, what came before.
#include "service/inbox.h"
#include "api/http/answers.h"
#include "api/wire/request.h"
#include "api/wire/write.h"
#include "base/json_fields.h"
#include "core/subject.h"
#include "service/read.h"

namespace holdpoint::api {
namespace {

using core::RequestPtr;
constexpr int similar_looks_max = 2000;
constexpr int similar_max = 20;

std::string similar_json(const std::vector<RequestPtr>& requests) {
    std::string out = "{\"similar\":[";
    for (std::size_t i = 0; i < requests.size(); ++i) {
        if (i > 0) out += ',';
        const core::Request& request = *requests[i];
        wire::ObjectWriter writer(out);
        writer.word("id", request.id.text());
        writer.text("headline", request.headline);
        writer.word("state", to_string(request.state));
        if (request.outcome)
            writer.word("outcome", to_string(*request.outcome));
        else
            writer.raw("outcome", "null");
        writer.word("risk", to_string(request.risk));
        writer.raw("arguments", core::changeable_part(request.kind, request.subject));
        writer.text_or_null("by", request.decision ? request.decision->by : "");
        writer.time("created_at", request.created_at);
        writer.time("settled_at", request.settled_at);
        writer.close();
    }
    return out + "]}";
}

}  // namespace

std::string Api::viewers_json(const RequestId& id) {
    std::string out;
    wire::ObjectWriter writer(out);
    writer.word("request", id.text());
    wire::append_viewers(writer.name("viewers"), presence_.viewers(id, clock_.now()));
    writer.close();
    return out;
}

void Api::announce_presence(const RequestId& id) {
    streams_.tell_people("event: presence\ndata: " + viewers_json(id) + "\n\n");
}

void Api::tell_presence(const CallPtr& call) {
    if (!has_no_query(call)) return;
    const std::optional<RequestId> id = read_request_id(call);
    if (!id) return;
    Body body;
    if (!read_body(call, body, true)) return;
    json::Fields fields(*body, "");
    const bool is_looking = fields.boolean("looking").value_or(true);
    if (Result<void> ok = fields.finish(); !ok) return respond_error(call, ok.error());
    store_.run([id = *id, actor = call->caller.actor](
                   store::Transaction& tx) { return service::read(tx, id, actor); },
               [this, call, is_looking](Result<RequestPtr> request) {
                   if (!request) return respond_error(call, request.error());
                   const core::Actor& person = call->caller.actor;
                   const RequestId& seen = (*request)->id;
                   if (presence_.note(seen, person.id, person.name, is_looking, clock_.now()))
                       announce_presence(seen);
                   respond_json(call, viewers_json(seen));
               });
}

void Api::snooze(const CallPtr& call) {
    if (!has_no_query(call)) return;
    const std::optional<RequestId> id = read_request_id(call);
    if (!id) return;
    Body body;
    if (!read_body(call, body)) return;
    json::Fields fields(*body, "");
    const json::value* given = fields.required("until");
    std::optional<Timestamp> until;
    if (given && !given->is_null()) {
        const Result<Timestamp> time =
            given->is_string()
                ? parse_timestamp({given->get_string().data(), given->get_string().size()})
                : Result<Timestamp>(Error{ErrorCode::invalid_argument, "must be a time or null"});
        if (time)
            until = *time;
        else
            fields.refuse("until", time.error().message);
    }
    if (Result<void> ok = fields.finish(); !ok) return respond_error(call, ok.error());
    store_.run(
        [id = *id, until, actor = call->caller.actor, now = call->now](store::Transaction& tx) {
            return service::snooze(tx, id, until, actor, now);
        },
        [this, call, until](const Result<service::Decided>& decided) {
            if (!decided || decided->refusal) return respond_decided(call, decided);
            const wire::Aside aside{presence_.viewers(decided->request->id, clock_.now()), until};
            std::string out;
            wire::append_request(out, *decided->request, &aside);
            respond_json(call, std::move(out));
        });
}

void Api::similar(const CallPtr& call) {
    if (!has_no_query(call)) return;
    const std::optional<RequestId> id = read_request_id(call);
    if (!id) return;
    auto work = [id = *id, actor = call->caller.actor](
                    store::Transaction& tx) -> Result<std::vector<RequestPtr>> {
        const Result<RequestPtr> request = service::read(tx, id, actor);
        if (!request) return request.error();
        return tx.similar(**request, similar_looks_max, similar_max);
    };
    store_.run(std::move(work), [call](Result<std::vector<RequestPtr>> requests) {
        if (!requests) return respond_error(call, requests.error());
        respond_json(call, similar_json(*requests));
    });
}

}  // namespace holdpoint::api
