// The bodies and queries that callers send, read into what the use cases take. The first byte says
// which: `p` a proposal, `d` a decision, `l` the query of a list.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "api/wire/decide.h"
#include "api/wire/query.h"
#include "api/wire/submit.h"
#include "base/assert.h"
#include "base/json.h"
#include "base/text.h"
#include "core/stored_json.h"

namespace json = holdpoint::json;
namespace wire = holdpoint::wire;

namespace {

/// A refusal reaches agents and terminals: it is short, printable and blames the caller.
void check_refusal(const holdpoint::Error& error) {
    using holdpoint::ErrorCode;
    HOLDPOINT_ASSERT(error.code == ErrorCode::invalid_argument ||
                     error.code == ErrorCode::too_large || error.code == ErrorCode::refused);
    HOLDPOINT_ASSERT(!error.message.empty() && error.message.size() < 1024);
    HOLDPOINT_ASSERT(holdpoint::is_utf8(error.message) && holdpoint::is_utf8(error.field));
    for (const char c : error.message + error.field) {
        HOLDPOINT_ASSERT(static_cast<unsigned char>(c) >= 0x20);
    }
}

/// What is kept as text must be text that can be read again.
void check_kept(const holdpoint::core::JsonText& kept) {
    if (kept.is_null()) return;
    HOLDPOINT_ASSERT(holdpoint::core::parse_stored(kept.text).has_value());
}

void read_proposal(std::string_view text) {
    const auto body = json::parse(text);
    if (!body) return;
    const auto proposal = wire::parse_proposal(*body, "");
    if (!proposal) return check_refusal(proposal.error());
    check_kept(proposal->subject);
    check_kept(proposal->context);
    check_kept(proposal->metadata);
}

void read_decision(std::string_view text) {
    const auto body = json::parse(text);
    if (!body) return;
    const auto decision = wire::parse_decision(*body);
    if (!decision) return check_refusal(decision.error());
    check_kept(decision->command.replacement);
    HOLDPOINT_ASSERT(decision->undo_ms >= 0);
}

void read_list(std::string_view text) {
    const auto query = holdpoint::parse_query(text);
    if (!query) return;
    const auto list = wire::parse_list(*query);
    if (!list) return check_refusal(list.error());
    HOLDPOINT_ASSERT(list->limit >= 1 && list->limit <= 100 && list->before_row >= 0);
    HOLDPOINT_ASSERT(!list->filter.agent_id && !list->filter.is_released && !list->after_row);
}

}  // namespace

/// Whatever comes in is refused with a printable reason or becomes something that can be kept.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
    if (data[0] == 'p') read_proposal(rest);
    if (data[0] == 'd') read_decision(rest);
    if (data[0] == 'l') read_list(rest);
    return 0;
}
