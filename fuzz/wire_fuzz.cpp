// The bodies and queries that callers send, read into what the use cases take. The first byte says
// which: `p` a proposal, `b` a batch of them, `d` a decision, `m` many of them, `r` a report, `c` a
// cancellation, `e` an extension, `l` the query of a list.
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

void check_proposal(const holdpoint::core::Proposal& proposal) {
    check_kept(proposal.subject);
    check_kept(proposal.context);
    check_kept(proposal.metadata);
}

void check_decision(const wire::Decision& decision) {
    check_kept(decision.command.replacement);
    HOLDPOINT_ASSERT(decision.undo_ms >= 0);
}

void read_proposal(const json::value& body) {
    const auto proposal = wire::parse_proposal(body, "");
    if (!proposal) return check_refusal(proposal.error());
    check_proposal(*proposal);
}

void read_batch(const json::value& body) {
    const auto proposals = wire::parse_batch(body);
    if (!proposals) return check_refusal(proposals.error());
    HOLDPOINT_ASSERT(!proposals->empty() && proposals->size() <= wire::batch_max);
    for (const auto& proposal : *proposals) check_proposal(proposal);
}

void read_decision(const json::value& body) {
    const auto decision = wire::parse_decision(body);
    if (!decision) return check_refusal(decision.error());
    check_decision(*decision);
}

void read_decisions(const json::value& body) {
    const auto decisions = wire::parse_decisions(body);
    if (!decisions) return check_refusal(decisions.error());
    HOLDPOINT_ASSERT(!decisions->empty());
    for (const wire::BulkDecision& one : *decisions) {
        if (one.decision)
            check_decision(*one.decision);
        else
            check_refusal(one.decision.error());
    }
}

void read_report(const json::value& body) {
    const auto reported = wire::parse_report(body);
    if (!reported) return check_refusal(reported.error());
    check_kept(reported->report.result);
}

void read_cancel(const json::value& body) {
    const auto reason = wire::parse_cancel(body);
    if (!reason) return check_refusal(reason.error());
    HOLDPOINT_ASSERT(holdpoint::is_utf8(*reason));
}

void read_extend(const json::value& body) {
    const auto ms = wire::parse_extend(body);
    if (!ms) return check_refusal(ms.error());
    HOLDPOINT_ASSERT(*ms > 0);
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
    if (data[0] == 'l') {
        read_list(rest);
        return 0;
    }
    const auto body = json::parse(rest);
    if (!body) return 0;
    if (data[0] == 'p') read_proposal(*body);
    if (data[0] == 'b') read_batch(*body);
    if (data[0] == 'd') read_decision(*body);
    if (data[0] == 'm') read_decisions(*body);
    if (data[0] == 'r') read_report(*body);
    if (data[0] == 'c') read_cancel(*body);
    if (data[0] == 'e') read_extend(*body);
    return 0;
}
