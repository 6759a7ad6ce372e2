#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "cli/client.h"
#include "cli/exit_code.h"
#include "cli/style.h"
#include "core/words.h"

/// The request resource as the server tells it, and what this program says about it.
namespace holdpoint::cli {

struct Request {
    json::value json;  ///< all of it, as it came
    std::string id;
    core::Kind kind = core::Kind::action;
    core::State state = core::State::pending;
    std::optional<core::Outcome> outcome;
    core::RiskLevel risk = core::RiskLevel::critical;
    std::string agent;
    std::string headline;
    std::string tool;  ///< of an action, else empty
    std::string digest;
    Timestamp created_at;
    Timestamp expires_at;

    bool is_pending() const { return state == core::State::pending; }
    bool is_released() const { return member_is_set("release"); }
    /// The object named like the kind.
    const json::value& subject() const;

  private:
    bool member_is_set(std::string_view key) const;
};

/// Fails with internal where the answer lacks what every request has: a person must not decide on
/// half a request.
Result<Request> read_request(const json::value& json);
Answer<Request> request_of(const Answer<Reply>& answer);

/// What a waiting agent's process ends with. Fine exactly when something was released or answered.
ExitCode exit_code(const Request& request);

/// What the agent may use now: released arguments, plan, response, confirmation, or the answer.
const json::value& released_value(const Request& request);

/// What a person may change: arguments, plan or response; null for the kinds that have no such
/// part.
const json::value& changeable(const Request& request);

/// The word that critical requests want typed: the tool, or the kind where there is no tool.
std::string confirmation_word(const Request& request);

/// The code that has to be typed before this is released; empty where none is asked for.
std::string confirmation_code(const Request& request);

/// Eight characters at the end of the id, enough to name a request on a command line.
std::string short_id(const std::string& id);

Style style_of(core::RiskLevel risk);
Style style_of(core::Outcome outcome);
/// `◆ critical`: glyph and word, so that colour is never alone.
std::string risk_label(core::RiskLevel risk);

/// `rejected by ann 2 min ago: too expensive`; `pending` while it is.
std::string standing(const Request& request, Timestamp now);

/// Finds a request by its id, or by a unique beginning or end of one among those pending, then
/// among the newest.
Answer<Request> find_request(Client& client, const std::string& id);

/// All requests that match, page by page. `limit` 0 means all.
Answer<std::vector<Request>> list_requests(Client& client, Query query, std::size_t limit = 0);

Timestamp now();

/// Milliseconds of a clock that nobody can set, for measuring how long something takes.
std::int64_t steady_ms();

}  // namespace holdpoint::cli
