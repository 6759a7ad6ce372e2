#include "core/digest.h"

#include "base/json.h"
#include "base/sha256.h"
#include "core/json_text.h"

namespace holdpoint::core {

std::string digest_of(const Request& request) {
    // Members in canonical order; every value is canonical text already.
    std::string text = "holdpoint.request.v1\n{\"agent\":";
    json::append_quoted(text, request.agent);
    text += ",\"agent_id\":\"";
    text += request.agent_id.text();
    text += "\",\"expires_at\":\"";
    append_timestamp(text, request.created_at + request.timing.timeout_ms);
    text += "\",\"kind\":\"";
    text += to_string(request.kind);
    text += "\",\"subject\":";
    if (request.kind == Kind::action) {
        text += "{\"arguments\":";
        text += member_text(request.subject.text, "arguments");
        text += ",\"tool\":";
        json::append_quoted(text, request.tool);
        text += '}';
    } else {
        text += request.subject.text;
    }
    text += '}';
    return "sha256:" + hex(sha256(text));
}

}  // namespace holdpoint::core
