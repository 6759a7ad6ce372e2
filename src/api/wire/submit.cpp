#include "api/wire/submit.h"

#include <fmt/format.h>

#include <set>
#include <string_view>

#include "base/json_fields.h"
#include "core/follow_up.h"
#include "core/subject.h"

namespace holdpoint::wire {
namespace {

using json::Fields;
using json::value;

constexpr json::TextRule label_rule{.min = 1, .max = 200, .is_one_line = true};
constexpr std::size_t suggested_bytes_max = 4096;
constexpr int quorum_max = 100;
constexpr std::size_t lines_max = 20;

core::JsonText canonical(const value* given) {
    if (!given || given->is_null()) return {};
    return {json::canonical(*given)};
}

// An agent that reminds more often does not remind, it rings.
constexpr double remind_every_s_min = 1;

/// Seconds, fractions allowed, as milliseconds.
std::optional<std::int64_t> read_seconds(Fields& fields, std::string_view name,
                                         double min = 0.001) {
    const std::optional<double> seconds =
        fields.number(name, {min, static_cast<double>(core::timeout_ms_max) / 1000});
    if (!seconds) return std::nullopt;
    return static_cast<std::int64_t>(*seconds * 1000);
}

void read_risk_object(const value& given, const std::string& path, Fields& outer,
                      core::Proposal& proposal) {
    Fields fields(given, path);
    const std::optional<std::string> level =
        fields.word("level", {"low", "medium", "high", "critical"});
    const auto factors = fields.texts("factors", 50, {.min = 1, .max = 1000});
    const auto consequences = fields.texts("consequences", 50, {.min = 1, .max = 1000});
    fields.word("reversibility", {"fully", "partially", "irreversible"});
    fields.number("confidence", {0, 1});
    if (Result<void> ok = fields.finish(); !ok) return outer.fail(ok.error());
    if (level) proposal.risk = core::parse_word<core::RiskLevel>(*level);
    proposal.risk_detail.text = json::canonical(given);
}

void read_risk(Fields& fields, core::Proposal& proposal) {
    const value* given = fields.any("risk");
    if (!given || given->is_null()) return;
    if (given->is_object())
        return read_risk_object(*given, fields.path_of("risk"), fields, proposal);
    const std::optional<std::string> level =
        fields.word("risk", {"low", "medium", "high", "critical"});
    if (level) proposal.risk = core::parse_word<core::RiskLevel>(*level);
}

void read_timing(Fields& fields, core::Proposal& proposal) {
    if (const std::optional<double> timeout =
            fields.number("timeout_s", {1, static_cast<double>(core::timeout_ms_max) / 1000}))
        proposal.timeout_ms = static_cast<std::int64_t>(*timeout * 1000);
    const std::optional<std::string> action = fields.word(
        "on_timeout", {"reject", "approve", "retry", "escalate", "abort", "skip", "default"});
    if (action) proposal.on_timeout = core::parse_word<core::TimeoutAction>(*action);
    if (proposal.on_timeout == core::TimeoutAction::approve ||
        proposal.on_timeout == core::TimeoutAction::use_default)
        fields.refuse("on_timeout", fmt::format("only policy can set `{}`", *action),
                      ErrorCode::refused);
    proposal.remind_every_ms = read_seconds(fields, "remind_every_s", remind_every_s_min);
    if (const std::optional<std::int64_t> max = fields.integer("reminders_max", 0, 100))
        proposal.reminders_max = static_cast<int>(*max);
    proposal.escalate_after_ms = read_seconds(fields, "escalate_after_s");
    proposal.escalate_to = fields.text("escalate_to", label_rule).value_or("");
    if (const std::optional<std::int64_t> max = fields.integer("retries_max", 0, 100))
        proposal.retries_max = static_cast<int>(*max);
}

std::optional<core::RequirementLine> read_line(const value& given, std::string path,
                                               Fields& outer) {
    Fields fields(given, std::move(path));
    core::RequirementLine line;
    line.group = fields.text("group", label_rule).value_or("");
    line.people = fields.texts("people", 100, label_rule).value_or(std::vector<std::string>{});
    line.quorum = static_cast<int>(fields.integer("quorum", 1, quorum_max).value_or(1));
    if (!line.group.empty() && !line.people.empty())
        fields.refuse("people", "name a group or people, not both");
    const std::set<std::string_view> names(line.people.begin(), line.people.end());
    if (names.size() != line.people.size()) fields.refuse("people", "names somebody twice");
    if (!line.people.empty() && static_cast<int>(line.people.size()) < line.quorum)
        fields.refuse("quorum", "asks for more people than are named");
    if (Result<void> ok = fields.finish(); !ok) {
        outer.fail(ok.error());
        return std::nullopt;
    }
    return line;
}

void read_requirement(Fields& outer, core::Proposal& proposal) {
    const value* given = outer.any("requirement");
    if (!given || given->is_null()) return;
    Fields fields(*given, outer.path_of("requirement"));
    core::Requirement requirement;
    requirement.lines.clear();
    if (const value* lines = fields.any("lines"); lines && !lines->is_null()) {
        const json::array* list = lines->if_array();
        if (!list || list->size() > lines_max)
            fields.refuse("lines", fmt::format("must be an array of at most {} lines", lines_max));
        for (std::size_t i = 0; list && i < list->size() && !fields.has_failed(); ++i) {
            std::optional<core::RequirementLine> line =
                read_line((*list)[i], fmt::format("{}[{}]", fields.path_of("lines"), i), fields);
            if (line) requirement.lines.push_back(std::move(*line));
        }
    }
    requirement.reason_required = fields.boolean("reason_required").value_or(false);
    requirement.modifiable = fields.boolean("modifiable").value_or(true);
    requirement.exclude_requester = fields.boolean("exclude_requester").value_or(false);
    if (Result<void> ok = fields.finish(); !ok) return outer.fail(ok.error());
    proposal.requirement = std::move(requirement);
}

/// The subject stands under the kind's own name; the objects of other kinds are refused as unknown.
void read_subject(Fields& fields, core::Proposal& proposal) {
    const std::string_view name = to_string(proposal.kind);
    const value* given = fields.required(name);
    if (!given) return;
    Result<core::Subject> subject =
        core::check_subject(proposal.kind, *given, fields.path_of(name));
    if (!subject) return fields.fail(subject.error());
    proposal.subject = std::move(subject->text);
    proposal.tool = std::move(subject->tool);
    proposal.headline = std::move(subject->headline);
}

void read_labels(Fields& fields, core::Proposal& proposal) {
    proposal.session = fields.text("session", label_rule).value_or("");
    proposal.thread = fields.text("thread", label_rule).value_or("");
    proposal.task = fields.text("task", label_rule).value_or("");
    proposal.user = fields.text("user", label_rule).value_or("");
}

}  // namespace

Result<core::Proposal> parse_proposal(const value& body, std::string_view path) {
    Fields fields(body, std::string(path));
    core::Proposal proposal;
    const std::optional<std::string> kind =
        fields.word("kind", {"action", "plan", "input", "confirmation", "response"});
    if (kind) proposal.kind = *core::parse_word<core::Kind>(*kind);
    read_labels(fields, proposal);
    if (!fields.has_failed()) read_subject(fields, proposal);
    read_risk(fields, proposal);
    const value* context = fields.any("context");
    if (context && !context->is_object() && !context->is_null())
        fields.refuse("context", "must be an object");
    proposal.context = canonical(context);
    proposal.suggested = canonical(fields.any("suggested"));
    if (proposal.suggested.text.size() > suggested_bytes_max)
        fields.refuse("suggested", fmt::format("is longer than {} bytes", suggested_bytes_max));
    const value* metadata = fields.any("metadata");
    if (metadata && !metadata->is_object() && !metadata->is_null())
        fields.refuse("metadata", "must be an object");
    proposal.metadata = canonical(metadata);
    read_timing(fields, proposal);
    read_requirement(fields, proposal);
    if (Result<void> ok = fields.finish(); !ok) return ok.error();
    return proposal;
}

Result<std::vector<core::Proposal>> parse_batch(const value& body) {
    Fields fields(body, "");
    core::Proposal defaults;
    read_labels(fields, defaults);
    const value* requests = fields.required("requests");
    const json::array* list = requests ? requests->if_array() : nullptr;
    if (requests && (!list || list->empty() || list->size() > batch_max))
        fields.refuse("requests", fmt::format("must be an array of 1 to {} requests", batch_max));
    if (Result<void> ok = fields.finish(); !ok) return ok.error();

    std::vector<core::Proposal> proposals;
    for (std::size_t i = 0; i < list->size(); ++i) {
        Result<core::Proposal> proposal =
            parse_proposal((*list)[i], fmt::format("requests[{}]", i));
        if (!proposal) return proposal.error();
        if (proposal->session.empty()) proposal->session = defaults.session;
        if (proposal->thread.empty()) proposal->thread = defaults.thread;
        if (proposal->task.empty()) proposal->task = defaults.task;
        if (proposal->user.empty()) proposal->user = defaults.user;
        proposals.push_back(std::move(*proposal));
    }
    return proposals;
}

}  // namespace holdpoint::wire
