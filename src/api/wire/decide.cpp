#include "api/wire/decide.h"

#include <fmt/format.h>

#include "api/wire/submit.h"
#include "base/json_fields.h"
#include "core/follow_up.h"

namespace holdpoint::wire {
namespace {

using core::DecisionKind;
using json::Fields;
using json::value;

constexpr json::TextRule words_rule{.max = 2000};
constexpr std::int64_t undo_s_max = 30;

/// What stands in place of the original; which field it is depends on the kind of request, and at
/// most one may be given.
void read_replacement(Fields& fields, core::DecisionCommand& command) {
    using Named = std::pair<std::string_view, core::Kind>;
    for (const auto& [name, kind] :
         {Named{"arguments", core::Kind::action}, Named{"plan", core::Kind::plan},
          Named{"response", core::Kind::response}}) {
        const value* given = fields.any(name);
        if (!given || given->is_null()) continue;
        if (!given->is_object()) fields.refuse(name, "must be an object");
        if (!command.replacement.is_null())
            fields.refuse(name, "give one of `arguments`, `plan` and `response`");
        if (command.kind != DecisionKind::modify)
            fields.refuse(name, "only `modify` changes anything");
        command.replacement.text = json::canonical(*given);
        command.replacement_kind = kind;
    }
    if (command.kind == DecisionKind::modify && command.replacement.is_null())
        fields.refuse("arguments", "is missing");
}

void read_steps(Fields& fields, core::DecisionCommand& command) {
    const value* given = fields.any("approved_steps");
    if (!given || given->is_null()) return;
    if (command.kind != DecisionKind::approve)
        return fields.refuse("approved_steps", "only `approve` names steps");
    const json::array* list = given->if_array();
    if (!list || list->size() > 200)
        return fields.refuse("approved_steps", "must be an array of step numbers");
    std::vector<int> orders;
    for (const value& entry : *list) {
        if (!entry.is_int64() || entry.get_int64() < 1 || entry.get_int64() > 1'000'000)
            return fields.refuse("approved_steps", "must be an array of step numbers");
        orders.push_back(static_cast<int>(entry.get_int64()));
    }
    command.approved_steps = std::move(orders);
}

void read_decision(Fields& fields, core::DecisionCommand& command) {
    const std::optional<std::string> kind = fields.word(
        "decision", {"approve", "reject", "modify", "defer", "escalate", "abort", "answer"});
    if (!kind && !fields.has_failed()) fields.refuse("decision", "is missing");
    if (kind) command.kind = *core::parse_word<DecisionKind>(*kind);
    command.digest =
        fields.text("digest", {.min = 1, .max = 200, .is_one_line = true}).value_or("");
    command.note = fields.text("note", words_rule).value_or("");
    command.reason = fields.text("reason", words_rule).value_or("");
    command.guidance = fields.text("guidance", words_rule).value_or("");
    command.target = fields.text("to", {.min = 1, .max = 200, .is_one_line = true}).value_or("");
    if (!command.target.empty() && command.kind != DecisionKind::escalate)
        fields.refuse("to", "only `escalate` has a target");
    read_replacement(fields, command);
    read_steps(fields, command);
    const value* answer = fields.any("answer");
    if (answer && command.kind != DecisionKind::answer)
        fields.refuse("answer", "only `answer` carries one");
    if (!answer && command.kind == DecisionKind::answer) fields.refuse("answer", "is missing");
    if (answer) command.answer.text = json::canonical(*answer);
}

std::optional<policy::GrantTerms> read_grant(Fields& fields, const core::DecisionCommand& command) {
    const value* given = fields.any("grant");
    if (!given || given->is_null()) return std::nullopt;
    if (command.kind != DecisionKind::approve && command.kind != DecisionKind::modify)
        fields.refuse("grant", "only an approval can carry one");
    Fields terms(*given, fields.path_of("grant"));
    policy::GrantTerms grant;
    constexpr std::int64_t year_s = 366 * 86'400;
    if (const auto seconds = terms.integer("for_s", 1, year_s)) grant.ttl_ms = *seconds * 1000;
    if (const auto uses = terms.integer("uses", 1, 1'000'000)) grant.uses = static_cast<int>(*uses);
    grant.sum = terms.number("sum", {0, 1e15});
    grant.is_for_session = terms.boolean("session").value_or(false);
    if (const auto words = terms.integer("words", 1, 128))
        grant.argv_words = static_cast<int>(*words);
    if (Result<void> ok = terms.finish(); !ok) fields.fail(ok.error());
    return grant;
}

Decision read_whole(Fields& fields) {
    Decision decision;
    read_decision(fields, decision.command);
    decision.command.confirm = fields.text("confirm", {.max = 20}).value_or("");
    decision.grant = read_grant(fields, decision.command);
    decision.undo_ms = fields.integer("undo_s", 1, undo_s_max).value_or(0) * 1000;
    if (const value* passkey = fields.any("passkey"); passkey && !passkey->is_null())
        decision.passkey = json::value(*passkey, boost::json::storage_ptr());
    return decision;
}

}  // namespace

Result<Decision> parse_decision(const value& body) {
    Fields fields(body, "");
    Decision decision = read_whole(fields);
    if (Result<void> ok = fields.finish(); !ok) return ok.error();
    return decision;
}

Result<std::vector<BulkDecision>> parse_decisions(const value& body) {
    Fields fields(body, "");
    const value* decisions = fields.required("decisions");
    const json::array* list = decisions ? decisions->if_array() : nullptr;
    if (decisions && (!list || list->empty() || list->size() > batch_max))
        fields.refuse("decisions", fmt::format("must be an array of 1 to {} decisions", batch_max));
    if (Result<void> ok = fields.finish(); !ok) return ok.error();

    std::vector<BulkDecision> out;
    for (std::size_t i = 0; i < list->size(); ++i) {
        Fields entry((*list)[i], fmt::format("decisions[{}]", i));
        BulkDecision bulk{entry.required_text("id", {.min = 1, .max = 100, .is_one_line = true}),
                          Decision{}};
        // Without an id there is nothing to answer about, so that one spoils the whole call.
        if (entry.has_failed()) return entry.finish().error();
        bulk.decision = read_whole(entry);
        if (Result<void> ok = entry.finish(); !ok) bulk.decision = ok.error();
        out.push_back(std::move(bulk));
    }
    return out;
}

Result<Reported> parse_report(const value& body) {
    Fields fields(body, "");
    Reported reported;
    core::Report& report = reported.report;
    const std::optional<bool> success = fields.boolean("success");
    if (!success && !fields.has_failed()) fields.refuse("success", "is missing");
    report.is_success = success.value_or(false);
    if (const value* result = fields.any("result"); result && !result->is_null())
        report.result.text = json::canonical(*result);
    report.error = fields.text("error", {.max = 16 * 1024}).value_or("");
    if (report.is_success && !report.error.empty())
        fields.refuse("error", "a success has no error");
    reported.usage.cost = fields.number("cost", {0, 1e12});
    reported.usage.tokens = fields.number("tokens", {0, 1e15}).value_or(0);
    if (Result<void> ok = fields.finish(); !ok) return ok.error();
    return reported;
}

Result<std::string> parse_cancel(const value& body) {
    Fields fields(body, "");
    std::string reason = fields.text("reason", words_rule).value_or("");
    if (Result<void> ok = fields.finish(); !ok) return ok.error();
    return reason;
}

Result<std::int64_t> parse_extend(const value& body) {
    Fields fields(body, "");
    const std::optional<double> seconds =
        fields.number("seconds", {1, static_cast<double>(core::timeout_ms_max) / 1000});
    if (!seconds && !fields.has_failed()) fields.refuse("seconds", "is missing");
    if (Result<void> ok = fields.finish(); !ok) return ok.error();
    return static_cast<std::int64_t>(*seconds * 1000);
}

}  // namespace holdpoint::wire
