// Signed-in browsers: which there are, and how to end one.
#include <spdlog/spdlog.h>

#include "api/http/answers.h"
#include "api/http/list_answer.h"
#include "api/wire/query.h"
#include "api/wire/write.h"
#include "base/json_fields.h"
#include "service/identity.h"

namespace holdpoint::api {
namespace {

std::string entry_json(const service::SessionEntry& entry, const std::string& current) {
    const store::Session& session = entry.session;
    std::string out;
    wire::ObjectWriter writer(out);
    writer.word("id", session.id.text());
    writer.text("name", entry.name);
    writer.time("created_at", session.created_at);
    writer.time("last_seen_at", session.last_seen_at);
    writer.time("expires_at", session.expires_at);
    writer.text_or_null("address", session.address);
    writer.text_or_null("user_agent", session.user_agent);
    writer.boolean("current", session.hash == current);
    writer.close();
    return out;
}

}  // namespace

void Api::list_sessions(const CallPtr& call) {
    wire::Query query(call->request.query);
    const std::string name = query.text("user").value_or(call->caller.actor.name);
    if (Result<void> ok = query.finish(); !ok) return respond_error(call, ok.error());
    if (name != call->caller.actor.name && call->caller.role != store::Role::admin)
        return respond_error(
            call, {ErrorCode::permission_denied, "only an admin sees somebody else's sessions"});
    store_.run([name, now = call->now](
                   store::Transaction& tx) { return service::list_sessions(tx, name, now); },
               [call](Result<std::vector<service::SessionEntry>> entries) {
                   respond_list(call, "sessions", entries, [&](const auto& one) {
                       return entry_json(one, call->caller.credential);
                   });
               });
}

void Api::revoke_session(const CallPtr& call) {
    if (!has_no_query(call) || !has_no_fields(call)) return;
    const std::optional<SessionId> id = SessionId::parse(call->id);
    if (!id) return respond_error(call, {ErrorCode::not_found, "no session has this id"});
    store_.run(
        [id = *id, caller = call->caller.actor.id,
         is_admin = call->caller.role == store::Role::admin,
         now = call->now](store::Transaction& tx) {
            return service::revoke_session(tx, id, caller, is_admin, now);
        },
        [this, call](Result<service::SessionEntry> entry) {
            if (!entry) return respond_error(call, entry.error());
            identity_ended(entry->session.principal);
            spdlog::info("session {} of `{}` ended by `{}`", entry->session.id.text(), entry->name,
                         call->caller.actor.name);
            respond_json(call, entry_json(*entry, call->caller.credential));
        });
}

}  // namespace holdpoint::api
