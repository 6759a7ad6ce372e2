#include "cli/change.h"

#include <fmt/format.h>

#include "cli/json_text.h"
#include "cli/proposal.h"

namespace holdpoint::cli {

std::optional<Error> change_refusal(const Request& request) {
    if (changeable(request).is_null())
        return Error{ErrorCode::refused, fmt::format("a request of kind {} cannot be changed",
                                                     core::to_string(request.kind))};
    if (!is_true(member(request.json, "requirement"), "modifiable"))
        return Error{ErrorCode::refused, "this request may not be changed"};
    return std::nullopt;
}

Result<Change> read_change(const Request& request, std::string_view text) {
    const json::value& before = changeable(request);
    if (request.kind == core::Kind::response) {
        // Editors end a file with a line end that the agent's text did not have.
        const std::string old = text_of(before, "text");
        if (text.ends_with('\n') && !old.ends_with('\n')) text.remove_suffix(1);
        json::object after = before.get_object();
        after["text"] = text;
        return Change{before, std::move(after)};
    }
    Result<json::value> after = parse_given_json(text, "the change");
    if (!after) return after.error();
    if (!after->is_object())
        return Error{ErrorCode::invalid_argument, "the change must be a JSON object"};
    return Change{before, std::move(*after)};
}

std::string change_text(const Request& request) {
    const json::value& before = changeable(request);
    if (request.kind == core::Kind::response) return text_of(before, "text");
    return pretty(before) + "\n";
}

std::string change_suffix(const Request& request) {
    return request.kind == core::Kind::response ? ".txt" : ".json";
}

json::object change_body(const Request& request, const Change& change) {
    json::object body{{"decision", "modify"}};
    const char* part = request.kind == core::Kind::plan       ? "plan"
                       : request.kind == core::Kind::response ? "response"
                                                              : "arguments";
    body[part] = change.after;
    return body;
}

}  // namespace holdpoint::cli
