#include "cli/resource.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "base/text.h"
#include "cli/duration.h"
#include "cli/json_text.h"

namespace holdpoint::cli {
namespace {

constexpr std::size_t id_characters = 30;  // `req_` and a ULID
constexpr std::size_t newest_searched = 200;

Error not_understood(std::string_view what) {
    return {ErrorCode::internal,
            fmt::format("the server's request has no usable `{}`; is it a newer version?", what)};
}

/// Whether `id` is what somebody could have meant by `part`: its beginning or its end.
bool is_meant(const std::string& id, std::string part) {
    for (char& c : part) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    std::string whole = id;
    for (char& c : whole) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    const std::string_view bare =
        std::string_view(whole).substr(std::min<std::size_t>(4, id.size()));
    return whole.starts_with(part) || bare.starts_with(part) || whole.ends_with(part);
}

Failure usage(std::string message, std::string hint = {}) {
    return {Error{ErrorCode::invalid_argument, std::move(message)}, std::move(hint)};
}

}  // namespace

const json::value& Request::subject() const { return member(json, core::to_string(kind)); }

bool Request::member_is_set(std::string_view key) const { return !member(json, key).is_null(); }

Result<Request> read_request(const json::value& json) {
    Request request;
    request.json = json;
    request.id = text_of(json, "id");
    if (request.id.empty()) return not_understood("id");
    const auto kind = core::parse_word<core::Kind>(text_of(json, "kind"));
    if (!kind) return not_understood("kind");
    request.kind = *kind;
    const auto state = core::parse_word<core::State>(text_of(json, "state"));
    if (!state) return not_understood("state");
    request.state = *state;
    request.outcome = core::parse_word<core::Outcome>(text_of(json, "outcome"));
    if (request.is_pending() == request.outcome.has_value()) return not_understood("outcome");
    const auto risk = core::parse_word<core::RiskLevel>(text_of(member(json, "risk"), "level"));
    if (!risk) return not_understood("risk.level");
    request.risk = *risk;
    request.digest = text_of(json, "digest");
    if (request.digest.empty()) return not_understood("digest");
    const auto created = time_of(json, "created_at");
    const auto expires = time_of(json, "expires_at");
    if (!created || !expires) return not_understood("created_at and expires_at");
    request.created_at = *created;
    request.expires_at = *expires;
    request.agent = text_of(json, "agent");
    request.headline = text_of(json, "headline");
    if (!request.subject().is_object()) return not_understood(core::to_string(request.kind));
    request.tool = text_of(request.subject(), "tool");
    return request;
}

Answer<Request> request_of(const Answer<Reply>& answer) {
    if (!answer) return std::unexpected(answer.error());
    Result<Request> request = read_request(answer->body);
    if (!request) return std::unexpected(Failure{request.error()});
    return std::move(*request);
}

ExitCode exit_code(const Request& request) {
    if (!request.outcome) return ExitCode::not_released;
    if (request.is_released()) return ExitCode::fine;
    return exit_code(*request.outcome);
}

const json::value& released_value(const Request& request) {
    const json::value& release = member(request.json, "release");
    for (std::string_view part : {"arguments", "plan", "response", "confirmation"})
        if (!member(release, part).is_null()) return member(release, part);
    return member(member(request.json, "decision"), "answer");
}

const json::value& changeable(const Request& request) {
    switch (request.kind) {
        case core::Kind::action:
            return member(request.subject(), "arguments");
        case core::Kind::plan:
        case core::Kind::response:
            return request.subject();
        case core::Kind::input:
        case core::Kind::confirmation:
            break;
    }
    return member(request.json, "");
}

std::string confirmation_word(const Request& request) {
    return request.tool.empty() ? std::string(core::to_string(request.kind)) : request.tool;
}

std::string confirmation_code(const Request& request) {
    return text_of(member(request.json, "requirement"), "confirm");
}

std::string short_id(const std::string& id) {
    return id.size() > 8 ? id.substr(id.size() - 8) : id;
}

Style style_of(core::RiskLevel risk) {
    switch (risk) {
        case core::RiskLevel::low:
            return Style::low;
        case core::RiskLevel::medium:
            return Style::medium;
        case core::RiskLevel::high:
            return Style::high;
        case core::RiskLevel::critical:
            return Style::critical;
    }
    return Style::critical;
}

Style style_of(core::Outcome outcome) {
    switch (outcome) {
        case core::Outcome::allowed:
        case core::Outcome::approved:
        case core::Outcome::modified:
        case core::Outcome::answered:
            return Style::good;
        case core::Outcome::denied:
        case core::Outcome::rejected:
        case core::Outcome::aborted:
            return Style::bad;
        case core::Outcome::deferred:
        case core::Outcome::skipped:
        case core::Outcome::expired:
        case core::Outcome::cancelled:
            return Style::high;
    }
    return Style::plain;
}

std::string risk_label(core::RiskLevel risk) {
    switch (risk) {
        case core::RiskLevel::low:
            return "· low";
        case core::RiskLevel::medium:
            return "○ medium";
        case core::RiskLevel::high:
            return "▲ high";
        case core::RiskLevel::critical:
            return "◆ critical";
    }
    return "◆ critical";
}

std::string standing(const Request& request, Timestamp now) {
    if (!request.outcome) return "pending";
    std::string text{core::to_string(*request.outcome)};
    const json::value& decision = member(request.json, "decision");
    const std::string by = text_of(decision, "by");
    if (!by.empty()) text += " by " + visible(by);
    if (const auto at = time_of(request.json, "settled_at"))
        text += fmt::format(" {} ago", short_duration(now - *at));
    const std::string reason = text_of(decision, "reason", text_of(decision, "guidance"));
    if (!reason.empty()) text += ": " + visible(reason);
    return text;
}

Answer<Request> find_request(Client& client, const std::string& id) {
    if (id.size() >= id_characters)
        return request_of(client.call({.path = "/v1/requests/" + path_part(id)}));
    if (id.size() < 4)
        return std::unexpected(usage(fmt::format("`{}` is too short for an id", visible(id)),
                                     "give at least four "
                                     "characters"));
    // Pending ones first, so that an old request never makes the id of a waiting one ambiguous.
    for (const bool is_pending : {true, false}) {
        Answer<std::vector<Request>> requests = is_pending
                                                    ? list_requests(client, {{"state", "pending"}})
                                                    : list_requests(client, {}, newest_searched);
        if (!requests) return std::unexpected(std::move(requests.error()));
        std::erase_if(*requests, [&](const Request& r) { return !is_meant(r.id, id); });
        if (requests->size() == 1) return std::move(requests->front());
        if (requests->size() > 1)
            return std::unexpected(
                usage(fmt::format("`{}` could mean {} requests, like {} and {}", visible(id),
                                  requests->size(), (*requests)[0].id, (*requests)[1].id),
                      "give more characters"));
    }
    return std::unexpected(
        Failure{Error{ErrorCode::not_found, fmt::format("no request is called `{}`", visible(id))},
                "older ones need their whole id; see `holdpoint list --state any`"});
}

Answer<std::vector<Request>> list_requests(Client& client, Query query, std::size_t limit) {
    std::vector<Request> requests;
    std::string cursor;
    do {
        Query page = query;
        const std::size_t left =
            limit == 0 ? 100 : std::min<std::size_t>(100, limit - requests.size());
        page.emplace_back("limit", std::to_string(left));
        if (!cursor.empty()) page.emplace_back("cursor", cursor);
        Answer<Reply> reply = client.call({.path = "/v1/requests", .query = std::move(page)});
        if (!reply) return std::unexpected(std::move(reply.error()));
        const json::array* items = member(reply->body, "requests").if_array();
        if (items == nullptr) return std::unexpected(Failure{not_understood("requests")});
        for (const json::value& item : *items) {
            Result<Request> request = read_request(item);
            if (!request) return std::unexpected(Failure{request.error()});
            requests.push_back(std::move(*request));
        }
        const std::string next = text_of(reply->body, "next_cursor");
        // A cursor that does not move would page for ever.
        if (next == cursor || items->empty()) break;
        cursor = next;
    } while (!cursor.empty() && (limit == 0 || requests.size() < limit));
    return requests;
}

Timestamp now() {
    using namespace std::chrono;
    return {duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count()};
}

std::int64_t steady_ms() {
    using namespace std::chrono;
    return duration_cast<milliseconds>(steady_clock::now().time_since_epoch()).count();
}

}  // namespace holdpoint::cli
