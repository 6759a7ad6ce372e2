// The routes that older clients know (requirement W2): other names, the same road.
#include <fmt/format.h>

#include <algorithm>

#include "api/http/answers.h"
#include "api/wire/query.h"
#include "api/wire/request.h"
#include "api/wire/write.h"
#include "base/json_fields.h"
#include "core/json_text.h"
#include "core/subject.h"
#include "service/read.h"

namespace holdpoint::api {
namespace {

using core::RequestPtr;
using wire::ObjectWriter;

constexpr int alias_page = 20;
constexpr std::size_t alias_requests_max = 1000;
constexpr std::size_t alias_bytes_max = 4 << 20;

std::size_t bytes_of(const core::Request& request) {
    return request.subject.text.size() + request.context.text.size() + request.metadata.text.size();
}

/// These clients know no pages, so they get everything up to a bound, oldest first: of what waits
/// the oldest, which comes first, and the next ones when it is answered; of what is settled the
/// newest.
Result<std::vector<RequestPtr>> list_all(store::Transaction& tx, store::ListFilter filter) {
    std::vector<RequestPtr> all;
    std::size_t bytes = 0;
    const bool is_pending = filter.state == core::State::pending;
    store::ListQuery query{std::move(filter), 0, alias_page};
    if (is_pending) query.after_row = 0;
    bool has_more = true;
    while (has_more) {
        const Result<store::ListPage> page = tx.list(query);
        if (!page) return page.error();
        for (const RequestPtr& request : page->requests) {
            bytes += bytes_of(*request);
            has_more = all.size() < alias_requests_max && (bytes <= alias_bytes_max || all.empty());
            if (!has_more) break;
            all.push_back(request);
        }
        query.before_row = page->next_before_row;
        if (is_pending) query.after_row = page->next_after_row;
        has_more = has_more && (page->next_before_row != 0 || page->next_after_row != 0);
    }
    if (!is_pending) std::ranges::reverse(all);
    return all;
}

std::string_view arguments_of(const core::Request& request) {
    return core::changeable_part(request.kind, request.subject);
}

template <class Append>
std::string to_array(const std::vector<RequestPtr>& requests, Append append) {
    std::string out = "[";
    for (std::size_t i = 0; i < requests.size(); ++i) {
        if (i > 0) out += ',';
        append(out, *requests[i]);
    }
    return out + ']';
}

void append_approval(std::string& out, const core::Request& request) {
    ObjectWriter writer(out);
    writer.word("id", request.id.text());
    writer.text_or_null("toolName", request.tool);
    writer.raw("arguments", arguments_of(request));
    writer.time("requestedAt", request.created_at);
    writer.text_or_null("sessionId", request.session);
    const std::string_view prompt = core::member_text(request.context.text, "user_prompt");
    writer.raw("userPrompt", prompt.empty() ? "null" : prompt);
    writer.close();
}

/// These clients know three states; everything that did not release is a denial to them.
std::string_view old_status(const core::Request& request) {
    if (request.state == core::State::pending) return "pending";
    return request.is_released ? "approved" : "denied";
}

void append_pending(std::string& out, const core::Request& request) {
    ObjectWriter writer(out);
    const std::string id = request.id.text();
    writer.word("approvalId", id);
    writer.text_or_null("threadId", request.thread);
    writer.word("eventIdToWaitFor", "approval-" + id);
    writer.text_or_null("toolName", request.tool);
    writer.raw("toolInput", arguments_of(request));
    const std::string_view call_id = core::member_text(request.metadata.text, "tool_call_id");
    writer.raw("toolCallId", call_id.empty() ? "null" : call_id);
    writer.word("status", old_status(request));
    writer.time("createdAt", request.created_at);
    writer.time("expiresAt", request.expires_at);
    writer.close();
}

std::string old_answer(const service::Decided& decided) {
    std::string out;
    ObjectWriter writer(out);
    writer.boolean("success", true);
    writer.text("message", decided.request->outcome
                               ? fmt::format("request {}", to_string(*decided.request->outcome))
                               : "decision recorded; more people are needed");
    wire::append_request(writer.name("request"), *decided.request);
    writer.close();
    return out;
}

}  // namespace

void Api::alias_list(const CallPtr& call) {
    if (!has_no_query(call)) return;
    store::ListFilter filter;
    filter.state = core::State::pending;
    filter.kind = core::Kind::action;
    filter = service::visible_to(call->caller.actor, std::move(filter));
    store_.run([filter](store::Transaction& tx) { return list_all(tx, filter); },
               [call](Result<std::vector<RequestPtr>> requests) {
                   if (!requests) return respond_error(call, requests.error());
                   respond_json(call, to_array(*requests, append_approval));
               });
}

void Api::alias_pending(const CallPtr& call) {
    wire::Query query(call->request.query);
    store::ListFilter filter;
    filter.thread = query.text("threadId");
    filter.user = query.text("userId");
    filter.kind = core::Kind::action;
    const std::string status = query.text("status").value_or("pending");
    if (status != "pending" && status != "approved" && status != "denied")
        query.refuse("status", "must be pending, approved or denied");
    if (Result<void> ok = query.finish(); !ok) return respond_error(call, ok.error());
    filter.state = status == "pending" ? core::State::pending : core::State::settled;
    if (status != "pending") filter.is_released = status == "approved";
    filter = service::visible_to(call->caller.actor, std::move(filter));
    store_.run([filter](store::Transaction& tx) { return list_all(tx, filter); },
               [call](Result<std::vector<RequestPtr>> requests) {
                   if (!requests) return respond_error(call, requests.error());
                   respond_json(call, to_array(*requests, append_pending));
               });
}

void Api::decide_as_alias(const CallPtr& call, const std::string& id_text,
                          core::DecisionCommand command) {
    // A person at a screen decides on what they saw, and these routes have no place to say it.
    if (call->caller.is_cookie)
        return respond_error(call, {ErrorCode::permission_denied,
                                    "a browser decides at `/v1/requests/{id}/decision`, where it "
                                    "says what was seen; this route is for keys"});
    const std::optional<RequestId> id = RequestId::parse(id_text);
    if (!id) return respond_error(call, {ErrorCode::not_found, "no request has this id"});
    core::Actor person = call->caller.actor;
    person.via = "alias";
    // These clients know no digest, so they can only approve what nobody has changed meanwhile.
    service::DecideCall decide{*id, std::move(command), std::move(person), {}, call->now};
    store_.run([policy = policy_.current(), decide = std::move(decide)](
                   store::Transaction& tx) { return service::decide(tx, *policy, decide); },
               [call](Result<service::Decided> decided) {
                   if (!decided || decided->refusal) return respond_decided(call, decided);
                   respond_json(call, old_answer(*decided));
               });
}

void Api::alias_approve(const CallPtr& call) {
    if (!has_no_query(call)) return;
    Body body;
    if (!read_body(call, body, true)) return;
    json::Fields fields(*body, "");
    core::DecisionCommand command;
    command.kind = core::DecisionKind::approve;
    if (const json::value* changed = fields.any("modifiedArguments");
        changed && !changed->is_null()) {
        if (!changed->is_object()) fields.refuse("modifiedArguments", "must be an object");
        command.kind = core::DecisionKind::modify;
        command.replacement.text = json::canonical(*changed);
        command.replacement_kind = core::Kind::action;
    }
    command.note = fields.text("comment", {.max = 2000}).value_or("");
    if (Result<void> ok = fields.finish(); !ok) return respond_error(call, ok.error());
    decide_as_alias(call, call->id, std::move(command));
}

void Api::alias_reject(const CallPtr& call) {
    wire::Query query(call->request.query);
    const std::optional<std::string> in_query = query.text("reason", 2000);
    if (Result<void> ok = query.finish(); !ok) return respond_error(call, ok.error());
    Body body;
    if (!read_body(call, body, true)) return;
    json::Fields fields(*body, "");
    core::DecisionCommand command;
    command.kind = core::DecisionKind::reject;
    const std::optional<std::string> in_body = fields.text("reason", {.max = 2000});
    if (in_body && in_query) fields.refuse("reason", "stands in the body and in the query");
    if (Result<void> ok = fields.finish(); !ok) return respond_error(call, ok.error());
    command.reason = in_body ? *in_body : in_query.value_or("");
    decide_as_alias(call, call->id, std::move(command));
}

void Api::alias_agent_approve(const CallPtr& call) {
    if (!has_no_query(call)) return;
    Body body;
    if (!read_body(call, body)) return;
    json::Fields fields(*body, "");
    const std::string id =
        fields.required_text("approvalId", {.min = 1, .max = 100, .is_one_line = true});
    const std::optional<bool> is_approved = fields.boolean("approved");
    if (!is_approved && !fields.has_failed()) fields.refuse("approved", "is missing");
    const std::string reason = fields.text("reason", {.max = 2000}).value_or("");
    if (Result<void> ok = fields.finish(); !ok) return respond_error(call, ok.error());
    core::DecisionCommand command;
    command.kind = *is_approved ? core::DecisionKind::approve : core::DecisionKind::reject;
    (*is_approved ? command.note : command.reason) = reason;
    decide_as_alias(call, id, std::move(command));
}

}  // namespace holdpoint::api
