#include "core/digest.h"

#include "base/json.h"
#include "base/sha256.h"
#include "core/json_text.h"

namespace holdpoint::core {

std::string digest_of(const Request& request) {
    // Members in canonical order; every value is canonical text already.
    std::string text;
    // The subject, and what the names and short texts take: growing would copy all of it.
    text.reserve(320 + request.subject.text.size() + request.agent.size() + request.tool.size());
    text += "holdpoint.request.v1\n{\"agent\":";
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

std::string confirmation_code(std::string_view digest) {
    const Sha256 hash = sha256("holdpoint.confirm.v1\n" + std::string(digest));
    std::uint32_t number = 0;
    for (std::size_t i = 0; i < 4; ++i) number = number << 8 | hash[i];
    std::string code = std::to_string(number % 1'000'000);
    return std::string(6 - code.size(), '0') + code;
}

}  // namespace holdpoint::core
